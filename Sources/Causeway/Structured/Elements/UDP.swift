public import FoundationEssentials

/// The user datagram protocol in a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct UDP: DatagramProtocol, Sendable {
    public typealias ContentType = Data
    public typealias BelowProtocol = IP
    public typealias LegacyMessage = (content: Data, metadata: [NWProtocolMetadata]?)
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// What is told of a received datagram.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// What the header told; made into objects when somebody asks.
        package let header: DatagramHeader

        /// The metadata of the elements below.
        public var other: [NWProtocolMetadata] { [header.makeIPMetadata(), NWProtocolUDP.Metadata()] }
    }

    private var prefersNoChecksum = false
    private let ip: IP?

    /// Makes an element with every default, over IP with every default.
    public init() {
        ip = nil
    }

    /// Makes an element over IP as given.
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
