internal import Causeway
internal import CausewayProtocols
internal import Foundation

/// A load or a stream task whose connections go through proxies, which can demand credentials.
protocol ProxyUser: AnyObject, Sendable {
    var network: HTTPNetwork { get }
    /// The task that a credential storage is asked for; `nil` after its end.
    var askingTask: URLSessionTask? { get }

    func withProxyAccess<Result: Sendable>(_ body: (inout ProxyAccess) -> Result) -> Result
    /// Passes a challenge to the delegates.
    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer)
    /// Connects through the proxy again.
    func connectAgain()
}

/// A refusal of a proxy, which a credential may answer.
struct ProxyDemand: Sendable {
    let proxy: RefusedProxy
    /// The error of the connection.
    let error: URLError
    /// Ends the task with the error.
    let giveUp: @Sendable () -> Void
}

extension ProxyUser {
    private typealias Offers = ArraySlice<AuthenticationAttempts.Offer>

    /// Uses a credential that the session knows, or asks the program.
    func answer(_ demand: ProxyDemand) {
        let values = demand.proxy.refusal.challenges
        let canNegotiate = network.negotiates(values)
        switch withProxyAccess({ $0.next(after: demand.proxy, negotiates: canNegotiate) }) {
        case .again: connectAgain()
        case .token(let negotiating): negotiate(negotiating, demand, otherwise: demand.giveUp)
        case .offer(let offers): offer(offers[...], demand)
        case .giveUp: demand.giveUp()
        }
    }

    private func offer(_ offers: Offers, _ demand: ProxyDemand) {
        guard let offer = offers.first else { return demand.giveUp() }
        let space = demand.proxy.makeSpace(offer.space)
        if offer.space.scheme == "negotiate", offer.failureCount == 0,
            let known = network.negotiatedCredential(of: offer.space.authority)
        {
            let negotiating = ProxyAccess.Negotiating(credential: known, offer: offer)
            return negotiate(negotiating, demand) { [self] in self.offer(offers.dropFirst(), demand) }
        }
        let ask: @Sendable (URLCredential?) -> Void = { [self] proposed in
            let once = ChallengeOnce { [self] in answered($0, $1, proposed, offers, demand) }
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: proposed, previousFailureCount: offer.failureCount,
                failureResponse: nil, error: demand.error,
                sender: ConnectionChallengeSender { once.give($0, $1) })
            self.ask(challenge) { once.give($0, $1) }
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
        let isNegotiation = offer.space.scheme == "negotiate"
        guard let credential, let user = credential.user else {
            return isNegotiation ? self.offer(offers.dropFirst(), demand) : demand.giveUp()
        }
        if isNegotiation {
            let negotiating = ProxyAccess.Negotiating(credential: credential, offer: offer)
            return negotiate(negotiating, demand) { [self] in self.offer(offers.dropFirst(), demand) }
        }
        demand.proxy.challenges.answer(username: user, password: credential.password ?? "")
        note(credential, offer, demand)
        connectAgain()
    }

    private func note(_ credential: URLCredential, _ offer: AuthenticationAttempts.Offer, _ demand: ProxyDemand) {
        let space = demand.proxy.makeSpace(offer.space)
        withProxyAccess { access in
            access.accepted = (credential, space)
            access.attempts.answered(offer.space)
        }
    }

    /// Connects again with a token of Negotiate (RFC 4559 §4.2), which is made for this connection only.
    ///
    /// - Parameter fallback: Called if there is no token, for example because the user has no Kerberos ticket.
    private func negotiate(
        _ negotiating: ProxyAccess.Negotiating, _ demand: ProxyDemand,
        otherwise fallback: @escaping @Sendable () -> Void
    ) {
        let (credential, offer) = (negotiating.credential, negotiating.offer)
        guard let context = network.makeNegotiation(with: demand.proxy.host, credential) else { return fallback() }
        NegotiateQueue.step(context, nil) { [self] token in
            guard let token else { return fallback() }
            demand.proxy.challenges.answer(once: "Negotiate " + token.base64EncodedString())
            withProxyAccess { $0.negotiating = negotiating }
            note(credential, offer, demand)
            connectAgain()
        }
    }
}

extension HTTPNetwork {
    /// Whether the challenges of a server or a proxy may be answered with Negotiate. Loads the library only if the scheme is offered.
    func negotiates(_ challenges: [String]) -> Bool {
        guard challenges.contains(where: { $0.range(of: "negotiate", options: .caseInsensitive) != nil }) else {
            return false
        }
        return settings.transport.negotiation.isAvailable
    }

    /// Creates the context of a negotiation with a host; `nil` without the library. Empty names stand for those of the system.
    func makeNegotiation(with host: String, _ credential: URLCredential) -> (any NegotiateContext)? {
        func given(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }
        let mechanism = settings.transport.negotiation
        guard mechanism.isAvailable else { return nil }
        return mechanism.makeContext(
            service: "HTTP@\(host)", user: given(credential.user), password: given(credential.password))
    }

    /// Stores a credential that a proxy has accepted.
    func proxyAccepted(_ credential: URLCredential, for space: URLProtectionSpace, _ task: URLSessionTask?) {
        if space.authenticationMethod == NSURLAuthenticationMethodNegotiate, let port = UInt16(exactly: space.port) {
            noteNegotiated(credential, of: .proxy(host: space.host, port: port))
        }
        if let task { settings.stores.credentials?.keep(credential, for: space, task) }
    }
}
