public import Foundation

/// Receives ``MCNearbyServiceBrowser`` events, on the browser's private serial queue.
///
/// Counterpart: `MCNearbyServiceBrowserDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
    /// A peer advertises the service. The method is called again when the peer's discovery info changes.
    ///
    /// - Parameters:
    ///   - browser: The browser that found the peer.
    ///   - peerID: The peer.
    ///   - info: The peer's discovery info; `nil` if it is empty. Do not trust it.
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?)

    /// A peer no longer advertises the service.
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID)

    /// Browsing failed. The error is an ``MCError``.
    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error)
}

extension MCNearbyServiceBrowserDelegate {
    /// Default implementation: does nothing.
    public func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {}
}
