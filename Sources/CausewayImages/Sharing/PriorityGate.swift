internal import CausewayImageFormats
internal import CausewaySystem

/// Limits how many jobs run concurrently. Admits the most urgent job first.
final class PriorityGate: Sendable {
    private struct State {
        var line: AdmissionLine
        var callers: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var last: UInt64 = 0
    }

    private let state: LockedValue<State>

    init(limit: Int) { state = LockedValue(State(line: AdmissionLine(limit: limit))) }

    /// The number of waiting jobs.
    var waitingCount: Int { state.withLock { $0.line.waitingCount } }

    /// Runs a job once it is admitted.
    ///
    /// Cancellation: a waiting job throws `CancellationError`.
    func run<Value>(_ priority: PriorityCell, _ body: () async throws -> Value) async throws -> Value {
        try await enter(priority)
        defer { leave() }
        return try await body()
    }

    private func enter(_ priority: PriorityCell) async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let observer = priority.observe { [self] value in state.withLock { $0.line.prioritize(id, value) } }
        defer { priority.remove(observer) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    // The cancellation handler may have run before the job was queued. It then found no job to cancel,
                    // and it does not run again. So check for the cancellation here.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.line.arrived(id, priority.value) { return .success(()) }
                    state.callers[id] = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let caller = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                // If the job was already admitted, it is not in the queue any more. In that case, the job's own work
                // must notice the cancellation.
                state.line.abandoned(id) ? state.callers.removeValue(forKey: id) : nil
            }
            caller?.resume(throwing: CancellationError())
        }
    }

    private func leave() {
        let next = state.withLock { state in state.line.ended().flatMap { state.callers.removeValue(forKey: $0) } }
        next?.resume()
    }
}
