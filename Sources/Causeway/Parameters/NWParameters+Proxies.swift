internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayTypes
internal import CausewayWire

extension NWParameters {
    /// The ways to an endpoint, best first; empty where no proxy is meant for it.
    ///
    /// - Throws: `.posix(.ENOTSUP)` where only proxies that cannot be used are left, `.posix(.EINVAL)` for lists of domains and chains
    ///   that make no sense.
    func makeRoutes(to endpoint: NWEndpoint) throws(NWError) -> [Route] {
        let values = values
        guard let destination = try TunnelDestination(endpoint) else { return [] }
        let meant = try meantProxies(for: endpoint)
        guard !meant.isEmpty else { return [] }
        let usable = meant.filter(carries)
        let mayGoDirect = values.preferNoProxies || meant.allSatisfy(\.allowFailover)
        guard !usable.isEmpty else {
            guard mayGoDirect else { throw .posix(.ENOTSUP) }
            return []
        }
        var routes: [Route] = []
        for proxy in usable { routes.append(try route(through: proxy, to: endpoint, destination)) }
        if mayGoDirect { routes.insert(try directRoute(to: endpoint), at: values.preferNoProxies ? 0 : routes.count) }
        return routes
    }

    /// The proxies of the context that are for an endpoint, best first.
    func meantProxies(for endpoint: NWEndpoint) throws(NWError) -> [ProxyConfiguration] {
        let known = values.privacyContext.settings.proxies
        guard !known.isEmpty, let destination = try TunnelDestination(endpoint) else { return [] }
        var meant: [ProxyConfiguration] = []
        for proxy in known where try proxy.isMeant(for: destination) { meant.append(proxy) }
        return meant
    }

    /// Whether a proxy can carry what these parameters are for.
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
        let passage = isDatagram ? [.relay(destination)] : try proxy.passage(to: destination)
        guard let place = proxy.place, case .connect(let target, _) = try ConnectionDriver.Origin.connecting(to: place),
            let maker = try makeLayerMaker(to: endpoint, above: passage)
        else { throw .posix(.EINVAL) }
        guard isDatagram else { return Route(target, proxy: place, makeLayers: maker) }
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

/// A step between the transport and a connection's own protocols.
enum ProxyStep: Sendable {
    /// TLS to the proxy itself.
    case security(TLSConfiguration, host: NWEndpoint.Host, port: UInt16)
    case socks(TunnelDestination, ProxyConfiguration.Credential?)
    case connect(TunnelDestination, ProxyConfiguration.Credential?)
    /// The header of each datagram; the proxy was asked over a connection of its own.
    case relay(TunnelDestination)
    /// Past the proxies.
    case direct

    func makeLayer() throws(NWError) -> StackLayer {
        switch self {
        case .security(let configuration, let host, let port):
            var layer = try configuration.makeLayer(host: host, port: port)
            layer.delegate = (layer.delegate as? TLSDelegate).map { ProxySecurityDelegate($0) }
            return layer
        case .socks(let destination, let credential):
            return StackLayer(
                TunnelStage(SOCKSHandshake(to: destination, credential: credential.map(TunnelCredential.init))))
        case .connect(let destination, let credential):
            let handshake = ConnectHandshake(
                to: destination, credential: credential.map(TunnelCredential.init), nonce: Self.nonce())
            return StackLayer(TunnelStage(handshake))
        case .relay(let destination): return StackLayer(RelayStage(to: destination))
        case .direct: return StackLayer(TunnelStage(nil))
        }
    }

    private static func nonce() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    }
}

/// Answers TLS to a proxy. What was agreed with the proxy says nothing about the peer, so programs do not find it as the connection's.
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
    /// `nil` for what no proxy can reach: services of the link, and sockets of this host.
    ///
    /// - Throws: What a name that no message can carry is refused with: such a name must not slip past the proxies.
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

extension ProxyConfiguration {
    /// Whether a proxy of this kind makes a connection of its own for each of ours.
    package var isTunnel: Bool {
        switch kind {
        case .socksV5, .httpCONNECT: true
        case .chain(let proxies): proxies.allSatisfy(\.isTunnel)
        case .relay, .obliviousHTTP, .script: false
        }
    }

    /// Whether a proxy of this kind passes datagrams on. Behind another proxy it could not be reached by any.
    package var relaysDatagrams: Bool {
        switch kind {
        case .socksV5: true
        case .chain(let proxies): proxies.count == 1 && proxies[0].relaysDatagrams
        case .httpCONNECT, .relay, .obliviousHTTP, .script: false
        }
    }

    /// Of the proxy that is connected to.
    fileprivate var nearestCredential: Credential? {
        if case .chain(let proxies) = kind { proxies.first?.nearestCredential } else { credential }
    }

    /// What is connected to.
    fileprivate var place: NWEndpoint? {
        switch kind {
        case .socksV5(let endpoint), .httpCONNECT(let endpoint, _): endpoint
        case .chain(let proxies): proxies.first?.place
        case .relay, .obliviousHTTP, .script: nil
        }
    }

    fileprivate func passage(to destination: TunnelDestination) throws(NWError) -> [ProxyStep] {
        switch kind {
        case .socksV5: return [.socks(destination, credential)]
        case .httpCONNECT(_, nil): return [.connect(destination, credential)]
        case .httpCONNECT(let place, let options?):
            let configuration = try TLSConfiguration(
                options, isServer: false, isDatagram: false, allowsEarlyData: false)
            guard case .hostPort(let host, let port) = place else { throw .posix(.EINVAL) }
            return [.security(configuration, host: host, port: port.rawValue), .connect(destination, credential)]
        case .chain(let proxies):
            var passages: [ProxyStep] = []
            for (index, proxy) in proxies.enumerated() {
                let next = index + 1 < proxies.count ? proxies[index + 1].place : nil
                let step = try next.map { place throws(NWError) in try TunnelDestination(place) } ?? destination
                guard let step else { throw .posix(.EINVAL) }
                passages += try proxy.passage(to: step)
            }
            return passages
        case .relay, .obliviousHTTP, .script: throw .posix(.ENOTSUP)
        }
    }

    /// By the domains that it is for, and those that it is not for.
    ///
    /// - Throws: `.posix(.EINVAL)` for a domain that makes no sense: guessing could lead past the proxy.
    func isMeant(for destination: TunnelDestination) throws(NWError) -> Bool {
        let exception = try Self.firstMatch(excludedDomains, destination)
        // Programs write an empty word for every host, as the system's proxy settings do.
        let match = try Self.firstMatch(matchDomains.map { $0.isEmpty ? "*" : $0 }, destination)
        return exception == nil && (matchDomains.isEmpty || match != nil)
    }

    /// The first domain of a list that means the destination. All of them have to make sense.
    static func firstMatch(_ domains: [String], _ destination: TunnelDestination) throws(NWError) -> String? {
        var match: String?
        for domain in domains {
            guard let rule = ProxyRule(domain) else { throw .posix(.EINVAL) }
            if match == nil, rule.matches(destination) { match = domain }
        }
        return match
    }
}
