internal import Causeway
internal import CausewayProtocols
internal import Foundation

/// A load or a stream task that passes challenges to the program.
protocol Challenged: AnyObject, Sendable {
    var network: HTTPNetwork { get }
    /// The task to pass to a credential storage; `nil` after the task has ended.
    var askingTask: URLSessionTask? { get }
    /// Passes a challenge to the delegates.
    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer)
}

/// A load or stream task that connects through proxies. Proxies can demand credentials from it.
protocol ProxyUser: Challenged {
    func withProxyAccess<Result: Sendable>(_ body: (inout ProxyAccess) -> Result) -> Result
    /// Connects through the proxy again.
    ///
    /// - Parameter isNew: Whether a new connection is required, because the authentication is part of the handshake
    ///   with the proxy.
    func connectAgain(isNew: Bool)
}

/// A proxy's refusal of a connection or request, with a demand for a credential.
struct ProxyDemand: Sendable {
    let proxy: RefusedProxy
    /// The error of the connection attempt. `nil` if the proxy sent a response that refuses a request.
    var error: URLError?
    /// The response with which the proxy refused a request; `nil` if the proxy refused a connection.
    var response: HTTPURLResponse?
    /// Gives up: if there is an error, ends the task with it; otherwise delivers the proxy's response to the task.
    let giveUp: @Sendable () -> Void
}

extension ProxyUser {
    private typealias Offers = ArraySlice<AuthenticationAttempts.Offer>

    /// Responds to a proxy's demand with the session's credential, or asks the program for a credential.
    func answer(_ demand: ProxyDemand) {
        let values = demand.proxy.refusal.challenges
        let schemes = network.connectionSchemes(of: values)
        switch withProxyAccess({ $0.next(after: demand.proxy, schemes: schemes) }) {
        case .again: connectAgain(isNew: demand.proxy.challenges.hasAuthenticator)
        case .offer(let offers): offer(offers[...], demand)
        case .giveUp: demand.giveUp()
        }
    }

    private func offer(_ offers: Offers, _ demand: ProxyDemand) {
        guard let offer = offers.first else { return demand.giveUp() }
        let space = demand.proxy.makeSpace(offer)
        if let scheme = network.settings.transport.connectionScheme(offer.space.scheme), offer.failureCount == 0,
            let known = network.negotiatedCredential(of: offer.space)
        {
            return negotiate(scheme, known, offer, demand) { [self] in self.offer(offers.dropFirst(), demand) }
        }
        let ask: @Sendable (URLCredential?) -> Void = { [self] proposed in
            let challenge = URLAuthenticationChallenge(
                space, proposed: proposed, failureCount: offer.failureCount, response: demand.response,
                error: demand.error)
            self.ask(challenge) { [self] in answered($0, $1, proposed, offers, demand) }
        }
        guard let storage = network.settings.stores.credentials, let task = askingTask else { return ask(nil) }
        storage.getDefaultCredential(for: space, task: task, completionHandler: ask)
    }

    private func answered(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, _ proposed: URLCredential?,
        _ offers: Offers, _ demand: ProxyDemand
    ) {
        switch disposition {
        case .useCredential: use(credential, offers, demand)
        case .performDefaultHandling:
            let isNew = proposed.map { credential in withProxyAccess { $0.isFirstUse(of: credential) } }
            use(isNew == true ? proposed : nil, offers, demand)
        case .rejectProtectionSpace: offer(offers.dropFirst(), demand)
        case .cancelAuthenticationChallenge: break
        }
    }

    private func use(_ credential: URLCredential?, _ offers: Offers, _ demand: ProxyDemand) {
        guard let offer = offers.first else { return demand.giveUp() }
        let scheme = network.settings.transport.connectionScheme(offer.space.scheme)
        guard let credential, let user = credential.user else {
            return scheme == nil ? demand.giveUp() : self.offer(offers.dropFirst(), demand)
        }
        if let scheme {
            return negotiate(scheme, credential, offer, demand) { [self] in self.offer(offers.dropFirst(), demand) }
        }
        demand.proxy.challenges.answer(username: user, password: credential.password ?? "")
        note(credential, offer, demand)
        connectAgain(isNew: false)
    }

