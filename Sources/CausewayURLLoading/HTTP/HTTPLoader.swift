internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Dispatch
internal import Foundation

/// Loads `http` and `https` URLs over the session's engine.
///
/// The loader's ``LoadState`` contains a ``LoadMachine``. The machine decides how to handle each response, and which
/// exchange comes next. An exchange is a request and its response. Its events arrive in order. The loader reports each
/// event to the state while it holds a lock. The state returns work, and the loader does this work after it has
/// released the lock.
///
/// Other types do parts of this work, and use only the protocol ``DrivenLoad``:
/// - the types ``StoredAnswer``, ``HeldResponse``, ``ContentDelivery``, ``FailedExchange`` and others,
/// - and ``LoadRequests``, which makes the requests.
final class HTTPLoader: Loader {
    let requests: LoadRequests
    /// The load's use of the session's cache; `nil` if the load uses no cache.
    let cache: LoadCache?
    let state: LockedValue<LoadState>

    /// - Parameter known: The request target; `nil` to parse the target from the request's URL.
    init(_ network: HTTPNetwork, for attempt: LoadAttempt, _ known: RequestTarget? = nil) {
        let target = known ?? (attempt.request.values.url?.absoluteString).flatMap { network.target(of: $0) }
        let task = attempt.task
        requests = LoadRequests(
            attempt: attempt, network: network, target: target, uploading: RunningUpload(of: attempt),
            isWebSocket: task.webSocket != nil)
        // Downloads and WebSocket tasks do not use the cache. Their `usesCache` is `false`.
        let cache = task.plan.usesCache ? network.settings.stores.cache : nil
        self.cache = cache.flatMap { LoadCache($0, for: attempt, target) }
        state = LockedValue(LoadState(record: task.isMeasured ? TransactionRecord(loading: attempt.request) : nil))
    }

    var attempt: LoadAttempt { requests.attempt }
    var network: HTTPNetwork { requests.network }
    var request: URLRequest { attempt.request }
    var isWebSocket: Bool { requests.isWebSocket }
    var uploading: RunningUpload? { requests.uploading }
    /// The resumable upload, with the progress that the server has confirmed. `nil` for loads without a resumable
    /// upload.
    var upload: ResumableUpload? { uploading?.upload }

    // MARK: Requests

    func start() { start(nil) }

    /// Makes the next request. If a stored response answers it, the request is not sent.
    ///
    /// - Parameter stream: The new body stream that the program has supplied; `nil` for the body of the request.
    private func start(_ stream: Unchecked<InputStream>?) {
        let cookies = LoadCookies(attempt: attempt, network: network)
        guard let subclass = cookies.subclass else { return start(.storage, stream) }
        cookies.ask(subclass, for: self) { [self] cookies in start(cookies, stream) }
    }

    private func start(_ cookies: LoadCookies.Source, _ stream: Unchecked<InputStream>?) {
        let authorization = withAccess { $0.takeAuthorization() }
        do throws(LoadFailure) {
            let (value, reuse) = try requests.make(cookies, authorization)
            if let reuse { withAccess { $0.reused(reuse) } }
            if let stream { return send(value, requests.makeBody(stream)) }
            sendUnlessStored(value, try requests.makeBody(isOpening: authorization.isOpening))
        } catch {
            fail(error)
        }
    }

    /// Prepares and starts the next exchange. Ends the metrics of the previous exchange. Asks the program for a new
    /// body stream if the next request needs one.
    private func prepareAgain() {
        guard let (record, isOpening) = state.withLock({ $0.transactionEnded(request) }) else { return }
        if let record {
            report(.measured(record))
            report(.begins(TransactionRecord(request: request)))
        }
        let offset = requests.nextOffset
        if let offset, request.values.body != .none { report(.sendsAgain(from: offset)) }
        guard case .stream = request.values.body, !requests.hasRepeatableStream, !isOpening, let offset else {
            return start()
        }
        // The stream has been read, so the program must supply another one.
        ask({ report(.needsStream(from: offset, answer: $0)) }) { [self] (stream: Unchecked<InputStream>?) in
            if let stream { start(stream) } else { fail(LoadFailure(.bodyStreamExhausted)) }
        }
    }

