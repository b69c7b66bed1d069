internal import CausewayHTTPProtocols
internal import CausewaySystem

extension HTTPEngineCore {
    /// The time limit for reaching an alternative. After that, the engine connects to the origin.
    private static var alternativePatience: Duration { .seconds(5) }

    func connect(_ id: PoolConnectionID, _ key: PoolKey, offersHTTP2: Bool) {
        let mayUseHTTP2 = offersHTTP2 && self.offersHTTP2 && key.origin.isSecure && !key.needsHTTP1
        let alternative = mayUseHTTP2 ? alternatives?.alternative(for: key.origin) : nil
        let attempt = makeAttempt(id, key, at: alternative, offersHTTP2: offersHTTP2)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.attempts[id] = attempt }
            return state.isClosed
        }
        guard !isClosed else { return }
        if attempt.beginEarly() {
            // Start the attempt only after the first requests are assigned to its connection. Only bytes that are
            // written before the start can be TLS early data.
            transition { state in
                state.actions.append(.start(attempt))
                return []
            }
        } else {
            attempt.start()
        }
        guard alternative != nil else { return }
        clock.schedule(after: Self.alternativePatience) { [weak attempt] in attempt?.giveUp() }
    }

    private func makeAttempt(
        _ id: PoolConnectionID, _ key: PoolKey, at alternative: AlternativeService?, offersHTTP2: Bool
    ) -> HTTPConnectionAttempt {
        let mayUseHTTP2 = offersHTTP2 && self.offersHTTP2 && key.origin.isSecure && !key.needsHTTP1
        let transport = dialer.makeTransport(to: key, at: alternative, offersHTTP2: mayUseHTTP2)
        return HTTPConnectionAttempt(
            id, to: key, at: alternative, transport,
            offersHTTP2 && key.hasPriorKnowledge ? .priorKnowledge : .negotiated, options, clock: clock,
            observer: self)
    }

    /// Starts a connection to the origin after an attempt to reach an alternative service has failed. Returns `false`
    /// if the failed attempt was itself an attempt to reach the origin.
    func connectsToOrigin(insteadOf id: PoolConnectionID) -> Bool {
        guard let alternatives, let failed = state.withLock({ state in state.attempts[id] }),
            let service = failed.alternative
        else { return false }
        alternatives.failed(service, of: failed.key.origin)
        let attempt = makeAttempt(id, failed.key, at: nil, offersHTTP2: true)
        let isWanted = state.withLock { state in
            // The pool may have closed the failed attempt while the new attempt was created. Do not start the new
            // attempt in this case.
            guard state.attempts[id] === failed else { return false }
            state.attempts[id] = attempt
            return true
        }
        if isWanted { attempt.start() }
        return true
    }
}
