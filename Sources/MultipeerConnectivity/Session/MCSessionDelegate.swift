public import Foundation

/// Receives the events of an ``MCSession``, on a private serial queue of the session.
///
/// For each peer the order is: ``session(_:peer:didChange:)`` with `connecting`, the same with `connected`, then data, streams and resources,
/// and at the end `notConnected`. Do not block the queue for long: while 4 MiB wait for the delegate, the peer must wait.
///
/// Counterpart: `MCSessionDelegate`, macOS 10.10, iOS 7.
@preconcurrency public protocol MCSessionDelegate: NSObjectProtocol {
    /// The state of a peer changed. ``MCSession/connectedPeers`` already shows the change.
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState)

    /// A message arrived.
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID)

    /// A peer opened a stream of bytes. Keep the stream, set its delegate, schedule it in a run loop, and open it.
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID)

    /// A peer starts to send a resource. Cancel it by the progress.
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress)

    /// A resource is complete or failed. The file is temporary: move it, because it is deleted when the method returns.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - resourceName: The name that the sender gave.
    ///   - peerID: The sender.
    ///   - localURL: The file; `nil` after an error.
    ///   - error: An ``MCError``; `nil` if the resource is complete.
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?)

    /// Judges the certificates of a peer, which were not validated. The connection waits until the handler is called.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - certificate: Values of type `SecCertificate`, the peer's own first; `nil` if the peer has no certificates.
    ///   - peerID: The peer.
    ///   - certificateHandler: Call it once, on any thread, with whether the peer is accepted.
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
