/// The local actor system's outgoing calls that wait for replies.
///
/// `Waiter` is a continuation in production and an integer in tests. The table returns each waiter exactly once.
package struct CallTable<Peer: Hashable & Sendable, Waiter: Sendable>: Sendable {
    private struct Call: Sendable {
        let peer: Peer
        let waiter: Waiter
        let deadline: Duration
    }

    private var calls: [UInt64: Call] = [:]
    private var counts: [Peer: Int] = [:]
    private var newest: UInt64 = 0

    package init() {}

    package var count: Int { calls.count }

    /// Returns the number of calls waiting for a peer.
    package func count(of peer: Peer) -> Int { counts[peer] ?? 0 }

    /// The earliest deadline of all calls; `nil` without calls. When it has passed, call ``expire(at:)``.
    package var earliestDeadline: Duration? { calls.values.lazy.map(\.deadline).min() }

    /// Adds a call, and returns its number. Numbers are not reused.
    mutating func add(_ peer: Peer, _ waiter: Waiter, until deadline: Duration) -> UInt64 {
        newest &+= 1
        calls[newest] = Call(peer: peer, waiter: waiter, deadline: deadline)
        counts[peer, default: 0] += 1
        return newest
    }

    /// Ends a call and returns its waiter. Returns `nil` if the call has already ended, or if it was made to another
    /// peer.
    mutating func end(_ number: UInt64, of peer: Peer) -> Waiter? {
        guard calls[number]?.peer == peer else { return nil }
        return remove(number)
    }

    /// Ends all calls to a peer, and returns their waiters in call order.
    mutating func endAll(of peer: Peer) -> [Waiter] {
        calls.filter { $0.value.peer == peer }.keys.sorted().compactMap { remove($0) }
    }

    /// Ends the calls whose deadline has passed, in call order.
    mutating func expire(at now: Duration) -> [(number: UInt64, peer: Peer, waiter: Waiter)] {
        calls.filter { $0.value.deadline <= now }.sorted { $0.key < $1.key }.map { number, call in
            _ = remove(number)
            return (number, call.peer, call.waiter)
        }
    }

    private mutating func remove(_ number: UInt64) -> Waiter? {
        guard let call = calls.removeValue(forKey: number) else { return nil }
        counts[call.peer, default: 1] -= 1
        if counts[call.peer] == 0 { counts[call.peer] = nil }
        return call.waiter
    }
}
