internal import Causeway
internal import Foundation

/// What a pair of streams was told by properties before it was opened.
struct StreamSettings: Sendable {
    /// One property with a value that makes sense.
    enum Change: Sendable {
        case level(String)
        case options(NWProtocolTLS.Options)
        case validatesChain(Bool), peerName(String)
        case forbidsCellular(Bool), allowsExpensive(Bool), allowsConstrained(Bool)
        case several([Change])
    }

    private var level: String?
    private var options: NWProtocolTLS.Options?
    private var validatesChain = true
    private var peerName: String?
    private var forbidsCellular = false
    private var allowsExpensive = true
    private var allowsConstrained = true

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

    /// The value of a property that is yes or no; `nil` for anything else.
    static func boolean(_ value: AnyObject?) -> Bool? {
        let value: Any = value as Any
        return value as? Bool ?? (value as? NSNumber)?.boolValue
    }

    private var security: NWProtocolTLS.Options {
        let options = options ?? NWProtocolTLS.Options()
        let security = options.securityProtocolOptions
        if let peerName { sec_protocol_options_set_tls_server_name(security, peerName) }
        if !validatesChain {
            sec_protocol_options_set_verify_block(security, { _, _, complete in complete(true) }, .global())
        }
        return options
    }
}

extension StreamSettings.Change {
    /// `nil` for what is not known, or not honoured.
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
        default: return nil
        }
    }

    /// Versions 2 and 3 of SSL are broken, and never spoken.
    private static let levels = [
        StreamSocketSecurityLevel.none, StreamSocketSecurityLevel.tlSv1, StreamSocketSecurityLevel.negotiatedSSL,
    ].map(\.rawValue)
}

extension NWError {
    /// In the domains that programs with streams look at.
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
