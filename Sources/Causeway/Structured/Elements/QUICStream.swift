public import FoundationEssentials

/// A stream of a QUIC tunnel, as the top of a stack. Tunnels hand streams out; it cannot be put into a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct QUICStream: StreamProtocol, Sendable {
    public typealias BelowProtocol = Void
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// What is told of received content.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Whether the peer has ended its side with this content.
        public let endOfStream: Bool
        /// The metadata of the elements below.
        public let other: [NWProtocolMetadata]

        @inlinable
        init(endOfStream: Bool, other: [NWProtocolMetadata]) {
            self.endOfStream = endOfStream
            self.other = other
        }
    }

    /// Which ways a stream goes (RFC 9000 §2.1).
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum Directionality: Equatable, Hashable, Sendable {
        /// From whoever opened it to the other.
        case unidirectional
        /// Both.
        case bidirectional
    }

    /// Who opened a stream (RFC 9000 §2.1).
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum Initiator: Equatable, Hashable, Sendable {
        /// The client.
        case client
        /// The server.
        case server
    }

    package init() {}
}

/// The datagram flow of a QUIC tunnel (RFC 9221), as the top of a stack. Tunnels hand it out; it cannot be put into a
/// stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct QUICDatagram: DatagramProtocol, Sendable {
    public typealias ContentType = Data
    public typealias BelowProtocol = Void
    public typealias LegacyMessage = (content: Data, metadata: [NWProtocolMetadata]?)
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// What is told of a received datagram.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// The metadata of the elements below.
        public let other: [NWProtocolMetadata]
    }

    package init() {}
}

extension QUICStream.Directionality {
    /// What the second lowest bit of a stream's number says (RFC 9000 §2.1).
    package init(streamID: UInt64) { self = streamID & 0b10 == 0 ? .bidirectional : .unidirectional }
}

extension QUICStream.Initiator {
    /// What the lowest bit of a stream's number says (RFC 9000 §2.1).
    package init(streamID: UInt64) { self = streamID & 0b01 == 0 ? .client : .server }
}
