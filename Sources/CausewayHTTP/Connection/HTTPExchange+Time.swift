/// An exchange's timeouts.
extension HTTPExchange {
    /// Returns when the exchange will time out next, and with which failure. Returns `nil` if the exchange has ended or
    /// has no timeout.
    func nextLimit(at now: Duration) -> (time: Duration, failure: HTTPFailure)? {
        guard request.deadline != nil || request.idleTimeout != nil else { return nil }
        return state.withLock { state in
            guard state.phase != .ended else { return nil }
            let total = request.deadline.map { start + $0 }
            // The connection cannot read while the program takes no content. This time therefore does not count as idle
            // time of the peer.
            let idle = request.idleTimeout.map { (state.reading.isStarved ? now : state.lastProgress) + $0 }
            if let total, total <= idle ?? total { return (total, .deadlineExceeded) }
            return idle.map { ($0, .timedOut) }
        }
    }
}
