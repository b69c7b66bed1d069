internal import Foundation

/// Events that the program has not taken yet.
///
/// If 4 MiB of a sender's messages wait here, flow control makes the sender wait. If too many discovery events wait,
/// they are merged. They are not dropped: a browser reports a peer only once, so the program would never learn of a
/// peer whose event was dropped.
final class EventBuffer: Sendable {
    struct Entry: Sendable {
        let event: PeerEvent
        /// While this object exists, the event counts towards the limit for its sender. When the program receives the
        /// event, the object is released.
        let receipt: PeerReceipt?
    }

    fileprivate struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct State {
        /// The events that wait for the program. When the program takes an event, its entry becomes `nil`. The objects
        /// in the entry are then released outside the lock.
        var entries: [Entry?] = []
        var first = 0
        /// The number of discovery events in `entries`. When this number exceeds `mergeLimit`, several discovery events
        /// are merged into one.
        var discoveryCount = 0
        var mergeLimit = EventBuffer.discoveryLimit
        /// The suspended consumers, the oldest first.
        var waiters: [Waiter] = []
        var lastWaiter: UInt64 = 0
        var end: Result<Void, PeerFailure>?
    }

    fileprivate static let discoveryLimit = 2_048
    /// The maximum number of waiting events about refused peers. When the buffer merges waiting events, it keeps at
    /// most this number of them.
    fileprivate static let refusalLimit = 1_024
    /// When more invitations than this number are stored, ended invitations are removed. At most 16 invitations are
    /// open at a time.
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

    /// Removes invitations that have ended. A peer can invite and give up many times. If the program takes no events,
    /// these invitations must not fill the memory.
    private func removeEndedInvitations() {
        let waiting = state.withLock { state in state.entries[state.first...].compactMap { $0?.event.invitation } }
        guard waiting.count >= Self.invitationLimit else { return }
        // Ask the node whether the invitations are still open, without holding the lock.
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

    /// Ends the buffer. Events that already wait are still delivered. Later events are dropped.
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

    /// Suspends until an event is added for this consumer, the buffer ends, or the task is cancelled.
    ///
    /// Several consumers may wait. A new consumer must not resume a waiting one; otherwise the two would resume each
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
        // Remove the taken entries only when they are at least half of all entries. On average, each entry is then
        // moved at most once.
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

/// The reports about one peer that wait for the program.
private struct Sightings {
    /// Whether an earlier event has already shown this peer to the program.
    let isKnown: Bool
    /// The index of the first event that reports the loss of this peer. The buffer must keep this event if the program
    /// already knows the peer.
    var firstLoss: Int?
    var last: Int
}

extension EventBuffer.State {
    /// Merges the events about finding and losing each peer, and drops the oldest events about refused peers. At most
    /// two discovery events remain for each peer. A browser has at most 1,024 peers at a time.
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
        // Merging reads all waiting events. So wait with the next merge until many new events have been added.
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

    /// Returns the event that replaces the event at an index when events are merged. Returns `nil` if other events make
    /// this event redundant.
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

    /// Whether the event reports a refused host. Such events must be limited, because another host can cause any number
    /// of them.
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
