public import FoundationEssentials

/// UDP, as an element of a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct UDP: DatagramProtocol, Sendable {
    /// The content type of a message.
    public typealias ContentType = Data
    /// The type of the stack element below this element.
    public typealias BelowProtocol = IP
    /// A message as a tuple of content and metadata.
    public typealias LegacyMessage = (content: Data, metadata: [NWProtocolMetadata]?)
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for a received datagram.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// The datagram's header fields. When the program reads ``other``, metadata objects are created from them.
        package let header: DatagramHeader

        /// The datagram's metadata, one object per protocol: ``NWProtocolIP/Metadata``, then
        /// ``NWProtocolUDP/Metadata``.
        public var other: [NWProtocolMetadata] { [header.makeIPMetadata(), NWProtocolUDP.Metadata()] }
    }

    private var prefersNoChecksum = false
    private let ip: IP?

    /// Creates an element with the default settings, over IP with the default settings.
    public init() {
        ip = nil
    }

    /// Creates an element over the given IP element.
    public init(@ProtocolStackBuilder<IP> _ builder: () -> IP) {
        ip = builder()
    }

    /// Sets ``NWProtocolUDP/Options/preferNoChecksum``.
    public func noChecksumPreferred(_ noChecksum: Bool) -> UDP {
        var copy = self
        copy.prefersNoChecksum = noChecksum
        return copy
    }
}

extension UDP: StackElement {
    package var layer: StackLayers.Layer { .transport(NWProtocolUDP.Options(preferNoChecksum: prefersNoChecksum)) }
    package var below: (any StackElement)? { ip }
    package var impliedBelow: (any StackElement)? { IP() }
}
