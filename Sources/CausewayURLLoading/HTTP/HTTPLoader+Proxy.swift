internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader: ProxyUser {
    /// Handles a connection failure because a proxy demands a credential: uses the session's credential, or asks the program. The failure
    /// itself can come from another proxy that was tried later.
    ///
    /// - Returns: `false` if the failure has another reason.
    func isAnswered(_ failure: HTTPFailure) -> Bool {
        guard case .cannotConnect = failure else { return false }
        let found = state.withLock { state -> (HTTPOrigin, Duration)? in
            guard let started = state.exchange.proxyStart else { return nil }
            return (state.exchange.origin, started)
        }
        guard let (origin, started) = found,
            let proxy = network.refusedProxy(of: origin, since: started)
        else { return false }
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
        return head.status == 407 || !head.fields.contains("WWW-Authenticate") && forwardingRefusal != nil
    }

    /// The proxy that refused the current request.
    private var forwardingRefusal: RefusedProxy? {
        let (origin, started) = state.withLock { state in (state.exchange.origin, state.exchange.proxyStart) }
        return started.flatMap { network.refusedProxy(of: origin, since: $0) }
    }

    /// Handles a held response from a proxy that demands a credential: uses the session's credential, or asks the program. Without one, the
    /// response is delivered.
    func proxyChallenged(_ response: HTTPURLResponse) {
        guard let proxy = forwardingRefusal else { return deliverHeld() }
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

    // MARK: ProxyUser

    var askingTask: URLSessionTask? { attempt.task.task }

    func withProxyAccess<Result: Sendable>(_ body: (inout ProxyAccess) -> Result) -> Result {
        state.withLock { state in
            var access = state.access.proxy ?? ProxyAccess()
            defer { state.access.proxy = access }
            return body(&access)
        }
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer) {
        attempt.report(.challenge(challenge, answer: answer))
    }

    func connectAgain(isNew: Bool) {
        if isNew { withProxyAccess { $0.needsNewConnection = true } }
        sendAgain()
    }

    // MARK: Waiting

    /// Ends an exchange that waits for connectivity, because a proxy demands a credential. The failure follows when the exchange ends.
    func endWaiting(refusedBy reason: NWError) -> Bool {
        guard case .posix(.EACCES) = reason else { return false }
        let (handle, origin, started) = state.withLock { state in
            (state.exchange.handle, state.exchange.origin, state.exchange.proxyStart)
        }
        guard let handle, let started, network.refusedProxy(of: origin, since: started) != nil else { return false }
        state.withLock { state in state.exchange.failure = .cannotConnect(reason) }
        handle.cancel()
        return true
    }
}
