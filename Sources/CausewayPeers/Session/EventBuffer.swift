internal import Foundation

/// Events that the program has not taken yet.
///
/// Messages are bounded by their receipts: at 4 MiB of waiting messages, the sender's window is closed. If there are
/// too many events, the oldest discovery event is dropped for a new one.
final class EventBuffer: Sendable {
    struct Entry: Sendable {
        let event: PeerEvent
        /// Released when the program takes the event.
        let receipt: PeerReceipt?
    }

    fileprivate struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct State {
        /// Taken entries are `nil`: their receipts are released outside the lock.
        var entries: [Entry?] = []
        var first = 0
        /// The suspended consumers, the oldest first.
        var waiters: [Waiter] = []
        var lastWaiter: UInt64 = 0
        var end: Result<Void, PeerFailure>?
    }

    private static let discoveryLimit = 2_048
    /// The number of invitations above which ended ones are removed. At most 16 are open at a time.
    private static let invitationLimit = 32
    private let state = LockedValue(State())

    func add(_ event: PeerEvent, _ receipt: PeerReceipt? = nil) {
        if case .invited = event { removeEndedInvitations() }
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            if event.isDiscovery, state.entries.count - state.first >= Self.discoveryLimit {
                // Drop the oldest discovery event, to bound the memory.
                guard let old = state.entries[state.first...].firstIndex(where: { $0?.event.isDiscovery == true })
                else {
                    return nil
                }
                state.entries.remove(at: old)
            }
            state.entries.append(Entry(event: event, receipt: receipt))
            return state.waiters.isEmpty ? nil : state.waiters.removeFirst().continuation
        }
        waiter?.resume()
    }

    /// An inviter that gives up and invites again must not fill the memory of a program that takes no events.
    private func removeEndedInvitations() {
        let waiting = state.withLock { state in state.entries[state.first...].compactMap { $0?.event.invitation } }
        guard waiting.count >= Self.invitationLimit else { return }
        // The node is asked outside the lock.
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

    /// The next event; `nil` at the end and after cancellation.
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

    /// Suspends until an event is added for this consumer, the buffer ends, or the task is cancelled. Several consumers may wait: a new one
    /// must not resume another one, because the two would then resume each other without end.
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
        first += 1
        if first == entries.count || first > 64 {
            entries.removeFirst(first)
            first = 0
        }
        return entry
    }

    fileprivate mutating func takeWaiter(_ number: UInt64) -> CheckedContinuation<Void, Never>? {
        waiters.firstIndex { $0.number == number }.map { waiters.remove(at: $0).continuation }
    }
}

extension PeerEvent {
    fileprivate var invitation: PeerInvitation? {
        if case .invited(let invite) = self { invite.invitation } else { nil }
    }

    fileprivate var isDiscovery: Bool {
        switch self {
        // A host can cause refusals without limit.
        case .found, .updated, .lost, .refused: true
        default: false
        }
    }
}
