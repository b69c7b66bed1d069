internal import Dispatch

/// TLS over TCP, as an element of a stack.
///
/// Counterpart: macOS 26, iOS 26.
public struct TLS: StreamProtocol, Sendable {
    /// The type of the stack element below this element.
    public typealias BelowProtocol = TCP
    /// The type that stores the element's state for one connection.
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// Metadata for received content.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Whether this is the final content from the peer.
        public let endOfStream: Bool
        /// The source of the objects in ``other``. They are created only when the program reads ``other``, because
        /// creating them for each receive would be slow.
        @usableFromInline let source: any AnyObject & Sendable

        @inlinable
        init(endOfStream: Bool, source: any AnyObject & Sendable) {
            self.endOfStream = endOfStream
            self.source = source
        }

        /// Metadata from the stack's protocols, one object per protocol: ``NWProtocolTCP/Metadata``, then ``NWProtocolTLS/Metadata``.
        public var other: [NWProtocolMetadata] { (source as? any StackListing)?.metadata(nil, []) ?? [] }
    }

    /// Whether the peer must authenticate with a certificate.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum PeerAuthentication: Equatable, Hashable, Sendable {
        /// The peer is not authenticated.
        case none
        /// The peer may authenticate, but need not. A server requests a certificate, and it also accepts clients that
        /// have none.
        case optional
        /// The peer must authenticate.
        case required
    }

    package var values = SecProtocolOptionValues()
    private let tcp: TCP?

    /// Creates an element with the default settings, over TCP with the default settings.
    public init() {
        tcp = nil
    }

    /// Creates an element over the given TCP element.
    public init(@ProtocolStackBuilder<TCP> _ builder: () -> TCP) {
        tcp = builder()
    }

    private func setting(_ change: (inout SecProtocolOptionValues) -> Void) -> TLS {
        var copy = self
        change(&copy.values)
        return copy
    }

    /// Sets the certificate and key to present.
    public func localIdentity(_ identity: sec_identity_t) -> TLS {
        setting { $0.localIdentity = identity }
    }

    /// Sets a closure that decides whether to trust the peer. The closure replaces the system's evaluation.
    public func certificateValidator(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool
    ) -> TLS {
        setting { $0.peer.setValidator(handler) }
    }

    /// Sets whether the peer must authenticate. By default a server must authenticate, and no certificate is requested from a client.
    public func peerAuthentication(_ preference: TLS.PeerAuthentication) -> TLS {
        setting { $0.peer.authentication = preference.value }
    }

    /// Sets the application protocols to offer or accept (RFC 7301 §3.1), in order of preference.
    public func applicationProtocols(_ protocols: [String]) -> TLS {
        setting { $0.applicationProtocols = protocols }
    }

    /// Sets the allowed cipher suites.
    public func cipherSuites(_ suites: [tls_ciphersuite_t]) -> TLS {
        setting { $0.ciphers.suites = suites }
    }

    /// Sets the allowed groups of cipher suites.
    public func cipherSuiteGroups(_ groups: [tls_ciphersuite_group_t]) -> TLS {
        setting { $0.ciphers.groups = groups }
    }

    /// Sets whether content may be sent before the handshake is done (RFC 8446 §2.3). An attacker can replay such content.
    public func earlyDataEnabled(_ enabled: Bool) -> TLS {
        setting { $0.earlyDataEnabled = enabled }
    }

    /// Sets whether sessions may be resumed with tickets.
    public func ticketsEnabled(_ enabled: Bool) -> TLS {
        setting { $0.switches[.tickets] = enabled }
    }

    /// Sets the minimum and maximum version; `nil` keeps the current value.
    public func version(min: tls_protocol_version_t? = nil, max: tls_protocol_version_t? = nil) -> TLS {
        setting { values in
            values.versions.minimum = min ?? values.versions.minimum
            values.versions.maximum = max ?? values.versions.maximum
        }
    }

    /// Unavailable: pass a minimum version, a maximum version, or both.
    @available(*, unavailable, message: "Give a minimum, a maximum, or both")
    public func version() -> TLS { self }
}

extension TLS: StackElement {
    package var layer: StackLayers.Layer {
        .application(NWProtocolTLS.Options(securityProtocolOptions: sec_protocol_options_t(values)))
    }
    package var below: (any StackElement)? { tcp }
    package var impliedBelow: (any StackElement)? { TCP() }
}

extension TLS.PeerAuthentication {
    var value: SecProtocolOptionValues.PeerAuthentication {
        switch self {
        case .none: .none
        case .optional: .optional
        case .required: .required
        }
    }
}
