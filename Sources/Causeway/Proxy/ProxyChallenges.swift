internal import CausewayProtocols
internal import CausewaySystem

/// Stores one proxy's authentication challenges, and the credential that answers them. After a refusal by the proxy, a
/// caller such as a `URLSession` reads the challenges and supplies the credential.
package final class ProxyChallenges: Sendable {
    /// The protocol between this host and a proxy.
    package enum Kind: Sendable {
        case http
        /// HTTP over TLS.
        case https
        case socks
    }

    /// A response with which the proxy refused a tunnel or a request (status 407, or a SOCKS authentication failure).
    package struct Refusal: Sendable {
        /// All `Proxy-Authenticate` values; empty for a SOCKS proxy.
        package var challenges: [String]
        /// Whether the proxy rejected a credential.
        package var hadCredential: Bool
        /// Whether a credential for the proxy was available. The credential may not have been sent, because a proxy can
        /// close the connection after its challenge.
        package var hasCredential: Bool
        /// The tunnel destination, as `host:port`.
        package var destination: String
        /// The time of the refusal, on the monotonic clock.
        package var time: Duration
    }

    private struct State {
        /// For each tunnel destination, the proxy's latest refusal. Refusals are stored separately, because requests to
        /// different destinations run at the same time and must not see each other's refusals.
        var refusals: [String: Refusal] = [:]
        /// Challenges that the proxy sent on an earlier connection. The next connection answers them in its first
        /// request.
        var unanswered: [String] = []
        var credential: ProxyConfiguration.Credential?
        /// Authenticates new connections to the proxy. It is set for a scheme that needs several messages, such as
        /// NTLM, and is otherwise `nil`.
        var authenticator: (any ConnectionAuthenticator)?
        /// Authentications that began before there was a connection for them. Each of them already has its first
        /// message. Each new connection to the proxy takes one.
        var begun: [BegunAuthentication] = []
        /// Credentials for requests that a proxy forwards.
        var forwarded = ForwardedCredentials()
    }

    /// The maximum number of authentications waiting for a connection.
    private static let maximumBegun = 64

    /// The proxy's endpoint.
    package let endpoint: NWEndpoint
    package let kind: Kind
    private let state = LockedValue(State())

    init(of endpoint: NWEndpoint, _ kind: Kind) {
        self.endpoint = endpoint
        self.kind = kind
    }

    /// The maximum number of stored proxy refusals.
    private static let maximumRefusals = 256

    /// Returns the latest refusal for a tunnel destination.
    ///
    /// - Parameter destination: The tunnel destination, as `host:port`.
    func last(of destination: String) -> Refusal? { state.withLock { $0.refusals[destination] } }

    /// The credential supplied after a refusal. It takes precedence over the configuration's credential.
    package var credential: ProxyConfiguration.Credential? { state.withLock { $0.credential } }

    /// Whether later connections use an authentication scheme with several messages, such as NTLM.
    package var hasAuthenticator: Bool { state.withLock { $0.authenticator != nil } }

    /// Sets the credential for later connections.
    package func answer(username: String, password: String) {
        let credential = ProxyConfiguration.Credential(username: username, password: password)
        state.withLock { state in
            state.credential = credential
            state.authenticator = nil
            state.begun = []
            state.forwarded.cache.removeAll()
        }
    }

    /// Sets an authentication scheme that needs several messages. Later connections use it, each with a separate
    /// authentication context. They use the scheme instead of the credential until the proxy refuses the scheme.
    ///
    /// - Parameter begun: Authentication for the next connection, with its first message.
    package func answer(with authenticator: any ConnectionAuthenticator, _ begun: BegunAuthentication) {
        state.withLock { state in
            state.authenticator = authenticator
            if state.begun.count < Self.maximumBegun { state.begun.append(begun) }
        }
    }

    /// Discards the credential supplied after a refusal, and the multi-message authentications. Also discards the
    /// credentials that were used for forwarded requests.
    func forget() {
        state.withLock { state in
            state.credential = nil
            state.authenticator = nil
            state.begun = []
            state.forwarded.cache.removeAll()
        }
    }

    func withForwarded<Result>(_ body: (inout ForwardedCredentials) -> Result) -> Result {
        state.withLock { state in body(&state.forwarded) }
    }

    /// Returns the multi-message authentication for a new connection; `nil` if no such scheme is set, or on failure.
    func takeAuthentication() -> (scheme: String, BegunAuthentication)? {
        let (authenticator, begun) = state.withLock { state -> ((any ConnectionAuthenticator)?, BegunAuthentication?) in
            let begun = state.begun.isEmpty ? nil : state.begun.removeFirst()
            return (state.authenticator, begun)
        }
        guard let authenticator else { return nil }
        if let begun { return (authenticator.scheme, begun) }
        return authenticator.makeContext().map { (authenticator.scheme, BegunAuthentication($0, first: nil)) }
    }

    /// Returns the challenges from the latest refusal. Removes them unless the best usable scheme is Basic.
    ///
    /// Challenges of other schemes are returned only once. With Digest, each connection starts the nonce count at 1,
    /// and a nonce must not be used twice with the same count.
    func takeUnanswered() -> [String] {
        state.withLock { state in
            let taken = state.unanswered
            let best = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(taken)).first
            if best?.scheme != "basic" { state.unanswered = [] }
            return taken
        }
    }

    /// Records that the proxy refused a tunnel.
    ///
    /// - Parameters:
    ///   - refusal: The refusal.
    ///   - hasCredential: Whether a credential was available.
    ///   - destination: The final destination of the tunnel. This is not necessarily the next hop, which can be another
    ///     proxy.
    func note(_ refusal: ProxyRefusal, hasCredential: Bool, of destination: TunnelDestination) {
        let now = System.now
        state.withLock { state in
            if state.refusals.count >= Self.maximumRefusals { state.refusals = [:] }
            state.refusals[destination.authority] = Refusal(
                challenges: refusal.challenges, hadCredential: refusal.hadCredential, hasCredential: hasCredential,
                destination: destination.authority, time: now)
            state.unanswered = refusal.challenges
            guard refusal.hadCredential else { return }
            state.authenticator = nil
            state.begun = []
        }
    }
}

