public import Foundation

/// Receives ``MCBrowserViewController`` events, on the main thread.
///
/// Counterpart: `MCBrowserViewControllerDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCBrowserViewControllerDelegate: NSObjectProtocol {
    /// The user chose Done. Call ``MCBrowserViewController/dismiss(animated:completion:)``.
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController)

    /// The user cancelled, browsing failed, or there is no terminal. Call ``MCBrowserViewController/dismiss(animated:completion:)``.
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController)

    /// Decides whether to list a found peer.
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
