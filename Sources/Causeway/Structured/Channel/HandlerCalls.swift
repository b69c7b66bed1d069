internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem

/// Calls the program's handlers one after the other, in the order of the events. A handler that belongs to an actor
/// runs on this actor.
final class HandlerCalls: Sendable {
    typealias Call = @Sendable () async -> Void

    private struct State: Sendable {
        var waiting = InlineFirstQueue<Call>()
        var isRunning = false
        /// The executor for handlers that belong to no actor; `nil` for Swift's thread pool.
        var executor: LoopExecutor?
        var whenSettled: [UnsafeContinuation<Void, Never>] = []
    }

    private let state = LockedValue(State())

    /// Makes handlers run on the current thread's event loop, if this thread has one. A server on that loop then needs
    /// no other thread.
    func stayHere() {
        let executor = Engine.current?.executor
        state.withLock { state in state.executor = executor }
    }

    func add(_ call: @escaping Call) {
        let (mustRun, executor) = state.withLock { state in
            state.waiting.append(call)
            defer { state.isRunning = true }
            return (!state.isRunning, state.executor)
        }
        // A handler may belong to an actor, so only a task can call the handler. The task is detached: cancelling the
        // current task does not cancel the handler.
        if mustRun { Task.detached(executorPreference: executor) { await self.run() } }
    }

    /// Suspends until every handler has returned.
    nonisolated(nonsending) func settle() async {
        await withUnsafeContinuation { continuation in
            let isSettled = state.withLock { state in
                if state.isRunning { state.whenSettled.append(continuation) }
                return !state.isRunning
            }
            if isSettled { continuation.resume() }
        }
    }

    private func run() async {
        while let call = next() { await call() }
    }

    private func next() -> Call? {
        let (call, settled) = state.withLock { state -> (Call?, [UnsafeContinuation<Void, Never>]) in
            if let call = state.waiting.popFirst() { return (call, []) }
            state.isRunning = false
            defer { state.whenSettled = [] }
            return (nil, state.whenSettled)
        }
        for continuation in settled { continuation.resume() }
        return call
    }
}