/// The credentials for forwarded requests, and the proxy challenges that these requests answer.
struct ForwardedCredentials: Sendable {
    var cache = AuthorizationCache()
    /// All `Proxy-Authenticate` values from the latest refusal.
    var challenges: [String] = []
}

/// Challenges from all proxies in a session, including script-selected proxies. Plain and secure connections share the
/// table, so that the program supplies a credential once.
package final class ProxyChallengeTable: Sendable {
    private struct Key: Hashable, Sendable {
        var endpoint: NWEndpoint
        var kind: ProxyChallenges.Kind
    }

    /// The maximum number of proxies with recorded refusals. Without a limit, a script could generate arbitrarily many
    /// proxy names. At this number, refusals from further proxies are not recorded.
    private static let maximumCount = 256

    private let known = LockedValue<[Key: ProxyChallenges]>([:])

    package init() {}

    /// Discards the credentials for all proxies. Open connections stay authenticated.
    package func forgetCredentials() {
        for place in known.withLock({ known in Array(known.values) }) { place.forget() }
    }

    /// Returns the ``ProxyChallenges`` for a proxy, and creates them if necessary. Returns `nil` if there are too many
    /// proxies.
    func challenges(of endpoint: NWEndpoint, _ kind: ProxyChallenges.Kind) -> ProxyChallenges? {
        let key = Key(endpoint: endpoint, kind: kind)
        return known.withLock { known in
            if let found = known[key] { return found }
            guard known.count < Self.maximumCount else { return nil }
            let made = ProxyChallenges(of: endpoint, kind)
            known[key] = made
            return made
        }
    }

    /// Returns the latest refusal since `time` of a tunnel to `destination`, with the challenges of the proxy that
    /// refused the tunnel.
    func refused(_ destination: TunnelDestination, since time: Duration) -> (ProxyChallenges, ProxyChallenges.Refusal)?
    {
        let authority = destination.authority
        return known.withLock { known in Array(known.values) }
            .compactMap { place in place.last(of: authority).map { (place, $0) } }
            .filter { $0.1.time >= time }
            .max { $0.1.time < $1.1.time }
    }
}
