internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Drives a ``ConnectionPool``. It performs the pool's actions, and reports connection events to the pool.
///
/// Each state change happens under one lock. The resulting actions are performed without the lock, by one thread at a
/// time, in the order of the changes. So a connection is never closed before it is opened.
final class HTTPEngineCore: Sendable {
    enum Action: Sendable {
        case pool(PoolAction)
        /// Fail the request, because no connection could be established.
        case fail(UInt64, NWError)
        /// Tell the request's observer that this connection attempt waits for a network path. If the request does not
        /// permit waiting, fail the request instead.
        case wait(UInt64, for: PoolConnectionID)
        /// Start a connection attempt. The attempt's first requests are already assigned, so that they can be sent as
        /// TLS early data.
        case start(HTTPConnectionAttempt)
        case closeAll([any HTTPConnection], [HTTPConnectionAttempt], [HTTPExchange])
    }

    struct State: SequencedState {
        typealias Action = HTTPEngineCore.Action

        var pool: ConnectionPool
        var exchanges: [UInt64: HTTPExchange] = [:]
        var attempts: [PoolConnectionID: HTTPConnectionAttempt] = [:]
        var connections: [PoolConnectionID: any HTTPConnection] = [:]
        /// The connection attempts that wait for a network path, each with the error that caused the wait.
        var waiting: [PoolConnectionID: NWError] = [:]
        var isClosed = false
        /// The time when the earliest running timer fires. `nil` if no timer is running.
        var timer: Duration?
        var line = ActionLine<Action>(keepsStorage: true)
        /// The actions that the current state change requests. After the change they move to ``line``. The array keeps
        /// its storage for the next change.
        var actions: [Action] = []

        mutating func queueActions() -> Bool { !actions.isEmpty && line.move(&actions) }
    }

    let dialer: any HTTPDialer
    let alternatives: (any AlternativeChoosing)?
    let clock: any HTTPClock
    let options: HTTPConnectionOptions
    let offersHTTP2: Bool
    private let forwardingRoute: @Sendable (HTTPOrigin) -> String?
    private let usesPriorKnowledge: @Sendable (HTTPOrigin) -> Bool
    let state: LockedValue<State>
    private let lastID = LockedValue<UInt64>(0)

    init(_ dialer: any HTTPDialer, _ clock: any HTTPClock, _ configuration: HTTPEngine.Configuration) {
        self.dialer = dialer
        alternatives = configuration.alternatives
        self.clock = clock
        options = HTTPConnectionOptions(
            http1: configuration.http1, http2: configuration.http2, pingDelay: configuration.pingDelay,
            pingTimeout: configuration.pingTimeout, usesEarlyData: configuration.usesEarlyData)
        offersHTTP2 = configuration.offersHTTP2
        forwardingRoute = configuration.forwardingRoute
        usesPriorKnowledge = configuration.usesPriorKnowledge
        state = LockedValue(State(pool: ConnectionPool(limits: configuration.limits)))
    }

    /// The number of connections, including those that are being established.
    var connectionCount: Int { state.withLock { state in state.pool.connectionCount } }

    /// The number of requests in progress.
    var exchangeCount: Int { state.withLock { state in state.exchanges.count } }

    // MARK: Requests

    func makeExchange(
        _ request: HTTPRequestValue, _ body: HTTPRequestBody, _ observer: any HTTPResponseObserver, isBuffered: Bool
    ) -> HTTPExchange {
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        return HTTPExchange(id: id, request, body, observer, isBuffered: isBuffered, at: clock.now)
    }

    /// Starts a request.
    func start(_ exchange: HTTPExchange) {
        let now = exchange.start
        let limit = exchange.nextLimit(at: now)?.time
        var isClosed = false
        transition { state in
            isClosed = state.isClosed
            guard !isClosed else { return [] }
            state.exchanges[exchange.id] = exchange
            return request(exchange, in: &state, at: now)
        }
        if isClosed { exchange.fail(.closed) }
        if let limit { setTimer(limit, at: now) }
    }

    /// Changes a request's priority. While the request waits in the pool, the priority determines its place there.
    /// Later it applies to the request's connection.
    ///
    /// The priority is first stored in the exchange. The pool and the connection then read it there, each under its own
    /// lock. So even if two threads change the priority at the same time, the exchange, the pool and the connection end
    /// up with the same value.
    func setPriority(_ priority: Float, of exchange: HTTPExchange) {
        let connection = exchange.setPriority(priority)
        state.withLock { state in state.pool.reprioritized(exchange.id, to: exchange.priority) }
        connection?.priorityChanged(exchange)
    }

    /// Ends a request with a failure. Has no effect if the request has already ended.
    func end(_ exchange: HTTPExchange, _ failure: HTTPFailure) {
        let connection = exchange.fail(failure)
        remove(exchange)
        connection?.abandon(exchange)
    }

    /// Removes an exchange whose response is complete, before its observer receives the end.
    func completed(_ exchange: HTTPExchange) {
        let removed = state.withLock { state in state.exchanges.removeValue(forKey: exchange.id) }
        withExtendedLifetime(removed) {}
    }

    /// Fails an exchange that its connection cannot send.
    func failed(_ exchange: HTTPExchange, _ failure: HTTPFailure) {
        exchange.fail(failure)
        remove(exchange)
    }

