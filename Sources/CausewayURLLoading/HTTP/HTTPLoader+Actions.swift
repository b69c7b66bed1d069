internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Dispatch
internal import Foundation

/// The actions of the machine: what follows a held response, a stored one or a failure.
extension HTTPLoader {
    func perform(_ action: LoadMachine.Action) {
        switch action {
        // These need the event's values, or are performed with the change of the machine.
        case .none, .send, .hold, .decide(nil), .deliver, .discard, .read, .cancelExchange, .end: break
        case .prepare: prepareAgain()
        case .decide(let followUp?):
            updateReading()
            decide(followUp)
        case .deliverHeld: releaseHeld()
        case .deliverStored: deliverConfirmed()
        case .pause(let delay): pause(for: delay)
        case .recover: recover()
        case .fail: fail(loadFailure(exchangeFailure()))
        case .finish: finishContent()
        case .reportWaiting: attempt.report(.waiting)
        case .reportContinuing: attempt.report(.continues)
        }
    }

    // MARK: Held responses

    private var heldResponse: HTTPURLResponse? { state.withLock { state in state.exchange.response } }

    /// Handles the held response.
    private func decide(_ followUp: FollowUp) {
        guard let response = heldResponse else { return }
        switch followUp {
        case .proxyChallenge: proxyChallenged(response)
        case .challenge: ServerChallenge(load: self, response: response).answer()
        case .retry: repeatRequest(after: response)
        case .redirect: redirected(response)
        }
    }

