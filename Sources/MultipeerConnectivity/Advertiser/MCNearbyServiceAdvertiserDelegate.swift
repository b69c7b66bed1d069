public import Foundation

/// Receives ``MCNearbyServiceAdvertiser`` events, on the advertiser's private serial queue.
///
/// Counterpart: `MCNearbyServiceAdvertiserDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
    /// A peer invites the local peer to a session.
    ///
    /// - Parameters:
    ///   - advertiser: The local peer's advertiser.
    ///   - peerID: The inviter.
    ///   - context: The invitation's context: data from the inviter. Do not trust it.
    ///   - invitationHandler: Call it once, on any thread. To accept, pass `true` and a session that was created with
    ///     the advertised peer as its local peer. To decline, pass `false` and `nil`. If the handler is never called,
    ///     the invitation times out.
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void)

    /// Advertising failed. The error is an ``MCError``.
    func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error)
}

extension MCNearbyServiceAdvertiserDelegate {
    /// Default implementation: does nothing.
    public func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {}
}
