public import FoundationEssentials

/// A stream of a QUIC tunnel, as an element of a protocol stack. Only a tunnel creates this element. A program cannot
/// create it, but can add protocols above it.
///
/// Counterpart: macOS 26, iOS 26.
public struct QUICStream: StreamProtocol, Sendable {
    /// `Void`, because no stack element can be below this element.
    public typealias BelowProtocol = Void
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for received content.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Whether this is the final content from the peer.
        public let endOfStream: Bool
        /// Metadata from the protocols below this one in the stack.
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
        /// Only the initiator sends.
        case unidirectional
        /// Both sides send.
        case bidirectional
    }

    /// A stream's initiator (RFC 9000 §2.1).
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum Initiator: Equatable, Hashable, Sendable {
        /// The client opened the stream.
        case client
        /// The server opened the QUIC stream.
        case server
    }

    package init() {}
}

/// The datagram flow of a QUIC tunnel (RFC 9221), as an element of a protocol stack. Only a tunnel creates this
/// element; a program cannot create it.
///
/// Counterpart: macOS 26, iOS 26.
public struct QUICDatagram: DatagramProtocol, Sendable {
    /// The content type of a message.
    public typealias ContentType = Data
    /// There is no stack element below this element.
    public typealias BelowProtocol = Void
    /// A message as a tuple of content and metadata.
    public typealias LegacyMessage = (content: Data, metadata: [NWProtocolMetadata]?)
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for a received datagram.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Metadata from the elements below.
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
