internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// The network side of a session: its engines, the credentials that it sends again, and the loaders that answer challenges of connections.
///
/// Requests with different ``ConnectionNeeds`` use different engines, because a connection belongs to one set of interfaces and to one service
/// class. Most sessions have one engine, which is made by the first request.
final class HTTPNetwork: Sendable {
    private struct State {
        /// A session has one engine, or a few. A search costs less than a hash value.
        var engines: [(needs: ConnectionNeeds, engine: HTTPEngine)] = []
        var isClosed = false
        var authorization = AuthorizationCache()
        /// The credentials that Negotiate has accepted. Later loads use them without a question.
        var negotiated: [HTTPOrigin: URLCredential] = [:]
        /// The proxies for plain and for secure connections; `nil` before the settings are first read.
        var proxies: (plain: NWParameters.PrivacyContext??, secure: NWParameters.PrivacyContext??)

        func engine(for needs: ConnectionNeeds) -> HTTPEngine? {
            for entry in engines where entry.needs == needs { return entry.engine }
            return nil
        }
    }

    private let box: Unchecked<SessionSettings>
    /// The loaders that wait for a secure connection.
    let challenges: ConnectionChallenges
    /// The hosts that want secure connections only.
    let strictTransport: StrictTransportStore
    /// The challenges of proxies.
    let proxyChallenges = ProxyChallengeTable()
    /// The other places of origins.
    let alternatives = AlternativeMemory()
    private let queue: DispatchQueue
    private let state = LockedValue(State())

    init(_ settings: Unchecked<SessionSettings>, queue: DispatchQueue) {
        box = settings
        self.queue = queue
        challenges = ConnectionChallenges(queue: queue)
        strictTransport = settings.value.stores.strictTransport ?? StrictTransportStore(directory: nil)
    }

    /// Closes the connections later: the last reference to a session can disappear while a connection holds its lock.
    deinit {
        let engines = state.withLock { state in
            defer { state.engines = [] }
            return state.engines
        }
        if !engines.isEmpty { queue.async { withExtendedLifetime(engines) {} } }
    }

    var settings: SessionSettings { box.value }

    // MARK: Engines

    /// Returns the engine for requests with these needs; `nil` after ``close()``.
    func engine(for key: ConnectionNeeds) -> HTTPEngine? {
        if let (known, isClosed) = state.withLock({ state -> (HTTPEngine?, Bool)? in
            if state.isClosed { return (nil, true) }
            return state.engine(for: key).map { ($0, false) }
        }) {
            return isClosed ? nil : known
        }
        let made = makeEngine(key)
        return state.withLock { state in
            guard !state.isClosed else { return nil }
            if let known = state.engine(for: key) { return known }
            state.engines.append((key, made))
            return made
        }
    }

    private func makeEngine(_ needs: ConnectionNeeds) -> HTTPEngine {
        var configuration = HTTPEngine.Configuration()
        configuration.limits.connectionsPerKey = max(1, settings.http.maximumConnectionsPerHost)
        configuration.makeParameters = { [weak self] origin in
            self?.makeParameters(for: origin, needs) ?? HTTPEngine.defaultParameters(for: origin)
        }
        configuration.alternatives = alternatives
        return HTTPEngine(configuration)
    }

    /// Makes new requests use new connections. Running requests keep theirs.
    func renewConnections() {
        let old = state.withLock { state in
            defer { state.engines = [] }
            return state.engines
        }
        withExtendedLifetime(old) {}
    }

    /// Removes the credentials that are sent again.
    func forgetCredentials() {
        state.withLock { state in
            state.authorization.removeAll()
            state.negotiated = [:]
        }
    }

    /// Closes all connections. Later requests fail.
    func close() {
        let engines = state.withLock { state in
            state.isClosed = true
            defer { state.engines = [] }
            return state.engines
        }
        for entry in engines { entry.engine.shutDown() }
    }

    // MARK: Credentials

    /// Whether no credential is sent again.
    var hasNoCredential: Bool { state.withLock { state in state.authorization.isEmpty } }

    /// The maximum number of origins whose credential for Negotiate is kept.
    private static let maximumNegotiated = 256

    /// Returns the credential that an origin has accepted by Negotiate.
    func negotiatedCredential(of origin: HTTPOrigin) -> URLCredential? { state.withLock { $0.negotiated[origin] } }

    /// Keeps the credential that an origin has accepted by Negotiate; `nil` forgets it.
    func noteNegotiated(_ credential: URLCredential?, of origin: HTTPOrigin) {
        state.withLock { state in
            if credential != nil, state.negotiated.count >= Self.maximumNegotiated { state.negotiated = [:] }
            state.negotiated[origin] = credential
        }
    }

    func withAuthorization<Result: Sendable>(_ body: (inout AuthorizationCache) -> Result) -> Result {
        state.withLock { state in body(&state.authorization) }
    }

    // MARK: Proxies

    /// Whether connections use proxies. Known after the first call of ``proxies(isSecure:)``.
    func usesProxy(isSecure: Bool) -> Bool {
        state.withLock { state in
            if case .some(.some) = isSecure ? state.proxies.secure : state.proxies.plain { true } else { false }
        }
    }

    /// Returns the context with the proxies for plain or secure connections; `nil` if there are none.
    ///
    /// - Throws: The error of a proxy setting that cannot be used. Ignoring it would bypass the proxy.
    func proxies(isSecure: Bool) throws(NWError) -> NWParameters.PrivacyContext? {
        let known = state.withLock { state in isSecure ? state.proxies.secure : state.proxies.plain }
        if let known { return known }
        let proxies = try ProxySettings(settings.transport).proxies(for: isSecure ? "https" : "http")
        var made: NWParameters.PrivacyContext?
        if !proxies.isEmpty {
            let context = NWParameters.PrivacyContext(description: "URLSession")
            context.proxyConfigurations = proxies.map { $0.recordingChallenges(in: proxyChallenges) }
            made = context
        }
        let context = made
        return state.withLock { state in
            if let known = isSecure ? state.proxies.secure : state.proxies.plain { return known }
            if isSecure { state.proxies.secure = .some(context) } else { state.proxies.plain = .some(context) }
            return context
        }
    }
}