    private func note(_ credential: URLCredential, _ offer: AuthenticationAttempts.Offer, _ demand: ProxyDemand) {
        let space = demand.proxy.makeSpace(offer)
        withProxyAccess { access in
            access.accepted = (credential, space)
            access.attempts.answered(offer.space)
        }
    }

    /// Starts authentication at the proxy with a scheme that authenticates a whole connection (RFC 4559 §4.2).
    ///
    /// Connects again with the scheme's first token. Each later connection creates its own first token.
    ///
    /// - Parameter fallback: Called if there is no token, for example because the user has no Kerberos ticket.
    private func negotiate(
        _ scheme: ConnectionScheme, _ credential: URLCredential, _ offer: AuthenticationAttempts.Offer,
        _ demand: ProxyDemand, otherwise fallback: @escaping @Sendable () -> Void
    ) {
        let authenticator = ProxyAuthenticator(proxy: demand.proxy.host, credential: credential, kind: scheme)
        guard let context = authenticator.makeContext() else { return fallback() }
        context.next(nil) { [self] token in
            guard let token else { return fallback() }
            demand.proxy.challenges.answer(with: authenticator, BegunAuthentication(context, first: token))
            note(credential, offer, demand)
            connectAgain(isNew: true)
        }
    }
}

extension HTTPNetwork {
    /// Returns the offered schemes that authenticate whole connections (Negotiate, NTLM) and that can be used. A
    /// scheme's library is loaded only if the scheme is offered.
    ///
    /// If no challenge can be answered, returns the offered schemes whose library is missing. If the program then
    /// supplies a credential for such a scheme, the task fails with an error that names the library.
    func connectionSchemes(of challenges: [String]) -> ConnectionSchemes {
        var (schemes, missing): (ConnectionSchemes, ConnectionSchemes) = ([], [])
        for (scheme, kind) in offeredSchemes(in: challenges) {
            if kind.mechanism.isAvailable { schemes.insert(scheme) } else { missing.insert(scheme) }
        }
        guard !missing.isEmpty else { return schemes }
        let parsed = AuthenticationChallenge.parse(challenges)
        return AuthenticationChallenge.answerable(parsed, schemes: schemes).isEmpty ? missing : schemes
    }

    /// Returns the reason why the proxy's challenges cannot be answered, with advice on what to install. Returns `nil`
    /// if they can be answered.
    func obstacle(of proxy: RefusedProxy) -> String? {
        let reasons = offeredSchemes(in: proxy.refusal.challenges)
            .compactMap { $0.1.obstacle(at: "The proxy \(proxy.host)") }
        return reasons.isEmpty ? nil : reasons.joined(separator: " ")
    }

    private func offeredSchemes(in challenges: [String]) -> [(ConnectionSchemes, ConnectionScheme)] {
        AuthenticationMethod.connectionSchemes.compactMap { name in
            guard challenges.contains(where: { $0.range(of: name, options: .caseInsensitive) != nil }),
                let scheme = ConnectionSchemes(scheme: name), let kind = settings.transport.connectionScheme(name)
            else { return nil }
            return (scheme, kind)
        }
    }

    /// Creates a security context for a host; `nil` if the library is missing or the context cannot be created. If the
    /// user name or the password is empty, Negotiate takes it from the system, for example from a Kerberos ticket.
    static func makeContext(
        _ scheme: ConnectionScheme, with host: String, _ credential: URLCredential
    ) -> (any NegotiateContext)? {
        func given(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }
        guard scheme.mechanism.isAvailable else { return nil }
        return scheme.mechanism.makeContext(
            service: "HTTP@\(host)", user: given(credential.user), password: given(credential.password))
    }

    /// Stores a credential that a proxy has accepted.
    func proxyAccepted(_ credential: URLCredential, for space: URLProtectionSpace, _ task: URLSessionTask?) {
        let scheme = AuthenticationMethod.connectionScheme(named: space.authenticationMethod)
        if let scheme, let port = UInt16(exactly: space.port) {
            noteNegotiated(
                credential,
                of: ProtectionSpace(authority: .proxy(host: space.host, port: port), realm: "", scheme: scheme))
        }
        if let task { settings.stores.credentials?.keep(credential, for: space, task) }
    }
}
