internal import CausewayTypes

/// The WebSocket protocol (RFC 6455). This class is a namespace.
///
/// WebSocket carries text and binary messages over a byte stream, in both directions. The only supported extension is message compression;
/// see ``Options/compression``.
///
/// Counterpart: macOS 10.15, iOS 13.
// SAFETY: the class has no stored properties.
public class NWProtocolWebSocket: NWProtocol, @unchecked Sendable {
    /// The definition that identifies WebSocket in a protocol stack.
    public static let definition = NWProtocolDefinition(name: "websocket")

    /// A version of the protocol.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum Version: Equatable, Hashable, Sendable {
        /// Version 13 (RFC 6455 §4.1).
        case version13
    }

    /// The type of a frame (RFC 6455 §5.2).
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum Opcode: UInt8, Equatable, Hashable, Sendable {
        /// A continuation frame. Programs never receive this type, because the connection reassembles messages.
        case cont = 0
        /// A UTF-8 text message.
        case text = 1
        /// A binary message.
        case binary = 2
        /// A request to close the connection, or the reply to one.
        case close = 8
        /// A request for a pong, to check that the peer responds.
        case ping = 9
        /// The reply to a ping.
        case pong = 10
    }
}

extension NWProtocolWebSocket {
    /// The reason for closing a connection (RFC 6455 §7.4).
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum CloseCode: Equatable, Sendable {
        /// A code that RFC 6455 defines.
        case protocolCode(NWProtocolWebSocket.CloseCode.Defined)
        /// A registered code, from 3000 to 3999 (RFC 6455 §7.4.2).
        case applicationCode(UInt16)
        /// A private code of the application, from 4000 to 4999 (RFC 6455 §7.4.2).
        case privateCode(UInt16)

        /// The protocol-defined codes (RFC 6455 §7.4.1).
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public enum Defined: UInt16, Equatable, Hashable, Sendable {
            /// Normal closure: the connection is no longer needed.
            case normalClosure = 1000
            /// The server is shutting down, or the browser has left the page.
            case goingAway = 1001
            /// The peer violated the protocol.
            case protocolError = 1002
            /// The peer sent a type of message that the receiver does not support.
            case unsupportedData = 1003
            /// The peer's close frame contained no code. Close frames never contain this code.
            case noStatusReceived = 1005
            /// The connection ended without a close frame. This code is never sent.
            case abnormalClosure = 1006
            /// A message's content did not match its type, for example a text message that is not valid UTF-8.
            case invalidFramePayloadData = 1007
            /// The peer violated a policy for which there is no more specific code.
            case policyViolation = 1008
            /// A message was too large.
            case messageTooBig = 1009
            /// The server did not agree to an extension that the client requires.
            case mandatoryExtension = 1010
            /// An unexpected condition prevents the server from continuing.
            case internalServerError = 1011
            /// The TLS handshake failed. This code is never sent.
            case tlsHandshake = 1015
        }

        /// Creates the close code for a number.
        ///
        /// - Throws: `NWError.posix` with `EINVAL` for numbers below 3000 that the protocol does not define, and for numbers from
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

    /// A server's response to a client's handshake request.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct Response: Sendable {
        /// Whether the server accepts the client.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public enum Status: Equatable, Hashable, Sendable {
            /// The server accepts the client: 101 Switching Protocols.
            case accept
            /// The server rejects the client: 400 Bad Request.
            case reject
        }

        /// Whether the server accepts the client.
        public let status: NWProtocolWebSocket.Response.Status
        /// The chosen subprotocol from the client's offer; `nil` for none.
        public let subprotocol: String?
        /// Additional header fields for the response.
        public let additionalHeaders: [(name: String, value: String)]?

        /// Creates a response.
        ///
        /// - Parameters:
        ///   - status: Whether the server accepts the client.
        ///   - subprotocol: One of the client's offered subprotocols; `nil` for none.
        ///   - additionalHeaders: Additional header fields.
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
