internal import CausewaySystem
public import Foundation

/// A task for a WebSocket (RFC 6455). Not supported: its operations fail with `URLError.unsupportedURL`.
///
/// Counterpart: macOS 10.15, iOS 13.
// SAFETY: a lock guards the stored property; see `URLSessionTask`.
@preconcurrency open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// The status code in a close frame (RFC 6455 §7.4).
    public enum CloseCode: Int, Sendable {
        /// The WebSocket has not been closed.
        case invalid = 0
        /// The WebSocket was closed normally.
        case normalClosure = 1000
        /// The endpoint is going away.
        case goingAway = 1001
        /// A protocol error occurred.
        case protocolError = 1002
        /// The kind of data is not supported.
        case unsupportedData = 1003
        /// The close frame contained no status code.
        case noStatusReceived = 1005
        /// The connection ended without a close frame.
        case abnormalClosure = 1006
        /// The data in a message is not consistent with the message type.
        case invalidFramePayloadData = 1007
        /// A message violated a policy.
        case policyViolation = 1008
        /// A message was too big.
        case messageTooBig = 1009
        /// The server did not negotiate a required extension.
        case mandatoryExtensionMissing = 1010
        /// The server encountered an unexpected condition.
        case internalServerError = 1011
        /// The TLS handshake failed.
        case tlsHandshakeFailure = 1015
    }

    /// A WebSocket message.
    public enum Message: Sendable {
        /// Binary data.
        case data(Data)
        /// Text.
        case string(String)
    }

    private let messageLimit = LockedValue(1 << 20)

    /// Sends a message.
    open func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        callUnsupported(completionHandler)
    }

    /// Sends a message.
    public func send(_ message: Message) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            send(message) { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Receives a message.
    open func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        callUnsupported { completionHandler(.failure($0)) }
    }

    /// Receives a message.
    public func receive() async throws -> Message {
        try await withCheckedThrowingContinuation { continuation in
            receive { continuation.resume(with: $0) }
        }
    }

    /// Sends a ping and calls a completion handler when the pong arrives.
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        callUnsupported(pongReceiveHandler)
    }

    /// Sends a ping and waits for the pong.
    public func sendPing() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            sendPing { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Cancels the task. The close code and the reason are ignored, because WebSocket is not supported.
    open func cancel(with closeCode: CloseCode, reason: Data?) { cancel() }

    /// The maximum size of a received message in bytes. The default is 1 MiB.
    open var maximumMessageSize: Int {
        get { messageLimit.withLock { $0 } }
        set { messageLimit.withLock { $0 = newValue } }
    }

    /// The close code of the WebSocket.
    open var closeCode: CloseCode { .invalid }

    /// The close reason of the WebSocket.
    open var closeReason: Data? { nil }
}
