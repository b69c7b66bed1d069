public import Foundation

/// Receives the events of an ``MCBrowserViewController``, on the main thread.
///
/// Counterpart: `MCBrowserViewControllerDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCBrowserViewControllerDelegate: NSObjectProtocol {
    /// The user chose Done. Call ``MCBrowserViewController/dismiss(animated:completion:)``.
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController)

    /// The user cancelled, or there is no terminal. Call ``MCBrowserViewController/dismiss(animated:completion:)``.
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController)

    /// Decides whether a peer that was found is listed.
    func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool
}

extension MCBrowserViewControllerDelegate {
    /// Default implementation: lists every peer.
    public func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool { true }
}
