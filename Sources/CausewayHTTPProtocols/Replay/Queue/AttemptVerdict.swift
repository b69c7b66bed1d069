/// What to do with an operation after an attempt to send it.
enum AttemptVerdict: Equatable, Sendable {
    case finish(OfflineOutcome)
    /// Stop sending at this operation. The operations after it in the same lane must wait.
    case stop(OfflineStop)
    /// Ask the program's callback for refused operations.
    case ask(status: Int)
    /// Send the operation again later. The wait is the operation's back-off, but at least the time from `Retry-After`.
    /// `counts` is `true` if the attempt may have reached the server; the attempt then counts as one of the permitted
    /// attempts.
    case retry(counts: Bool, atLeast: Duration?)
    /// Send the operation again as soon as the server can be reached.
    case returnToLane
}

extension OfflinePolicy {
    /// Returns the next step for an operation after an attempt to send it.
    func verdict(on end: AttemptEnd, of operation: StoredOperation) -> AttemptVerdict {
        switch end {
        case .noWay: .returnToLane
        case .noWayAfterRefusal: .retry(counts: true, atLeast: nil)
        case .notSent: .retry(counts: false, atLeast: nil)
        case .invalid(let reason): .finish(.invalid(reason))
        case .response(let status, let retryAfter): verdict(onStatus: status, retryAfter, of: operation)
        case .lost, .interrupted: verdictOnUnknownFate(of: operation)
        }
    }

    private func verdict(
        onStatus status: Int, _ retryAfter: Duration?, of operation: StoredOperation
    ) -> AttemptVerdict {
        switch status {
        case ..<400: return .finish(.succeeded(status: status))
        case 409, 412: return verdict(conflict, .conflicted(status: status), status)
        case 401, 407, 511: return .stop(.refused(status: status))
        // A server that responds with one of these statuses has not processed the request, so the request can be sent
        // again.
        case 408, 425, 429, 503: return .retry(counts: true, atLeast: retryAfter)
        case 502, 504...: return verdictOnUnknownFate(of: operation, atLeast: retryAfter)
        default:
            if status >= 500, isReplayable(operation) { return .retry(counts: true, atLeast: retryAfter) }
            return verdict(rejection, .rejected(status: status), status)
        }
    }

    private func verdict(_ treatment: Refusal, _ outcome: OfflineOutcome, _ status: Int) -> AttemptVerdict {
        switch treatment {
        case .drop: .finish(outcome)
        case .stop: .stop(.refused(status: status))
        case .ask: .ask(status: status)
        }
    }

    /// Applies the policy ``unknownFate`` to an operation, which may or may not have reached the server.
    func verdictOnUnknownFate(of operation: StoredOperation, atLeast minimum: Duration? = nil) -> AttemptVerdict {
        switch unknownFate {
        case .replayIfIdempotent where !isReplayable(operation), .report: .finish(.unknown)
        case .stop: .stop(.unknownFate)
        case .replay, .replayIfIdempotent: .retry(counts: true, atLeast: minimum)
        }
    }

    /// Whether sending an operation twice has the same effect as sending it once.
    func isReplayable(_ operation: StoredOperation) -> Bool { serverHonorsKeys || operation.rules.isIdempotent }
}
