internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// The actions of the machine: what follows a held response, a stored one or a failure.
extension HTTPLoader {
    // MARK: Held responses

    /// Handles the held response.
    func decide(_ followUp: FollowUp) {
        guard let response = withState({ $0.response }) else { return }
        switch followUp {
        case .proxyChallenge: ProxiedExchange(load: self).challenged(response)
        case .challenge: ServerChallenge(load: self, response: response).answer()
        case .retry: repeatRequest(after: response)
        case .redirect: redirected(response)
        }
    }

    /// Sends the request once more if a connection of another kind can help. Otherwise the response is delivered.
    private func repeatRequest(after response: HTTPURLResponse) {
        let isReused = withState { $0.isReused }
        let context = RetryContext(
            method: request.values.method, connection: isReused ? .reused : .new,
            counts: RetryCounts(repeated: isWebSocket ? 1 : 0))
        guard case .retry(let route, _) = RetryRules.decide(.answered(status: response.statusCode), context) else {
            return deliverHeld()
        }
        withAccess { $0.repeated = route }
        sendAgain()
    }

    /// Reports a redirect to the task, which asks the program.
    private func redirected(_ response: HTTPURLResponse) {
        switch LoadRedirect(response, to: request, over: network) {
        case .deliver: deliverHeld()
        case .fail(let failure): fail(failure)
        case .propose(let next, let refusal):
            if refusal == nil, let content = withState({ $0.completeHeldContent }) {
                cache?.store(redirect: response, content: content)
            }
            // The task may leave the loader.
            measure()
            let redirect = Redirect(request: next, response: response, refusal: refusal) { [weak self] in
                self?.deliverHeld()
            }
            report(.redirect(redirect))
        }
    }

    /// Passes the held response and its content to the task.
    func releaseHeld() {
        guard let response = withState({ $0.response }) else { return }
        guard !isWebSocket else { return refused(response) }
        report(.response(response, storagePolicy(for: response)))
        while true {
            let (pieces, step) = withState { $0.heldContentTaken() }
            for piece in pieces {
                let destination = withState { $0.destination(ofHeld: piece, in: response) }
                ContentDelivery(load: self).deliver(piece, to: destination)
            }
            guard pieces.isEmpty else { continue }
            perform(step)
            return updateReading()
        }
    }

    // MARK: Stored responses

    /// Answers the request from the cache, or sends it.
    func sendUnlessStored(_ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        let use = CacheUse(request.values.cachePolicy)
        guard let cache, !value.isUpgrade else {
            return use.isLocal ? fail(LoadFailure(.notInCache)) : send(value, body)
        }
        guard let question = cache.begin(value.fields, use) else { return send(value, body) }
        if let known = cache.knownEntries(question) { return perform(cache.step(question, known, value), body) }
        cache.lookUp(question, asking: self) { [self] entries in perform(cache.step(question, entries, value), body) }
    }

    private func perform(_ step: LoadCache.Step, _ body: HTTPRequestBody) {
        switch step {
        case .send(let value): send(value, body)
        case .deliver(let cached): deliver(cached)
        case .deliverAndValidate(let cached, let entry, let value):
            deliver(cached)
            cache?.validate(entry, value, over: network)
        case .fail: fail(LoadFailure(.notInCache))
        }
    }

    private func deliver(_ cached: CachedURLResponse) {
        if let http = cached.response as? HTTPURLResponse,
            FollowUp(status: http.statusCode, fields: http.fields, isProxyRefusal: false) == .redirect
        {
            return hold(http, cached.data)
        }
        let replay = DataLoader(cached, for: attempt)
        guard let end = withState({ $0.storedResponseFound(replay) }) else { return }
        release(end)
        replay.start()
    }

    /// Holds a stored redirect as if it had arrived, so that the program decides about it.
    private func hold(_ response: HTTPURLResponse, _ content: Data) {
        guard withState({ $0.storedRedirectFound(response, content) }) else { return }
        cache?.storedRedirectFound()
        redirected(response)
    }

    /// Delivers the stored response after the exchange has confirmed it. A revalidated response has two transactions.
    func deliverConfirmed() {
        guard let step = cache?.confirmed else { return }
        if measure() { report(.begins(TransactionRecord(request: request))) }
        perform(step, .none)
    }

    // MARK: The end of the exchange

    /// Continues after an exchange that failed without a response, or fails.
    func recover() {
        let failure = withState { $0.exchangeFailure }
        if ProxiedExchange(load: self).isAnswered(failure) { return }
        // The server could not be reached, and both sides permit the stored response (RFC 5861 §4).
        if cache?.permitsStale == true { return deliverConfirmed() }
        if repeatsHandshake() { return }
        let reason = loadFailure(failure)
        if !resumesUpload(after: reason) { fail(reason) }
    }

    /// Returns the load's failure. Takes the certificate that was rejected.
    func loadFailure(_ failure: HTTPFailure) -> LoadFailure {
        let origin = self.origin
        let rejection = origin.isSecure ? network.challenges.takeRejection(origin) : nil
        return LoadFailure(failure, rejection: rejection, request)
    }

    // MARK: Uploads

    /// Handles a response that only reports how the upload continues. Returns whether it is one.
    func continuesUpload(_ head: HTTPResponseHead) -> Bool {
        guard let uploading = requests.uploading else { return false }
        apply { $0.pathFound() }
        let (answer, step) = withState { $0.uploadAnswered(head, uploading) }
        perform(step)
        switch answer {
        case .deliver: return false
        case .fail: fail(LoadFailure(.connectionLost))
        case .send, .sendAgain: break
        }
        return true
    }

    /// Continues the upload after its connection broke. Returns `false` if that is impossible.
    private func resumesUpload(after failure: LoadFailure) -> Bool {
        guard let uploading = requests.uploading else { return false }
        switch failure.cause {
        case .connectionLost, .connectionRefused, .hostNotFound, .notConnected: break
        default: return false
        }
        let step = withState { $0.uploadBroke(uploading) }
        guard case .pause = step.action else { return false }
        perform(step)
        return true
    }
}
