internal import Causeway
internal import Foundation

/// The properties that were set on a stream pair before it was opened.
struct StreamSettings: Sendable {
    /// One change to the settings, made by setting a stream property.
    enum Change: Sendable {
        case level(String)
        case options(NWProtocolTLS.Options)
        case validatesChain(Bool), peerName(String)
        case forbidsCellular(Bool), allowsExpensive(Bool), allowsConstrained(Bool)
        case proxy(ProxyConfiguration)
        /// A proxy setting that cannot be used. It makes the connection fail: otherwise the stream would connect
        /// without the proxy.
        case unusableProxy
        case several([Change])

        /// Whether the stream property has a valid value.
        var isValid: Bool { if case .unusableProxy = self { false } else { true } }
    }

    private var level: String?
    private var options: NWProtocolTLS.Options?
    private var validatesChain = true
    private var peerName: String?
    private var forbidsCellular = false
    private var allowsExpensive = true
    private var allowsConstrained = true
    private var proxy: ProxyConfiguration?

    private var isSecure: Bool {
        options != nil || level.map { $0 != StreamSocketSecurityLevel.none.rawValue } ?? false
    }

    mutating func apply(_ change: Change) {
        switch change {
        case .level(let level): self.level = level
        case .options(let options): self.options = options
        case .validatesChain(let validates): validatesChain = validates
        case .peerName(let name): peerName = name
        case .forbidsCellular(let forbids): forbidsCellular = forbids
        case .allowsExpensive(let allows): allowsExpensive = allows
        case .allowsConstrained(let allows): allowsConstrained = allows
        case .proxy(let proxy): self.proxy = proxy
        // Use a proxy chain without proxies, which makes every connection fail. Otherwise the stream would bypass the
        // proxy.
        case .unusableProxy: proxy = ProxyConfiguration(chain: [])
        case .several(let changes): for change in changes { apply(change) }
        }
    }

    func property(_ key: Stream.PropertyKey) -> AnyObject? {
        switch key {
        case .socketSecurityLevelKey: level as AnyObject?
        case .tlsOptions: options
        case .noCellular: NSNumber(value: forbidsCellular)
        case .allowExpensiveNetworkAccess: NSNumber(value: allowsExpensive)
        case .allowConstrainedNetworkAccess: NSNumber(value: allowsConstrained)
        default: nil
        }
    }

    func connection(to target: ConnectionLink.Target) -> NWConnection {
        switch target {
        case .connection(let connection): return connection
        case .endpoint(let endpoint, let parameters):
            let parameters = parameters?.copy() ?? .tcp
            limitInterfaces(of: parameters)
            if let proxy {
                let context = NWParameters.PrivacyContext(description: "Stream")
                context.proxyConfigurations = [proxy]
                parameters.setPrivacyContext(context)
            }
            if isSecure { parameters.defaultProtocolStack.applicationProtocols.append(security) }
            return NWConnection(to: endpoint, using: parameters)
        }
    }

    private func limitInterfaces(of parameters: NWParameters) {
        if forbidsCellular {
            parameters.prohibitedInterfaceTypes = (parameters.prohibitedInterfaceTypes ?? []) + [.cellular]
        }
        if !allowsExpensive { parameters.prohibitExpensivePaths = true }
        if !allowsConstrained { parameters.prohibitConstrainedPaths = true }
    }

    /// Returns a Boolean property value; `nil` if the value has another type.
    static func boolean(_ value: AnyObject?) -> Bool? {
        let value: Any = value as Any
        return value as? Bool ?? (value as? NSNumber)?.boolValue
    }

    /// The TLS options of the stream. They are a copy of the program's options. The property `tlsSettings` adds the
    /// peer name, and determines whether the certificate chain is validated.
    ///
    /// The program's own options must not change, because other connections may use them. These connections must
    /// validate their peers as before.
    private var security: NWProtocolTLS.Options {
        let options = options?.copyOptions() as? NWProtocolTLS.Options ?? NWProtocolTLS.Options()
        let security = options.securityProtocolOptions
        if let peerName { sec_protocol_options_set_tls_server_name(security, peerName) }
        if !validatesChain {
            sec_protocol_options_set_verify_block(security, { _, _, complete in complete(true) }, .global())
        }
        return options
    }
}

extension StreamSettings.Change {
    /// Creates a change from a stream property. Returns `nil` if the property is unknown, or if its value is invalid or
    /// unsupported.
    init?(_ value: AnyObject?, _ key: Stream.PropertyKey) {
        let boolean = StreamSettings.boolean(value)
        let value: Any = value as Any
        switch key {
        case .noCellular:
            guard let boolean else { return nil }
            self = .forbidsCellular(boolean)
        case .allowExpensiveNetworkAccess:
            guard let boolean else { return nil }
            self = .allowsExpensive(boolean)
        case .allowConstrainedNetworkAccess:
            guard let boolean else { return nil }
            self = .allowsConstrained(boolean)
        case .socketSecurityLevelKey:
            guard let level = (value as? StreamSocketSecurityLevel)?.rawValue ?? value as? String,
                Self.levels.contains(level)
            else { return nil }
            self = .level(level)
        case .tlsOptions:
            guard let options = value as? NWProtocolTLS.Options else { return nil }
            self = .options(options)
        case .tlsSettings:
            guard let settings = value as? [String: Any] else { return nil }
            var changes: [Self] = []
            for (name, value) in settings {
                switch (name, value) {
                case ("kCFStreamSSLValidatesCertificateChain", let value as Bool):
                    changes.append(.validatesChain(value))
                case ("kCFStreamSSLPeerName", let value as String): changes.append(.peerName(value))
                default: return nil
                }
            }
            self = .several(changes)
        case _ where Self.proxyKeys.contains(key.rawValue): self = Self.socks(value, key)
        default: return nil
        }
    }

    /// The SOCKS proxy property, and the keys in its dictionary. These keys are not properties, so setting one of them
    /// is an error.
    private static let proxyKeys: Set = [
        kCFStreamPropertySOCKSProxy, kCFStreamPropertySOCKSProxyHost, kCFStreamPropertySOCKSProxyPort,
        kCFStreamPropertySOCKSVersion, kCFStreamPropertySOCKSUser, kCFStreamPropertySOCKSPassword,
    ]

    private static func socks(_ value: Any, _ key: Stream.PropertyKey) -> Self {
        guard key.rawValue == kCFStreamPropertySOCKSProxy, let values = ProxyValues(value),
            let proxy = try? values.socksProxy()
        else { return .unusableProxy }
        return .proxy(proxy)
    }

    /// The supported security levels. SSL 2 and SSL 3 are insecure and therefore not supported.
    private static let levels = [
        StreamSocketSecurityLevel.none, StreamSocketSecurityLevel.tlSv1, StreamSocketSecurityLevel.negotiatedSSL,
    ].map(\.rawValue)
}

extension NWError {
    /// The error as an `NSError`. Its domain is one of those that Foundation streams use.
    var streamError: NSError {
        let (domain, code): (String, Int) =
            switch self {
            case .posix(let code): (NSPOSIXErrorDomain, Int(code.rawValue))
            case .tls(let status): ("NSOSStatusErrorDomain", Int(status))
            case .dns(let code): ("kDNSServiceErrorDomain", Int(code))
            case .wifiAware(let code): (NWError.errorDomain, Int(code))
            }
        return NSError(
            domain: domain, code: code,
            userInfo: [NSLocalizedDescriptionKey: debugDescription, NSUnderlyingErrorKey: self])
    }
}
