public import Foundation

/// Receives ``MCSession`` events, on the session's private serial queue.
///
/// For each peer, the order is: ``session(_:peer:didChange:)`` with `connecting`, then with `connected`, then data,
/// streams and resources, and finally `notConnected`. Do not block the queue for long: while 4 MiB wait for the
/// delegate, the peer cannot send.
///
/// Counterpart: `MCSessionDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCSessionDelegate: NSObjectProtocol {
    /// A peer's state changed. ``MCSession/connectedPeers`` already shows the change.
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState)

    /// A message arrived.
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID)

    /// A peer opened a byte stream. Store a reference to the stream, set the stream's delegate, schedule the stream in
    /// a run loop, and open it.
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID)

    /// A peer starts to send a resource. Use the progress to cancel it.
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress)

    /// A resource is complete or failed. The file is temporary: move it, because it is deleted when the method returns.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - resourceName: The name from the sender.
    ///   - peerID: The sender.
    ///   - localURL: The file; `nil` after an error.
    ///   - error: An ``MCError``; `nil` if the resource is complete.
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?)

    /// Judges a peer's certificates, which have not been validated. The connection waits until the handler is called.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - certificate: `SecCertificate` values, the peer's own first; `nil` if the peer has no certificates.
    ///   - peerID: The peer.
    ///   - certificateHandler: Call it once, on any thread, with `true` to accept the peer.
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void)
}

extension MCSessionDelegate {
    /// Default implementation: accepts every peer.
    public func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        certificateHandler(true)
    }
}
