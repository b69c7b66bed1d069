public import Foundation

/// Receives the events of an ``MCNearbyServiceAdvertiser``, on a private serial queue of the advertiser.
///
/// Counterpart: `MCNearbyServiceAdvertiserDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
    /// A peer invites this one to a session.
    ///
    /// - Parameters:
    ///   - advertiser: The advertiser of this peer.
    ///   - peerID: The inviter.
    ///   - context: Bytes from the inviter. They are not trusted.
    ///   - invitationHandler: Call it once, on any thread, with `true` and a session of the same peer, or with `false` and `nil`. If it is
    ///     never called, the invitation times out.
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
