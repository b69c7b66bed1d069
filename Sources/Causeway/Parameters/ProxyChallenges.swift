internal import CausewayProtocols
internal import CausewaySystem

/// The challenges of one proxy, and the credential that answers them, for a caller that can ask for a credential after a refusal.
package final class ProxyChallenges: Sendable {
    /// The protocol of a proxy.
    package enum Kind: Sendable {
        case http
        /// HTTP over TLS.
        case https
        case socks
    }

    /// A refusal of the proxy.
    package struct Refusal: Sendable {
        /// The values of all fields `Proxy-Authenticate`; empty for a SOCKS proxy.
        package var challenges: [String]
        /// Whether the proxy refused a credential.
        package var hadCredential: Bool
        /// Whether a credential was known. A proxy that closes the connection after its challenge does not receive it.
        package var hasCredential: Bool
        /// The end of the tunnel, with its port.
        package var destination: String
        /// The time of the monotonic clock.
        package var time: Duration
    }

    private struct State {
        /// The last refusals, by the end of the tunnel: loads at the same time must not see those of others.
        var refusals: [String: Refusal] = [:]
        /// The challenges that the next connection answers with its first request.
        var unanswered: [String] = []
        var credential: ProxyConfiguration.Credential?
        /// Authenticates later connections, by several messages.
        var authenticator: (any ConnectionAuthenticator)?
        /// The authentications whose first message is known, for the next connections.
        var begun: [BegunAuthentication] = []
        /// The credentials of requests that the proxy forwards.
        var forwarded = ForwardedCredentials()
    }

    /// The maximum number of authentications that wait for their connection.
    private static let maximumBegun = 64

    /// The endpoint of the proxy.
    package let endpoint: NWEndpoint
    package let kind: Kind
    private let state = LockedValue(State())

    init(of endpoint: NWEndpoint, _ kind: Kind) {
        self.endpoint = endpoint
        self.kind = kind
    }

    /// The maximum number of refusals that are kept.
    private static let maximumRefusals = 256

    /// Returns the last refusal of a tunnel to a destination.
    ///
    /// - Parameter destination: The end of the tunnel, with its port.
    func last(of destination: String) -> Refusal? { state.withLock { $0.refusals[destination] } }

    /// The credential that was given after a refusal. It takes precedence over that of the configuration.
    package var credential: ProxyConfiguration.Credential? { state.withLock { $0.credential } }

    /// Whether later connections are authenticated by several messages.
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

    /// Sets the authentication of later connections by several messages, each connection with its own. It takes precedence over the
    /// credential until the proxy refuses it.
    ///
    /// - Parameter begun: The authentication of the next connection, whose first message is known.
    package func answer(with authenticator: any ConnectionAuthenticator, _ begun: BegunAuthentication) {
        state.withLock { state in
            state.authenticator = authenticator
            if state.begun.count < Self.maximumBegun { state.begun.append(begun) }
        }
    }

    /// Forgets the credential and the authentication.
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

    /// Returns the authentication of a new connection; `nil` if the proxy gets at most a name and a password.
    func takeAuthentication() -> (scheme: String, BegunAuthentication)? {
        let (authenticator, begun) = state.withLock { state -> ((any ConnectionAuthenticator)?, BegunAuthentication?) in
            let begun = state.begun.isEmpty ? nil : state.begun.removeFirst()
            return (state.authenticator, begun)
        }
        guard let authenticator else { return nil }
        if let begun { return (authenticator.scheme, begun) }
        return authenticator.makeContext().map { (authenticator.scheme, BegunAuthentication($0, first: nil)) }
    }

    /// Returns the challenges of the last refusal. A Digest challenge is returned once, because its nonce must not be used again with an
    /// equal count.
    func takeUnanswered() -> [String] {
        state.withLock { state in
            let taken = state.unanswered
            let best = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(taken)).first
            if best?.scheme != "basic" { state.unanswered = [] }
            return taken
        }
    }

    /// Records a refusal of a tunnel.
    ///
    /// - Parameters:
    ///   - refusal: The refusal.
    ///   - hasCredential: Whether a credential was known.
    ///   - destination: The end of the tunnel, also if this proxy leads to another one.
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

/// The credentials of requests that a proxy forwards, and the challenges that no request has answered yet.
struct ForwardedCredentials: Sendable {
    var cache = AuthorizationCache()
    /// The values of all fields `Proxy-Authenticate` of the last refusal.
    var challenges: [String] = []
}

/// The challenges of all proxies of a session, also of those that a script selects. Plain and secure connections share them, so that one
/// answer suffices.
package final class ProxyChallengeTable: Sendable {
    private struct Key: Hashable, Sendable {
        var endpoint: NWEndpoint
        var kind: ProxyChallenges.Kind
    }

    /// The maximum number of proxies: a script can invent names. The refusals of more proxies are not recorded.
    private static let maximumCount = 256

    private let known = LockedValue<[Key: ProxyChallenges]>([:])

    package init() {}

    /// Forgets the credentials for all proxies. Open connections keep theirs.
    package func forgetCredentials() {
        for place in known.withLock({ known in Array(known.values) }) { place.forget() }
    }

    /// Returns the place for the challenges of a proxy; `nil` if there are too many proxies.
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

    /// Returns the proxy that was the last to refuse a tunnel to a destination, if that was at or after a time.
    func refused(_ destination: TunnelDestination, since time: Duration) -> (ProxyChallenges, ProxyChallenges.Refusal)?
    {
        let authority = destination.authority
        return known.withLock { known in Array(known.values) }
            .compactMap { place in place.last(of: authority).map { (place, $0) } }
            .filter { $0.1.time >= time }
            .max { $0.1.time < $1.1.time }
    }
}
