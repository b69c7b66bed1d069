internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem

/// Calls the program's handlers one after the other, in the order of what they report, each in the isolation in which it was written.
final class HandlerCalls: Sendable {
    typealias Call = @Sendable () async -> Void

    private struct State: Sendable {
        var waiting = InlineFirstQueue<Call>()
        var isRunning = false
        /// Where handlers that belong to no actor are called; `nil` for the threads of Swift's pool.
        var executor: LoopExecutor?
        var whenSettled: [UnsafeContinuation<Void, Never>] = []
    }

    private let state = LockedValue(State())

    /// Has handlers called on this thread's event loop, if it is one's. A server that runs on it needs no other thread then.
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
        // Handlers may belong to actors: only a task gets there. What happens to the task that happens to be here is not theirs.
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
