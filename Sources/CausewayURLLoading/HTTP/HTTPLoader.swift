internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Loads `http` and `https` URLs over the session's engine.
///
/// The driver of a ``LoadMachine``, which decides what to do with each response, and which exchange comes next. The events of one exchange
/// arrive in order. Requests come from ``LoadRequests``, stored responses from ``LoadCache``, answers to challenges from
/// ``ServerChallenge``.
final class HTTPLoader: Loader {
    struct State {
        var machine = LoadMachine()
        var exchange = LoadExchange()
        var content = LoadContent()
        var access = LoadAccess()
        /// Delivers a stored response.
        var replay: DataLoader?
        /// The metrics; `nil` if the task is not measured.
        var record: TransactionRecord?
        /// The connection challenges that wait for an answer.
        var challenges: [ChallengeOnce] = []
        var handOver = HandOver.none
    }

    /// The rest of an ended load.
    struct Conclusion {
        var end: LoadExchange.End
        /// The metrics; `nil` if the task is not measured.
        var record: TransactionRecord?
    }

    /// The connection's handover to a stream task.
    enum HandOver {
        case none
        /// The completion receives the connection, or `nil` if the load ends without a handover.
        case requested(@Sendable (HTTPUpgradedStream?) -> Void)
        /// The end of the load was reported, or a stored response has taken its place.
        case over
    }

    let requests: LoadRequests
    /// The use of the session's cache; `nil` if the load does not use it.
    let cache: LoadCache?
    let state: LockedValue<State>

    /// - Parameter known: The request target, if it is known.
    init(_ network: HTTPNetwork, for attempt: LoadAttempt, _ known: RequestTarget? = nil) {
        let target = known ?? (attempt.request.values.url?.absoluteString).flatMap { network.target(of: $0) }
        let task = attempt.task
        requests = LoadRequests(
            attempt: attempt, network: network, target: target, uploading: RunningUpload(of: attempt),
            isWebSocket: task.webSocket != nil)
        // Tasks that open a WebSocket use no cache, either.
        let cache = task.plan.usesCache ? network.settings.stores.cache : nil
        self.cache = cache.flatMap { LoadCache($0, for: attempt, target) }
        state = LockedValue(State(record: task.isMeasured ? TransactionRecord(loading: attempt.request) : nil))
    }

    var attempt: LoadAttempt { requests.attempt }
    var network: HTTPNetwork { requests.network }
    var request: URLRequest { attempt.request }
    var isWebSocket: Bool { requests.isWebSocket }
    /// The upload, as far as the server has confirmed it; `nil` if the load is no resumable upload.
    var upload: ResumableUpload? { requests.uploading?.upload }

    /// Reports an event to the machine, and performs its action without the lock.
    func report(_ event: (inout State) -> LoadMachine.Action) { perform(state.withLock { state in event(&state) }) }

    // MARK: Requests

    func start() { start(nil) }

