internal import CausewaySystem

/// What a connection, listener or browser is made of: its protocols, and which paths it may take.
///
/// Parameters are a shared, mutable object. They are read when a connection or listener is made and may serve many of
/// them; ``copy()`` first to change them for one only. They may be used from any thread.
///
/// ```swift
/// let parameters = NWParameters.tcp
/// parameters.requiredInterfaceType = .wifi
/// let connection = NWConnection(host: "example.org", port: 7, using: parameters)
/// ```
///
/// Counterpart: macOS 10.14, iOS 12.
public final class NWParameters: NWParametersProvider, CustomDebugStringConvertible, Sendable {
    /// All values but the stack, at one moment.
    package struct Values: Sendable {
        package var requiredInterface: NWInterface?
        package var requiredInterfaceType: NWInterface.InterfaceType = .other
        package var prohibitedInterfaces: [NWInterface]?
        package var prohibitedInterfaceTypes: [NWInterface.InterfaceType]?
        package var prohibitExpensivePaths = false
        package var prohibitConstrainedPaths = false
        package var allowUltraConstrainedPaths = false
        package var preferNoProxies = false
        package var requiredLocalEndpoint: NWEndpoint?
        package var allowLocalEndpointReuse = false
        package var acceptLocalOnly = false
        package var includePeerToPeer = false
        package var requiresDNSSECValidation = false
        package var serviceClass: ServiceClass = .bestEffort
        package var multipathServiceType: MultipathServiceType = .disabled
        package var allowFastOpen = false
        package var expiredDNSBehavior: ExpiredDNSBehavior = .systemDefault
        package var attribution: Attribution = .developer
        package var privacyContext: PrivacyContext = .default

        package init() {}
    }

    let storage: LockedValue<Values>

    /// The protocols, by reference: changes of the stack or of options in it change these parameters.
    public let defaultProtocolStack: NWParameters.ProtocolStack

    package init(stack: ProtocolStack, values: Values = Values()) {
        defaultProtocolStack = stack
        storage = LockedValue(values)
    }

    /// Parameters with IP and no transport. Add one to ``defaultProtocolStack`` before connecting.
    public convenience init() {
        self.init(stack: ProtocolStack(transport: nil))
    }

    /// Parameters for TLS over TCP, or for plain TCP.
    ///
    /// - Parameters:
    ///   - tls: How to use TLS; `nil` for none.
    ///   - tcp: How to use TCP.
    public convenience init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = NWProtocolTCP.Options()) {
        self.init(stack: ProtocolStack(application: tls.map { [$0] } ?? [], transport: tcp))
    }

    /// Parameters for DTLS over UDP, or for plain UDP.
    ///
    /// - Parameters:
    ///   - dtls: How to use DTLS; `nil` for none.
    ///   - udp: How to use UDP.
    public convenience init(dtls: NWProtocolTLS.Options?, udp: NWProtocolUDP.Options = NWProtocolUDP.Options()) {
        self.init(stack: ProtocolStack(application: dtls.map { [$0] } ?? [], transport: udp))
    }

    /// Parameters for QUIC.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public convenience init(quic: NWProtocolQUIC.Options) {
        self.init(stack: ProtocolStack(transport: quic))
    }

    /// Parameters for the program's own protocol directly on IP.
    ///
    /// - Parameter customIPProtocolNumber: The number in the IP header.
    ///
    /// Counterpart: macOS 10.15.
    public convenience init(customIPProtocolNumber: UInt8) {
        self.init(stack: ProtocolStack(transport: CustomIPOptions(protocolNumber: customIPProtocolNumber)))
    }

    package var values: Values { storage.withLock { $0 } }

    /// These parameters.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public var parameters: NWParameters { self }

    /// A deep copy: neither a property nor an option that changes in one changes in the other.
    ///
    /// Both refer to the same ``PrivacyContext``.
    public func copy() -> NWParameters {
        NWParameters(stack: defaultProtocolStack.copy(), values: values)
    }

    /// Attaches a context, which keeps caches and settings apart from those of others.
    ///
    /// Counterpart: macOS 11, iOS 14.
    public func setPrivacyContext(_ privacyContext: NWParameters.PrivacyContext) {
        storage.withLock { $0.privacyContext = privacyContext }
    }

    /// The protocols from the top down, then every property that is not at its default.
    public var debugDescription: String {
        let values = values
        let switches: [(Bool, String)] = [
            (values.prohibitExpensivePaths, "prohibit expensive paths"),
            (values.prohibitConstrainedPaths, "prohibit constrained paths"),
            (values.allowUltraConstrainedPaths, "allow ultra constrained paths"),
            (values.preferNoProxies, "prefer no proxies"),
            (values.allowLocalEndpointReuse, "reuse local endpoint"),
            (values.acceptLocalOnly, "accept local only"),
            (values.includePeerToPeer, "include peer-to-peer"),
            (values.requiresDNSSECValidation, "require DNSSEC"),
            (values.allowFastOpen, "fast open"),
            (values.serviceClass != .bestEffort, "service class: \(values.serviceClass)"),
            (values.multipathServiceType != .disabled, "multipath: \(values.multipathServiceType)"),
            (values.expiredDNSBehavior != .systemDefault, "expired DNS: \(values.expiredDNSBehavior)"),
            (values.requiredInterfaceType != .other, "required interface type: \(values.requiredInterfaceType)"),
            (
                values.privacyContext !== PrivacyContext.default,
                "privacy context: \(values.privacyContext.debugDescription)"
            ),
        ]
        let optionals: [String?] = [
            values.requiredInterface.map { "required interface: \($0.name)" },
            values.prohibitedInterfaces.map { "prohibited interfaces: \($0.map(\.name))" },
            values.prohibitedInterfaceTypes.map { "prohibited interface types: \($0)" },
            values.requiredLocalEndpoint.map { "local endpoint: \($0.debugDescription)" },
        ]
        let parts = switches.filter(\.0).map(\.1) + optionals.compactMap { $0 }
        return ([defaultProtocolStack.summary] + parts + ["attribution: \(values.attribution)"]).joined(separator: ", ")
    }
}