    /// Sends the request once more if a connection of another kind can help. Otherwise the response is delivered.
    private func repeatRequest(after response: HTTPURLResponse) {
        let isReused = state.withLock { state in state.exchange.isReused }
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
            if refusal == nil { storeRedirect(response) }
            // The task may leave the loader.
            measure()
            let redirect = Redirect(request: next, response: response, refusal: refusal) { [weak self] in
                self?.deliverHeld()
            }
            attempt.report(.redirect(redirect))
        }
    }

    private func storeRedirect(_ response: HTTPURLResponse) {
        let (content, isOver) = state.withLock { state in (state.content.held, state.machine.isHeldResponseOver) }
        if isOver { cache?.store(redirect: response, content: content) }
    }

    /// Reports the metrics so far. Returns `false` if the task is not measured.
    @discardableResult
    private func measure() -> Bool {
        let record = state.withLock { state in
            state.record?.dates.response.end = Date()
            return state.record
        }
        if let record { attempt.report(.measured(record)) }
        return record != nil
    }

    /// Delivers the held response, because no request follows it.
    func deliverHeld() { report { $0.machine.deliveryChosen() } }

    /// Sends the request again after the current exchange ends.
    func sendAgain() {
        // The handle is taken with the decision. After the lock, the exchange can end, and the next one has another handle.
        let (action, handle) = state.withLock { state -> (LoadMachine.Action, HTTPRequestHandle?) in
            let action = state.machine.repetitionChosen()
            return (action, action == .cancelExchange ? state.exchange.handle.take() : nil)
        }
        handle?.cancel()
        perform(action)
    }

    /// Passes the held response and its content to the task.
    private func releaseHeld() {
        guard let response = heldResponse else { return }
        guard !isWebSocket else { return refused(response) }
        attempt.report(.response(response, storagePolicy(for: response)))
        while true {
            let (pieces, action) = takeHeld()
            for piece in pieces {
                let destination = state.withLock { state in state.content.destination(of: piece, in: response) }
                deliver(piece, to: destination)
            }
            guard pieces.isEmpty else { continue }
            perform(action)
            return updateReading()
        }
    }

    /// Removes and returns the held content. If there is none, later content is delivered directly.
    private func takeHeld() -> ([Data], LoadMachine.Action) {
        state.withLock { state in
            guard !state.content.held.isEmpty else { return ([], state.machine.heldContentTaken()) }
            defer { state.content.held = [] }
            return (state.content.held, .none)
        }
    }

    /// Prepares the next exchange.
    private func prepareAgain() {
        let (old, isWanted, isOpening) = state.withLock { state -> (TransactionRecord?, Bool, Bool) in
            guard !state.machine.hasEnded else { return (nil, false, false) }
            state.record?.dates.response.end = Date()
            defer {
                if state.record != nil { state.record = TransactionRecord(loading: request) }
                state.content.held = []
            }
            return (state.record, true, state.access.bound?.handshake.isOpening == true)
        }
        guard isWanted else { return }
        if let old {
            attempt.report(.measured(old))
            attempt.report(.begins(TransactionRecord(request: request)))
        }
        let offset = requests.nextOffset
        if let offset, request.values.body != .none { attempt.report(.sendsAgain(from: offset)) }
        guard case .stream = request.values.body, !requests.hasRepeatableStream, !isOpening, let offset else {
            return start()
        }
        // The stream has been read, so the program must supply another one.
        ask({ attempt.report(.needsStream(from: offset, answer: $0)) }) { [self] (stream: Unchecked<InputStream>?) in
            if let stream { start(stream) } else { fail(LoadFailure(.bodyStreamExhausted)) }
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
        let end = state.withLock { state -> LoadExchange.End? in
            guard let end = state.end(by: { $0.storedResponseFound() }) else { return nil }
            state.replay = replay
            // A stored response has no connection, and this loader reports nothing more.
            state.handOver = .over
            return end
        }
        guard let end else { return }
        release(end)
        replay.start()
    }

    /// Holds a stored redirect as if it had arrived, so that the program decides about it.
    private func hold(_ response: HTTPURLResponse, _ content: Data) {
        let isWanted = state.withLock { state in
            guard case .decide = state.machine.storedRedirectFound() else { return false }
            state.exchange.response = response
            state.content.held = content.isEmpty ? [] : [content]
            state.record?.fetchType = .localCache
            state.record?.response = response
            return true
        }
        guard isWanted else { return }
        cache?.storedRedirectFound()
        redirected(response)
    }

    /// Delivers the stored response after the exchange has confirmed it. A revalidated response has two transactions.
    private func deliverConfirmed() {
        guard let step = cache?.confirmed else { return }
        if measure() { attempt.report(.begins(TransactionRecord(request: request))) }
        perform(step, .none)
    }

    // MARK: The end of the exchange

    /// Continues after an exchange that failed without a response, or fails.
    private func recover() {
        let failure = exchangeFailure()
        if isAnswered(failure) { return }
        // The server could not be reached, and both sides permit the stored response (RFC 5861 §4).
        if cache?.permitsStale == true { return deliverConfirmed() }
        if repeatsHandshake() { return }
        let reason = loadFailure(failure)
        if !resumesUpload(after: reason) { fail(reason) }
    }

    private func exchangeFailure() -> HTTPFailure {
        let failure = state.withLock { state in
            // The handshake's connection is gone.
            state.access.bound?.handshake.isUnderWay == true ? nil : state.exchange.failure
        }
        return failure ?? .noResponse(nil)
    }

    /// Returns the load's failure. Takes the certificate that was rejected.
    private func loadFailure(_ failure: HTTPFailure) -> LoadFailure {
        let origin = self.origin
        let rejection = origin.isSecure ? network.challenges.takeRejection(origin) : nil
        return LoadFailure(failure, rejection: rejection, request)
    }

    /// Finishes the load, or the decoder's input if content is still to be decoded.
    private func finishContent() {
        let (decoder, conclusion) = state.withLock { state -> (DecodedContent?, Conclusion?) in
            if let decoder = state.content.decoder { (decoder, nil) } else { (nil, state.conclude()) }
        }
        if let conclusion { report(conclusion, .finished) }
        guard let decoder else { return }
        decoder.end()
        deliver(decoder)
    }

    // MARK: Uploads

    /// Handles a response that only reports how the upload continues. Returns whether it is one.
    func continuesUpload(_ head: HTTPResponseHead) -> Bool {
        guard let uploading = requests.uploading else { return false }
        report { $0.machine.pathFound() }
        let (step, action, origin) = state.withLock { state -> (RunningUpload.Step, LoadMachine.Action, HTTPOrigin?) in
            guard state.machine.isAwaitingHead else { return (.deliver, .none, nil) }
            let step = uploading.answered(head)
            switch step {
            case .deliver, .fail: return (step, .none, nil)
            case .send(let delay): return (step, state.machine.uploadInterrupted(for: delay), nil)
            // The next exchange adds this loader again.
            case .sendAgain: return (step, state.machine.headArrived(.sendAgain), state.exchange.secureOrigin)
            }
        }
        if let origin { network.challenges.remove(self, origin) }
        switch step {
        case .deliver: return false
        case .fail: fail(LoadFailure(.connectionLost))
        case .send, .sendAgain: perform(action)
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
        let action = state.withLock { state -> LoadMachine.Action in
            guard !state.machine.hasEnded, let delay = uploading.connectionBroke() else { return .none }
            return state.machine.uploadInterrupted(for: delay)
        }
        guard case .pause = action else { return false }
        perform(action)
        return true
    }

    /// Leaves the exchange, and waits.
    private func pause(for delay: Duration) {
        release(state.withLock { state in state.exchange.end() })
        DispatchQueue.global().call(after: delay) { [weak self] in
            self?.report { $0.machine.pauseElapsed() }
        }
    }
}