    /// Makes the next request, and sends it unless a stored response answers it.
    ///
    /// - Parameter stream: The body stream that the program has supplied again; `nil` for the body of the request.
    func start(_ stream: Unchecked<InputStream>?) {
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

    /// Starts an exchange.
    func send(_ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        let needs = ConnectionNeeds(request.values.options, request.values.networkServiceType)
        guard let (engine, usesProxy) = network.engine(for: needs, isSecure: value.origin.isSecure) else {
            return fail(LoadFailure(.cancelled))
        }
        let (isWanted, owner) = state.withLock { state -> (Bool, BoundConnections.Owner?) in
            guard !state.machine.hasEnded else { return (false, nil) }
            if let bound = state.access.bound, bound.lease == nil { return (false, bound.owner) }
            guard case .send = state.machine.requestPrepared() else { return (false, nil) }
            state.exchange = LoadExchange(engine: engine, origin: value.origin)
            state.record?.note(value, body)
            if usesProxy { state.exchange.proxyStart = System.now }
            if case .stream(let source, _) = body { state.exchange.body = source }
            if value.isUpgrade { state.exchange.upgradeKey = value.fields.firstValue(of: "Sec-WebSocket-Key") ?? "" }
            return (true, nil)
        }
        if let owner { return lease(for: owner, value, body) }
        guard isWanted else { return }
        if value.origin.isSecure { network.challenges.add(self, value.origin) }
        let handle = engine.start(value, body: body, observer: self) { handle in
            state.withLock { state in if !state.machine.hasEnded { state.exchange.handle = handle } }
        }
        // The load can end before the engine has started the request, which then knows nothing of the end.
        if state.withLock({ state in state.machine.hasEnded }) { handle.cancel() }
        // The priority can change after the request was made, and before its handle is known.
        let priority = attempt.priority
        if priority != value.priority { handle.setPriority(priority) }
    }

    /// Acquires a lease for a request, then sends the request.
    private func lease(for owner: BoundConnections.Owner, _ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        let isNew = withAccess { $0.bound?.handshake.needsNewConnection ?? true }
        network.boundConnections.acquire(for: owner, isNew: isNew) { [self] lease in
            let binding = state.withLock { state -> ConnectionBinding? in
                guard !state.machine.hasEnded else { return nil }
                state.access.bound?.lease = lease
                return state.access.bound?.binding
            }
            guard let binding else { return }
            var value = value
            value.binding = binding
            send(value, body)
        }
    }

    func priorityChanged() {
        state.withLock { state in state.exchange.handle }?.setPriority(attempt.priority)
    }

    // MARK: Back-pressure

    func demandChanged() {
        let (decoder, body, replay) = state.withLock { state in
            (state.content.decoder, state.exchange.body, state.replay)
        }
        replay?.demandChanged()
        if let decoder { deliver(decoder) }
        (body as? PausableSource)?.demandChanged()
        updateReading()
    }

    /// Stops or resumes reading, depending on the task's demand. Can be called from any thread.
    func updateReading() {
        while true {
            let wants = attempt.wantsBytes
            let (handle, action) = state.withLock { state -> (HTTPRequestHandle?, LoadMachine.Action) in
                guard let handle = state.exchange.handle else { return (nil, .none) }
                let isWanted = wants && state.content.decoder?.hasBacklog != true
                return (handle, state.machine.demandChanged(isWanted: isWanted))
            }
            guard let handle, case .read(let isReading) = action else { return }
            apply(handle, isReading)
            // The demand of the task can change before the connection stops.
        }
    }

    /// Applies the reading state to the exchange. If another thread changes it at the same time, the last state counts.
    private func apply(_ handle: HTTPRequestHandle, _ isReading: Bool) {
        var applied = isReading
        while true {
            handle.setReading(applied)
            let now = state.withLock { state in state.machine.isReading }
            if now == applied { return }
            applied = now
        }
    }

    // MARK: Ends

    func stop() {
        let (end, challenges, replay) = state.withLock { state in
            (state.end(), state.challenges, state.replay.take())
        }
        replay?.stop()
        guard let end else { return }
        release(end)
        for challenge in challenges { challenge.give(.performDefaultHandling, nil) }
    }

    func fail(_ failure: LoadFailure) { end(.failed(failure)) }

    /// Ends the load with its last event, unless it has ended.
    func end(_ event: LoadEvent) {
        if let conclusion = state.withLock({ state in state.conclude() }) { report(conclusion, event) }
    }

    /// Reports the end of the load.
    ///
    /// - Parameters:
    ///   - event: The last event; `nil` if the connection is handed over.
    ///   - stream: The connection that is handed over.
    func report(_ conclusion: Conclusion, _ event: LoadEvent?, _ stream: HTTPUpgradedStream? = nil) {
        release(conclusion.end)
        if let record = conclusion.record { attempt.report(.measured(record)) }
        if let event { attempt.report(event) }
        endHandOver(stream)
    }

    /// Releases what an ended load has used.
    func release(_ end: LoadExchange.End) {
        if let origin = end.secureOrigin { network.challenges.remove(self, origin) }
        end.handle?.cancel()
        end.bound?.lease?.end()
    }

    // MARK: Handover

    /// Requests the connection in the middle of the response. The completion is called after all earlier content was reported: with the
    /// connection, or with `nil` if the load has ended or the content does not extend to the end of the connection.
    func handOver(_ completion: @escaping @Sendable (HTTPUpgradedStream?) -> Void) {
        let (handle, isOver) = state.withLock { state -> (HTTPRequestHandle?, Bool) in
            if case .over = state.handOver { return (nil, true) }
            guard state.machine.permitsHandOver else { return (nil, true) }
            // Another thread may be about to report the end, which then calls the completion.
            state.handOver = .requested(completion)
            return (state.exchange.handle, false)
        }
        if isOver { return completion(nil) }
        handle?.handOver()
    }

    /// Whether the content has parts that replace each other, so that its bytes are not those on the connection.
    var hasParts: Bool { state.withLock { state in state.content.parts != nil } }

    func handedOver(_ stream: HTTPUpgradedStream?) {
        guard let stream, let conclusion = state.withLock({ state in state.conclude() }) else {
            return endHandOver(stream)
        }
        report(conclusion, nil, stream)
    }

    /// Completes a requested handover, if any, after the end of the load was reported.
    private func endHandOver(_ stream: HTTPUpgradedStream?) {
        let request = state.withLock { state in
            defer { state.handOver = .over }
            return state.handOver
        }
        if case .requested(let completion) = request { completion(stream) }
    }
}

extension HTTPLoader.State {
    /// Ends the load. Returns what must be released without the lock; `nil` if the event does not end the load.
    mutating func end(by event: (inout LoadMachine) -> LoadMachine.Action = { $0.loadEnded() }) -> LoadExchange.End? {
        guard case .end = event(&machine) else { return nil }
        if record?.response != nil { record?.dates.response.end = Date() }
        if let decoder = content.decoder { record?.counts.responseBodyAfterDecoding += decoder.deliveredCount }
        content.decoder = nil
        content.held = []
        var end = exchange.end()
        if access.bound != nil { end.bound = access.bound.take() }
        return end
    }

    /// Ends the load; `nil` if it had already ended.
    mutating func conclude() -> HTTPLoader.Conclusion? {
        end().map { HTTPLoader.Conclusion(end: $0, record: record) }
    }
}
