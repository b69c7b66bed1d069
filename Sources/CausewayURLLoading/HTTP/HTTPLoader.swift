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
/// arrive in order.
final class HTTPLoader: Loader {
    struct State {
        var machine = LoadMachine()
        var exchange = Exchange()
        /// The content of the held response that has not been delivered.
        var held: [Data] = []
        var content: DecodedContent?
        /// The decoder for content whose parts replace each other; `nil` for other content.
        var parts: ReplacingParts?
        var access = Access()
        var caching = Caching()
        /// The metrics; `nil` if the task is not measured.
        var record: TransactionRecord?
        /// The connection challenges that wait for an answer.
        var challenges: [ChallengeOnce] = []
        var handOver = HandOver.none
    }

    /// The current exchange with the server.
    struct Exchange {
        /// The values needed to end an exchange.
        struct End {
            var handle: HTTPRequestHandle?
            /// The origin if the connection is secure; otherwise `nil`.
            var secureOrigin: HTTPOrigin?
            /// The use of connections bound to a credential. It ends with this value.
            var bound: Bound?
        }

        /// The handle as long as the response can be stopped. Known before the first event.
        var handle: HTTPRequestHandle?
        var engine: HTTPEngine?
        var body: (any HTTPBodySource)?
        var origin = HTTPOrigin(isSecure: false, host: "")
        var response: HTTPURLResponse?
        /// Whether the held response's connection carried an earlier request.
        var isReused = false
        /// The time at which the exchange began; `nil` if it uses no proxy.
        var proxyStart: Duration?
        /// Why the exchange failed, or why it was ended early.
        var failure: HTTPFailure?
        /// The WebSocket handshake key.
        var upgradeKey = ""

        /// Ends the exchange. Copying all values would cost more than most of the load.
        mutating func end() -> End {
            let end = End(handle: handle.take(), secureOrigin: origin.isSecure ? origin : nil)
            engine = nil
            body = nil
            response = nil
            return end
        }
    }

    /// The connection's handover to a stream task.
    enum HandOver {
        case none
        /// The completion receives the connection, or `nil` if the load ends without a handover.
        case requested(@Sendable (HTTPUpgradedStream?) -> Void)
        /// The end of the load was reported, or a stored response has taken its place.
        case over
    }

    /// This load's credentials.
    struct Access {
        var credentials = LoadCredentials()
        /// The credential to store after the server has accepted it.
        var accepted: (URLCredential, URLProtectionSpace)?
        var proposed: Set<URLCredential> = []
        /// The multi-message connection authentication; `nil` if there is none.
        var negotiating: Negotiating?
        /// The use of connections bound to a credential; `nil` for shared connections.
        var bound: Bound?
        /// The earlier request's route after a response such as 421, which repeats the request; `nil` if there was none.
        var repeated: RetryDecision.Route?
        /// The credentials for proxies; `nil` before a proxy has refused a connection.
        var proxy: ProxyAccess? {
            get { boxedProxy?.value }
            set { boxedProxy = newValue.map { Boxed($0) } }
        }
        private var boxedProxy: Boxed<ProxyAccess>?

        /// Whether no credential has been sent, to the server or to a proxy.
        var isUnused: Bool { credentials.space == nil && boxedProxy == nil }
    }

    let attempt: LoadAttempt
    let network: HTTPNetwork
    /// The request target; `nil` if its URL is not valid.
    let target: RequestTarget?
    /// Whether the request opens a WebSocket.
    let isWebSocket: Bool
    /// The session's cache; `nil` if the task does not use it.
    let cache: URLCache?
    /// The resumable upload; `nil` for other requests.
    let uploading: RunningUpload?
    let state: LockedValue<State>

    /// - Parameter known: The request target, if it is known.
    init(_ network: HTTPNetwork, for attempt: LoadAttempt, _ known: RequestTarget? = nil) {
        self.attempt = attempt
        self.network = network
        target = known ?? (attempt.request.values.url?.absoluteString).flatMap { network.target(of: $0) }
        let task = attempt.task
        isWebSocket = task.webSocket != nil
        // Tasks that open a WebSocket use no cache, either.
        cache = task.plan.usesCache ? network.settings.stores.cache : nil
        uploading = task.plan.source.isOfRequest ? nil : Self.upload(of: attempt).map { RunningUpload($0) }
        state = LockedValue(State(record: task.isMeasured ? Self.newRecord(attempt.request) : nil))
    }

    var request: URLRequest { attempt.request }

    // MARK: Loader

    func start() {
        if hasOwnCookies { findCookies { [self] cookies in start(cookies) } } else { start(.storage) }
    }

    private func start(_ cookies: CookieSource) {
        do throws(LoadFailure) {
            let value = try makeRequest(cookies)
            sendUnlessStored(value, value.binding == nil ? try makeBody() : try makeBoundBody())
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
            state.exchange = Exchange(engine: engine, origin: value.origin)
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
    }

    func demandChanged() {
        let (content, body, replay) = state.withLock { state in
            (state.content, state.exchange.body, state.caching.replay)
        }
        replay?.demandChanged()
        if content != nil { deliverDecoded() }
        (body as? PausableSource)?.demandChanged()
        updateReading()
    }

    func stop() {
        let (end, challenges, replay) = state.withLock { state in
            (state.end(), state.challenges, state.caching.replay.take())
        }
        replay?.stop()
        guard let end else { return }
        release(end)
        for challenge in challenges { challenge.give(.performDefaultHandling, nil) }
    }

    // MARK: Ends

    /// Reports a failure, once.
    func fail(_ failure: LoadFailure) {
        guard let record = finishRecord() else { return }
        if let record = record { attempt.report(.measured(record)) }
        attempt.report(.failed(failure))
        endHandOver(nil)
    }

    /// Reports the end of the content, once.
    func finish() { finish(state.withLock { state in state.conclude() }) }

    func finish(_ conclusion: Conclusion?) {
        guard let conclusion else { return }
        release(conclusion.end)
        if let record = conclusion.record { attempt.report(.measured(record)) }
        attempt.report(.finished)
        endHandOver(nil)
    }

    /// Ends the load and returns the metrics: an inner `nil` if the task is not measured, `nil` if the load had already ended.
    func finishRecord() -> TransactionRecord?? {
        guard let conclusion = state.withLock({ state in state.conclude() }) else { return nil }
        release(conclusion.end)
        return .some(conclusion.record)
    }

    /// Releases what an ended load has used.
    func release(_ end: Exchange.End) {
        if let origin = end.secureOrigin { network.challenges.remove(self, origin) }
        end.handle?.cancel()
        end.bound?.lease?.end()
    }

    // MARK: Back-pressure

    /// Stops or resumes reading, depending on the task's demand. Can be called from any thread.
    func updateReading() {
        while true {
            let wants = attempt.wantsBytes
            let (handle, action) = state.withLock { state -> (HTTPRequestHandle?, LoadMachine.Action) in
                guard let handle = state.exchange.handle else { return (nil, .none) }
                let isWanted = wants && state.content?.hasBacklog != true
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
}
