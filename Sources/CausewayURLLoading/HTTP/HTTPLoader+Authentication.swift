internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    // MARK: Challenges of the server

    /// Handles a held 401 response: asks the program for a credential, one challenge at a time.
    ///
    /// - Parameter isOver: Whether a negotiation with several messages is over, so that a message in the response needs no answer.
    func challenged(_ response: HTTPURLResponse, isOver: Bool = false) {
        let values = response.fields.values(of: "WWW-Authenticate")
        let schemes = network.connectionSchemes(of: values)
        let (step, refused) = state.withLock { state in
            state.access.accepted = nil
            return state.access.credentials.refused(
                by: state.exchange.origin, challenges: values, schemes: schemes, answersTokens: !isOver)
        }
        switch step {
        case .deliver: deliverHeld()
        case .renew(let offer):
            guard let refused else { return deliverHeld() }
            ConnectionSchemes(scheme: offer.space.scheme) == nil ? renew(offer, refused) : continueNegotiation(offer)
        case .offer(let offers):
            if let refused { network.withAuthorization { $0.refused(refused) } }
            offer(offers[...], response)
        }
    }

    /// Sends the request again with the same credential, because only the Digest nonce was stale.
    private func renew(_ offer: AuthenticationAttempts.Offer, _ space: ProtectionSpace) {
        guard let credential = state.withLock({ state in state.access.credentials.password }) else {
            return self.offer([offer], nil)
        }
        answer(offer, with: credential, store: nil)
    }

    private func offer(_ offers: ArraySlice<AuthenticationAttempts.Offer>, _ response: HTTPURLResponse?) {
        guard let offer = offers.first else { return deliverHeld() }
        let space = makeSpace(offer)
        if let scheme = network.settings.transport.connectionScheme(offer.space.scheme) {
            return offerNegotiation(scheme, offers, space, response)
        }
        ask(offer, in: space, response) { [self] disposition, credential, proposed in
            switch disposition {
            case .useCredential:
                guard let credential else { return deliverHeld() }
                use(credential, for: offer, space)
            case .performDefaultHandling:
                guard let proposed, isFirstUse(of: proposed) else { return deliverHeld() }
                use(proposed, for: offer, space)
            case .rejectProtectionSpace: self.offer(offers.dropFirst(), response)
            case .cancelAuthenticationChallenge: fail(LoadFailure(.cancelled))
            }
        }
    }

    /// Asks the program for a credential. Its first answer counts, whether the program gives it to the sender or to the completion handler.
    ///
    /// - Parameter then: Receives the answer and the credential for default handling.
    private func ask(
        _ offer: AuthenticationAttempts.Offer, in space: URLProtectionSpace, _ response: HTTPURLResponse?,
        then: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?, URLCredential?) -> Void
    ) {
        propose(for: space) { [self] proposed in
            let question = openQuestion()
            let answer: ChallengeAnswer = { [self] disposition, credential in
                if takesAnswer(to: question) { then(disposition, credential, proposed) }
            }
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: proposed, previousFailureCount: offer.failureCount,
                failureResponse: response, error: nil, sender: ConnectionChallengeSender(answer))
            attempt.report(.challenge(challenge, answer: answer))
        }
    }

    /// Asks for a credential for a connection scheme. Without a credential or a message, the next challenge is offered.
    private func offerNegotiation(
        _ scheme: ConnectionScheme, _ offers: ArraySlice<AuthenticationAttempts.Offer>, _ space: URLProtectionSpace,
        _ response: HTTPURLResponse?
    ) {
        guard let offer = offers.first else { return deliverHeld() }
        let next: @Sendable () -> Void = { [self] in self.offer(offers.dropFirst(), response) }
        if offer.failureCount == 0, let known = network.negotiatedCredential(of: offer.space) {
            return negotiate(scheme, known, for: offer, otherwise: next)
        }
        network.noteNegotiated(nil, of: offer.space)
        ask(offer, in: space, response) { [self] disposition, credential, proposed in
            switch disposition {
            case .useCredential:
                guard let credential, credential.user != nil else { return next() }
                negotiate(scheme, credential, for: offer, otherwise: next)
            case .performDefaultHandling:
                guard let proposed, isFirstUse(of: proposed) else { return next() }
                negotiate(scheme, proposed, for: offer, otherwise: next)
            case .rejectProtectionSpace: next()
            case .cancelAuthenticationChallenge: fail(LoadFailure(.cancelled))
            }
        }
    }

    /// Returns whether default handling has not yet tried a credential in this load.
    private func isFirstUse(of credential: URLCredential) -> Bool {
        state.withLock { state in state.access.proposed.insert(credential).inserted }
    }

    /// Finds the credential for default handling: the one in the URL, otherwise the stored one.
    private func propose(for space: URLProtectionSpace, then: @escaping @Sendable (URLCredential?) -> Void) {
        if let url = request.url, let user = url.user(percentEncoded: false), !user.isEmpty {
            let password = url.password(percentEncoded: false) ?? ""
            return then(URLCredential(user: user, password: password, persistence: .forSession))
        }
        guard let storage = network.settings.stores.credentials, let task = attempt.task.task else { return then(nil) }
        let question = openQuestion()
        storage.getDefaultCredential(for: space, task: task) { [self] in if takesAnswer(to: question) { then($0) } }
    }

    private func use(
        _ credential: URLCredential, for offer: AuthenticationAttempts.Offer, _ space: URLProtectionSpace
    ) {
        guard let user = credential.user else { return deliverHeld() }
        let password = PasswordCredential(username: user, password: credential.password ?? "")
        answer(offer, with: password, store: (credential, space))
    }

    private func answer(
        _ offer: AuthenticationAttempts.Offer, with credential: PasswordCredential,
        store: (URLCredential, URLProtectionSpace)?
    ) {
        guard let text = request.url?.absoluteString, let uri = URIReference(text), let sent = currentRequest else {
            return deliverHeld()
        }
        let offset = nextOffset
        let content: [UInt8]? =
            switch request.values.body {
            case .none: []
            case .data(let data): offset.map { Array(data.dropFirst(Int($0))) } ?? []
            case .stream: offset == nil ? [] : nil
            }
        let digest = DigestRequest(method: sent.method, target: sent.target, content: content)
        let value = network.withAuthorization { cache in
            cache.answer(
                offer.challenge, in: offer.space.authority, with: credential, request: digest, target: uri,
                clientNonce: Self.nonce())
        }
        guard let value else { return deliverHeld() }
        let bound = state.withLock { state in
            state.access.credentials.answered(in: offer.space, with: value, password: credential)
            state.access.accepted = store
            return state.access.bound.take()
        }
        withExtendedLifetime(bound) {}
        sendAgain()
    }

    /// Returns a challenge's protection space as the program sees it. A challenge without a realm uses the host as realm.
    func makeSpace(_ offer: AuthenticationAttempts.Offer) -> URLProtectionSpace {
        let origin = state.withLock { state in state.exchange.origin }
        let space = offer.space
        let scheme = network.settings.transport.connectionScheme(space.scheme)
        let method =
            scheme?.method
            ?? (space.scheme == "basic" ? NSURLAuthenticationMethodHTTPBasic : NSURLAuthenticationMethodHTTPDigest)
        return URLProtectionSpace(
            host: origin.host, port: Int(origin.port),
            protocol: origin.isSecure ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP,
            realm: scheme == nil ? offer.challenge["realm"] ?? origin.host : nil, authenticationMethod: method)
    }

    /// Stores the accepted credential, if its persistence asks for that.
    func credentialAccepted(_ fields: FieldSection) {
        typealias Accepted = (URLCredential, URLProtectionSpace)
        var owner: BoundConnections.Owner?
        let (space, accepted, proxy) = state.withLock { state -> (ProtectionSpace?, Accepted?, Accepted?) in
            let proxy = state.access.proxy?.accepted.take()
            guard let space = state.access.credentials.space else { return (nil, nil, proxy) }
            owner = state.access.bound?.owner
            return (space, state.access.accepted.take(), proxy)
        }
        if let space, let information = fields.firstValue(of: "Authentication-Info") {
            _ = network.withAuthorization { $0.received(information: information, in: space) }
        }
        if let proxy { network.proxyAccepted(proxy.0, for: proxy.1, askingTask) }
        if let accepted { store(accepted.0, for: accepted.1) }
        if let accepted, let space, ConnectionSchemes(scheme: space.scheme) != nil {
            network.noteNegotiated(accepted.0, of: space, owner: owner)
        }
    }

    private func store(_ credential: URLCredential, for space: URLProtectionSpace) {
        guard let storage = network.settings.stores.credentials, let task = attempt.task.task else { return }
        storage.keep(credential, for: space, task)
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
        guard attempt.task.hasDelegate || stored != nil else {
            state.withLock { state in state.challenges.removeAll { $0 === once } }
            return once.give(.performDefaultHandling, nil)
        }
        let answer: ChallengeAnswer = { [self] disposition, credential in
            state.withLock { state in state.challenges.removeAll { $0 === once } }
            if disposition == .performDefaultHandling, let stored, stored.identity != nil {
                return once.give(.useCredential, stored)
            }
            once.give(disposition, credential)
        }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: stored, previousFailureCount: 0, failureResponse: nil,
            error: nil, sender: ConnectionChallengeSender(answer))
        attempt.report(.challenge(challenge, answer: answer))
    }
}
