internal import CausewayTypes

/// WebSocket (RFC 6455): a namespace.
///
/// Messages of text and of bytes over a stream, in either direction. Extensions of the protocol, such as compression, are not
/// offered and not accepted.
///
/// Counterpart: macOS 10.15, iOS 13.
// SAFETY: no stored properties.
public class NWProtocolWebSocket: NWProtocol, @unchecked Sendable {
    /// The identity of WebSocket.
    public static let definition = NWProtocolDefinition(name: "websocket")

    /// A version of the protocol.
    public enum Version: Equatable, Hashable, Sendable {
        /// That of RFC 6455 §4.1.
        case version13
    }

    /// A kind of frame (RFC 6455 §5.2).
    public enum Opcode: UInt8, Equatable, Hashable, Sendable {
        /// The rest of a message. Programs never see it: messages are put together for them.
        case cont = 0
        /// A message that is UTF-8 text.
        case text = 1
        /// A message of any bytes.
        case binary = 2
        /// The end of the conversation.
        case close = 8
        /// A question whether the peer is there.
        case ping = 9
        /// The answer to a ping.
        case pong = 10
    }
}

extension NWProtocolWebSocket {
    /// Why a conversation ended (RFC 6455 §7.4).
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum CloseCode: Equatable, Sendable {
        /// A code that the protocol defines.
        case protocolCode(NWProtocolWebSocket.CloseCode.Defined)
        /// A registered code: 3000 to 3999.
        case applicationCode(UInt16)
        /// A code of the program's own: 4000 to 4999.
        case privateCode(UInt16)

        /// The codes that the protocol defines (RFC 6455 §7.4.1).
        public enum Defined: UInt16, Equatable, Hashable, Sendable {
            /// All is done.
            case normalClosure = 1000
            /// The server stops, or the page was left.
            case goingAway = 1001
            /// The peer broke the protocol.
            case protocolError = 1002
            /// The peer sent a kind of message that cannot be used.
            case unsupportedData = 1003
            /// The close frame had no code. Never sent.
            case noStatusReceived = 1005
            /// There was no close frame. Never sent.
            case abnormalClosure = 1006
            /// The bytes of a message were not what its kind says, such as no UTF-8.
            case invalidFramePayloadData = 1007
            /// The peer broke a rule that has no code of its own.
            case policyViolation = 1008
            /// A message was too large.
            case messageTooBig = 1009
            /// The server did not agree to an extension that the client needs.
            case mandatoryExtension = 1010
            /// The server cannot go on.
            case internalServerError = 1011
            /// TLS could not be established. Never sent.
            case tlsHandshake = 1015
        }

        /// Finds the case of a number.
        ///
        /// - Throws: `.posix(.EINVAL)` for numbers below 3000 that the protocol does not define, and for those from
        ///   5000.
        public init(rawValue: UInt16) throws {
            switch rawValue {
            case 3000...3999: self = .applicationCode(rawValue)
            case 4000...4999: self = .privateCode(rawValue)
            default:
                guard let defined = Defined(rawValue: rawValue) else { throw NWError.posix(.EINVAL) }
                self = .protocolCode(defined)
            }
        }

        /// The number on the wire.
        package var number: UInt16 {
            switch self {
            case .protocolCode(let code): code.rawValue
            case .applicationCode(let code), .privateCode(let code): code
            }
        }
    }

    /// A server's answer to a client's request.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct Response: Sendable {
        /// Whether the client is let in.
        public enum Status: Equatable, Hashable, Sendable {
            /// Yes: 101 Switching Protocols.
            case accept
            /// No: 400 Bad Request.
            case reject
        }

        /// Whether the client is let in.
        public let status: NWProtocolWebSocket.Response.Status
        /// The chosen one of the subprotocols that the client offered; `nil` for none.
        public let subprotocol: String?
        /// Header fields to add to the answer.
        public let additionalHeaders: [(name: String, value: String)]?

        /// Makes an answer.
        public init(
            status: NWProtocolWebSocket.Response.Status, subprotocol: String?,
            additionalHeaders: [(name: String, value: String)]? = nil
        ) {
            self.status = status
            self.subprotocol = subprotocol
            self.additionalHeaders = additionalHeaders
        }
    }
}
