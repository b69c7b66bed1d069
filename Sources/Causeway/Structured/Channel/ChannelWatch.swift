internal import CausewaySystem
internal import CausewayTypes

/// State that not all channels need: the program's handlers, and the tasks that wait until the channel is ready.
final class ChannelWatch: Sendable {
    private typealias Waiter = UnsafeContinuation<NWError?, Never>

    private struct State: Sendable {
        var report: (@Sendable (NWConnection.State) -> Void)?
        var waiters: [(id: Int, waiter: Waiter)] = []
        var lastID = 0
    }

    let calls = HandlerCalls()
    private let state = LockedValue(State())

    /// Sets a closure that is called at each state change, in order. The closure must not call the program's handlers
    /// directly. It adds these calls to ``calls``, which makes them one after the other.
    func setReport(_ report: @escaping @Sendable (NWConnection.State) -> Void) {
        let old = state.withLock { state in
            defer { state.report = report }
            return state.report
        }
        withExtendedLifetime(old) {}
    }

    func changed(to newState: NWConnection.State) {
        settle(newState)
        state.withLock { $0.report }?(newState)
    }

    /// Suspends until the connection is ready. Returns the error if the connection can no longer become ready.
    nonisolated(nonsending) func readiness(of connection: NWConnection) async -> NWError? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                state.withLock { $0.waiters.append((id, waiter)) }
                // Check the state and the cancellation now, because either may have changed before the continuation was stored.
                settle(connection.state)
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func settle(_ newState: NWConnection.State) {
        let outcome: NWError?
        switch newState {
        case .setup, .preparing, .waiting: return
        case .ready: outcome = nil
        case .failed(let error): outcome = error
        case .cancelled: outcome = .posix(.ECANCELED)
        }
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for (_, waiter) in waiters { waiter.resume(returning: outcome) }
    }

    private func cancel(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).waiter }
        }
        waiter?.resume(returning: .posix(.ECANCELED))
    }
}
