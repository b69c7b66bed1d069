package import CausewayPeers

/// Carries the frames of an actor system: messages between members of a session, each once and in order.
///
/// A session carries them in production, and a queue in tests.
package protocol PeerActorTransport: Sendable {
    /// The local peer.
    var me: PeerIdentity { get }
    /// The members, without the local peer.
    var members: [PeerIdentity] { get }

    /// Reports events to a handler, one at a time, until ``detach()``. The handler does not block.
    func attach(_ handler: @escaping @Sendable (PeerActorTransportEvent) -> Void)
    func detach()

    /// Sends a frame. Suspends while too much waits for the peer.
    ///
    /// - Throws: An error if the peer is no member.
    func send(_ frame: [UInt8], to peer: PeerIdentity) async throws
}

/// An event of a transport.
package enum PeerActorTransportEvent: Sendable {
    case joined(PeerIdentity)
    case left(PeerIdentity, reason: String)
    case frame([UInt8], from: PeerIdentity)
}

/// Tells the time, and calls at a time.
package protocol PeerActorClock: Sendable {
    /// Monotonic time since any fixed instant.
    var now: Duration { get }

    /// Calls `body` at a time, or soon after it, without blocking the caller.
    func wake(at time: Duration, _ body: @escaping @Sendable () -> Void)
}
