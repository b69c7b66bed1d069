internal import CausewaySystem
internal import Dispatch

/// A connection for requests and replies that moves to better networks between exchanges, and is replaced after
/// failures.
///
/// The action depends on whether the connection is viable and whether there is a better path:
/// - Viable, no better path: no action.
/// - Viable, better path: opens a new connection, and moves to it when it is ready and no exchange is running. Then
///   ends the old connection.
/// - Not viable, better path: as for a viable connection. A running exchange stays on the old connection, and continues
///   if the old network comes back before that connection fails.
/// - Not viable, no better path: waits, because the network may come back.
///
/// Exchanges run one after the other, in call order, and each exchange uses only one connection. A failed exchange is
/// not repeated, because the server may have performed it: the caller decides whether to repeat it. Safe to use from
/// any thread.
public final class MigratingConnection: Sendable {
    private struct State: Sendable {
        /// The connection that is now used for exchanges.
        var current: NWConnection?
        /// A connection that will replace `current`. `isNextReady` is `true` when it is established.
        var next: NWConnection?
        var isNextReady = false
        var isBusy = false
        var isCancelled = false
        /// The exchanges that wait until the earlier ones have ended, in the order of the calls. An exchange is a
        /// request and its reply.
        var turns: [(id: UInt64, continuation: Turn)] = []
        var lastTurn: UInt64 = 0
        /// If the current exchange waits for a connection, the continuation to resume when there is one.
        var waiter: CheckedContinuation<Result<NWConnection, NWError>, Never>?
    }

    /// The continuation of an exchange that waits for its turn. If the exchange is cancelled first, the continuation is
    /// resumed with `false`.
    private typealias Turn = CheckedContinuation<Bool, Never>

    private let endpoint: NWEndpoint
    private let parameters: NWParameters
    private let queue = DispatchQueue(label: "causeway.migrating", target: .global())
    private let state = LockedValue(State())
    private let moved: @Sendable (NWPath?) -> Void

    /// - Parameters:
    ///   - endpoint: The server. The first exchange connects to it.
    ///   - parameters: The parameters of each connection.
    ///   - moved: Called with each new connection's path, on an internal queue or in an exchange's task.
    public init(
        to endpoint: NWEndpoint, using parameters: NWParameters = .tcp,
        moved: @escaping @Sendable (NWPath?) -> Void = { _ in }
    ) {
        (self.endpoint, self.parameters, self.moved) = (endpoint, parameters.copy(), moved)
    }

    deinit { cancel() }

    /// Waits until the earlier exchanges have ended, then sends a request and receives the whole reply.
    ///
    /// After an error the stream state is unknown: the connection is closed, and the next exchange uses a new connection.
    ///
    /// - Parameter body: Sends and receives. The connection is ready; do not keep a reference to it.
    /// - Throws: The error of `body`, or `NWError.posix`: `ECANCELED` after ``cancel()``, or the reason why there is no connection.
    ///
    /// Cancellation: the exchange ends with an error, also while it waits for earlier exchanges.
    public func exchange<Answer: Sendable>(
        _ body: @Sendable (NWConnection) async throws -> Answer
    ) async throws -> Answer {
        try await takeTurn()
        defer { endTurn() }
        let connection = try await connected()
        do {
            return try await withTaskCancellationHandler {
                try await body(connection)
            } onCancel: {
                connection.forceCancel()
            }
        } catch {
            drop(connection)
            throw error
        }
    }

    /// Ends the connection. Waiting and later exchanges fail with `ECANCELED`.
    public func cancel() {
        let (connections, waiter) = state.withLock { state in
            state.isCancelled = true
            defer { (state.current, state.next, state.waiter) = (nil, nil, nil) }
            return ([state.current, state.next], state.waiter)
        }
        for connection in connections { connection?.cancel() }
        waiter?.resume(returning: .failure(.posix(.ECANCELED)))
    }

    // MARK: Order of exchanges

