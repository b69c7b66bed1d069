internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// A session's network side: its engines, the credentials to reuse, and the loads that receive connection challenges.
///
/// Requests with different ``ConnectionNeeds`` use different engines, because a connection belongs to one set of interfaces and one service
/// class. Most sessions have one engine, which the first request creates.
final class HTTPNetwork: Sendable {
    private struct State {
        /// The engines are in an array, not in a dictionary: a session has only a few, so a linear search costs less
        /// than hashing.
        var engines: [(needs: ConnectionNeeds, engine: HTTPEngine)] = []
        var isClosed = false
        var authorization = AuthorizationCache()
        /// Credentials that servers and proxies have accepted for schemes that authenticate a whole connection. Later
        /// loads use these credentials without asking the program.
        var negotiated: [ProtectionSpace: URLCredential] = [:]
        /// For each server that uses such a scheme, the protection space and the credential. They belong to
        /// authenticated connections, which the next load reuses.
        var bound: [ProtectionSpace.Authority: BoundConnections.Owner] = [:]
        /// The proxies for `http` and for `https` connections; `nil` before the proxy settings are first read.
        var proxies: (plain: NWParameters.PrivacyContext??, secure: NWParameters.PrivacyContext??)

        func engine(for needs: ConnectionNeeds) -> HTTPEngine? {
            for entry in engines where entry.needs == needs { return entry.engine }
            return nil
        }

        /// Whether connections use proxies.
        func usesProxy(isSecure: Bool) -> Bool {
            if case .some(.some) = isSecure ? proxies.secure : proxies.plain { true } else { false }
        }
    }

    private let box: Unchecked<SessionSettings>
    /// The loads waiting for a secure connection.
    let challenges: ConnectionChallenges
    /// The hosts with Strict-Transport-Security.
    let strictTransport: StrictTransportStore
    /// The proxy challenges that still wait for an answer.
    let proxyChallenges = ProxyChallengeTable()
    /// The connections that were authenticated with one credential (Negotiate, NTLM) and are used only with this
    /// credential.
    let boundConnections: BoundConnections
    /// The origins' alternative services.
    let alternatives = AlternativeMemory()
    private let queue: DispatchQueue
    private let state = LockedValue(State())
    /// The latest URL, parsed. Programs often load one URL repeatedly, and parsing takes longer than a comparison.
    private let lastTarget = LockedValue<RequestTarget?>(nil)

    init(_ settings: Unchecked<SessionSettings>, queue: DispatchQueue) {
        box = settings
        self.queue = queue
        challenges = ConnectionChallenges(queue: queue)
        boundConnections = BoundConnections(limit: settings.value.http.maximumConnectionsPerHost)
        strictTransport = settings.value.stores.strictTransport ?? StrictTransportStore(directory: nil)
    }

    /// Releases the HTTP engines later, on the queue.
    ///
    /// The last reference to a session can be released while one of its connections holds that connection's lock. At
    /// that moment, connections must not be closed. So the engines must not be released here.
    deinit {
        let engines = state.withLock { state in
            defer { state.engines = [] }
            return state.engines
        }
        if !engines.isEmpty { queue.async { withExtendedLifetime(engines) {} } }
    }

    var settings: SessionSettings { box.value }

    // MARK: Engines

    /// Returns the engine for requests with the given connection requirements. Returns `nil` after ``close()``.
    ///
    /// Also returns whether a proxy is used. This is known only after the first call to ``proxies(isSecure:)``.
    func engine(for key: ConnectionNeeds, isSecure: Bool) -> (engine: HTTPEngine, usesProxy: Bool)? {
        let (known, usesProxy, isClosed) = state.withLock { state in
            (state.engine(for: key), state.usesProxy(isSecure: isSecure), state.isClosed)
        }
        guard !isClosed else { return nil }
        if let known { return (known, usesProxy) }
        let made = makeEngine(key)
        let engine = state.withLock { state -> HTTPEngine? in
            guard !state.isClosed else { return nil }
            if let known = state.engine(for: key) { return known }
            state.engines.append((key, made))
            return made
        }
        return engine.map { ($0, usesProxy) }
    }

