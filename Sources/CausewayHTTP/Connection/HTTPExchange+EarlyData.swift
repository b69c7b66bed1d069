internal import CausewayHTTPProtocols
internal import CausewaySystem

extension HTTPExchange {
    /// Whether the request may be sent as early data: it was never sent, changes nothing at the server, and has no content (RFC 8470 §4).
    var mayBeEarly: Bool {
        guard case .none = body, request.route == .any, !request.needsHTTP1, RetryRules.isSafe(request.method) else {
            return false
        }
        return state.withLock { state in state.attempt.retries == RetryCounts() }
    }
}
