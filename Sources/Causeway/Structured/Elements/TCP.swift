/// TCP, as an element of a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct TCP: StreamProtocol, Sendable {
    /// The type of the stack element below this element.
    public typealias BelowProtocol = IP
    /// Per-connection state for the element.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for received content.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Whether this is the final content from the peer.
        public let endOfStream: Bool
        /// The object that creates the metadata in ``other``. It creates the metadata only when the program reads
        /// ``other``, because creation at each receive would be slow.
        @usableFromInline let source: any AnyObject & Sendable

        @inlinable
        init(endOfStream: Bool, source: any AnyObject & Sendable) {
            self.endOfStream = endOfStream
            self.source = source
        }

        /// Metadata from the stack's protocols, one object per protocol: ``NWProtocolTCP/Metadata``.
        public var other: [NWProtocolMetadata] { (source as? any StackListing)?.metadata(nil, []) ?? [] }
    }

    package var values = NWProtocolTCP.Options.Values()
    private let ip: IP?

    /// Creates an element with the default settings, over IP with the default settings.
    public init() {
        ip = nil
    }

    /// Creates an element over the given IP element.
    public init(@ProtocolStackBuilder<IP> _ builder: () -> IP) {
        ip = builder()
    }

    private func setting(_ change: (inout NWProtocolTCP.Options.Values) -> Void) -> TCP {
        var copy = self
        change(&copy.values)
        return copy
    }

    /// Sets ``NWProtocolTCP/Options/noDelay``.
    public func noDelay(_ noDelay: Bool) -> TCP { setting { $0.flags[.noDelay] = noDelay } }

    /// Sets ``NWProtocolTCP/Options/noPush``.
    public func noPush(_ noPush: Bool) -> TCP { setting { $0.flags[.noPush] = noPush } }

    /// Sets ``NWProtocolTCP/Options/noOptions``. This setting has no effect.
    public func noOptions(_ noOptions: Bool) -> TCP { setting { $0.flags[.noOptions] = noOptions } }

    /// Enables keepalive. Sets the idle time before the first probe, the number of unanswered probes, and the time between probes.
    public func keepalive(idleTimeInSeconds: UInt32, count: UInt32, intervalInSeconds: UInt32) -> TCP {
        setting { values in
            values.keepalive.isEnabled = true
            values.keepalive.idle = Int(idleTimeInSeconds)
            values.keepalive.count = Int(count)
            values.keepalive.interval = Int(intervalInSeconds)
        }
    }

    /// Sets ``NWProtocolTCP/Options/maximumSegmentSize``.
    public func maximumSegmentSize(_ bytes: UInt32) -> TCP { setting { $0.maximumSegmentSize = Int(bytes) } }

    /// Sets ``NWProtocolTCP/Options/connectionTimeout``, in seconds.
    public func connectionTimeout(_ timeout: UInt32) -> TCP { setting { $0.timeouts.connection = Int(timeout) } }

    /// Sets ``NWProtocolTCP/Options/persistTimeout``, in seconds.
    public func persistTimeout(_ timeout: UInt32) -> TCP { setting { $0.timeouts.persist = Int(timeout) } }

    /// Sets ``NWProtocolTCP/Options/connectionDropTime``, in seconds.
    public func retransmitConnectionDropTime(_ timeout: UInt32) -> TCP {
        setting { $0.timeouts.connectionDrop = Int(timeout) }
    }

    /// Sets ``NWProtocolTCP/Options/retransmitFinDrop``.
    public func retransmitFinDrop(_ drop: Bool) -> TCP { setting { $0.flags[.retransmitFinDrop] = drop } }

    /// Sets ``NWProtocolTCP/Options/disableAckStretching``.
    public func ackStretchingDisabled(_ disableAckStretching: Bool) -> TCP {
        setting { $0.flags[.disableAckStretching] = disableAckStretching }
    }

    /// Sets ``NWProtocolTCP/Options/disableECN``. This setting has no effect.
    public func ecnDisabled(_ disableECN: Bool) -> TCP { setting { $0.flags[.disableECN] = disableECN } }

    /// Sets ``NWProtocolTCP/Options/enableFastOpen``.
    public func fastOpenAllowed(_ allowed: Bool) -> TCP { setting { $0.flags[.enableFastOpen] = allowed } }
}

extension TCP: StackElement {
    package var layer: StackLayers.Layer { .transport(NWProtocolTCP.Options(values: values)) }
    package var below: (any StackElement)? { ip }
    package var impliedBelow: (any StackElement)? { IP() }
}
