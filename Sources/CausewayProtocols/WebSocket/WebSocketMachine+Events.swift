package import CausewayWire

extension WebSocketMachine {
    package enum Role: Sendable {
        /// A client that sends this upgrade request. ``WebSocketMachine`` sets ``UpgradeRequest/key``.
        case client(UpgradeRequest)
        case server
    }

    package struct Configuration: Sendable {
        /// Whether ``WebSocketMachine`` answers pings itself instead of delivering them to the program.
        package var repliesToPings = false
        /// The maximum received message size in bytes; 0 for no limit. Messages are delivered in parts, so even a long
        /// message needs only about ``inputLimit`` bytes of memory.
        package var maximumMessageSize = 0
        /// Whether to skip the opening handshake, because the connection has already been upgraded.
        package var skipsHandshake = false
        /// The maximum payload of a sent frame in bytes; 0 for no limit. Longer messages are fragmented.
        package var fragmentSize = 0
        /// The compression to negotiate in the handshake; `nil` for none. If the handshake is skipped, see ``compress(with:)``.
        package var compression: WebSocketCompression?

        package init() {}
    }

    /// Why a connection ended without a close handshake.
    package enum Failure: Error, Equatable, Sendable {
        case handshake(UpgradeError)
        /// The peer violated RFC 6455 §5; the close code is 1002. The text describes the violation.
        case protocolError(String)
        /// A text message is not UTF-8; the close code is 1007.
        case invalidText
        /// A message is longer than the configuration permits; the close code is 1009 (RFC 6455 §10.4).
        case messageTooBig
        /// The stream ended during the handshake or inside a message.
        case endedEarly
        /// The stream ended between two messages, without a close frame (RFC 6455 §7.1.4, §7.1.5).
        case endedUnclosed
        /// This side ended the connection. There are three possible reasons: it called ``WebSocketMachine/abort()``, it
        /// closed the connection before the handshake was complete, or its compressor failed.
        case aborted

        /// A description of the failure, without a period.
        package var explanation: String {
            switch self {
            case .handshake(let error): error.explanation
            case .protocolError(let violation): "invalid frame: \(violation)"
            case .invalidText: "a text message is not UTF-8"
            case .messageTooBig: "a message is too long"
            case .endedEarly: "the connection ended inside a message"
            case .endedUnclosed: "the connection ended without a close frame"
            case .aborted: "the connection was closed"
            }
        }
    }

    package enum Event: Sendable {
        /// Server only: call ``respond(_:)`` to accept or refuse the request. The handshake waits for this call.
        case requested(UpgradeRequest)
        /// The connection is open. The response is `nil` if the handshake was skipped.
        case opened(UpgradeResponse?)
        /// Part of a text or binary message. Each message has one or more parts. `endsMessage` is `true` for the last
        /// part.
        case content(WebSocketOpcode, ByteChain, endsMessage: Bool)
        case ping([UInt8])
        /// A pong arrived that answers no ping with a token.
        case pong([UInt8])
        /// The peer answered the ping that has this token, or answered a later ping.
        case pingAnswered(UInt64)
        /// The ping with this token was dropped, or the connection ended before its pong arrived.
        case pingLost(UInt64)
        /// The peer sent this close frame. ``WebSocketMachine`` answers with a close frame, unless it has already sent
        /// one.
        case closed(WebSocketClosing)
        /// The connection has ended. This is the last event. Close the transport after the remaining output is sent. The failure is `nil`
        /// after a complete close handshake.
        case ended(Failure?)
    }
}
