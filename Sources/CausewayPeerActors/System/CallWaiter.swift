internal import CausewayActorProtocols
internal import CausewaySystem

/// Waits for the outcome of a call. The first outcome counts.
final class CallWaiter: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<ActorOutcome, Never>)
        case done(ActorOutcome)
    }

    private let state = LockedValue(State.open)

    func resolve(_ outcome: ActorOutcome) {
        let continuation = state.withLock { state -> CheckedContinuation<ActorOutcome, Never>? in
            switch state {
            case .done: return nil
            case .open:
                state = .done(outcome)
                return nil
            case .waiting(let continuation):
                state = .done(outcome)
                return continuation
            }
        }
        continuation?.resume(returning: outcome)
    }

    /// The outcome. For one task.
    func outcome() async -> ActorOutcome {
        await withCheckedContinuation { continuation in
            let done = state.withLock { state -> ActorOutcome? in
                if case .done(let outcome) = state { return outcome }
                state = .waiting(continuation)
                return nil
            }
            if let done { continuation.resume(returning: done) }
        }
    }
}
