/// The calls of the local actor system that wait for their replies.
///
/// `Waiter` is a continuation in production and an integer in tests. Each waiter is handed out exactly once.
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

    /// The number of calls that wait for a peer.
    package func count(of peer: Peer) -> Int { counts[peer] ?? 0 }

    /// The time at which the next call is given up.
    package var deadline: Duration? { calls.values.lazy.map(\.deadline).min() }

    /// Adds a call, and returns its number.
    mutating func add(_ peer: Peer, _ waiter: Waiter, until deadline: Duration) -> UInt64 {
        newest &+= 1
        calls[newest] = Call(peer: peer, waiter: waiter, deadline: deadline)
        counts[peer, default: 0] += 1
        return newest
    }

    /// Ends a call. `nil` if it ended before, or if it is a call to another peer.
    mutating func end(_ number: UInt64, of peer: Peer) -> Waiter? {
        guard calls[number]?.peer == peer else { return nil }
        return remove(number)
    }

    /// Ends the calls to a peer, in the order in which they were added.
    mutating func endAll(of peer: Peer) -> [Waiter] {
        calls.filter { $0.value.peer == peer }.keys.sorted().compactMap { remove($0) }
    }

    /// Ends the calls whose deadline has passed.
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
