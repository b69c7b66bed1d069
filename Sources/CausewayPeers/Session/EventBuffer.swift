internal import Foundation

/// Events that the program has not taken yet.
///
/// Flow control limits the messages: if 4 MiB of a sender's messages wait here, the sender has to wait. If too many
/// discovery events wait, they are merged and not dropped: a browser reports a peer once, so the program would never
/// learn of a peer whose event was dropped.
final class EventBuffer: Sendable {
    struct Entry: Sendable {
        let event: PeerEvent
        /// Counts the event against its sender's limit. This object is released when the program takes the event.
        let receipt: PeerReceipt?
    }

    fileprivate struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct State {
        /// The waiting events. Entries that the program has taken are `nil`, because the objects in these entries are
        /// released outside the lock.
        var entries: [Entry?] = []
        var first = 0
        /// The number of discovery events in `entries`. If it exceeds `mergeLimit`, these events are merged.
        var discoveryCount = 0
        var mergeLimit = EventBuffer.discoveryLimit
        /// The suspended consumers, the oldest first.
        var waiters: [Waiter] = []
        var lastWaiter: UInt64 = 0
        var end: Result<Void, PeerFailure>?
    }

    fileprivate static let discoveryLimit = 2_048
    /// The number of events about refused peers that remain when waiting events are merged.
    fileprivate static let refusalLimit = 1_024
    /// The number of invitations above which ended invitations are removed. At most 16 are open at a time.
    private static let invitationLimit = 32
    private let state = LockedValue(State())

    func add(_ event: PeerEvent, _ receipt: PeerReceipt? = nil) {
        if case .invited = event { removeEndedInvitations() }
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            state.entries.append(Entry(event: event, receipt: receipt))
            if event.isDiscovery {
                state.discoveryCount += 1
                if state.discoveryCount > state.mergeLimit { state.mergeDiscovery() }
            }
            return state.waiters.isEmpty ? nil : state.waiters.removeFirst().continuation
        }
        waiter?.resume()
    }

    /// An inviter that gives up and invites again must not fill the memory of a program that takes no events.
    private func removeEndedInvitations() {
        let waiting = state.withLock { state in state.entries[state.first...].compactMap { $0?.event.invitation } }
        guard waiting.count >= Self.invitationLimit else { return }
        // Ask the node outside the lock whether the invitations are still open.
        let ended = Set(waiting.filter { !$0.isOpen }.map { ObjectIdentifier($0) })
        let removed = state.withLock { state -> [Entry?] in
            let waiting = state.entries[state.first...]
            let isEnded = { (entry: Entry?) in
                entry?.event.invitation.map { ended.contains(ObjectIdentifier($0)) } ?? false
            }
            (state.entries, state.first) = (waiting.filter { !isEnded($0) }, 0)
            return waiting.filter(isEnded)
        }
        withExtendedLifetime(removed) {}
    }

    /// Ends the buffer: later events are dropped. Waiting events are still delivered.
    func finish(_ end: Result<Void, PeerFailure>) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Returns the next event; `nil` at the end and after cancellation.
    nonisolated(nonsending) func next() async throws(PeerFailure) -> PeerEvent? {
        while true {
            let (entry, end) = state.withLock { state in (state.takeFirst(), state.end) }
            if let entry { return entry.event }
            if let end {
                try end.get()
                return nil
            }
            if Task.isCancelled { return nil }
            await wait()
        }
    }

    /// Suspends until an event is added for this consumer, the buffer ends, or the task is cancelled. Several
    /// consumers may wait: a new consumer must not resume a waiting consumer, because the two would then resume each
    /// other without end.
    nonisolated(nonsending) private func wait() async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isSuspended = state.withLock { state in
                    guard state.isEmpty, state.end == nil, !Task.isCancelled else { return false }
                    state.waiters.append(Waiter(number: number, continuation: continuation))
                    return true
                }
                if !isSuspended { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeWaiter(number) }?.resume()
        }
    }
}

extension EventBuffer.State {
    fileprivate var isEmpty: Bool { first == entries.count }

