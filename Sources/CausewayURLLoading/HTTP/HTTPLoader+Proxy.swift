internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

extension HTTPLoader {
    /// The maximum number of connections that are tried again without a question, because the proxy has not yet seen the credential.
    private static let maximumRepetitions = 3

    /// The credentials of this load for proxies.
    struct ProxyAccess {
        var attempts = AuthenticationAttempts()
        /// The credential to store after the proxy has accepted it.
        var accepted: (URLCredential, URLProtectionSpace)?
        var proposed: Set<URLCredential> = []
        var repetitions = 0
    }

    /// Handles a failed connection that a proxy refused because it demands a credential: uses the one that the session knows, or asks the
    /// program. The failure itself can be that of another proxy, which was tried later.
    ///
    /// - Returns: `false` if the failure has another reason.
    func isAnswered(_ failure: HTTPFailure) -> Bool {
        guard case .cannotConnect = failure else { return false }
        let found = state.withLock { state -> (HTTPOrigin, Duration)? in
            guard state.phase == .waiting, let started = state.exchange.proxyStart else { return nil }
            return (state.exchange.origin, started)
        }
        guard let (origin, started) = found,
            let proxy = network.refusedProxy(of: origin, since: started)
        else { return false }
        // The next exchange adds this loader again.
        if origin.isSecure { network.challenges.remove(self, origin) }
        // A connection that closed after the refusal could not send the credential.
        let lacksCredential = proxy.lacksCredential
        let step = state.withLock { state -> AuthenticationAttempts.Step? in
            state.phase = .deciding
            state.held.isComplete = true
            var access = state.access.proxy ?? ProxyAccess()
            defer { state.access.proxy = access }
            access.accepted = nil
            if lacksCredential, access.repetitions < Self.maximumRepetitions {
                access.repetitions += 1
                return nil
            }
            if proxy.isSOCKS { return access.attempts.refused(bySOCKS: proxy.authority) }
            return access.attempts.refused(by: proxy.authority, challenges: proxy.refusal.challenges)
        }
        switch step {
        case nil: sendAgain()
        case .offer(let offers): offer(offers[...], proxy, failure)
        // The handshake with the proxy renews the nonce, so only the credential can be wrong.
        case .renew, .deliver: giveUp(failure)
        }
        return true
    }

    private func giveUp(_ failure: HTTPFailure) { fail(LoadFailure(failure, rejection: nil, request)) }

    private func offer(
        _ offers: ArraySlice<AuthenticationAttempts.Offer>, _ proxy: RefusedProxy, _ failure: HTTPFailure
    ) {
        guard let offer = offers.first else { return giveUp(failure) }
        let space = proxy.makeSpace(offer.space)
        let ask: @Sendable (URLCredential?) -> Void = { [self] proposed in
            let answer: ChallengeAnswer = { [self] disposition, credential in
                switch disposition {
                case .useCredential: use(credential, for: offer, space, proxy, failure)
                case .performDefaultHandling:
                    let isNew = proposed.map { isFirstUse(ofProxyCredential: $0) } ?? false
                    use(isNew ? proposed : nil, for: offer, space, proxy, failure)
                case .rejectProtectionSpace: self.offer(offers.dropFirst(), proxy, failure)
                case .cancelAuthenticationChallenge: break
                }
            }
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: proposed, previousFailureCount: offer.failureCount,
                failureResponse: nil, error: LoadFailure(failure, rejection: nil, request).urlError(for: request.url),
                sender: ConnectionChallengeSender(answer))
            attempt.report(.challenge(challenge, answer: answer))
        }
        guard let storage = network.settings.stores.credentials, let task = attempt.task.task else { return ask(nil) }
        storage.getDefaultCredential(for: space, task: task, completionHandler: ask)
    }

    private func isFirstUse(ofProxyCredential credential: URLCredential) -> Bool {
        state.withLock { state in state.access.proxy?.proposed.insert(credential).inserted ?? false }
    }

    private func use(
        _ credential: URLCredential?, for offer: AuthenticationAttempts.Offer, _ space: URLProtectionSpace,
        _ proxy: RefusedProxy, _ failure: HTTPFailure
    ) {
        guard let credential, let user = credential.user else { return giveUp(failure) }
        proxy.challenges.answer(username: user, password: credential.password ?? "")
        state.withLock { state in
            state.access.proxy?.accepted = (credential, space)
            state.access.proxy?.attempts.answered(offer.space)
        }
        sendAgain()
    }

    /// Ends an exchange that waits for connectivity, because a proxy demands a credential. The failure follows as the end of the exchange.
    func endWaiting(refusedBy reason: NWError) -> Bool {
        guard case .posix(.EACCES) = reason else { return false }
        let (handle, origin, started) = state.withLock { state in
            (state.exchange.reading, state.exchange.origin, state.exchange.proxyStart)
        }
        guard let handle, let started, network.refusedProxy(of: origin, since: started) != nil else { return false }
        state.withLock { state in state.exchange.proxyFailure = .cannotConnect(reason) }
        handle.cancel()
        return true
    }
}
