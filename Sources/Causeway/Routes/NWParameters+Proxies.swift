internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayTypes
internal import CausewayWire

extension NWParameters {
    /// Returns the routes to an endpoint to which proxies apply, most preferred first.
    ///
    /// The result is empty if no proxy applies. It is also empty if no applicable proxy can carry the connection and a
    /// direct connection is allowed.
    ///
    /// - Throws: `.posix(.ENOTSUP)` if no applicable proxy can carry the connection and a direct connection is not
    ///   allowed; `.posix(.EINVAL)` for invalid domain lists and chains.
    func makeRoutes(to endpoint: NWEndpoint) throws(NWError) -> [Route] {
        let values = values
        guard let destination = try TunnelDestination(endpoint) else { return [] }
        let meant = try meantProxies(for: endpoint)
        guard !meant.isEmpty else { return [] }
        let usable = meant.filter(carries)
        let mayGoDirect = values.proxies.preferNone || meant.allSatisfy(\.allowFailover)
        guard !usable.isEmpty else {
            guard mayGoDirect else { throw .posix(.ENOTSUP) }
            return []
        }
        var routes: [Route] = []
        for proxy in usable { routes.append(try route(through: proxy, to: endpoint, destination)) }
        if mayGoDirect {
            routes.insert(try directRoute(to: endpoint), at: values.proxies.preferNone ? 0 : routes.count)
        }
        return routes
    }

    /// Returns the privacy context's proxies for an endpoint, most preferred first.
    func meantProxies(for endpoint: NWEndpoint) throws(NWError) -> [ProxyConfiguration] {
        let known = values.privacyContext.settings.proxies
        guard !known.isEmpty, let destination = try TunnelDestination(endpoint) else { return [] }
        var meant: [ProxyConfiguration] = []
        for proxy in known where try proxy.isMeant(for: destination) { meant.append(proxy) }
        return meant
    }

    /// Whether a proxy can carry connections with these parameters.
    func carries(_ proxy: ProxyConfiguration) -> Bool {
        switch defaultProtocolStack.transportProtocol {
        case is NWProtocolTCP.Options: proxy.isTunnel
        case is NWProtocolUDP.Options: proxy.relaysDatagrams
        default: false
        }
    }

    func route(
        through proxy: ProxyConfiguration, to endpoint: NWEndpoint, _ destination: TunnelDestination
    ) throws(NWError) -> Route {
        let isDatagram = defaultProtocolStack.transportProtocol is NWProtocolUDP.Options
        let forwarder = isDatagram || !values.proxies.forwardsRequests ? nil : ForwardProxy(proxy)
        let passage =
            isDatagram ? [.relay(destination)] : try proxy.passage(to: destination, isForwarding: forwarder != nil)
        guard let place = proxy.place, case .connect(let target, _) = try ConnectionDriver.Origin.connecting(to: place),
            let maker = try makeLayerMaker(to: endpoint, above: passage)
        else { throw .posix(.EINVAL) }
        guard isDatagram else { return Route(target, proxy: place, forwarder: forwarder, makeLayers: maker) }
        let request = RelayRequest(proxy: target, credential: proxy.nearestCredential.map(TunnelCredential.init))
        return Route(
            .relay(request), proxy: place, overhead: RelayStage.headerByteCount(to: destination), makeLayers: maker)
    }

    func directRoute(to endpoint: NWEndpoint) throws(NWError) -> Route {
        guard case .connect(let target, _) = try ConnectionDriver.Origin.connecting(to: endpoint),
            let maker = try makeLayerMaker(to: endpoint, above: [.direct])
        else { throw .posix(.EINVAL) }
        return Route(target, proxy: nil, makeLayers: maker)
    }
}

/// A protocol step between the transport and the connection's own protocols, such as TLS to a proxy.
enum ProxyStep: Sendable {
    /// TLS to the proxy.
    case security(TLSConfiguration, host: NWEndpoint.Host, port: UInt16)
    /// A SOCKS handshake. The values are the destination that this proxy must connect to, the proxy, and the tunnel's
    /// final destination. The two destinations differ if another proxy follows in a chain.
    case socks(TunnelDestination, ProxyConfiguration, for: TunnelDestination)
    /// A CONNECT handshake with a proxy. The first value is the destination to which this proxy must connect. The
    /// second value is the proxy. The third value is the destination of the whole tunnel. It differs from the first
    /// value if another proxy follows in a chain.
    case connect(TunnelDestination, ProxyConfiguration, for: TunnelDestination)
    /// An HTTP proxy forwards the requests.
    ///
    /// The first value is the destination of the first request, and the second value is the proxy. If the proxy
    /// requires an authenticated connection, this step performs the authentication.
    case forward(TunnelDestination, ProxyConfiguration)
    /// Sends datagrams through a SOCKS 5 relay, with a SOCKS 5 header before each datagram (RFC 1928 §7). A separate
    /// connection to the proxy has requested the relay.
    case relay(TunnelDestination)
    /// No proxy: the connection goes directly to the endpoint.
    case direct

