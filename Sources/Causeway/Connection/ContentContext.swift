package import CausewayProtocols
extension NWConnection {
    /// One message: its place among others when sending, and what the protocols tell of it when received.
    ///
    /// Of a received context only ``isFinal`` and the metadata are meaningful.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: all stored properties are immutable and `Sendable`, here and in the subclass for groups.
    public class ContentContext: @unchecked Sendable {
        /// What the protocols tell of the message.
        private enum Metadata {
            case objects([NWProtocolMetadata])
            /// Made into objects when asked for: most programs never ask, and one context then serves all datagrams
            /// with the same header fields.
            case datagram(DatagramHeader)
        }

        /// A name for logs.
        public let identifier: String

        /// Milliseconds after which content that has not begun to leave is dropped; 0 for never.
        public let expirationMilliseconds: UInt64

        /// The place among waiting messages, from 0.0 to 1.0: a higher one goes first.
        public let relativePriority: Double

        /// Whether this is the last message in its direction.
        ///
        /// Completing a final message closes the sending side. A received one, when complete, says that the peer did.
        public let isFinal: Bool

        /// The message that must have been sent before this one. If that failed, this one fails too.
        public let antecedent: NWConnection.ContentContext?

        private let metadata: Metadata

        /// Follows the message through the queues; `nil` for the shared contexts, whose every content is a message of its own.
        package let ticket: MessageTicket?

        /// Describes a message to send.
        ///
        /// - Parameters:
        ///   - identifier: A name for logs.
        ///   - expiration: Milliseconds after which it is dropped if it has not begun to leave; 0 for never.
        ///   - priority: From 0.0 to 1.0. Higher goes first.
        ///   - isFinal: Whether completing it closes the sending side.
        ///   - antecedent: The message that must have been sent before this one.
        ///   - metadata: What to tell the protocols; of several for one protocol the last counts.
        public init(
            identifier: String, expiration: UInt64 = 0, priority: Double = 0.5, isFinal: Bool = false,
            antecedent: NWConnection.ContentContext? = nil, metadata: [NWProtocolMetadata]? = []
        ) {
            self.identifier = identifier
            expirationMilliseconds = expiration
            relativePriority = priority
            self.isFinal = isFinal
            self.antecedent = antecedent
            self.metadata = .objects(Self.lastPerProtocol(metadata ?? []))
            ticket = MessageTicket()
        }

        /// One of the contexts that all connections share, or that of received content.
        init(shared identifier: String, isFinal: Bool, header: DatagramHeader? = nil) {
            ticket = nil
            self.identifier = identifier
            expirationMilliseconds = 0
            relativePriority = 0.5
            self.isFinal = isFinal
            antecedent = nil
            metadata = header.map(Metadata.datagram) ?? .objects([])
        }

        /// The context of a received message.
        init(received metadata: [NWProtocolMetadata], isFinal: Bool) {
            ticket = nil
            identifier = "message"
            expirationMilliseconds = 0
            relativePriority = 0.5
            self.isFinal = isFinal
            antecedent = nil
            self.metadata = .objects(metadata)
        }

        /// All metadata of the message, one for each protocol.
        public var protocolMetadata: [NWProtocolMetadata] {
            switch metadata {
            case .objects(let objects): objects
            case .datagram(let header): [header.makeIPMetadata(), NWProtocolUDP.Metadata()]
            }
        }

        /// The metadata of one protocol, or `nil` if there is none.
        ///
        /// - Parameter definition: The protocol.
        public func protocolMetadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? {
            switch metadata {
            case .objects(let objects): objects.first { $0.definition == definition }
            case .datagram(let header):
                switch definition {
                case NWProtocolIP.definition: header.makeIPMetadata()
                case NWProtocolUDP.definition: NWProtocolUDP.Metadata()
                default: nil
                }
            }
        }

        /// The rank among waiting messages: ``relativePriority`` within 0.0 to 1.0, and 0.5 for what is no number.
        package var priority: Double {
            relativePriority.isNaN ? 0.5 : min(max(relativePriority, 0), 1)
        }

        private static func lastPerProtocol(_ metadata: [NWProtocolMetadata]) -> [NWProtocolMetadata] {
            guard metadata.count > 1 else { return metadata }
            return metadata.enumerated().filter { position, candidate in
                !metadata[(position + 1)...].contains { $0.definition == candidate.definition }
            }.map(\.element)
        }
    }
}

extension NWConnection.ContentContext {
    /// An ordinary message. Completing it ends the message and never the stream.
    public static let defaultMessage = NWConnection.ContentContext(shared: "default message", isFinal: false)

    /// The last message. Completing it closes the sending side.
    public static let finalMessage = NWConnection.ContentContext(shared: "final message", isFinal: true)

    /// The whole stream as one message. Completing it closes the sending side.
    public static let defaultStream = NWConnection.ContentContext(shared: "default stream", isFinal: true)

    /// The context of content received in the middle of a stream.
    package static let inboundStream = NWConnection.ContentContext(
        shared: "stream", isFinal: false)

    /// The context of the end of a received stream.
    package static let inboundStreamEnd = NWConnection.ContentContext(
        shared: "stream end", isFinal: true)

    /// The context of a received datagram.
    ///
    /// Datagrams with the default header fields share one object; every other costs one allocation.
    package static func inboundDatagram(_ header: DatagramHeader = DatagramHeader()) -> NWConnection.ContentContext {
        guard header != DatagramHeader() else { return plainDatagram }
        return NWConnection.ContentContext(shared: "datagram", isFinal: false, header: header)
    }

    private static let plainDatagram = NWConnection.ContentContext(
        shared: "datagram", isFinal: false, header: DatagramHeader())
}

/// What the IP header of a received datagram, and the clock at its arrival, told.
package struct DatagramHeader: Equatable, Sendable {
    /// DSCP in the high six bits, ECN in the low two (RFC 3168 §5).
    package var trafficClass: UInt8
    /// Nanoseconds of the monotonic raw clock; 0 when not measured.
    package var receiveTime: UInt64

    package init(trafficClass: UInt8 = 0, receiveTime: UInt64 = 0) {
        self.trafficClass = trafficClass
        self.receiveTime = receiveTime
    }

    package func makeIPMetadata() -> NWProtocolIP.Metadata {
        NWProtocolIP.Metadata(
            ecn: NWProtocolIP.ECN(trafficClass: trafficClass),
            serviceClass: NWParameters.ServiceClass(dscp: trafficClass >> 2),
            receiveTime: receiveTime)
    }
}
