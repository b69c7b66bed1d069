internal import CausewayProtocols
internal import CausewayTypes
public import FoundationEssentials

extension ProxyConfiguration {
    /// The proxy that the environment names for URLs of a scheme, or none. Only on Linux.
    ///
    /// `http_proxy` and `HTTP_PROXY` are for `http` and `ws`, `https_proxy` and `HTTPS_PROXY` for `https` and `wss`, `all_proxy` and
    /// `ALL_PROXY` for whatever the others leave out. Lower case counts first; `HTTP_PROXY` does not count where `REQUEST_METHOD` is set,
    /// because there a stranger may have chosen it. What `no_proxy` or `NO_PROXY` lists becomes ``excludedDomains``, and so does this
    /// host. The proxy resolves names, for `socks5://` as for `socks5h://`. `auto_proxy` counts last of all and names a script, as for
    /// ``init(automaticConfiguration:)``.
    ///
    /// No connection asks the environment by itself: put the result into ``NWParameters/PrivacyContext/proxyConfigurations``.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of what is to be reached, `https` for instance.
    ///   - variables: The environment; default this process's.
    /// - Throws: `.posix(.EINVAL)` for a value that names no proxy, `.posix(.ENOTSUP)` for a kind that does not exist here and for a
    ///   script where a proxy is meant, `.posix(.EPROTONOSUPPORT)` for a script that is not on a web server: leaving it out would go past it.
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

    /// What ``environment(forScheme:_:)`` means for one endpoint, and why.
    package struct EnvironmentDecision: Sendable {
        /// The variable that names a proxy for the scheme, if there is one.
        package var variable: String?
        /// The proxy to use; `nil` for the direct way.
        package var proxy: ProxyConfiguration?
        /// Which word of `NO_PROXY`, or which name of this host, leads past the proxy.
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

    /// Where it is, as a URL without the credential; `nil` for what has no URL.
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

    /// Whether it is told who asks.
    package var hasCredential: Bool { credential != nil }

    /// A proxy as people write it: `http://user:password@proxy.example:3128`, `https://`, `socks5://`; or a script of such: `pac+http://`.
    ///
    /// - Throws: As ``environment(forScheme:_:)``.
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
