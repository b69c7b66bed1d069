public import Foundation

/// Receives the events of an ``MCNearbyServiceBrowser``, on a private serial queue of the browser.
///
/// Counterpart: `MCNearbyServiceBrowserDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
    /// A peer advertises the service. Called again when its discovery info changes.
    ///
    /// - Parameters:
    ///   - browser: The browser that found the peer.
    ///   - peerID: The peer.
    ///   - info: The discovery info of the peer, which is not trusted; `nil` if it is empty.
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
