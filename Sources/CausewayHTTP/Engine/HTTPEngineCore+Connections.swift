internal import CausewayHTTPProtocols
internal import CausewayTypes
internal import CausewayWire

extension HTTPEngineCore: HTTPConnectionObserver {
    var now: Duration { clock.now }

    // MARK: Attempts

    /// Fails the attempt's requests that must not wait for a path, and notifies the observers of the others.
    func waits(_ id: PoolConnectionID, _ reason: NWError) {
        let (key, exchanges) = state.withLock { state -> (PoolKey?, [HTTPExchange]) in
            guard let key = state.attempts[id]?.key else { return (nil, []) }
            state.waiting[id] = (key, reason)
            return (key, state.exchanges.values.filter(\.isUnassigned))
        }
        for exchange in exchanges where poolKey(for: exchange) == key { wait(exchange, reason) }
    }

    /// Notifies or fails a new request if its connection attempt waits for a path.
    func checkPath(for exchange: HTTPExchange) {
        let waiting = state.withLock { state in state.waiting }
        guard !waiting.isEmpty, exchange.isUnassigned else { return }
        let key = poolKey(for: exchange)
        if let reason = waiting.values.first(where: { $0.key == key })?.reason { wait(exchange, reason) }
    }

    private func wait(_ exchange: HTTPExchange, _ reason: NWError) {
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
            // The pool may have closed the attempt in the meantime.
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
            guard let key = state.attempts[id]?.key else { return [] }
            let waiting = state.exchanges.values.filter { $0.isUnassigned && poolKey(for: $0) == key }
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
        // The server closes an idle connection after about this time. Stop reusing it one second earlier, so that a request still reaches
        // the server in time.
        let idle = keepAlive.timeout.map { Duration.seconds(max(0, min($0, 1 << 20) - 1)) }
        transition { state in state.pool.finished(id, isReusable: isReusable, idleTimeout: idle, at: now) }
    }

    func interrupted(_ exchange: HTTPExchange, _ occasion: RetryOccasion, _ failure: HTTPFailure) {
        let now = clock.now
        // The next handshake message is useless on another connection.
        guard exchange.request.binding?.connection == nil, let context = exchange.retryContext(),
            case .retry(let route, needsNewStream: false) = RetryRules.decide(occasion, context),
            exchange.beginRetry(occasion)
        else { return failed(exchange, failure) }
        transition { state in
            guard state.exchanges[exchange.id] != nil else { return [] }
            return state.pool.requested(poolRequest(for: exchange, route), at: now)
        }
        checkPath(for: exchange)
    }
}