    /// Answers the request from the cache, or sends it.
    private func sendUnlessStored(_ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        let use = CacheUse(request.values.cachePolicy)
        guard let cache, !value.isUpgrade else {
            return use.isLocal ? fail(LoadFailure(.notInCache)) : send(value, body)
        }
        StoredAnswer(load: self, cache: cache).answer(value, body, use)
    }

    func replay(_ cached: CachedURLResponse) {
        let replay = DataLoader(cached, for: attempt)
        guard let end = withState({ $0.storedResponseFound(replay) }) else { return }
        release(end)
        replay.start()
    }

    /// Starts an exchange: sends a request with its content.
    func send(_ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        let needs = ConnectionNeeds(request.values.options, request.values.networkServiceType)
        guard let (engine, usesProxy) = network.engine(for: needs, isSecure: value.origin.isSecure) else {
            return fail(LoadFailure(.cancelled))
        }
        let proxyStart = usesProxy ? System.now : nil
        switch state.withLock({ $0.requestPrepared(value, body, engine, proxyStart: proxyStart) }) {
        case .unwanted: return
        case .lease(let owner): return lease(for: owner, value, body)
        case .start: break
        }
        if value.origin.isSecure { network.challenges.add(self, value.origin) }
        let handle = engine.start(value, body: body, observer: self) { handle in
            state.withLock { $0.exchangeStarted(handle) }
        }
        // The load may have ended before the engine returned the request's handle. The request could not be cancelled
        // then, so cancel it now.
        if state.withLock({ $0.hasEnded }) { handle.cancel() }
        // The priority may have changed since the request was made. At that time, the load could not notify the engine,
        // because it did not have the request's handle yet.
        let priority = attempt.priority
        if priority != value.priority { handle.setPriority(priority) }
    }

    /// Waits for a lease, and then sends the request. A lease is the exclusive right to use the connections that belong
    /// to a credential.
    private func lease(for owner: BoundConnections.Owner, _ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        let isNew = withAccess { $0.bound?.handshake.needsNewConnection ?? true }
        network.boundConnections.acquire(for: owner, isNew: isNew) { [self] lease in
            guard let binding = withState({ $0.leaseAcquired(lease) }) else { return }
            var value = value
            value.binding = binding
            send(value, body)
        }
    }

    func priorityChanged() { withState { $0.handle }?.setPriority(attempt.priority) }

    // MARK: Actions

    func perform(_ step: LoadState.Step) {
        release(step.end)
        perform(step.action)
    }

    func perform(_ action: LoadMachine.Action) {
        switch action {
        // There is nothing to do here for these actions. The state has already performed them, or the caller performs
        // them with the event's values.
        case .none, .send, .hold, .decide(nil), .deliver, .discard, .read, .cancelExchange, .end: break
        case .prepare: prepareAgain()
        case .decide(let followUp?):
            updateReading()
            HeldResponse(of: self)?.decide(followUp)
        case .deliverHeld: HeldResponse(of: self)?.deliver()
        case .deliverStored: if let cache { StoredAnswer(load: self, cache: cache).deliverConfirmed() }
        case .pause(let delay):
            DispatchQueue.global().call(after: delay) { [weak self] in self?.apply { $0.pauseElapsed() } }
        case .recover: FailedExchange(of: self).recover()
        case .fail: FailedExchange(of: self).fail()
        case .finish: finishContent()
        case .reportWaiting: report(.waiting)
        case .reportContinuing: report(.continues)
        }
    }

    /// Handles the end of the received content. Without a decoder, the load ends now. With a decoder, the load ends
    /// after the decoder has delivered all content.
    private func finishContent() {
        let (decoder, conclusion) = state.withLock { $0.contentFinished() }
        if let conclusion { conclude(conclusion, .finished) }
        guard let decoder else { return }
        decoder.end()
        ContentDelivery(load: self).decode(decoder)
    }

    // MARK: Back-pressure

