internal import CausewayProtocols
public import FoundationEssentials

/// Type-length-value messages, as an element of a stack: each message starts with its type and its length.
///
/// Counterpart: macOS 26, iOS 26.
public struct TLV: MessageProtocol {
    /// The type of the stack element below this element.
    public typealias BelowProtocol = any NetworkProtocolOptions
    /// The content type of a message.
    public typealias ContentType = Data
    /// A message as a tuple of content and metadata.
    public typealias LegacyMessage = (type: Int, content: Data, metadata: [NWProtocolMetadata]?, isFinal: Bool)
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for a received message.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// The message's type.
        public let type: Int
        /// The length of the message, in bytes.
        public let length: Int
        /// Whether the message is complete.
        public let isComplete: Bool
        /// Whether the peer sends no more messages.
        public let lastMessage: Bool
        package let lower: LowerProtocols

        /// Metadata from the protocols below, one object per protocol, transport first.
        public var other: [NWProtocolMetadata] { lower.metadata }
    }

    private let header: TLVHeader
    private let stack: any StackElement

    private init(_ below: any NetworkProtocolOptions, header: TLVHeader = TLVHeader()) {
        self.header = header
        stack = below.stackElement
    }

    /// Creates an element with a type and a length of four bytes each, over a stream.
    public init<BelowProtocol>(@ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol)
    where BelowProtocol: StreamProtocol {
        self.init(builder())
    }

    /// Creates an element with a type and a length of four bytes each, over a message protocol.
    public init<BelowProtocol>(@ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol)
    where BelowProtocol: MessageProtocol {
        self.init(builder())
    }

    /// Creates an element over a stream. The integer types determine the sizes of the type field and the length field.
    public init<T, L, BelowProtocol>(
        type: T.Type, length: L.Type, @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where T: Sendable, T: UnsignedInteger, L: Sendable, L: UnsignedInteger, BelowProtocol: StreamProtocol {
        self.init(builder(), header: .init(typeWidth: MemoryLayout<T>.size, lengthWidth: MemoryLayout<L>.size))
    }

    /// Creates an element over a message protocol. The integer types determine the sizes of the type field and the length field.
    public init<T, L, BelowProtocol>(
        type: T.Type, length: L.Type, @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where T: Sendable, T: UnsignedInteger, L: Sendable, L: UnsignedInteger, BelowProtocol: MessageProtocol {
        self.init(builder(), header: .init(typeWidth: MemoryLayout<T>.size, lengthWidth: MemoryLayout<L>.size))
    }
}

extension TLV: StackElement {
    package var layer: StackLayers.Layer { .application(TLVOptions(header: header)) }
    package var below: (any StackElement)? { stack }
}
