public import Causeway
internal import CausewaySystem
public import Foundation

/// A task for a WebSocket (RFC 6455): an HTTP/1.1 request that opens the connection, then messages in both directions.
///
/// The URL has the scheme `ws` or `wss`; `http` and `https` mean the same. Redirects, challenges, cookies, proxies and the request's fields
/// apply to the handshake as to other tasks. The request timeout ends with the handshake. Each task has its own connection.
///
/// Messages that are sent before the connection is open wait until it is open. Handshake and connection errors are
/// `URLError`s. If the server refuses the WebSocket, the error is `badServerResponse`, and ``URLSessionTask/response``
/// is the server's response. WebSocket errors are `POSIXError`s, as on Apple platforms: `EMSGSIZE` for a message that
/// is too long, `EPROTO` if the peer violates the protocol, `ENOTCONN` for operations after the peer closed the
/// WebSocket. Messages that arrived before the peer closed the WebSocket can still be received.
///
/// The connection is not read while 64 KiB wait for ``receive()``. The peer's pings are answered.
///
/// Counterpart: macOS 10.15, iOS 13.
// SAFETY: a lock guards the stored property; see `URLSessionTask`.
@preconcurrency open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// A WebSocket message.
    public enum Message: Sendable {
        /// Binary data.
        case data(Data)
        /// Text.
        case string(String)
    }

    /// Message compression settings, see ``URLSessionConfiguration/webSocketCompression``.
    ///
    /// Counterpart: none.
    public typealias Compression = NWProtocolWebSocket.Compression

    private let messageLimit = LockedValue(WebSocketConversation.defaultMessageLimit)

    private var channel: WebSocketChannel? { core?.webSocket }

    /// Sends a message. The completion handler is called on the delegate queue when the message has been passed to the network. Messages
    /// are sent in call order.
    open func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard let channel else { return callUnsupported(completionHandler) }
        channel.send(message, completionHandler)
    }

    /// Sends a message and waits until it has been passed to the network.
    ///
    /// Cancellation: has no effect; cancel the URL task.
    public func send(_ message: Message) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            send(message) { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Receives a message and passes it to a completion handler on the delegate queue. Several calls receive messages in call order.
    open func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        guard let channel else { return callUnsupported { completionHandler(.failure($0)) } }
        channel.receive(completionHandler)
    }

    /// Receives a message.
    ///
    /// Cancellation: has no effect; cancel the URL task.
    public func receive() async throws -> Message {
        try await withCheckedThrowingContinuation { continuation in
            receive { continuation.resume(with: $0) }
        }
    }

    /// Sends a ping and calls a completion handler on the delegate queue when the pong arrives, or with an error if the task ends first.
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard let channel else { return callUnsupported(pongReceiveHandler) }
        channel.ping(pongReceiveHandler)
    }

    /// Sends a ping and waits for the pong.
    public func sendPing() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            sendPing { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Sends earlier messages and a close frame, waits at most five seconds for the peer's close frame, and then completes the task with
    /// `URLError.cancelled`. Messages that arrive meanwhile are discarded.
    ///
    /// - Parameters:
    ///   - closeCode: The close code. A code that a frame must not contain, such as ``CloseCode/invalid``, is left out.
    ///   - reason: The reason in UTF-8. At most 123 bytes are sent.
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        guard let core else { return }
        core.closeWebSocket(closeCode, reason)
    }

    /// The maximum size of a received message in bytes; 0 for no limit. The default is 1 MiB. A longer message ends the task with
    /// `POSIXError.EMSGSIZE`.
    open var maximumMessageSize: Int {
        get { messageLimit.withLock { $0 } }
        set {
            messageLimit.withLock { $0 = newValue }
            channel?.limitMessages(to: newValue)
        }
    }

    /// The close code that the peer sent, or that the program passed to ``cancel(with:reason:)``; ``CloseCode/abnormalClosure`` if the connection
    /// was lost. Otherwise ``CloseCode/invalid``.
    open var closeCode: CloseCode { channel?.closing?.code ?? .invalid }

    /// The close reason for ``closeCode``; `nil` if there is none.
    open var closeReason: Data? { channel?.closing?.reason }
}
