internal import CausewayHTTPProtocols
internal import CausewayTypes
internal import CausewayWire

extension HTTPEngineCore: HTTPConnectionObserver {
    var now: Duration { clock.now }

    // MARK: Attempts

    /// Records that a connection attempt waits for a network path. If a request that needs this attempt permits the
    /// wait, its observer is notified. Otherwise the request fails.
    func waits(_ id: PoolConnectionID, _ reason: NWError) {
        transition { state in
            guard state.attempts[id] != nil else { return [] }
            state.waiting[id] = reason
            for request in state.exchanges.keys.sorted() where state.pool.isWaiting(request, for: id) {
                state.actions.append(.wait(request, for: id))
            }
            return []
        }
    }

    /// Adds an exchange to the pool. Its connection attempt may wait for a network path. In that case, the observer is
    /// notified. If the exchange does not permit the wait, it fails instead.
    func request(
        _ exchange: HTTPExchange, _ route: RetryDecision.Route = .any, in state: inout State, at now: Duration
    ) -> [PoolAction] {
        let actions = state.pool.requested(poolRequest(for: exchange, route), at: now)
        for id in state.waiting.keys where state.pool.isWaiting(exchange.id, for: id) {
            state.actions.append(.wait(exchange.id, for: id))
            break
        }
        return actions
    }

    /// Tells a request that its connection attempt waits for a network path. If the request must not wait, it fails.
    /// Does nothing if the request has a connection by now, or has ended.
    ///
    /// No connection reports an event of this request at the same time. For that, another action would first have to
    /// assign a connection, and actions are performed one at a time.
    func wait(_ request: UInt64, for id: PoolConnectionID) {
        let (exchange, reason) = state.withLock { state -> (HTTPExchange?, NWError?) in
            guard state.pool.isWaiting(request, for: id) else { return (nil, nil) }
            return (state.exchanges[request], state.waiting[id])
        }
        guard let exchange, let reason else { return }
        if exchange.request.waitsForPath {
            exchange.waits(reason, at: clock.now)
        } else {
            end(exchange, .cannotConnect(reason))
        }
    }

    func connected(_ id: PoolConnectionID, _ connection: any HTTPConnection, _ facts: PoolConnectionFacts) {
        let now = clock.now
        var attempt: HTTPConnectionAttempt?
        transition { state in
            // If the pool has already closed this attempt, the attempt is no longer in the list.
            attempt = state.attempts.removeValue(forKey: id)
            state.waiting[id] = nil
            guard attempt != nil else { return [] }
            state.connections[id] = connection
            return state.pool.connected(id, facts, at: now)
        }
        guard let attempt else { return connection.close() }
        if let service = attempt.alternative { alternatives?.reached(service, of: attempt.key.origin) }
    }

    func connectedEarly(
        _ id: PoolConnectionID, _ connection: any HTTPConnection, _ facts: PoolConnectionFacts
    ) -> Bool {
        let now = clock.now
        var isEarly = false
        transition { state in
            guard state.attempts[id] != nil else { return [] }
            let waiting = state.exchanges.values.filter { state.pool.isWaiting($0.id, for: id) }
            guard !waiting.isEmpty, waiting.allSatisfy(\.mayBeEarly) else { return [] }
            isEarly = true
            state.attempts[id] = nil
            state.connections[id] = connection
            return state.pool.connected(id, facts, at: now)
        }
        return isEarly
    }

    func connectFailed(_ id: PoolConnectionID, _ error: NWError) {
        guard !connectsToOrigin(insteadOf: id) else { return }
        let now = clock.now
        transition(because: error) { state in
            state.attempts[id] = nil
            state.waiting[id] = nil
            return state.pool.connectFailed(id, at: now)
        }
    }

    // MARK: Connections

    func streamLimitChanged(_ id: PoolConnectionID, to limit: Int) {
        let now = clock.now
        transition { state in state.pool.streamLimitChanged(id, to: limit, at: now) }
    }

    func retired(_ id: PoolConnectionID) {
        let now = clock.now
        transition { state in state.pool.retired(id, at: now) }
    }

    func closed(_ id: PoolConnectionID) {
        let now = clock.now
        transition { state in
            state.connections[id] = nil
            return state.pool.closed(id, at: now)
        }
    }

    // MARK: Exchanges

    func finished(_ id: PoolConnectionID, isReusable: Bool, _ keepAlive: KeepAlive) {
        let now = clock.now
        // The server closes the connection after it has been idle for about this time. Stop reusing the connection one
        // second earlier, so that a request reaches the server before the server closes the connection.
        let idle = keepAlive.timeout.map { Duration.seconds(max(0, min($0, 1 << 20) - 1)) }
        transition { state in state.pool.finished(id, isReusable: isReusable, idleTimeout: idle, at: now) }
    }

    func interrupted(_ exchange: HTTPExchange, _ occasion: RetryOccasion, _ failure: HTTPFailure) {
        let now = clock.now
        // Do not retry the request if it continues an authentication handshake. The handshake belongs to one
        // connection, so its message would be useless on another connection.
        guard exchange.request.binding?.connection == nil, let context = exchange.retryContext(),
            case .retry(let route, needsNewStream: false) = RetryRules.decide(occasion, context),
            exchange.beginRetry(occasion)
        else { return failed(exchange, failure) }
        transition { state in
            guard state.exchanges[exchange.id] != nil else { return [] }
            return request(exchange, route, in: &state, at: now)
        }
    }
}