    func makeLayer() throws(NWError) -> StackLayer {
        switch self {
        case .security(let configuration, let host, let port):
            var layer = try configuration.makeLayer(host: host, port: port)
            layer.delegate = (layer.delegate as? TLSDelegate).map { ProxySecurityDelegate($0) }
            return layer
        case .socks(let destination, let proxy, let end):
            let (challenges, credential) = (proxy.challenges, proxy.credential)
            let handshake = SOCKSHandshake(
                to: destination, credential: credential.map(TunnelCredential.init)
            ) { challenges?.note($0, hasCredential: credential != nil, of: end) }
            return StackLayer(TunnelStage(handshake))
        case .connect(let destination, let proxy, let end):
            let (challenges, credential) = (proxy.challenges, proxy.credential)
            let authentication = challenges?.takeAuthentication()
            let handshake = ConnectHandshake(
                to: destination, credential: credential.map(TunnelCredential.init), nonce: Self.nonce(),
                answering: challenges?.takeUnanswered() ?? [], authorization: authentication?.1.first,
                scheme: authentication?.scheme
            ) { challenges?.note($0, hasCredential: credential != nil, of: end) }
            return StackLayer(TunnelStage(handshake), authentication.map { TunnelDelegate($0.1.context) })
        case .forward(let destination, let proxy):
            guard let challenges = proxy.challenges, let authentication = challenges.takeAuthentication() else {
                return StackLayer(TunnelStage(nil))
            }
            let handshake = ConnectHandshake(
                .forward, to: destination, credential: nil, nonce: "", answering: challenges.takeUnanswered(),
                authorization: authentication.1.first, scheme: authentication.scheme
            ) { challenges.note($0, hasCredential: proxy.credential != nil, of: destination) }
            return StackLayer(TunnelStage(handshake), TunnelDelegate(authentication.1.context))
        case .relay(let destination): return StackLayer(RelayStage(to: destination))
        case .direct: return StackLayer(TunnelStage(nil))
        }
    }

    private static func nonce() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    }
}

/// Handles the TLS stage for a connection to a proxy. The negotiated parameters describe the TLS session with the
/// proxy, not with the peer. So they are not exposed as connection metadata.
final class ProxySecurityDelegate: StageDelegate {
    private let delegate: TLSDelegate

    init(_ delegate: TLSDelegate) { self.delegate = delegate }

    var failureReason: String? { delegate.failureReason }
    var callsProgram: Bool { delegate.callsProgram }

    func stageReported(_ event: any StageEvent, from place: StagePlace) {
        delegate.stageReported(event, from: place)
    }
}

extension TunnelCredential {
    fileprivate init(_ credential: ProxyConfiguration.Credential) {
        self.init(username: credential.username, password: credential.password)
    }
}

extension TunnelDestination {
    /// Creates a destination for a proxy; `nil` for endpoints that no proxy can reach, such as services and Unix domain
    /// sockets.
    ///
    /// - Throws: `.dns` for a name that is not a valid DNS name, `.posix(.EINVAL)` for a URL without a host or port.
    ///   With `nil` instead of an error, the connection would bypass the proxies.
    init?(_ endpoint: NWEndpoint) throws(NWError) {
        switch endpoint {
        case .hostPort(let host, let port): try self.init(host, port.rawValue)
        case .url(let url):
            guard let host = url.host(percentEncoded: false), let port = NWEndpoint.port(of: url) else {
                throw .posix(.EINVAL)
            }
            try self.init(NWEndpoint.Host(host), port)
        case .service, .unix, .opaque: return nil
        }
    }

    fileprivate init(_ host: NWEndpoint.Host, _ port: UInt16) throws(NWError) {
        switch host {
        case .ipv4(let address): self.init(.address(.ipv4(address)), port: port)
        case .ipv6(let address): self.init(.address(.ipv6(address)), port: port)
        case .name(let text, _):
            // kDNSServiceErr_BadParam
            guard let (name, _) = DNSName.host(text) else { throw .dns(-65_540) }
            self.init(.name(String(name.description.dropLast())), port: port)
        }
    }
}

extension ProxyChallengeTable {
    /// Returns the latest refusal since `time` for an endpoint. Also returns the challenges of the proxy that refused.
    package func refused(_ endpoint: NWEndpoint, since time: Duration) -> (ProxyChallenges, ProxyChallenges.Refusal)? {
        guard case .some(.some(let destination)) = try? TunnelDestination(endpoint) else { return nil }
        return refused(destination, since: time)
    }
}