    /// Waits until all earlier exchanges on this connection have ended.
    ///
    /// - Throws: `ECANCELED` if the task is cancelled first. In that case, the exchange must not run, and must not call
    ///   ``endTurn()``.
    private func takeTurn() async throws {
        let id = state.withLock { state in
            state.lastTurn += 1
            return state.lastTurn
        }
        let isTaken = await withTaskCancellationHandler {
            await withCheckedContinuation { (turn: Turn) in
                let known = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    guard state.isBusy else {
                        state.isBusy = true
                        return true
                    }
                    state.turns.append((id, turn))
                    return nil
                }
                if let known { turn.resume(returning: known) }
            }
        } onCancel: {
            let turn = state.withLock { state in
                state.turns.firstIndex { $0.id == id }.map { state.turns.remove(at: $0).continuation }
            }
            turn?.resume(returning: false)
        }
        guard isTaken else { throw NWError.posix(.ECANCELED) }
    }

    private func endTurn() {
        let (old, hasMoved, path, turn) = state.withLock { state in
            let (hasMoved, old) = Self.takeOver(&state)
            let turn = state.turns.isEmpty ? nil : state.turns.removeFirst().continuation
            state.isBusy = turn != nil
            return (old, hasMoved, state.current?.currentPath, turn)
        }
        old?.cancel()
        if hasMoved { moved(path) }
        turn?.resume(returning: true)
    }

    /// Replaces the current connection with the next connection, if the next connection is ready. Call only while no
    /// exchange uses a connection.
    ///
    /// - Returns: Whether the current connection was replaced, and the old connection. `old` is `nil` if there was no
    ///   current connection, for example after a failure.
    private static func takeOver(_ state: inout State) -> (hasMoved: Bool, old: NWConnection?) {
        guard state.isNextReady, let next = state.next else { return (false, nil) }
        let old = state.current
        (state.current, state.next, state.isNextReady) = (next, nil, false)
        return (true, old)
    }

    // MARK: Connections

    private func connected() async throws -> NWConnection {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (known, isNew) = state.withLock { state -> (Result<NWConnection, NWError>?, Bool) in
                    if state.isCancelled || Task.isCancelled { return (.failure(.posix(.ECANCELED)), false) }
                    if let current = state.current { return (.success(current), false) }
                    state.waiter = continuation
                    return (nil, state.next == nil)
                }
                if let known { continuation.resume(returning: known) }
                if isNew { connect() }
            }
        } onCancel: {
            // The task of the current exchange was cancelled. So resume the task's continuation, which is stored in
            // `waiter`. Only one exchange runs at a time, so `waiter` always belongs to the current exchange.
            state.withLock { $0.waiter.take() }?.resume(returning: .failure(.posix(.ECANCELED)))
        }
        return try result.get()
    }

    /// Opens a connection that will replace the current connection.
    func connect() {
        let connection = NWConnection(to: endpoint, using: parameters.copy())
        let isWanted = state.withLock { state in
            guard !state.isCancelled, state.next == nil else { return false }
            (state.next, state.isNextReady) = (connection, false)
            return true
        }
        guard isWanted else { return }
        connection.betterPathUpdateHandler = { [weak self, weak connection] isBetter in
            guard let self, let connection, isBetter, state.withLock({ $0.current === connection }) else { return }
            connect()
        }
        connection.stateUpdateHandler = { [weak self, weak connection] newState in
            guard let self, let connection else { return }
            switch newState {
            case .ready: ready(connection)
            case .failed(let error): failed(connection, error)
            case .setup, .preparing, .waiting, .cancelled: break
            }
        }
        connection.start(queue: queue)
    }

    private func ready(_ connection: NWConnection) {
        let (old, waiter, isCurrent) = state.withLock { state in
            guard state.next === connection else { return (nil as NWConnection?, nil as Waiter?, false) }
            state.isNextReady = true
            // Keep the current connection while an exchange is using it. If there is no current connection, use the new
            // one at once, because an exchange may be waiting for it.
            guard !state.isBusy || state.current == nil else { return (nil, nil, false) }
            let old = Self.takeOver(&state).old
            return (old, state.waiter.take(), true)
        }
        old?.cancel()
        if isCurrent { moved(connection.currentPath) }
        waiter?.resume(returning: .success(connection))
    }

    private typealias Waiter = CheckedContinuation<Result<NWConnection, NWError>, Never>

    private func failed(_ connection: NWConnection, _ error: NWError) {
        let waiter = state.withLock { state -> Waiter? in
            if state.current === connection { state.current = nil }
            guard state.next === connection else { return nil }
            (state.next, state.isNextReady) = (nil, false)
            return state.waiter.take()
        }
        waiter?.resume(returning: .failure(error))
    }

    private func drop(_ connection: NWConnection) {
        state.withLock { if $0.current === connection { $0.current = nil } }
        connection.cancel()
    }
}
