internal import CausewaySystem

/// Runs equal work only once for all callers that request it while it is in progress.
///
/// A cancelled caller stops waiting, and the other callers continue to wait. When all callers have been cancelled, the
/// work is cancelled. If the work runs in a separate task, this task has the first caller's priority and task-local
/// values.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The task in which the work runs.
    enum Runner: Sendable {
        /// The work runs in a new task, so that each caller can stop waiting at once. Use this case for work that must
        /// not run twice.
        case task
        /// The work runs in the task of the first caller. This saves two task switches, which take a third of the
        /// processor time for a small request (`Peers/TypedClients`).
        ///
        /// If the first caller is cancelled while others wait, a new task starts the work again.
        case firstCaller
    }

    private struct State {
        var table = SharingTable<Key>()
        var callers: [UInt64: CheckedContinuation<Value, any Error>] = [:]
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var lastCaller: UInt64 = 0
    }

    private let runner: Runner
    private let state = LockedValue(State())

    init(runner: Runner) { self.runner = runner }

    /// The number of waiting callers.
    var callerCount: Int { state.withLock { $0.table.callerCount } }

    /// Returns the work's result. Starts the work unless equal work is in progress.
    ///
    /// Cancellation: throws `CancellationError` at once if the work runs in another task. If the work runs in this
    /// caller's task, the call ends only when the work ends, and throws `CancellationError` if the work has failed.
    ///
    /// - Parameters:
    ///   - key: Work with equal keys is equal.
    ///   - joined: Called if the work was already in progress.
    ///   - work: The work.
    func value(
        for key: Key, joined: @Sendable () -> Void = {}, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        if runner == .firstCaller, let group = state.withLock({ $0.table.open(key) }) {
            return try await run(work, group)
        }
        let caller = state.withLock { state in
            state.lastCaller += 1
            return state.lastCaller
        }
        return try await join(key, as: caller, joined, work)
    }

    private func run(
        _ work: @escaping @Sendable () async throws -> Value, _ group: UInt64
    ) async throws -> Value {
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        if case .failure = result, Task.isCancelled {
            if state.withLock({ $0.table.runnerLeft(group) }) == .othersWait { start(work, group) }
            throw CancellationError()
        }
        end(group, result)
        return try result.get()
    }

    private func join(
        _ key: Key, as caller: UInt64, _ joined: @Sendable () -> Void,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let place = state.withLock { state -> (group: UInt64, isNew: Bool)? in
                    // The caller may already have been cancelled before this registration. The cancellation handler has
                    // then already run, and found no caller to resume.
                    if Task.isCancelled { return nil }
                    state.callers[caller] = continuation
                    return state.table.join(key, as: caller)
                }
                guard let place else { return continuation.resume(throwing: CancellationError()) }
                if place.isNew { start(work, place.group) } else { joined() }
            }
        } onCancel: {
            leave(caller)
        }
    }

    /// Ends the sharing of work that is in progress. Later calls start new work, even if equal work is in progress.
    func closeAll() { state.withLock { $0.table.closeAll() } }

    private func start(_ work: @escaping @Sendable () async throws -> Value, _ group: UInt64) {
        // Run the start of the task on the caller's thread. A switch to another thread would take a fifth more
        // processor time (`ClientRatios`).
        let task = Task.immediate {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            end(group, result)
        }
        let isWanted = state.withLock { state in
            let isWanted = state.table.isWanted(group)
            if isWanted { state.tasks[group] = task }
            return isWanted
        }
        if !isWanted { task.cancel() }
    }

    private func end(_ group: UInt64, _ result: Result<Value, any Error>) {
        let callers = state.withLock { state in
            if !state.tasks.isEmpty { state.tasks[group] = nil }
            return state.table.ended(group).compactMap { state.callers.removeValue(forKey: $0) }
        }
        for caller in callers { caller.resume(with: result) }
    }

    private func leave(_ caller: UInt64) {
        let (continuation, task) = state.withLock {
            state -> (CheckedContinuation<Value, any Error>?, Task<Void, Never>?) in
            let continuation = state.callers.removeValue(forKey: caller)
            guard case .abandoned(let group) = state.table.leave(caller) else { return (continuation, nil) }
            return (continuation, state.tasks.removeValue(forKey: group))
        }
        task?.cancel()
        continuation?.resume(throwing: CancellationError())
    }
}
