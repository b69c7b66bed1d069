internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader: ChallengedLoad {
    var askingTask: URLSessionTask? { attempt.task.task }
    var origin: HTTPOrigin { state.withLock { state in state.exchange.origin } }

    var undecidedResponse: HTTPURLResponse? {
        state.withLock { state in state.machine.isDeciding ? state.exchange.response : nil }
    }

    var digestRequest: (DigestRequest, URIReference)? { requests.digestRequest }

    func withAccess<Result: Sendable>(_ body: (inout LoadAccess) -> Result) -> Result {
        state.withLock { state in body(&state.access) }
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer) {
        attempt.report(.challenge(challenge, answer: answer))
    }

    func ask<Answer>(
        _ ask: (@escaping @Sendable (Answer) -> Void) -> Void, then: @escaping @Sendable (Answer) -> Void
    ) {
        let question = state.withLock { state in state.machine.asked() }
        ask { [self] answer in
            guard let question, state.withLock({ state in state.machine.answered(question) }) else { return }
            then(answer)
        }
    }

    /// Stores the accepted credential, if its persistence asks for that.
    func credentialAccepted(_ fields: FieldSection) {
        typealias Accepted = (URLCredential, URLProtectionSpace)
        let (space, owner, accepted, proxy) = withAccess {
            access -> (ProtectionSpace?, BoundConnections.Owner?, Accepted?, Accepted?) in
            let proxy = access.takeAcceptedByProxy()
            guard let space = access.credentials.space else { return (nil, nil, nil, proxy) }
            return (space, access.bound?.owner, access.accepted.take(), proxy)
        }
        if let space, let information = fields.firstValue(of: "Authentication-Info") {
            _ = network.withAuthorization { $0.received(information: information, in: space) }
        }
        if let proxy { network.proxyAccepted(proxy.0, for: proxy.1, askingTask) }
        guard let accepted, let space else { return }
        if let task = attempt.task.task {
            network.settings.stores.credentials?.keep(accepted.0, for: accepted.1, task)
        }
        if ConnectionSchemes(scheme: space.scheme) != nil {
            network.noteNegotiated(accepted.0, of: space, owner: owner)
        }
    }

    /// Repeats a handshake whose connection closed between two messages. Returns `false` if the failure has another reason.
    func repeatsHandshake() -> Bool {
        let (known, origin) = state.withLock { state -> (LoadAccess.Negotiation?, HTTPOrigin?) in
            guard let negotiation = state.access.negotiation, state.access.bound?.handshake.exchangeFailed() == true,
                case .decide = state.machine.recoveryFound()
            else { return (nil, nil) }
            return (negotiation, state.exchange.secureOrigin)
        }
        guard let known else { return false }
        // The next exchange adds this loader again.
        if let origin { network.challenges.remove(self, origin) }
        let failure = LoadFailure(.noResponse(nil), rejection: nil, request)
        known.negotiation.begin(for: self) { [self] in fail(failure) }
        return true
    }

    // MARK: Challenges of the connection

    /// Passes a connection's challenge to the task. If the load ends first, default handling applies.
    func ask(_ space: URLProtectionSpace, _ once: ChallengeOnce) {
        let isRunning = state.withLock { state in
            guard state.machine.isAwaitingHead else { return false }
            state.challenges.append(once)
            return true
        }
        guard isRunning else { return once.give(.performDefaultHandling, nil) }
        let stored = network.settings.stores.credentials?.defaultCredential(for: space)
        let answer: ChallengeAnswer = { [self] disposition, credential in
            state.withLock { state in state.challenges.removeAll { $0 === once } }
            guard disposition == .performDefaultHandling, let stored, stored.identity != nil else {
                return once.give(disposition, credential)
            }
            once.give(.useCredential, stored)
        }
        guard attempt.task.hasDelegate || stored != nil else { return answer(.performDefaultHandling, nil) }
        let challenge = URLAuthenticationChallenge(space, proposed: stored)
        ask(challenge, answer)
    }
}

extension HTTPLoader: ProxyUser {
    func withProxyAccess<Result: Sendable>(_ body: (inout ProxyAccess) -> Result) -> Result {
        withAccess { $0.withProxy(body) }
    }

    func connectAgain(isNew: Bool) {
        if isNew { withProxyAccess { $0.needsNewConnection = true } }
        sendAgain()
    }

    /// The proxy that refused the current request or its connection; `nil` if none has.
    private var refusedProxy: RefusedProxy? {
        let (origin, started) = state.withLock { state in (state.exchange.origin, state.exchange.proxyStart) }
        return started.flatMap { network.refusedProxy(of: origin, since: $0) }
    }

    /// Handles a connection failure because a proxy demands a credential: uses the session's credential, or asks the program. The failure
    /// itself can come from another proxy that was tried later.
    ///
    /// - Returns: `false` if the failure has another reason.
    func isAnswered(_ failure: HTTPFailure) -> Bool {
        guard case .cannotConnect = failure, let proxy = refusedProxy else { return false }
        let origin = self.origin
        // The next exchange adds this loader again.
        if origin.isSecure { network.challenges.remove(self, origin) }
        guard case .decide = state.withLock({ state in state.machine.recoveryFound() }) else { return true }
        var reason = LoadFailure(failure, rejection: nil, request)
        if let obstacle = network.obstacle(of: proxy) { reason.details[LoadFailure.reasonKey] = obstacle }
        let ending = reason
        answer(ProxyDemand(proxy: proxy, error: ending.urlError(for: request.url)) { [self] in fail(ending) })
        return true
    }

    /// Whether a response comes from a forwarding proxy that demands another credential.
    func isProxyRefusal(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) -> Bool {
        guard connection.details.isForwarded, head.status == 407 || head.status == 401 else { return false }
        return head.status == 407 || !head.fields.contains("WWW-Authenticate") && refusedProxy != nil
    }

    /// Handles a held response from a proxy that demands a credential: uses the session's credential, or asks the program. Without one, the
    /// response is delivered.
    func proxyChallenged(_ response: HTTPURLResponse) {
        guard let proxy = refusedProxy else { return deliverHeld() }
        let obstacle = network.obstacle(of: proxy)
        answer(
            ProxyDemand(proxy: proxy, response: response) { [self] in
                guard let obstacle else { return deliverHeld() }
                fail(
                    LoadFailure(
                        .connectionRefused, underlying: NWError.posix(.EACCES),
                        details: [LoadFailure.reasonKey: obstacle]))
            })
    }

    /// Ends an exchange that waits for connectivity, because a proxy demands a credential. The failure follows when the exchange ends.
    func endWaiting(refusedBy reason: NWError) -> Bool {
        guard case .posix(.EACCES) = reason, refusedProxy != nil else { return false }
        let handle = state.withLock { state in
            if state.exchange.handle != nil { state.exchange.failure = .cannotConnect(reason) }
            return state.exchange.handle
        }
        handle?.cancel()
        return handle != nil
    }
}
