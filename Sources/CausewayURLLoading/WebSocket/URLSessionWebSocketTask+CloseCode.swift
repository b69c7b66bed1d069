internal import CausewayWire
internal import Foundation

extension URLSessionWebSocketTask {
    /// The status code in a close frame (RFC 6455 §7.4).
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum CloseCode: RawRepresentable, Hashable, Sendable {
        /// The WebSocket has not been closed.
        case invalid
        /// The WebSocket was closed normally.
        case normalClosure
        /// The endpoint is going away.
        case goingAway
        /// A protocol error occurred.
        case protocolError
        /// The endpoint received a type of data that it does not accept, for example binary data.
        case unsupportedData
        /// The close frame contained no status code.
        case noStatusReceived
        /// The connection ended without a close frame.
        case abnormalClosure
        /// The data in a message is not consistent with the message type.
        case invalidFramePayloadData
        /// A message violated a policy.
        case policyViolation
        /// A message was too big.
        case messageTooBig
        /// The server did not negotiate a required extension.
        case mandatoryExtensionMissing
        /// The server encountered an unexpected condition.
        case internalServerError
        /// The TLS handshake failed.
        case tlsHandshakeFailure
        /// A code without a name, for example an application code from 4000 to 4999. Create it with ``init(rawValue:)``.
        case other(Int)

        private static let named: [(number: Int, code: CloseCode)] = [
            (0, .invalid), (1000, .normalClosure), (1001, .goingAway), (1002, .protocolError), (1003, .unsupportedData),
            (1005, .noStatusReceived), (1006, .abnormalClosure), (1007, .invalidFramePayloadData),
            (1008, .policyViolation), (1009, .messageTooBig), (1010, .mandatoryExtensionMissing),
            (1011, .internalServerError), (1015, .tlsHandshakeFailure),
        ]

        /// Creates a code. Never returns `nil`, as on Apple platforms.
        public init?(rawValue: Int) { self.init(number: rawValue) }

        init(number: Int) { self = Self.named.first { $0.number == number }?.code ?? .other(number) }

        /// Returns whether two codes have the same number.
        public static func == (one: CloseCode, other: CloseCode) -> Bool { one.rawValue == other.rawValue }

        /// Hashes the number.
        public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

        /// The code's number.
        public var rawValue: Int {
            switch self {
            case .other(let number): number
            case .invalid: 0
            case .normalClosure: 1000
            case .goingAway: 1001
            case .protocolError: 1002
            case .unsupportedData: 1003
            case .noStatusReceived: 1005
            case .abnormalClosure: 1006
            case .invalidFramePayloadData: 1007
            case .policyViolation: 1008
            case .messageTooBig: 1009
            case .mandatoryExtensionMissing: 1010
            case .internalServerError: 1011
            case .tlsHandshakeFailure: 1015
            }
        }
    }
}

/// A close frame's code and reason, in the types that the public properties `closeCode` and `closeReason` use.
struct WebSocketCloseReport: Sendable {
    var code: URLSessionWebSocketTask.CloseCode
    var reason: Data?

    init(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data? = nil) {
        self.code = code
        self.reason = reason
    }

    /// Converts a received close frame.
    init(_ frame: WebSocketClosing) {
        self.init(
            .init(number: Int((frame.code ?? .noStatusReceived).rawValue)),
            frame.reason.isEmpty ? nil : Data(frame.reason.utf8))
    }

    /// The close frame to send. A code that a frame must not contain is left out, together with the reason.
    var frame: WebSocketClosing {
        guard let number = UInt16(exactly: code.rawValue) else { return WebSocketClosing() }
        let code = WebSocketCloseCode(rawValue: number)
        guard code.isAllowedOnWire else { return WebSocketClosing() }
        return WebSocketClosing(code: code, reason: String(decoding: reason ?? Data(), as: UTF8.self))
    }
}