    private func makeEngine(_ needs: ConnectionNeeds) -> HTTPEngine {
        var configuration = HTTPEngine.Configuration()
        configuration.limits.connectionsPerKey = max(1, settings.http.maximumConnectionsPerHost)
        configuration.makeParameters = { [weak self] origin in
            self?.makeParameters(for: origin, needs) ?? HTTPEngine.defaultParameters(for: origin)
        }
        configuration.forwardingRoute = { [weak self] origin in self?.forwardingRoute(to: origin) }
        configuration.alternatives = alternatives
        configuration.usesEarlyData = settings.transport.enablesEarlyData
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

    /// Removes all stored credentials, so that later requests do not use them again.
    func forgetCredentials() {
        state.withLock { state in
            state.authorization.removeAll()
            state.negotiated = [:]
            state.bound = [:]
        }
        boundConnections.forgetAll()
        proxyChallenges.forgetCredentials()
        challenges.forgetAnswers()
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

    // MARK: URLs

    /// Returns the cached target if `text` is the target's URL, and the URL's scheme is `http` or `https`.
    func lastTarget(of text: String) -> RequestTarget? {
        lastTarget.withLock { last in
            guard let last, last.isWeb, last.text == text else { return nil }
            return last
        }
    }

    /// Returns an absolute URL's origin and target; `nil` if the URL is not valid.
    func target(of text: String) -> RequestTarget? {
        if let known = lastTarget.withLock({ $0?.text == text ? $0 : nil }) { return known }
        guard let made = RequestTarget(text) else { return nil }
        let old = lastTarget.withLock { last in
            defer { last = made }
            return last
        }
        withExtendedLifetime(old) {}
        return made
    }

    // MARK: Credentials

    /// Whether there is no credential that requests can reuse.
    var hasNoCredential: Bool { state.withLock { state in state.authorization.isEmpty && state.bound.isEmpty } }

    /// Half of the maximum number of entries in `negotiated` and `bound` together.
    private static let maximumNegotiated = 256

    /// Returns the credential that a server or proxy has accepted for a scheme that authenticates a whole connection.
    func negotiatedCredential(of space: ProtectionSpace) -> URLCredential? {
        state.withLock { $0.negotiated[Self.withoutRealm(space)] }
    }

    /// Returns the protection space and the credential to which the next load's server connections are bound. Returns
    /// `nil` if these connections are not bound to a credential.
    func boundOwner(of authority: ProtectionSpace.Authority) -> BoundConnections.Owner? {
        state.withLock { $0.bound[authority] }
    }

    /// Stores a credential that a server or proxy has accepted. The credential's scheme authenticates a whole
    /// connection. If `credential` is `nil`, the stored credential is discarded.
    ///
    /// - Parameter owner: The protection space and the credential to which the connection is bound; `nil` if it is not
    ///   bound.
    func noteNegotiated(
        _ credential: URLCredential?, of space: ProtectionSpace, owner: BoundConnections.Owner? = nil
    ) {
        state.withLock { state in
            if credential != nil, state.negotiated.count + state.bound.count >= 2 * Self.maximumNegotiated {
                state.negotiated = [:]
                state.bound = [:]
            }
            state.negotiated[Self.withoutRealm(space)] = credential
            if credential == nil || owner != nil { state.bound[space.authority] = owner }
        }
    }

    /// Returns a protection space without its realm, because schemes that authenticate a whole connection have no
    /// realms.
    private static func withoutRealm(_ space: ProtectionSpace) -> ProtectionSpace {
        ProtectionSpace(authority: space.authority, realm: "", scheme: space.scheme)
    }

    func withAuthorization<Result: Sendable>(_ body: (inout AuthorizationCache) -> Result) -> Result {
        state.withLock { state in body(&state.authorization) }
    }

    // MARK: Proxies

    /// Whether connections use proxies. This is known after the first call to ``proxies(isSecure:)``.
    func usesProxy(isSecure: Bool) -> Bool { state.withLock { state in state.usesProxy(isSecure: isSecure) } }

    /// Returns a name for the proxies of plain connections, if they forward all plain requests to this origin.
    ///
    /// Returns `nil` if such a request can also be sent directly or through a tunnel. Also returns `nil` if a script
    /// selects the proxy.
    private func forwardingRoute(to origin: HTTPOrigin) -> String? {
        guard case .some(.some(let context)) = state.withLock({ state in state.proxies.plain }) else { return nil }
        return context.forwardingRoute(to: HTTPEngine.endpoint(of: origin))
    }

    /// Returns the privacy context with the proxies for plain or secure connections; `nil` if there are none.
    ///
    /// - Throws: An error if a proxy setting cannot be used. The caller must then not connect without a proxy.
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
