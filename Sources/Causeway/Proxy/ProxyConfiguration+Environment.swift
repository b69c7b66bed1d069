internal import CausewayProtocols
internal import CausewayTypes
public import FoundationEssentials

extension ProxyConfiguration {
    /// Reads the proxy for a URL scheme from environment variables. Returns an empty array if there is none. Only on
    /// Linux.
    ///
    /// The method reads these variables, in this order:
    /// - `http_proxy` and `HTTP_PROXY` for `http` and `ws`; `https_proxy` and `HTTPS_PROXY` for `https` and `wss`.
    ///   `HTTP_PROXY` is ignored if `REQUEST_METHOD` is set. In that case the process is a CGI program, and a web
    ///   client may have chosen the value.
    /// - `all_proxy` and `ALL_PROXY` for every scheme.
    /// - `auto_proxy` and `AUTO_PROXY` for every scheme. The value is the URL of a script, as for
    ///   ``init(automaticConfiguration:)``.
    ///
    /// A variable in lower case has precedence. The entries of `no_proxy` or `NO_PROXY`, and this host, become
    /// ``excludedDomains``. The proxy resolves names, for both `socks5://` and `socks5h://`.
    ///
    /// No connection reads the environment automatically: store the result in
    /// ``NWParameters/PrivacyContext/proxyConfigurations``.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of the destination, for example `https`.
    ///   - variables: The environment; default: the environment of this process.
    /// - Throws: An error for every unusable proxy value, because connections would otherwise bypass the proxy. The
    ///   errors are: `.posix(.EINVAL)` for a value that is not a proxy; `.posix(.ENOTSUP)` for an unsupported proxy
    ///   kind, or for a script URL in a proxy variable such as `http_proxy`; `.posix(.EPROTONOSUPPORT)` for a script
    ///   that is not on a web server.
    public static func environment(
        forScheme scheme: String, _ variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(NWError) -> [ProxyConfiguration] {
        let environment = ProxyEnvironment(variables)
        guard let choice = environment.choice(forScheme: scheme) else { return [] }
        var proxy = try choice.isScript ? automatic(choice.value) : ProxyConfiguration(address: choice.value)
        proxy.excludedDomains = environment.exceptions + ProxyEnvironment.thisHost
        return [proxy]
    }

    private static func automatic(_ text: String) throws(NWError) -> ProxyConfiguration {
        guard let url = URL(string: text), url.scheme != nil else { throw .posix(.EINVAL) }
        return try ProxyConfiguration(automaticConfiguration: url)
    }

    /// The decision of ``environment(forScheme:_:)`` for one endpoint. It contains the proxy, and the variable or
    /// exception that determined the proxy.
    package struct EnvironmentDecision: Sendable {
        /// The environment variable that specifies the proxy for the scheme; `nil` if there is none.
        package var variable: String?
        /// The proxy to use; `nil` for a direct connection.
        package var proxy: ProxyConfiguration?
        /// The `NO_PROXY` entry, or the name of this host, that excludes the endpoint from the proxy; `nil` if the
        /// endpoint is not excluded.
        package var exception: String?
    }

    package static func environmentDecision(
        for endpoint: NWEndpoint, scheme: String, _ variables: [String: String]
    ) throws(NWError) -> EnvironmentDecision {
        var decision = EnvironmentDecision()
        decision.variable = ProxyEnvironment(variables).choice(forScheme: scheme)?.variable
        guard let proxy = try environment(forScheme: scheme, variables).first,
            let destination = try TunnelDestination(endpoint)
        else { return decision }
        decision.exception = try firstMatch(proxy.excludedDomains, destination)
        if decision.exception == nil { decision.proxy = proxy }
        return decision
    }

    /// The proxy as a URL without the credential; `nil` for proxy kinds without a URL.
    package var address: String? {
        let (scheme, endpoint): (String, NWEndpoint)
        switch kind {
        case .socksV5(let place): (scheme, endpoint) = ("socks5h", place)
        case .httpCONNECT(let place, let tls): (scheme, endpoint) = (tls == nil ? "http" : "https", place)
        case .script(.location(let location)): return location.description
        case .relay, .obliviousHTTP, .chain, .script: return nil
        }
        guard case .hostPort(let host, let port) = endpoint else { return nil }
        if case .ipv6(let address) = host { return "\(scheme)://[\(address.debugDescription)]:\(port.rawValue)" }
        return "\(scheme)://\(host.debugDescription):\(port.rawValue)"
    }

    /// Whether the proxy receives a credential.
    package var hasCredential: Bool { credential != nil }

    /// Parses a proxy URL such as `http://user:password@proxy.example:3128`, `https://`, `socks5://`, or a script URL such as
    /// `pac+http://`.
    ///
    /// - Throws: The errors of ``environment(forScheme:_:)``.
    package init(address text: String) throws(NWError) {
        if text.hasPrefix("pac+") {
            self = try Self.automatic(String(text.dropFirst(4)))
            return
        }
        let address: ProxyAddress
        do throws(ProxyAddress.Problem) {
            address = try ProxyAddress(text)
        } catch {
            switch error {
            case .malformed: throw .posix(.EINVAL)
            case .unknownKind: throw .posix(.ENOTSUP)
            }
        }
        try self.init(address)
    }

    init(_ address: ProxyAddress) throws(NWError) {
        guard let port = NWEndpoint.Port(rawValue: address.port) else { throw .posix(.EINVAL) }
        let place = NWEndpoint.hostPort(host: NWEndpoint.Host(address.host), port: port)
        switch address.kind {
        case .http: self.init(httpCONNECTProxy: place)
        case .https: self.init(httpCONNECTProxy: place, tlsOptions: NWProtocolTLS.Options())
        case .socks: self.init(socksv5Proxy: place)
        }
        if let credential = address.credential {
            applyCredential(username: credential.username, password: credential.password)
        }
    }
}
