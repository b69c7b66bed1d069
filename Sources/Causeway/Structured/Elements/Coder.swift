/// An element that sends and receives encoded values as messages.
///
/// Counterpart: macOS 26, iOS 26.
public struct Coder<Sending, Receiving, CoderType>: MessageProtocol
where Sending: Encodable, Receiving: Decodable, CoderType: NetworkCoder {
    /// The type of the stack element below this element.
    public typealias BelowProtocol = any NetworkProtocolOptions
    /// The content type of a message.
    public typealias ContentType = Receiving
    /// A message as a tuple of content and metadata.
    public typealias LegacyMessage = (
        content: Coder<Sending, Receiving, CoderType>.ContentType, metadata: [NWProtocolMetadata]?, isFinal: Bool
    )
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for a received value.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Whether the message is complete.
        public let isComplete: Bool
        /// Whether the peer sends no more messages.
        public let lastMessage: Bool
        package let lower: LowerProtocols

        /// Metadata from the protocols below, one object per protocol, transport first.
        public var other: [NWProtocolMetadata] { lower.metadata }
    }

    /// Creates an encoder for each sent value, and a decoder for each received value.
    package let coder: CoderType
    private let stack: any StackElement

    private init(_ coder: CoderType, over below: any NetworkProtocolOptions) {
        self.coder = coder
        stack = below.stackElement
    }

    /// Creates an element that sends values of one type and receives values of another, over a stream.
    public init<BelowProtocol>(
        sending: Sending.Type, receiving: Receiving.Type, using: CoderType,
        @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: StreamProtocol {
        self.init(using, over: builder())
    }

    /// Creates an element that sends values of one type and receives values of another, over datagrams.
    public init<BelowProtocol>(
        sending: Sending.Type, receiving: Receiving.Type, using: CoderType,
        @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: DatagramProtocol {
        self.init(using, over: builder())
    }

    /// Creates an element that receives values of one type and sends values of another, over a stream.
    public init<BelowProtocol>(
        receiving: Receiving.Type, sending: Sending.Type, using: CoderType,
        @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: StreamProtocol {
        self.init(using, over: builder())
    }

    /// Creates an element that receives values of one type and sends values of another, over datagrams.
    public init<BelowProtocol>(
        receiving: Receiving.Type, sending: Sending.Type, using: CoderType,
        @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: DatagramProtocol {
        self.init(using, over: builder())
    }
}

extension Coder where Sending: Decodable, Sending == Receiving {
    /// Creates an element that sends and receives values of one type, over a stream.
    public init<BelowProtocol>(
        _ type: Sending.Type, using: CoderType, @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: StreamProtocol {
        self.init(using, over: builder())
    }

    /// Creates an element that sends and receives values of one type, over datagrams.
    public init<BelowProtocol>(
        _ type: Sending.Type, using: CoderType, @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: DatagramProtocol {
        self.init(using, over: builder())
    }
}

extension Coder: StackElement {
    package var layer: StackLayers.Layer { .application(CoderOptions(coder: coder)) }
    package var below: (any StackElement)? { stack }
}
