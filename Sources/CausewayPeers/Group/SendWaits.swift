internal import CausewayPeerProtocols

/// The sends that wait until a member's queue has space.
///
/// This value is part of the node's state, so the node's lock protects it. If the queue refuses a message, the send is
/// added here before the lock is released. Otherwise, the queue could report space before the send is added. The send
/// would then wait forever.
struct SendWaits: Sendable {
    /// The continuation of a send call that waits for space in a member's queue. It is resumed with `false` when the
    /// queue has space, or when the member is gone. The caller must then try the send again.
    typealias Waiter = CheckedContinuation<Bool, any Error>

    private var waiters: [MemberID: [UInt64: Waiter]] = [:]

    mutating func add(_ number: UInt64, for member: MemberID, _ waiter: Waiter) {
        waiters[member, default: [:]][number] = waiter
    }

    /// Removes a waiting call by its number, and returns it. Returns `nil` if the call has already ended.
    mutating func remove(_ number: UInt64, for member: MemberID) -> Waiter? {
        let waiter = waiters[member]?.removeValue(forKey: number)
        if waiters[member]?.isEmpty == true { waiters[member] = nil }
        return waiter
    }

    /// Removes and returns the sends that wait for a member. The member's queue has space now, or the member is gone.
    mutating func removeAll(for member: MemberID) -> [Waiter] {
        waiters.removeValue(forKey: member).map { Array($0.values) } ?? []
    }
}
