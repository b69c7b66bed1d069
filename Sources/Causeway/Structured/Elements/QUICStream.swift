public import FoundationEssentials

/// A stream of a QUIC tunnel, as the top of a stack. A tunnel creates this element; a program cannot add this element to a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct QUICStream: StreamProtocol, Sendable {
    /// No element is below this one.
    public typealias BelowProtocol = Void
    /// The state that a connection keeps for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// The metadata of received content.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Whether this content is the last that the peer sends.
        public let endOfStream: Bool
        /// The metadata of the elements below.
        public let other: [NWProtocolMetadata]

        @inlinable
        init(endOfStream: Bool, other: [NWProtocolMetadata]) {
            self.endOfStream = endOfStream
            self.other = other
        }
    }

    /// The directions of a stream (RFC 9000 §2.1).
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum Directionality: Equatable, Hashable, Sendable {
        /// Only the side that opened the stream sends.
        case unidirectional
        /// Both sides send.
        case bidirectional
    }

    /// The side that opened a stream (RFC 9000 §2.1).
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum Initiator: Equatable, Hashable, Sendable {
        /// The client opened the stream.
        case client
        /// The server opened the stream.
        case server
    }

    package init() {}
}

/// The datagram flow of a QUIC tunnel (RFC 9221), as the top of a stack. A tunnel creates this element; a program cannot add this element
/// to a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct QUICDatagram: DatagramProtocol, Sendable {
    /// The type of the content of a message.
    public typealias ContentType = Data
    /// No element is below this one.
    public typealias BelowProtocol = Void
    /// A message as a tuple of content and metadata.
    public typealias LegacyMessage = (content: Data, metadata: [NWProtocolMetadata]?)
    /// The state that a connection keeps for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// The metadata of a received datagram.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// The metadata of the elements below.
        public let other: [NWProtocolMetadata]
    }

    package init() {}
}

extension QUICStream.Directionality {
    /// Reads the second lowest bit of a stream ID (RFC 9000 §2.1).
    package init(streamID: UInt64) { self = streamID & 0b10 == 0 ? .bidirectional : .unidirectional }
}

extension QUICStream.Initiator {
    /// Reads the lowest bit of a stream ID (RFC 9000 §2.1).
    package init(streamID: UInt64) { self = streamID & 0b01 == 0 ? .client : .server }
}
