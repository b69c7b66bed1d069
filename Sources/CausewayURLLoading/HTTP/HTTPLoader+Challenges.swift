internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
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
        if let task = askingTask { network.settings.stores.credentials?.keep(accepted.0, for: accepted.1, task) }
        if ConnectionSchemes(scheme: space.scheme) != nil {
            network.noteNegotiated(accepted.0, of: space, owner: owner)
        }
    }

    /// Repeats a handshake whose connection closed between two messages. Returns `false` if the failure has another
    /// reason.
    func repeatsHandshake() -> Bool {
        guard let (known, step) = withState({ $0.handshakeBroke() }) else { return false }
        perform(step)
        let failure = LoadFailure(.noResponse(nil), rejection: nil, request)
        known.negotiation.begin(for: self) { [self] in fail(failure) }
        return true
    }

    // MARK: Challenges of the connection

    /// Passes a connection's challenge to the task. If the load ends first, default handling applies.
    func ask(_ space: URLProtectionSpace, _ once: ChallengeOnce) {
        guard withState({ $0.challengeArrived(once) }) else { return once.give(.performDefaultHandling, nil) }
        let stored = network.settings.stores.credentials?.defaultCredential(for: space)
        let answer: ChallengeAnswer = { [self] disposition, credential in
            withState { $0.challengeAnswered(once) }
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
        guard let (origin, start) = withState({ $0.proxyUse }) else { return nil }
        return network.refusedProxy(of: origin, since: start)
    }

    /// Handles a connection failure because a proxy demands a credential: uses the session's credential, or asks the
    /// program. The failure itself can come from another proxy that was tried later.
    ///
    /// - Returns: `false` if the failure has another reason.
    func isAnswered(_ failure: HTTPFailure) -> Bool {
        guard case .cannotConnect = failure, let proxy = refusedProxy else { return false }
        let step = withState { $0.recoveryFound() }
        perform(step)
        guard case .decide = step.action else { return true }
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

    /// Handles a held response from a proxy that demands a credential: uses the session's credential, or asks the
    /// program. Without one, the response is delivered.
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

    /// Ends an exchange that waits for connectivity, because a proxy demands a credential. The failure follows when the
    /// exchange ends.
    func endWaiting(refusedBy reason: NWError) -> Bool {
        guard case .posix(.EACCES) = reason, refusedProxy != nil,
            let handle = withState({ $0.waitRefused(.cannotConnect(reason)) })
        else { return false }
        handle.cancel()
        return true
    }
}
