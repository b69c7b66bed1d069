internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes

extension NWParameters {
    /// Creates the settings for one connection. They contain the routes through the privacy context's proxies. If a
    /// script selects proxies, they contain a planner instead, which finds the routes later.
    ///
    /// - Parameter scripts: Supplies proxy scripts.
    func makeConnectionSettings(
        to endpoint: NWEndpoint, scripts: PACStore
    ) throws(NWError) -> FrozenSettings {
        let settings = try makeSocketSettings(usesProxies: true)
        let meant = try meantProxies(for: endpoint)
        guard meant.contains(where: { $0.script != nil }), let destination = try TunnelDestination(endpoint) else {
            return FrozenSettings(
                settings, makeLayers: try makeLayerMaker(to: endpoint), routes: try makeRoutes(to: endpoint))
        }
        let planner = ProxyPlanner(self, settings, to: endpoint, destination, meant, scripts)
        return FrozenSettings(settings, makeLayers: try directRoute(to: endpoint).makeLayers, planner: planner)
    }
}

extension ProxyConfiguration {
    /// The proxy selection script; `nil` if the configuration has none.
    var script: PACSource? {
        if case .script(let source) = kind { source } else { nil }
    }

    /// Creates the configuration for a script-selected proxy; `nil` if the proxy is unusable.
    func naming(_ address: ProxyAddress) -> ProxyConfiguration? {
        guard let proxy = try? ProxyConfiguration(address) else { return nil }
        // Give the credential only to proxies from a trusted script. A script that was fetched over plain HTTP is not
        // trusted, because it could have been modified on the way.
        guard script?.isTrusted == true else { return proxy }
        if let credential { proxy.applyCredential(username: credential.username, password: credential.password) }
        return challengeTable.map { proxy.recordingChallenges(in: $0) } ?? proxy
    }
}

/// Plans the routes to an endpoint. Used if scripts select some of the proxies.
final class ProxyPlanner: RoutePlanner {
    let parameters: NWParameters
    let settings: SocketSettings
    let endpoint: NWEndpoint
    let destination: TunnelDestination
    let subject: PACSubject
    /// The proxies, most preferred first.
    let proxies: [ProxyConfiguration]
    let scripts: PACStore

    init(
        _ parameters: NWParameters, _ settings: SocketSettings, to endpoint: NWEndpoint,
        _ destination: TunnelDestination, _ proxies: [ProxyConfiguration], _ scripts: PACStore
    ) {
        self.parameters = parameters
        self.settings = settings
        self.endpoint = endpoint
        self.destination = destination
        self.proxies = proxies
        self.scripts = scripts
        if case .url(let url) = endpoint, let known = PACSubject(url: url.absoluteString) {
            subject = known
        } else {
            subject = PACSubject(destination, isPlain: parameters.forwardsRequests)
        }
    }

    func plan(
        on loop: any EventLoop, _ completion: @escaping @Sendable (Result<[Route], RouteProblem>) -> Void
    ) -> any RoutePlanning {
        let planning = ProxyPlanning(self, on: loop, completion)
        planning.next()
        return planning
    }

    var mayGoDirect: Bool { parameters.preferNoProxies || proxies.allSatisfy(\.allowFailover) }

    /// Returns the routes for one entry in the result of a proxy script. The list is empty if this connection cannot
    /// use the entry.
    func routes(for entry: PACResult.Entry, of proxy: ProxyConfiguration) -> [Route] {
        switch entry {
        case .direct: (try? parameters.directRoute(to: endpoint)).map { [$0] } ?? []
        case .proxy(let address): proxy.naming(address).map(routes) ?? []
        }
    }

    func routes(through proxy: ProxyConfiguration) -> [Route] {
        guard parameters.carries(proxy) else { return [] }
        return (try? parameters.route(through: proxy, to: endpoint, destination)).map { [$0] } ?? []
    }

    /// Returns the given routes. Adds the direct route if it is allowed. Returns an error if the result has no routes.
    func outcome(_ routes: [Route], _ problem: RouteProblem?) -> Result<[Route], RouteProblem> {
        var routes = routes
        if mayGoDirect, let direct = try? parameters.directRoute(to: endpoint) {
            routes.insert(direct, at: parameters.preferNoProxies ? 0 : routes.count)
        }
        if !routes.isEmpty { return .success(routes) }
        let unusable = RouteProblem(
            Failure(.posix(.ENOTSUP)), "none of the configured proxies can carry this connection")
        return .failure(problem ?? unusable)
    }
}

/// Evaluates the scripts one after another.
private final class ProxyPlanning: RoutePlanning {
    private struct State {
        var position = 0
        var routes: [Route] = []
        /// The first error in a proxy script. The planner reports this error if it finds no route at all.
        var problem: RouteProblem?
        var run: PACRun?
        var completion: (@Sendable (Result<[Route], RouteProblem>) -> Void)?
    }

    private let planner: ProxyPlanner
    private let loop: any EventLoop
    private let state: LockedValue<State>

    init(
        _ planner: ProxyPlanner, on loop: any EventLoop,
        _ completion: @escaping @Sendable (Result<[Route], RouteProblem>) -> Void
    ) {
        self.planner = planner
        self.loop = loop
        state = LockedValue(State(completion: completion))
    }

    func cancel() {
        let run = state.withLock { state in
            state.completion = nil
            return state.run.take()
        }
        run?.cancel()
    }

    func next() {
        while true {
            let position = state.withLock { state -> Int? in
                guard state.completion != nil else { return nil }
                defer { state.position += 1 }
                return state.position
            }
            guard let position else { return }
            guard position < planner.proxies.count else { return finish() }
            let proxy = planner.proxies[position]
            if let script = proxy.script { return run(script, proxy) }
            let routes = planner.routes(through: proxy)
            state.withLock { $0.routes += routes }
        }
    }

    private func run(_ script: PACSource, _ proxy: ProxyConfiguration) {
        let run = PACRun(
            script, planner.subject, planner.parameters, planner.settings, from: planner.scripts, on: loop
        ) { report in self.ran(report, proxy) }
        let isWanted = state.withLock { state in
            guard state.completion != nil else { return false }
            state.run = run
            return true
        }
        if isWanted { run.start() }
    }

    private func ran(_ report: PACRun.Report, _ proxy: ProxyConfiguration) {
        var found: [Route] = []
        var problem: RouteProblem?
        switch report.result {
        case .failure(let failure): problem = failure
        case .success(let text):
            let result = PACResult(text)
            found = result.entries.flatMap { planner.routes(for: $0, of: proxy) }
            if found.isEmpty {
                let said = result.unusable.isEmpty ? text : result.unusable.joined(separator: "; ")
                problem = RouteProblem(
                    Failure(.posix(.ENOTSUP)), "the script returned no usable proxy: \(said)")
            }
        }
        let (routes, failure) = (found, problem)
        state.withLock { state in
            state.run = nil
            state.routes += routes
            if state.problem == nil { state.problem = failure }
        }
        next()
    }

    private func finish() {
        let (completion, routes, problem) = state.withLock { state in
            (state.completion.take(), state.routes, state.problem)
        }
        completion?(planner.outcome(routes, problem))
    }
}
