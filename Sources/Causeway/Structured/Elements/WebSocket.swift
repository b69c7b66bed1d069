public import FoundationEssentials

/// WebSocket (RFC 6455), as an element of a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct WebSocket: MessageProtocol {
    /// The type of the stack element below this element.
    public typealias BelowProtocol = any NetworkProtocolOptions
    /// The content type of a message.
    public typealias ContentType = Data
    /// A message as a tuple of content and metadata.
    public typealias LegacyMessage = (
        type: NWProtocolWebSocket.Opcode, content: Data, metadata: [NWProtocolMetadata]?, isFinal: Bool
    )
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for a received message.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// The kind of the message.
        public let opcode: NWProtocolWebSocket.Opcode
        /// The close code, in a `.close` message.
        public let closeCode: NWProtocolWebSocket.CloseCode?
        /// Whether the message is complete.
        public let isComplete: Bool
        /// Whether the peer sends no more messages.
        public let lastMessage: Bool
        package let lower: LowerProtocols

        /// Metadata from the protocols below, one object per protocol, transport first.
        public var other: [NWProtocolMetadata] { lower.metadata }
    }

    private var changes: [(NWProtocolWebSocket.Options) -> Void] = []
    private let stack: any StackElement

    private init(_ below: any NetworkProtocolOptions) {
        stack = below.stackElement
    }

    /// Creates an element with the default settings, over a stream.
    public init<BelowProtocol>(@ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol)
    where BelowProtocol: StreamProtocol {
        self.init(builder())
    }

    /// Creates an element with the default settings, over a message protocol.
    public init<BelowProtocol>(@ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol)
    where BelowProtocol: MessageProtocol {
        self.init(builder())
    }

    private func setting(_ change: @escaping (NWProtocolWebSocket.Options) -> Void) -> WebSocket {
        var copy = self
        copy.changes.append(change)
        return copy
    }

    /// Adds headers; see ``NWProtocolWebSocket/Options/setAdditionalHeaders(_:)``.
    public func additionalHeaders(_ headers: [(name: String, value: String)]) -> WebSocket {
        setting { $0.setAdditionalHeaders(headers) }
    }

    /// Sets the subprotocols; see ``NWProtocolWebSocket/Options/setSubprotocols(_:)``.
    public func subprotocols(_ subprotocols: [String]) -> WebSocket {
        setting { $0.setSubprotocols(subprotocols) }
    }

    /// Sets ``NWProtocolWebSocket/Options/autoReplyPing``.
    public func autoReplyPing(_ reply: Bool) -> WebSocket { setting { $0.autoReplyPing = reply } }

    /// Sets ``NWProtocolWebSocket/Options/skipHandshake``.
    public func skipHandshake(_ skip: Bool) -> WebSocket { setting { $0.skipHandshake = skip } }

    /// Sets ``NWProtocolWebSocket/Options/maximumMessageSize``.
    public func maximumMessageSize(_ size: Int) -> WebSocket { setting { $0.maximumMessageSize = size } }

    /// Sets ``NWProtocolWebSocket/Options/compression``.
    ///
    /// Counterpart: none.
    public func compression(_ compression: NWProtocolWebSocket.Compression? = NWProtocolWebSocket.Compression())
        -> WebSocket
    {
        setting { $0.compression = compression }
    }
}

extension WebSocket: StackElement {
    package var layer: StackLayers.Layer {
        let options = NWProtocolWebSocket.Options()
        for change in changes { change(options) }
        return .application(options)
    }
    package var below: (any StackElement)? { stack }
}