    fileprivate mutating func takeFirst() -> EventBuffer.Entry? {
        guard first < entries.count else { return nil }
        let entry = entries[first].take()
        if entry?.event.isDiscovery == true { discoveryCount -= 1 }
        first += 1
        // Remove at least half of the entries at once, so that each entry is moved at most once on average.
        if first == entries.count || first > max(64, entries.count / 2) {
            entries.removeFirst(first)
            first = 0
        }
        return entry
    }

    fileprivate mutating func takeWaiter(_ number: UInt64) -> CheckedContinuation<Void, Never>? {
        waiters.firstIndex { $0.number == number }.map { waiters.remove(at: $0).continuation }
    }
}

/// A report about one peer's presence.
private struct Sighting {
    let peer: PeerIdentity
    /// The keys and values of the peer's TXT record; `nil` if the peer is gone.
    let info: [String: String]?
}

/// The reports about one peer that the program has not taken.
private struct Sightings {
    /// Whether the program knows the peer from an earlier event.
    let isKnown: Bool
    /// The index of the first event that reports the loss of the peer. If the program knows the peer, it must get this
    /// event.
    var firstLoss: Int?
    var last: Int
}

extension EventBuffer.State {
    /// Merges each peer's discovery events, so that few events tell the program which peers are present. Also drops the
    /// oldest events about refused peers. At most two discovery events of a peer remain, and a browser has at most
    /// 1,024 peers at a time.
    fileprivate mutating func mergeDiscovery() {
        let sightings = sightings()
        let refusalCount = entries[first...].count { $0?.event.isRefusal == true }
        var excess = max(0, refusalCount - EventBuffer.refusalLimit)
        var kept: [EventBuffer.Entry?] = []
        for index in first..<entries.count {
            guard let entry = entries[index] else { continue }
            if entry.event.isRefusal, excess > 0 {
                excess -= 1
            } else if let event = Self.merged(entry.event, at: index, sightings) {
                kept.append(EventBuffer.Entry(event: event, receipt: entry.receipt))
            }
        }
        (entries, first) = (kept, 0)
        discoveryCount = kept.count { $0?.event.isDiscovery == true }
        // A merge reads all events, so do not merge again before many new events wait.
        mergeLimit = max(EventBuffer.discoveryLimit, 2 * discoveryCount)
    }

    private func sightings() -> [PeerIdentity: Sightings] {
        var all: [PeerIdentity: Sightings] = [:]
        for index in first..<entries.count {
            guard let event = entries[index]?.event, let sighting = event.sighting else { continue }
            var isNew = false
            if case .found = event { isNew = true }
            var sightings = all[sighting.peer] ?? Sightings(isKnown: !isNew, last: index)
            sightings.last = index
            if sighting.info == nil, sightings.firstLoss == nil { sightings.firstLoss = index }
            all[sighting.peer] = sightings
        }
        return all
    }

    /// Returns the event that replaces the event at an index; `nil` if other events make it redundant.
    private static func merged(_ event: PeerEvent, at index: Int, _ all: [PeerIdentity: Sightings]) -> PeerEvent? {
        guard let sighting = event.sighting, let sightings = all[sighting.peer] else { return event }
        if sightings.isKnown, index == sightings.firstLoss { return event }
        guard index == sightings.last, let info = sighting.info else { return nil }
        let isFound = !sightings.isKnown || sightings.firstLoss != nil
        return isFound ? .found(sighting.peer, info: info) : .updated(sighting.peer, info: info)
    }
}

extension PeerEvent {
    fileprivate var invitation: PeerInvitation? {
        if case .invited(let invite) = self { invite.invitation } else { nil }
    }

    fileprivate var isDiscovery: Bool { isRefusal || sighting != nil }

    /// Whether the event is a refusal, of which a host can cause any number.
    fileprivate var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }

    fileprivate var sighting: Sighting? {
        if case .found(let peer, let info) = self { return Sighting(peer: peer, info: info) }
        if case .updated(let peer, let info) = self { return Sighting(peer: peer, info: info) }
        if case .lost(let peer) = self { return Sighting(peer: peer, info: nil) }
        return nil
    }
}
