/// QUIC, as an element of a stack: one tunnel with many streams, over UDP.
///
/// QUIC is not implemented: a connection or listener with this element fails with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 26, iOS 26.
public struct QUIC: MultiplexProtocol, Sendable {
    /// The type of the stack element below this element.
    public typealias BelowProtocol = UDP

    /// Metadata for received content. It is empty, because content is received on streams.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {}

    /// Per-connection state for QUIC.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct ProtocolStorage: ConnectionStorage, Sendable {
        /// Creates empty storage.
        public init() {}
    }

    package var values: NWProtocolQUIC.Options.Values
    package var security = SecProtocolOptionValues()
    private let udp: UDP?

    /// Creates an element with application protocols to offer (RFC 7301 §3.1), over UDP with the default settings.
    public init(alpn: [String]) {
        values = NWProtocolQUIC.Options.Values(alpn: alpn)
        udp = nil
    }

    /// Creates an element with application protocols to offer (RFC 7301 §3.1), over the given UDP element.
    public init(alpn: [String], @ProtocolStackBuilder<UDP> _ builder: () -> UDP) {
        values = NWProtocolQUIC.Options.Values(alpn: alpn)
        udp = builder()
    }

    private func setting(_ change: (inout NWProtocolQUIC.Options.Values) -> Void) -> QUIC {
        var copy = self
        change(&copy.values)
        return copy
    }

    /// Sets ``NWProtocolQUIC/Options/idleTimeout``, in milliseconds.
    public func idleTimeout(_ timeout: Int) -> QUIC { setting { $0.idleTimeout = timeout } }

    /// Sets ``NWProtocolQUIC/Options/maxUDPPayloadSize``.
    public func maxUDPPayloadSize(_ size: Int) -> QUIC { setting { $0.maxUDPPayloadSize = size } }

    /// Sets ``NWProtocolQUIC/Options/initialMaxData``.
    public func initialMaxData(_ initialMaxData: Int) -> QUIC { setting { $0.initialMaxData = initialMaxData } }

    /// Sets ``NWProtocolQUIC/Options/initialMaxStreamDataBidirectionalRemote``.
    public func initialMaxStreamDataBidirectionalRemote(_ initialMaxStreamDataBidiRemote: Int) -> QUIC {
        setting { $0.initialMaxStreamDataBidirectionalRemote = initialMaxStreamDataBidiRemote }
    }

    /// Sets ``NWProtocolQUIC/Options/initialMaxStreamDataBidirectionalLocal``.
    public func initialMaxStreamDataBidirectionalLocal(_ initialMaxStreamDataBidiLocal: Int) -> QUIC {
        setting { $0.initialMaxStreamDataBidirectionalLocal = initialMaxStreamDataBidiLocal }
    }

    /// Sets ``NWProtocolQUIC/Options/initialMaxStreamDataUnidirectional``.
    public func initialMaxStreamDataUnidirectional(_ initialMaxStreamDataUni: Int) -> QUIC {
        setting { $0.initialMaxStreamDataUnidirectional = initialMaxStreamDataUni }
    }

    /// Sets ``NWProtocolQUIC/Options/initialMaxStreamsBidirectional``.
    public func initialMaxBidirectionalStreams(_ initialMaxStreamsBidi: Int) -> QUIC {
        setting { $0.initialMaxStreamsBidirectional = initialMaxStreamsBidi }
    }

    /// Sets ``NWProtocolQUIC/Options/initialMaxStreamsUnidirectional``.
    public func initialMaxUnidirectionalStreams(_ initialMaxStreamDataUni: Int) -> QUIC {
        setting { $0.initialMaxStreamsUnidirectional = initialMaxStreamDataUni }
    }

    /// Sets ``NWProtocolQUIC/Options/maxDatagramFrameSize``.
    public func maxDatagramFrameSize(_ size: Int) -> QUIC { setting { $0.maxDatagramFrameSize = size } }

    /// TLS settings for the handshake. Each method returns the changed QUIC element.
    public var tls: QUIC.TLS { QUIC.TLS(quic: self) }

    /// TLS settings for a QUIC handshake.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct TLS: Sendable {
        fileprivate let quic: QUIC

        private func setting(_ change: (inout SecProtocolOptionValues) -> Void) -> QUIC {
            var copy = quic
            change(&copy.security)
            return copy
        }

        /// Sets the certificate and key to present.
        public func localIdentity(_ identity: sec_identity_t) -> QUIC {
            setting { $0.localIdentity = identity }
        }

        /// Sets a closure that decides whether to trust the peer. The closure replaces the system's evaluation.
        public func certificateValidator(
            @_inheritActorContext _ handler:
                @escaping @isolated(any) @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool
        ) -> QUIC {
            setting { $0.peer.setValidator(handler) }
        }

        /// Sets whether the peer must authenticate with a certificate.
        public func peerAuthentication(_ preference: Causeway.TLS.PeerAuthentication) -> QUIC {
            setting { $0.peer.authentication = preference.value }
        }

        /// Sets the allowed cipher suites.
        public func cipherSuites(_ suites: [tls_ciphersuite_t]) -> QUIC {
            setting { $0.ciphers.suites = suites }
        }

        /// Sets the allowed groups of cipher suites.
        public func ciphersuiteGroups(_ groups: [tls_ciphersuite_group_t]) -> QUIC {
            setting { $0.ciphers.groups = groups }
        }
    }
}

extension QUIC: StackElement {
    package var layer: StackLayers.Layer {
        .transport(
            NWProtocolQUIC.Options(values: values, securityProtocolOptions: sec_protocol_options_t(security)))
    }
    package var below: (any StackElement)? { udp }
    package var impliedBelow: (any StackElement)? { UDP() }
}
