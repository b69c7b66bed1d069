internal import CausewayPeerProtocols
internal import CausewaySystem

/// Waits for the outcome of one call. Only the first outcome is used.
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

    /// Suspends until the call's outcome is known. Only one task may call this method.
    ///
    /// Cancellation: has no effect here. The caller's cancellation handler cancels the call, and the outcome is then
    /// known.
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
