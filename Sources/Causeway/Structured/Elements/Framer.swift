package import CausewayRuntime
public import FoundationEssentials

/// Provides a framer definition for ``Framer``.
///
/// Counterpart: macOS 26, iOS 26.
public protocol FramerProtocol {
    /// The definition of the framer.
    static var definition: NWProtocolFramer.Definition { get }
}

/// An element for a program-defined framer.
///
/// Counterpart: macOS 26, iOS 26.
public struct Framer<T>: MessageProtocol where T: FramerProtocol {
    /// The type of the stack element below this element.
    public typealias BelowProtocol = any NetworkProtocolOptions
    /// The content type of a message.
    public typealias ContentType = Data
    /// A message as a tuple of content and metadata.
    public typealias LegacyMessage = (Data, Framer<T>.Metadata)
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for a received message.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// The framer's metadata for the message.
        public let framer: NWProtocolFramer.Message
        /// Whether the message is complete.
        public let isComplete: Bool
        /// Whether the peer sends no more messages.
        public let lastMessage: Bool
        private let lower: LowerProtocols
        private let given: [NWProtocolMetadata]

        /// Metadata from the protocols below, one object per protocol, transport first.
        public var other: [NWProtocolMetadata] { given + lower.metadata }

        /// Creates metadata for a message.
        public init(
            framer: NWProtocolFramer.Message, isComplete: Bool, lastMessage: Bool, other: [NWProtocolMetadata]?
        ) {
            self.framer = framer
            self.isComplete = isComplete
            self.lastMessage = lastMessage
            given = other ?? []
            lower = LowerProtocols()
        }

        package init(framer: NWProtocolFramer.Message, _ received: ReceivedContent, _ lower: LowerProtocols) {
            self.framer = framer
            isComplete = received.isComplete
            lastMessage = received.isFinal
            given = []
            self.lower = lower
        }
    }

    /// The options of the framer. Copies of the element share the options until one copy sets different options.
    public var options = NWProtocolFramer.Options(definition: T.definition)
    private let stack: any StackElement

    private init(_ below: any NetworkProtocolOptions) {
        stack = below.stackElement
    }

    /// Creates an element over a stream.
    public init<BelowProtocol>(@ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol)
    where BelowProtocol: StreamProtocol {
        self.init(builder())
    }

    /// Creates an element over a message protocol.
    public init<BelowProtocol>(@ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol)
    where BelowProtocol: MessageProtocol {
        self.init(builder())
    }

    /// Creates an element for a framer, over a stream.
    public init<BelowProtocol>(
        using framer: T.Type, @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: StreamProtocol {
        self.init(builder())
    }

    /// Creates an element for a framer, over a message protocol.
    public init<BelowProtocol>(
        using framer: T.Type, @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: MessageProtocol {
        self.init(builder())
    }
}

extension Framer: StackElement {
    package var layer: StackLayers.Layer { .application(options.copyOptions()) }
    package var below: (any StackElement)? { stack }
}