extension ProxyConfiguration {
    /// Whether the proxy opens a separate connection to the destination for each of the program's connections.
    package var isTunnel: Bool {
        switch kind {
        case .socksV5, .httpCONNECT: true
        case .chain(let proxies): proxies.allSatisfy(\.isTunnel)
        case .relay, .obliviousHTTP, .script: false
        }
    }

    /// Whether this proxy or, in a chain, the proxy nearest to the destination can forward HTTP requests.
    package var canForward: Bool { forwardingProxy != nil }

    /// The HTTP proxy that can forward requests: this proxy or, in a chain of tunnelling proxies, the proxy nearest to
    /// the destination. `nil` if that proxy uses another protocol.
    var forwardingProxy: ProxyConfiguration? {
        switch kind {
        case .httpCONNECT: self
        case .chain(let proxies): proxies.allSatisfy(\.isTunnel) ? proxies.last?.forwardingProxy : nil
        case .socksV5, .relay, .obliviousHTTP, .script: nil
        }
    }

    /// Whether the proxy relays datagrams. This is not possible through a chain of several proxies.
    package var relaysDatagrams: Bool {
        switch kind {
        case .socksV5: true
        case .chain(let proxies): proxies.count == 1 && proxies[0].relaysDatagrams
        case .httpCONNECT, .relay, .obliviousHTTP, .script: false
        }
    }

    /// The credential for the proxy nearest to this host, which is the first proxy in a chain.
    fileprivate var nearestCredential: Credential? {
        if case .chain(let proxies) = kind { proxies.first?.nearestCredential } else { credential }
    }

    /// The endpoint of the proxy nearest to this host, which is the first proxy in a chain.
    fileprivate var place: NWEndpoint? {
        switch kind {
        case .socksV5(let endpoint), .httpCONNECT(let endpoint, _): endpoint
        case .chain(let proxies): proxies.first?.place
        case .relay, .obliviousHTTP, .script: nil
        }
    }

    /// - Parameter isForwarding: Whether the proxy nearest to the destination forwards HTTP requests. If `true`, that
    ///   proxy must be an HTTP proxy.
    fileprivate func passage(
        to destination: TunnelDestination, isForwarding: Bool
    ) throws(NWError) -> [ProxyStep] {
        try passage(to: destination, for: destination, isForwarding: isForwarding)
    }

    /// Returns the proxy steps that connect to `destination` through this proxy.
    ///
    /// `destination` is the final destination `end`, or the next proxy in a chain.
    private func passage(
        to destination: TunnelDestination, for end: TunnelDestination, isForwarding: Bool
    ) throws(NWError) -> [ProxyStep] {
        let last = isForwarding ? ProxyStep.forward(end, self) : .connect(destination, self, for: end)
        switch kind {
        case .socksV5: return [.socks(destination, self, for: end)]
        case .httpCONNECT(_, nil): return [last]
        case .httpCONNECT(let place, let options?):
            let configuration = try TLSConfiguration(
                options, isServer: false, isDatagram: false, allowsEarlyData: false)
            guard case .hostPort(let host, let port) = place else { throw .posix(.EINVAL) }
            return [.security(configuration, host: host, port: port.rawValue), last]
        case .chain(let proxies):
            var passages: [ProxyStep] = []
            for (index, proxy) in proxies.enumerated() {
                let next = index + 1 < proxies.count ? proxies[index + 1].place : nil
                let step = try next.map { place throws(NWError) in try TunnelDestination(place) } ?? destination
                guard let step else { throw .posix(.EINVAL) }
                passages += try proxy.passage(
                    to: step, for: end, isForwarding: isForwarding && index + 1 == proxies.count)
            }
            return passages
        case .relay, .obliviousHTTP, .script: throw .posix(.ENOTSUP)
        }
    }

    /// Whether the proxy applies to a destination, by its included and excluded domains.
    ///
    /// - Throws: `.posix(.EINVAL)` for an invalid domain. Ignoring the domain could bypass the proxy.
    func isMeant(for destination: TunnelDestination) throws(NWError) -> Bool {
        let isExcluded = try excludes(destination)
        // An empty domain matches all hosts, as in the system's proxy settings.
        let match = try Self.firstMatch(matchDomains.map { $0.isEmpty ? "*" : $0 }, destination)
        return !isExcluded && (matchDomains.isEmpty || match != nil)
    }

    /// Returns the first domain of a list that matches the destination. All domains must be valid.
    static func firstMatch(_ domains: [String], _ destination: TunnelDestination) throws(NWError) -> String? {
        var match: String?
        for domain in domains {
            guard let rule = ProxyRule(domain) else { throw .posix(.EINVAL) }
            if match == nil, rule.matches(destination) { match = domain }
        }
        return match
    }
}
