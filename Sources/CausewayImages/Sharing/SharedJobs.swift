internal import CausewayImageFormats
internal import CausewaySystem

/// Runs a job once for all callers that request it concurrently.
///
/// A job runs in an unstructured task, because no caller owns it: a cancelled caller returns at once, and the others
/// continue to wait. The job is cancelled when no caller waits. Its priority is its callers' highest priority.
final class SharedJobs<Key: Hashable & Sendable, Value: Sendable, Update: Sendable>: Sendable {
    /// Values passed to a job: its priority, and a function that sends updates to its callers.
    struct Context: Sendable {
        let priority: PriorityCell
        /// Sends an update to all callers that wait for the job.
        let report: @Sendable (Update) -> Void
    }

    private struct Caller {
        var continuation: CheckedContinuation<Value, any Error>
        var update: @Sendable (Update) -> Void
    }

    private struct State {
        var table = JobTable<Key>()
        var callers: [UInt64: Caller] = [:]
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var cells: [UInt64: PriorityCell] = [:]
        var last: UInt64 = 0
    }

    private let state = LockedValue(State())

    /// The number of waiting callers.
    var callerCount: Int { state.withLock { $0.table.callerCount } }

    /// Returns a job's result. Starts the job unless a job with the same key is in progress.
    ///
    /// Cancellation: throws `CancellationError` at once.
    func value(
        for key: Key, priority: PriorityCell, update: @escaping @Sendable (Update) -> Void = { _ in },
        _ work: @escaping @Sendable (Context) async throws -> Value
    ) async throws -> Value {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let observer = priority.observe { [self] value in apply { $0.prioritize(id, value) } }
        defer { priority.remove(observer) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(key, id, priority.value, Caller(continuation: continuation, update: update), work)
                // If the priority changed before the caller was registered, the observer did nothing. So apply the
                // current priority now.
                apply { $0.prioritize(id, priority.value) }
            }
        } onCancel: {
            let caller = state.withLock { $0.callers.removeValue(forKey: id) }
            apply { $0.leave(id) }
            caller?.continuation.resume(throwing: CancellationError())
        }
    }

    private func enter(
        _ key: Key, _ id: UInt64, _ priority: ImagePriority, _ caller: Caller,
        _ work: @escaping @Sendable (Context) async throws -> Value
    ) {
        var change = JobTable<Key>.Change.none
        let cell = PriorityCell(priority)
        let place = state.withLock { state -> (job: UInt64, isNew: Bool)? in
            // The cancellation handler may have run before the caller was registered. It has then found no caller to
            // resume, and it does not run again. So check here whether the task was cancelled.
            if Task.isCancelled { return nil }
            state.callers[id] = caller
            let place = state.table.join(key, as: id, priority: priority)
            if place.isNew { state.cells[place.job] = cell }
            change = place.change
            return (place.job, place.isNew)
        }
        guard let place else { return caller.continuation.resume(throwing: CancellationError()) }
        perform(change)
        guard place.isNew else { return }
        let context = Context(priority: cell) { [weak self] update in self?.report(update, place.job) }
        start(place.job) { try await work(context) }
    }

    private func start(_ job: UInt64, _ work: @escaping @Sendable () async throws -> Value) {
        let task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            end(job, result)
        }
        let isWanted = state.withLock { state in
            let isWanted = state.table.isWanted(job)
            if isWanted { state.tasks[job] = task }
            return isWanted
        }
        if !isWanted { task.cancel() }
    }

    private func report(_ update: Update, _ job: UInt64) {
        let updates = state.withLock { state in
            state.table.callers(of: job).compactMap { state.callers[$0]?.update }
        }
        for each in updates { each(update) }
    }

    private func end(_ job: UInt64, _ result: Result<Value, any Error>) {
        let callers = state.withLock { state in
            state.tasks[job] = nil
            state.cells[job] = nil
            return state.table.ended(job).compactMap { state.callers.removeValue(forKey: $0) }
        }
        for caller in callers { caller.continuation.resume(with: result) }
    }

    private func apply(_ transition: (inout JobTable<Key>) -> JobTable<Key>.Change) {
        perform(state.withLock { transition(&$0.table) })
    }

    private func perform(_ change: JobTable<Key>.Change) {
        switch change {
        case .none: break
        case .priority(let job, let priority): state.withLock { $0.cells[job] }?.set(priority)
        case .abandoned(let job):
            let task = state.withLock { state in
                state.cells[job] = nil
                return state.tasks.removeValue(forKey: job)
            }
            task?.cancel()
        }
    }
}
