internal import CausewaySystem
public import Foundation

/// A task for a WebSocket (RFC 6455). Not supported: its calls fail with `URLError.unsupportedURL`.
///
/// Counterpart: macOS 10.15, iOS 13.
// SAFETY: the stored property is behind a lock; see `URLSessionTask`.
@preconcurrency open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// Why a WebSocket was closed (RFC 6455 §7.4).
    public enum CloseCode: Int, Sendable {
        /// The WebSocket is not closed.
        case invalid = 0
        /// Its purpose is fulfilled.
        case normalClosure = 1000
        /// The endpoint goes away.
        case goingAway = 1001
        /// The peer violated the protocol.
        case protocolError = 1002
        /// The kind of data is not supported.
        case unsupportedData = 1003
        /// The close frame had no code.
        case noStatusReceived = 1005
        /// The connection ended without a close frame.
        case abnormalClosure = 1006
        /// A message did not have the form of its type.
        case invalidFramePayloadData = 1007
        /// A message violated a policy.
        case policyViolation = 1008
        /// A message was too big.
        case messageTooBig = 1009
        /// The server lacks an extension.
        case mandatoryExtensionMissing = 1010
        /// The server failed.
        case internalServerError = 1011
        /// The TLS handshake failed.
        case tlsHandshakeFailure = 1015
    }

    /// A message.
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

    /// Sends a ping. The handler is called when the pong arrives.
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        callUnsupported(pongReceiveHandler)
    }

    /// Sends a ping and waits for the pong.
    public func sendPing() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            sendPing { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Closes the WebSocket with a code and a reason, and ends the task.
    open func cancel(with closeCode: CloseCode, reason: Data?) { cancel() }

    /// The maximum size of a received message in bytes. Default 1 MiB.
    open var maximumMessageSize: Int {
        get { messageLimit.withLock { $0 } }
        set { messageLimit.withLock { $0 = newValue } }
    }

    /// The code with which the WebSocket was closed.
    open var closeCode: CloseCode { .invalid }

    /// The reason with which the WebSocket was closed.
    open var closeReason: Data? { nil }
}
