internal import CausewayPeerProtocols

/// The sends that wait until a member's queue has space.
///
/// This value is part of the node's state, so that a send is added under the same lock under which its message was
/// refused. Otherwise the space could be reported before the send is added, and the send would wait without end.
struct SendWaits: Sendable {
    /// The continuation of a send that waits for space. `false` means that the member's queue has space or the member
    /// is gone, and the send must be tried again.
    typealias Waiter = CheckedContinuation<Bool, any Error>

    private var waiters: [MemberID: [UInt64: Waiter]] = [:]

    mutating func add(_ number: UInt64, for member: MemberID, _ waiter: Waiter) {
        waiters[member, default: [:]][number] = waiter
    }

    /// Removes and returns one wait; `nil` if it has ended.
    mutating func remove(_ number: UInt64, for member: MemberID) -> Waiter? {
        let waiter = waiters[member]?.removeValue(forKey: number)
        if waiters[member]?.isEmpty == true { waiters[member] = nil }
        return waiter
    }

    /// Removes and returns a member's waits, because its queue has space or the member is gone.
    mutating func removeAll(for member: MemberID) -> [Waiter] {
        waiters.removeValue(forKey: member).map { Array($0.values) } ?? []
    }
}
