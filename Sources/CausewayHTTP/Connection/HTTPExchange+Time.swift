/// An exchange's timeouts.
extension HTTPExchange {
    /// Returns the next timeout and the resulting failure; `nil` if the exchange has ended or has no timeout.
    func nextLimit(at now: Duration) -> (time: Duration, failure: HTTPFailure)? {
        guard request.deadline != nil || request.idleTimeout != nil else { return nil }
        return state.withLock { state in
            guard state.phase != .ended else { return nil }
            let total = request.deadline.map { start + $0 }
            // While the reader takes no content, the connection cannot read. This time does not count as the peer's idle time.
            let idle = request.idleTimeout.map { (state.reading.isStarved ? now : state.lastProgress) + $0 }
            if let total, total <= idle ?? total { return (total, .deadlineExceeded) }
            return idle.map { ($0, .timedOut) }
        }
    }
}