    func demandChanged() {
        let (decoder, body, replay) = state.withLock { $0.demandTargets }
        replay?.demandChanged()
        if let decoder { ContentDelivery(load: self).decode(decoder) }
        (body as? PausableSource)?.demandChanged()
        updateReading()
    }

    var wantsBytes: Bool { attempt.wantsBytes }

    func updateReading() {
        var applied: Bool?
        while true {
            let (wants, last) = (wantsBytes, applied)
            let change = state.withLock { $0.demandChanged(wantsBytes: wants, applied: last) }
            guard let (handle, reads) = change else { return }
            handle.setReading(reads)
            // Meanwhile, the task may have begun or stopped to want content. So check again in the next round.
            applied = reads
        }
    }

    // MARK: The end of the load

    func stop() {
        let (end, challenges, replay) = state.withLock { $0.stopped() }
        replay?.stop()
        guard let end else { return }
        release(end)
        for challenge in challenges { challenge.give(.performDefaultHandling, nil) }
    }

    func end(_ event: LoadEvent) { end(event, handingOver: nil) }

    /// Ends the load. Returns `false` if it had already ended.
    @discardableResult
    private func end(_ event: LoadEvent?, handingOver stream: HTTPUpgradedStream?) -> Bool {
        guard let conclusion = state.withLock({ $0.concluded() }) else { return false }
        conclude(conclusion, event, stream)
        return true
    }

    /// Reports the end of the load.
    ///
    /// - Parameters:
    ///   - event: The final event; `nil` if the task takes over the connection.
    ///   - stream: The connection that the task takes over; `nil` if there is none.
    private func conclude(
        _ conclusion: LoadState.Conclusion, _ event: LoadEvent?, _ stream: HTTPUpgradedStream? = nil
    ) {
        release(conclusion.end)
        if let record = conclusion.record { report(.measured(record)) }
        if let event { report(event) }
        endHandOver(stream)
    }

    /// Cancels the request of a load that has ended, and ends the load's use of authenticated connections. The load
    /// receives no more connection challenges.
    func release(_ end: LoadState.End) {
        release(end.exchange)
        end.bound?.lease?.end()
    }

    private func release(_ end: LoadExchange.End) {
        if let origin = end.secureOrigin { network.challenges.remove(self, origin) }
        end.handle?.cancel()
    }

    // MARK: Handover

    /// Requests the connection itself, before the response has ended. The completion is called after all earlier
    /// content was reported. It receives the connection, or `nil` if the load has ended or if the content does not
    /// extend to the end of the connection.
    func handOver(_ completion: @escaping @Sendable (HTTPUpgradedStream?) -> Void) {
        // A stored response has no connection to hand over. Deliver its remaining content, then call the completion
        // with `nil`.
        if let replay = withState({ $0.demandTargets.replay }) { return replay.deliver { completion(nil) } }
        let (isAccepted, handle) = state.withLock { $0.handOverRequested(completion) }
        if !isAccepted { return completion(nil) }
        handle?.handOver()
    }

    /// Whether the content is `multipart/x-mixed-replace`, whose parts are delivered separately. The delivered bytes
    /// then differ from the bytes on the connection.
    var hasParts: Bool { withState { $0.hasParts } }

    func handedOver(_ stream: HTTPUpgradedStream?) {
        if let stream, end(nil, handingOver: stream) { return }
        endHandOver(stream)
    }

    /// Ends a handover of the connection that the program has requested. Passes the connection to the handover's
    /// completion. `stream` is `nil` if there is no connection.
    private func endHandOver(_ stream: HTTPUpgradedStream?) {
        if let completion = state.withLock({ $0.handOverEnded() }) { completion(stream) }
    }
}

extension HTTPLoader: ConnectingLoad, HoldingLoad, RecoveringLoad {
    var askingTask: URLSessionTask? { attempt.task.task }
    var hasDelegate: Bool { attempt.task.hasDelegate }
    var digestRequest: (DigestRequest, URIReference)? { requests.digestRequest }

    func withState<Result: Sendable>(_ body: (inout LoadState) -> Result) -> Result {
        state.withLock { state in body(&state) }
    }

    func report(_ event: LoadEvent) { attempt.report(event) }
}
