package import CausewayPeers

/// Carries an actor system's frames between the members of a session. Each frame arrives exactly once, and the frames
/// arrive in order.
///
/// In production, a session implements this protocol. In tests, a queue implements it.
package protocol PeerActorTransport: Sendable {
    /// The local peer.
    var me: PeerIdentity { get }
    /// The members, without the local peer.
    var members: [PeerIdentity] { get }

    /// Reports events to `handler`, one at a time, until ``detach()``. The handler must not block.
    func attach(_ handler: @escaping @Sendable (PeerActorTransportEvent) -> Void)
    func detach()

    /// Sends a frame to a peer. Suspends while the queue for this peer is full.
    ///
    /// - Throws: An error if the peer is not a member.
    func send(_ frame: [UInt8], to peer: PeerIdentity) async throws
}

/// An event that the transport reports: a peer joined, a peer left, or a frame arrived.
package enum PeerActorTransportEvent: Sendable {
    case joined(PeerIdentity)
    case left(PeerIdentity, reason: String)
    case frame([UInt8], from: PeerIdentity)
}

/// A clock that can also call a closure at a given time.
package protocol PeerActorClock: Sendable {
    /// The current monotonic time, measured from an arbitrary fixed instant.
    var now: Duration { get }

    /// Calls `body` at `time` or soon after it. Does not block the caller.
    func wake(at time: Duration, _ body: @escaping @Sendable () -> Void)
}
