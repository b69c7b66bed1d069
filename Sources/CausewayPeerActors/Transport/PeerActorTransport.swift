package import CausewayPeers

/// Carries an actor system's frames between session members, each once and in order.
///
/// A session implements it in production, and a queue in tests.
package protocol PeerActorTransport: Sendable {
    /// The local peer.
    var me: PeerIdentity { get }
    /// The members, without the local peer.
    var members: [PeerIdentity] { get }

    /// Reports events to `handler`, one at a time, until ``detach()``. The handler must not block.
    func attach(_ handler: @escaping @Sendable (PeerActorTransportEvent) -> Void)
    func detach()

    /// Sends a frame. Suspends while the peer's queue is full.
    ///
    /// - Throws: An error if the peer is not a member.
    func send(_ frame: [UInt8], to peer: PeerIdentity) async throws
}

/// A transport event.
package enum PeerActorTransportEvent: Sendable {
    case joined(PeerIdentity)
    case left(PeerIdentity, reason: String)
    case frame([UInt8], from: PeerIdentity)
}

/// A clock with timers.
package protocol PeerActorClock: Sendable {
    /// Monotonic time since any fixed instant.
    var now: Duration { get }

    /// Calls `body` at `time` or soon after it. Does not block the caller.
    func wake(at time: Duration, _ body: @escaping @Sendable () -> Void)
}
