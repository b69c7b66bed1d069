internal import CausewaySystem

/// Lets a limited number of requests run at the same time.
final class RequestGate: Sendable {
    private struct State {
        var queue: AdmissionQueue
        var callers: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var lastCaller: UInt64 = 0
    }

    private let state: LockedValue<State>

    init(limit: Int) { state = LockedValue(State(queue: AdmissionQueue(limit: limit))) }

    /// The maximum number of running requests.
    var limit: Int { state.withLock { $0.queue.limit } }
    /// The number of waiting requests.
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// Runs a request as soon as the limit permits.
    ///
    /// Cancellation: a waiting request throws `CancellationError`.
    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await enter()
        defer { resume(state.withLock { state in Self.callers(state.queue.ended(), &state) }) }
        return try await body()
    }

    /// Changes the limit.
    func setLimit(_ limit: Int) {
        resume(state.withLock { state in Self.callers(state.queue.limitChanged(to: limit), &state) })
    }

    private func enter() async throws {
        let caller = state.withLock { state in
            state.lastCaller += 1
            return state.lastCaller
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    // The caller may have been cancelled before it joined the queue. The cancellation handler has then
                    // already run, but it did not find the caller.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.queue.arrived(caller) { return .success(()) }
                    state.callers[caller] = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                // If the gate has already admitted the caller, the caller is no longer in the queue. Its request then
                // detects the cancellation.
                state.queue.abandoned(caller) ? state.callers.removeValue(forKey: caller) : nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private static func callers(_ ids: [UInt64], _ state: inout State) -> [CheckedContinuation<Void, any Error>] {
        ids.compactMap { state.callers.removeValue(forKey: $0) }
    }

    private func resume(_ callers: [CheckedContinuation<Void, any Error>]) {
        for caller in callers { caller.resume() }
    }
}
