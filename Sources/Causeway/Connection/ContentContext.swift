package import CausewayProtocols
extension NWConnection {
    /// The properties of one message: its priority and order for sending, and its protocol metadata.
    ///
    /// In the content context of received content, only ``isFinal`` and the metadata are meaningful.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: all stored properties are immutable and `Sendable`, in this class and in its subclass
    // `NWConnectionGroup.Message`.
    public class ContentContext: @unchecked Sendable {
        /// The message's metadata: either objects, or a datagram's header fields.
        private enum Metadata {
            case objects([NWProtocolMetadata])
            /// A datagram's header fields. Metadata objects are created from them only when the program reads the
            /// metadata. Most programs never read it. So all datagrams with the default fields can share one content
            /// context.
            case datagram(DatagramHeader)
        }

        /// A name for logs.
        public let identifier: String

        /// Milliseconds after which content is dropped if sending has not started; 0 for never.
        public let expirationMilliseconds: UInt64

        /// The priority among waiting messages, from 0.0 to 1.0. Messages with a higher priority are sent first. Has no effect if the stack
        /// contains TLS or another application protocol.
        public let relativePriority: Double

        /// Whether no message follows this message in its direction.
        ///
        /// When a final message has been sent completely, the sending direction closes. When a received message is final and complete, the
        /// peer has closed its sending direction.
        public let isFinal: Bool

        /// The message that must be sent before this message. If it fails, this message fails too. Has no effect if the
        /// stack contains TLS or another application protocol, because these protocols always keep the order of
        /// messages.
        public let antecedent: NWConnection.ContentContext?

        private let metadata: Metadata

        /// Identifies the message in the send queues and records its progress. `nil` for received content, and for
        /// content contexts that all connections share. Content sent with a shared content context is always a separate
        /// message.
        package let ticket: MessageTicket?

        /// Creates the content context for a message to send.
        ///
        /// - Parameters:
        ///   - identifier: A name for logs.
        ///   - expiration: Milliseconds after which the message is dropped if sending has not started; 0 for never.
        ///   - priority: From 0.0 to 1.0. Messages with a higher priority are sent first.
        ///   - isFinal: Whether completing the message closes the sending direction.
        ///   - antecedent: The message to send before this message.
        ///   - metadata: Metadata for the protocols. If several objects belong to one protocol, only the final object
        ///     is used.
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

        /// Creates a content context with the default priority and no antecedent. The context is a constant that all
        /// connections share, or it belongs to received content.
        init(shared identifier: String, isFinal: Bool, header: DatagramHeader? = nil) {
            ticket = nil
            self.identifier = identifier
            expirationMilliseconds = 0
            relativePriority = 0.5
            self.isFinal = isFinal
            antecedent = nil
            metadata = header.map(Metadata.datagram) ?? .objects([])
        }

        /// Creates the content context for a received message.
        init(received metadata: [NWProtocolMetadata], isFinal: Bool) {
            ticket = nil
            identifier = "message"
            expirationMilliseconds = 0
            relativePriority = 0.5
            self.isFinal = isFinal
            antecedent = nil
            self.metadata = .objects(metadata)
        }

        /// All metadata for the message, one object per protocol.
        public var protocolMetadata: [NWProtocolMetadata] {
            switch metadata {
            case .objects(let objects): objects
            case .datagram(let header): [header.makeIPMetadata(), NWProtocolUDP.Metadata()]
            }
        }

        /// Returns the metadata of one protocol, or `nil` if there is none.
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

        /// The priority among waiting messages: ``relativePriority`` clamped to 0.0 to 1.0; 0.5 for NaN.
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
    /// An ordinary message. Completing it ends the message but not the stream.
    public static let defaultMessage = NWConnection.ContentContext(shared: "default message", isFinal: false)

    /// The final message. Completing it closes the sending direction.
    public static let finalMessage = NWConnection.ContentContext(shared: "final message", isFinal: true)

    /// The whole stream as one message. Completing it closes the sending direction.
    public static let defaultStream = NWConnection.ContentContext(shared: "default stream", isFinal: true)

    /// The content context for received stream content before the end.
    package static let inboundStream = NWConnection.ContentContext(
        shared: "stream", isFinal: false)

    /// The content context for the final received content on a stream.
    package static let inboundStreamEnd = NWConnection.ContentContext(
        shared: "stream end", isFinal: true)

    /// Returns the content context for a received datagram.
    ///
    /// Datagrams with the default header fields share one object; any other header needs one allocation.
    package static func inboundDatagram(_ header: DatagramHeader = DatagramHeader()) -> NWConnection.ContentContext {
        guard header != DatagramHeader() else { return plainDatagram }
        return NWConnection.ContentContext(shared: "datagram", isFinal: false, header: header)
    }

    private static let plainDatagram = NWConnection.ContentContext(
        shared: "datagram", isFinal: false, header: DatagramHeader())
}

/// A received datagram's IP header fields and arrival time.
package struct DatagramHeader: Equatable, Sendable {
    /// DSCP in the high six bits, ECN in the low two (RFC 3168 §5).
    package var trafficClass: UInt8
    /// Arrival time in nanoseconds on the raw monotonic clock; 0 if not measured.
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