    /// Removes an exchange that has ended.
    func remove(_ exchange: HTTPExchange) {
        let now = clock.now
        transition { state in
            guard state.exchanges.removeValue(forKey: exchange.id) != nil else { return [] }
            return state.pool.cancelled(exchange.id, at: now)
        }
    }

    /// Closes all connections and fails all requests.
    func shutDown() {
        state.change { state in
            state.isClosed = true
            let action = Action.closeAll(
                Array(state.connections.values), Array(state.attempts.values), Array(state.exchanges.values))
            state.connections = [:]
            state.attempts = [:]
            state.waiting = [:]
            state.exchanges = [:]
            state.actions.append(action)
        } perform: { action in
            perform(action)
        }
    }

    // MARK: Actions

    func transition(because error: NWError? = nil, _ body: (inout State) -> [PoolAction]) {
        let deadline = state.change { state -> Duration? in
            for action in body(&state) {
                if case .fail(let request, _) = action, let error {
                    state.actions.append(.fail(request, error))
                } else {
                    state.actions.append(.pool(action))
                }
            }
            let deadline = state.pool.deadline
            let needsTimer = deadline.map { due in state.timer.map { due < $0 } ?? true } ?? false
            return needsTimer ? deadline : nil
        } perform: { action in
            perform(action)
        }
        if let deadline { setTimer(deadline, at: clock.now) }
    }

    private func perform(_ action: Action) {
        switch action {
        case .pool(.connect(let id, let key, let offersHTTP2)): connect(id, key, offersHTTP2: offersHTTP2)
        case .pool(.assign(let request, let id, let isReused)): assign(request, id, isReused: isReused)
        case .pool(.close(let id)):
            let (connection, attempt) = state.withLock { state in
                state.waiting[id] = nil
                return (state.connections.removeValue(forKey: id), state.attempts.removeValue(forKey: id))
            }
            connection?.close()
            attempt?.close()
        case .pool(.fail(let request, _)): fail(request, NWError(errno: Errno.cancelled))
        case .fail(let request, let error): fail(request, error)
        case .wait(let request, let id): wait(request, for: id)
        case .start(let attempt): attempt.start()
        case .closeAll(let connections, let attempts, let exchanges):
            for exchange in exchanges { exchange.fail(.closed) }
            for connection in connections { connection.close() }
            for attempt in attempts { attempt.close() }
        }
    }

    private func assign(_ request: UInt64, _ id: PoolConnectionID, isReused: Bool) {
        let (exchange, connection) = state.withLock { state in (state.exchanges[request], state.connections[id]) }
        guard let connection else {
            // The connection was closed after the pool chose it. The request was not sent, so it can be retried.
            if let exchange, exchange.attach(nil, isReused: isReused) {
                interrupted(exchange, .notStarted, .noResponse(nil))
            }
            return
        }
        guard let exchange, exchange.attach(connection, isReused: isReused) else {
            return finished(id, isReusable: true, KeepAlive(FieldSection()))
        }
        connection.perform(exchange)
    }

    private func fail(_ request: UInt64, _ error: NWError) {
        state.withLock { state in state.exchanges.removeValue(forKey: request) }?.fail(.cannotConnect(error))
    }

    // MARK: Time

    private func setTimer(_ due: Duration, at now: Duration) {
        let isNeeded = state.withLock { state in
            if let timer = state.timer, timer <= due { return false }
            state.timer = due
            return true
        }
        guard isNeeded else { return }
        clock.schedule(after: max(.zero, due - now)) { [weak self] in self?.advance(due) }
    }

    /// Ends the exchanges whose time limit has passed, advances the pool, and sets the next timer.
    ///
    /// If the next time is earlier than the current timer, a new timer replaces it. The replaced timer is not
    /// cancelled. It also calls this method, which is harmless.
    private func advance(_ due: Duration) {
        let now = clock.now
        let exchanges = state.withLock { state in
            if state.timer == due { state.timer = nil }
            return Array(state.exchanges.values)
        }
        var next: Duration?
        for exchange in exchanges {
            guard let limit = exchange.nextLimit(at: now) else { continue }
            if limit.time <= now {
                end(exchange, limit.failure)
            } else {
                next = min(next ?? limit.time, limit.time)
            }
        }
        transition { state in state.pool.advance(to: now) }
        if let next { setTimer(next, at: now) }
    }

    // MARK: Pool

    /// Returns an exchange's key in the connection pool. A connection with this key can carry the exchange.
    private func poolKey(for exchange: HTTPExchange) -> PoolKey {
        let origin = exchange.request.origin
        var key = PoolKey(
            origin, identity: exchange.request.binding?.identity ?? "",
            hasPriorKnowledge: !origin.isSecure && usesPriorKnowledge(origin), needsHTTP1: exchange.request.needsHTTP1)
        if key.permitsForwarding, let route = forwardingRoute(origin) { key.route = route }
        return key
    }

    /// Returns the request with which an exchange gets a connection from the pool. For a retry, `route` restricts which
    /// connections the exchange may use.
    func poolRequest(for exchange: HTTPExchange, _ route: RetryDecision.Route = .any) -> PoolRequest {
        let route: PoolRequest.Route =
            switch route == .any ? exchange.request.route : route {
            case .any, .withoutEarlyData: exchange.request.binding?.connection.map { .continuing($0) } ?? .any
            case .newConnection: .newConnection
            case .http1: .http1
            }
        return PoolRequest(
            id: exchange.id, key: poolKey(for: exchange), priority: exchange.priority, route: route)
    }
}
