internal import Dispatch

/// Transport layer security in a stack, over TCP.
///
/// Counterpart: macOS 26, iOS 26.
public struct TLS: StreamProtocol, Sendable {
    public typealias BelowProtocol = TCP
    public typealias ProtocolStorage = DefaultProtocolStorage

    /// What is told of received content.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public struct Metadata: NetworkMetadataProtocol, Sendable {
        /// Whether the peer has ended its side with this content.
        public let endOfStream: Bool
        /// What lists ``other``. The objects are made when the program asks, not for each receive.
        @usableFromInline let source: any AnyObject & Sendable

        @inlinable
        init(endOfStream: Bool, source: any AnyObject & Sendable) {
            self.endOfStream = endOfStream
            self.source = source
        }

        /// The metadata of the stack's protocols, one object for each: ``NWProtocolTCP/Metadata``, then
        /// ``NWProtocolTLS/Metadata``.
        public var other: [NWProtocolMetadata] { (source as? any StackListing)?.metadata(nil, []) ?? [] }
    }

    /// Whether the peer has to prove who it is.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum PeerAuthentication: Equatable, Hashable, Sendable {
        /// No.
        case none
        /// It may: a server asks, and takes clients that do not answer.
        case optional
        /// Yes.
        case required
    }

    package var values = SecProtocolOptionValues()
    private let tcp: TCP?

    /// Makes an element with every default, over TCP with every default.
    public init() {
        tcp = nil
    }

    /// Makes an element over TCP as given.
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

    /// Sets what decides about the peer, instead of the evaluation by the system.
    public func certificateValidator(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool
    ) -> TLS {
        setting { $0.setValidator(handler) }
    }

    /// Sets whether the peer has to prove who it is. By default a server has to, and a client is not asked.
    public func peerAuthentication(_ preference: TLS.PeerAuthentication) -> TLS {
        setting { $0.peerAuthentication = preference.value }
    }

    /// Sets the application protocols to offer or to accept (RFC 7301 §3.1), best first.
    public func applicationProtocols(_ protocols: [String]) -> TLS {
        setting { $0.applicationProtocols = protocols }
    }

    /// Sets the cipher suites that are allowed.
    public func cipherSuites(_ suites: [tls_ciphersuite_t]) -> TLS {
        setting { $0.cipherSuites = suites }
    }

    /// Sets the named sets of cipher suites that are allowed.
    public func cipherSuiteGroups(_ groups: [tls_ciphersuite_group_t]) -> TLS {
        setting { $0.cipherSuiteGroups = groups }
    }

    /// Sets whether content may leave before the handshake is done (RFC 8446 §2.3). It can be replayed.
    public func earlyDataEnabled(_ enabled: Bool) -> TLS {
        setting { $0.earlyDataEnabled = enabled }
    }

    /// Sets whether sessions may be resumed by tickets.
    public func ticketsEnabled(_ enabled: Bool) -> TLS {
        setting { $0.ticketsEnabled = enabled }
    }

    /// Sets the lowest and the highest version to agree to; `nil` leaves what is set.
    public func version(min: tls_protocol_version_t? = nil, max: tls_protocol_version_t? = nil) -> TLS {
        setting { values in
            values.minimumVersion = min ?? values.minimumVersion
            values.maximumVersion = max ?? values.maximumVersion
        }
    }

    /// Not available: a version needs a bound.
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

extension SecProtocolOptionValues {
    /// Stores an asynchronous validator as a verify block.
    mutating func setValidator(
        _ handler: @escaping @isolated(any) @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool
    ) {
        let verify: sec_protocol_verify_t = { metadata, trust, complete in
            let complete = Unchecked(complete)
            // The block is called on a queue, and the program's code may belong to an actor: only a task gets there.
            Task { complete.value(await handler(metadata, trust)) }
        }
        self.verify = SecProtocolBlock(verify, .global())
    }
}
