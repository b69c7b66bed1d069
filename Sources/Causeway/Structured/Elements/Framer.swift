package import CausewayRuntime
public import FoundationEssentials

/// Gives a framer's definition to ``Framer``.
///
/// Counterpart: macOS 26, iOS 26.
public protocol FramerProtocol {
    /// The identity of the framer.
    static var definition: NWProtocolFramer.Definition { get }
}

/// A framer of the program's own in a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct Framer<T>: MessageProtocol where T: FramerProtocol {
    public typealias BelowProtocol = any NetworkProtocolOptions
    public typealias ContentType = Data
    public typealias LegacyMessage = (Data, Framer<T>.Metadata)
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// What is told of a received message.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// What the framer tells of it.
        public let framer: NWProtocolFramer.Message
        /// Whether the message is whole.
        public let isComplete: Bool
        /// Whether the peer sends no other message.
        public let lastMessage: Bool
        private let lower: LowerProtocols
        private let given: [NWProtocolMetadata]

        /// The metadata of the protocols below, one object for each: the transport's first, then from the bottom up.
        public var other: [NWProtocolMetadata] { given + lower.metadata }

        /// Makes the description of a message.
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

    /// The options of the framer. Copies of the element share them until one is given others.
    public var options = NWProtocolFramer.Options(definition: T.definition)
    private let stack: any StackElement

    private init(_ below: any NetworkProtocolOptions) {
        stack = below.stackElement
    }

    /// Makes an element over a stream.
    public init<BelowProtocol>(@ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol)
    where BelowProtocol: StreamProtocol {
        self.init(builder())
    }

    /// Makes an element over messages.
    public init<BelowProtocol>(@ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol)
    where BelowProtocol: MessageProtocol {
        self.init(builder())
    }

    /// Makes an element of a framer over a stream.
    public init<BelowProtocol>(
        using framer: T.Type, @ProtocolStackBuilder<BelowProtocol> _ builder: () -> BelowProtocol
    ) where BelowProtocol: StreamProtocol {
        self.init(builder())
    }

    /// Makes an element of a framer over messages.
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
