internal import Foundation

/// Converts group events to session events.
final class Translator: Sendable {
    private let buffer: EventBuffer
    private let outcomes: Outcomes
    let group = LockedValue(WeakGroup(group: nil))
    private let found = LockedValue<Set<PeerIdentity>>([])
    let tap = LockedValue<PeerSession.Tap?>(nil)
    private let members = LockedValue<Set<PeerIdentity>>([])

    init(_ buffer: EventBuffer, _ outcomes: Outcomes) {
        self.buffer = buffer
        self.outcomes = outcomes
    }

    func translate(_ event: BrowserEvent) {
        switch event {
        case .started: break
        case .failed(let failure): buffer.finish(.failure(failure))
        case .found(let peer, let info):
            let isNew = found.withLock { $0.insert(peer).inserted }
            buffer.add(isNew ? .found(peer, info: info) : .updated(peer, info: info))
        case .lost(let peer):
            found.withLock { _ = $0.remove(peer) }
            buffer.add(.lost(peer))
        }
    }

    func translate(_ event: GroupEvent) {
        switch event {
        case .connecting: break
        case .connected(let peer):
            members.withLock { _ = $0.insert(peer) }
            tell(.joined(peer))
            outcomes.answer(.membership(peer), .success(nil))
            buffer.add(.joined(peer))
        case .notConnected(let peer, let failure):
            tell(.left(peer, failure))
            outcomes.lost(peer, failure, wasMember: members.withLock { $0.remove(peer) != nil })
            buffer.add(.left(peer, failure))
        case .suspended(let peer): buffer.add(.suspended(peer))
        case .resumed(let peer): buffer.add(.resumed(peer))
        // A session leaves `PeerGroup.Settings.judgesCertificates` at `false`. So this event is not expected, and the
        // certificate is rejected.
        case .certificate(_, _, let question): question.answer(false)
        case .message(let peer, let data, let receipt):
            if !tell(.message(data, peer)) { buffer.add(.received(data, from: peer), receipt) }
        case .stream(let peer, let name, let stream): buffer.add(.stream(PeerReader(name, stream), from: peer))
        case .fileStarted(let peer, let name, let progress):
            buffer.add(.receiving(PeerTransfer(name: name, progress: progress), from: peer))
        case .fileFinished(let peer, let name, .success(let file), let receipt):
            buffer.add(.file(PeerFile(name: name, received: file), from: peer), receipt)
        case .fileFinished(let peer, let name, .failure(let failure), let receipt):
            buffer.add(.fileFailed(name: name, failure, from: peer), receipt)
        case .verification(let peer, let event): translate(event, peer)
        case .datagramLane: break
        case .paired(let peer):
            outcomes.answer(.pairing(peer), .success(nil))
            buffer.add(.paired(peer))
        case .unsaved(let peer, let failure):
            outcomes.answer(.pairing(peer), .failure(failure))
            buffer.add(.unsaved(peer, failure))
        case .refused(let peer, let failure): buffer.add(.refused(peer, failure))
        }
    }

    /// Passes an event to the session's tap, if there is one. Returns whether the tap consumed the event.
    @discardableResult
    private func tell(_ event: PeerSession.TapEvent) -> Bool { tap.withLock { $0 }?(event) ?? false }

    private func translate(_ event: PeerVerification, _ peer: PeerIdentity) {
        switch event {
        case .compare(let digits, let words):
            let place = group.withLock { $0 }
            let code = PeerCode(digits: digits, words: words) { place.group?.confirm(peer, matches: $0) }
            if !outcomes.answer(.code(peer), .success(code)) { buffer.add(.compare(code, with: peer)) }
        case .verified:
            outcomes.answer(.code(peer), .success(nil))
            outcomes.answer(.verification(peer), .success(nil))
        case .failed:
            outcomes.answer(.code(peer), .failure(PeerFailure(.unverified)))
            outcomes.answer(.verification(peer), .failure(PeerFailure(.unverified)))
        }
    }
}
