public import Foundation

/// Receives the events of WebSocket tasks.
///
/// Counterpart: macOS 10.15, iOS 13.
@preconcurrency public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// Called when the opening handshake succeeded. `protocol` is the server's choice of subprotocol.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)

    /// Called when the peer sent a close frame.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

extension URLSessionWebSocketDelegate {
    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        _ = DelegateProbe.misses(self, .opened)
    }

    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        _ = DelegateProbe.misses(self, .closed)
    }
}
