internal import CausewaySystem

/// The configuration for connections, listeners and browsers: their protocols and permitted paths.
///
/// Parameters are a shared, mutable object. They are read when a connection or listener is created. One object may be used for many
/// connections; call ``copy()`` to change parameters for one connection only. Thread-safe.
///
/// ```swift
/// let parameters = NWParameters.tcp
/// parameters.requiredInterfaceType = .wifi
/// let connection = NWConnection(host: "example.org", port: 7, using: parameters)
/// ```
///
/// Counterpart: macOS 10.14, iOS 12.
public final class NWParameters: NWParametersProvider, CustomDebugStringConvertible, Sendable {
    /// A snapshot of all values except the stack.
    package struct Values: Sendable {
        package var paths = PathLimits()
        package var proxies = ProxyUse()
        package var local = LocalBinding()
        package var names = NameRules()
        package var acceptLocalOnly = false
        package var includePeerToPeer = false
        package var serviceClass: ServiceClass = .bestEffort
        package var multipathServiceType: MultipathServiceType = .disabled
        package var allowFastOpen = false
        package var attribution: Attribution = .developer
        package var privacyContext: PrivacyContext = .default

        package init() {}
    }

    /// How proxies are used.
    package struct ProxyUse: Sendable {
        package var preferNone = false
        /// Whether the connection carries only HTTP/1.1 requests for `http` URLs, which an HTTP proxy forwards without a tunnel.
        package var forwardsRequests = false
    }

    /// The socket's local address.
    package struct LocalBinding: Sendable {
        package var endpoint: NWEndpoint?
        package var allowsReuse = false
    }

    /// The rules for name resolution.
    package struct NameRules: Sendable {
        package var requiresDNSSECValidation = false
        package var expiredDNSBehavior: ExpiredDNSBehavior = .systemDefault
    }

    let storage: LockedValue<Values>

    /// The protocol stack. The stack is a reference: changes to the stack or its options change these parameters.
    public let defaultProtocolStack: NWParameters.ProtocolStack

    package init(stack: ProtocolStack, values: Values = Values()) {
        defaultProtocolStack = stack
        storage = LockedValue(values)
    }

    /// Creates parameters with IP and no transport. Add a transport to ``defaultProtocolStack`` before connecting.
    public convenience init() {
        self.init(stack: ProtocolStack(transport: nil))
    }

    /// Creates parameters for TLS over TCP, or for plain TCP.
    ///
    /// - Parameters:
    ///   - tls: The TLS options; `nil` for no TLS.
    ///   - tcp: The TCP options.
    public convenience init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = NWProtocolTCP.Options()) {
        self.init(stack: ProtocolStack(application: tls.map { [$0] } ?? [], transport: tcp))
    }

    /// Creates parameters for DTLS over UDP, or for plain UDP.
    ///
    /// - Parameters:
    ///   - dtls: The DTLS options; `nil` for no DTLS.
    ///   - udp: The UDP options.
    public convenience init(dtls: NWProtocolTLS.Options?, udp: NWProtocolUDP.Options = NWProtocolUDP.Options()) {
        self.init(stack: ProtocolStack(application: dtls.map { [$0] } ?? [], transport: udp))
    }

    /// Creates parameters for QUIC. QUIC is not implemented: connections and listeners with these parameters fail with
    /// `.posix(.ENOTSUP)`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public convenience init(quic: NWProtocolQUIC.Options) {
        self.init(stack: ProtocolStack(transport: quic))
    }

    /// Creates parameters for a custom protocol directly on IP. Not implemented: connections and listeners with these parameters fail
    /// with `.posix(.ENOTSUP)`.
    ///
    /// - Parameter customIPProtocolNumber: The protocol number in the IP header.
    ///
    /// Counterpart: macOS 10.15.
    public convenience init(customIPProtocolNumber: UInt8) {
        self.init(stack: ProtocolStack(transport: CustomIPOptions(protocolNumber: customIPProtocolNumber)))
    }

    package var values: Values { storage.withLock { $0 } }

    /// Sets the permitted interfaces.
    func limitPaths(to limits: PathLimits) {
        storage.withLock { $0.paths = limits }
    }

    /// This object. ``NWParametersProvider`` requires this property.
    public var parameters: NWParameters { self }

    /// Returns a deep copy: changes to one object's properties or options do not affect the other object.
    ///
    /// Both objects refer to the same ``PrivacyContext``.
    public func copy() -> NWParameters {
        NWParameters(stack: defaultProtocolStack.copy(), values: values)
    }

    /// Sets the privacy context, which has its own caches and settings.
    ///
    /// Counterpart: macOS 11, iOS 14.
    public func setPrivacyContext(_ privacyContext: NWParameters.PrivacyContext) {
        storage.withLock { $0.privacyContext = privacyContext }
    }

    /// The protocols from top to bottom, the properties that differ from their defaults, and ``attribution``.
    public var debugDescription: String {
        let values = values
        let switches: [(Bool, String)] = [
            (values.paths.prohibitsExpensive, "prohibit expensive paths"),
            (values.paths.prohibitsConstrained, "prohibit constrained paths"),
            (values.paths.allowsUltraConstrained, "allow ultra constrained paths"),
            (values.proxies.preferNone, "prefer no proxies"),
            (values.local.allowsReuse, "reuse local endpoint"),
            (values.acceptLocalOnly, "accept local only"),
            (values.includePeerToPeer, "include peer-to-peer"),
            (values.names.requiresDNSSECValidation, "require DNSSEC"),
            (values.allowFastOpen, "fast open"),
            (values.serviceClass != .bestEffort, "service class: \(values.serviceClass)"),
            (values.multipathServiceType != .disabled, "multipath: \(values.multipathServiceType)"),
            (values.names.expiredDNSBehavior != .systemDefault, "expired DNS: \(values.names.expiredDNSBehavior)"),
            (values.paths.requiredType != .other, "required interface type: \(values.paths.requiredType)"),
            (
                values.privacyContext !== PrivacyContext.default,
                "privacy context: \(values.privacyContext.debugDescription)"
            ),
        ]
        let optionals: [String?] = [
            values.paths.requiredInterface.map { "required interface: \($0.name)" },
            values.paths.prohibitedInterfaces.map { "prohibited interfaces: \($0.map(\.name))" },
            values.paths.prohibitedTypes.map { "prohibited interface types: \($0)" },
            values.local.endpoint.map { "local endpoint: \($0.debugDescription)" },
        ]
        let parts = switches.filter(\.0).map(\.1) + optionals.compactMap { $0 }
        return ([defaultProtocolStack.summary] + parts + ["attribution: \(values.attribution)"]).joined(separator: ", ")
    }
}
