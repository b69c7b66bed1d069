/// The Internet protocol, as an element of a stack. Every transport includes it by default.
///
/// Counterpart: macOS 26, iOS 26.
public struct IP: NetworkProtocolOptions, Sendable {
    /// There is no stack element below this element.
    public typealias BelowProtocol = Void
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for received content.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Metadata from the elements below.
        public let other: [NWProtocolMetadata]
    }

    package var values = NWProtocolIP.Options.Values()

    /// Creates an element with the default settings.
    public init() {}

    private func setting(_ change: (inout NWProtocolIP.Options.Values) -> Void) -> IP {
        var copy = self
        change(&copy.values)
        return copy
    }

    /// Sets ``NWProtocolIP/Options/version-swift.property``.
    public func version(_ version: NWProtocolIP.Options.Version) -> IP {
        setting { $0.version = version }
    }

    /// Sets ``NWProtocolIP/Options/hopLimit``.
    public func hopLimit(_ limit: UInt8) -> IP {
        setting { $0.hopLimit = limit }
    }

    /// Sets ``NWProtocolIP/Options/useMinimumMTU``.
    public func minimumMTU(_ useMinimumMTU: Bool) -> IP {
        setting { $0.useMinimumMTU = useMinimumMTU }
    }

    /// Sets ``NWProtocolIP/Options/disableFragmentation``.
    public func fragmentationDisabled(_ dontFragment: Bool) -> IP {
        setting { $0.disableFragmentation = dontFragment }
    }

    /// Sets ``NWProtocolIP/Options/shouldCalculateReceiveTime``.
    public func receiveTimeCalculated(_ calculateReceiveTime: Bool) -> IP {
        setting { $0.shouldCalculateReceiveTime = calculateReceiveTime }
    }

    /// Sets ``NWProtocolIP/Options/localAddressPreference``.
    public func localAddressPreference(_ preference: NWProtocolIP.Options.AddressPreference) -> IP {
        setting { $0.localAddressPreference = preference }
    }

    /// Sets ``NWProtocolIP/Options/disableMulticastLoopback``.
    public func multicastLoopbackDisabled(_ disableMulticastLoopback: Bool) -> IP {
        setting { $0.disableMulticastLoopback = disableMulticastLoopback }
    }
}

extension IP: StackElement {
    package var layer: StackLayers.Layer { .internet(NWProtocolIP.Options(values: values)) }
    package var below: (any StackElement)? { nil }
}
