public import FoundationEssentials

/// UDP, as an element of a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct UDP: DatagramProtocol, Sendable {
    /// The type of the content of a message.
    public typealias ContentType = Data
    /// The type of the element below.
    public typealias BelowProtocol = IP
    /// A message as a tuple of content and metadata.
    public typealias LegacyMessage = (content: Data, metadata: [NWProtocolMetadata]?)
    /// The state that a connection keeps for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// The metadata of a received datagram.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// The header of the datagram. When the program reads ``other``, the metadata objects are created from the header.
        package let header: DatagramHeader

        /// The metadata of the elements below.
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
