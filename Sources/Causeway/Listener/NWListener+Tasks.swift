internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayProtocols
internal import Dispatch

extension NWListener {
    /// Listens until the task is cancelled or the listener fails.
    ///
    /// Each connection's `body` runs in a child task on the connection's event loop. The listener starts the connection before `body` and
    /// cancels it afterwards.
    ///
    /// Cancellation: cancels the listener and all tasks, and returns when they have ended.
    ///
    /// - Parameters:
    ///   - startsConnections: Pass `false` if `body` starts the connection.
    ///   - finishesConnections: Whether connections may finish after ``cancel()``. Otherwise their tasks are cancelled.
    /// - Throws: The listener's error.
    package func run(
        startsConnections: Bool = true, finishesConnections: Bool = false,
        _ body: @escaping @Sendable (NWConnection) async -> Void
    ) async throws(NWError) {
        let accepted = AcceptedConnections()
        let failure = LockedValue<NWError?>(nil)
        newConnectionHandler = { accepted.append($0) }
        let report = stateUpdateHandler
        let end: @Sendable (State) -> Void = { state in
            switch state {
            case .failed(let error):
                failure.withLock { $0 = error }
                accepted.finish()
            case .cancelled: accepted.finish()
            case .setup, .waiting, .ready: break
            }
        }
        stateUpdateHandler = { state in
            report?(state)
            end(state)
        }
        driver.start(on: nil, observer: self)
        // A listener that has ended before does not start again, and reports no state.
        end(state)
        let served = ServedConnections(body)
        await withTaskCancellationHandler {
            // Run this task on the event loop that accepts connections, so that starting a connection wakes no other
            // thread.
            await withTaskExecutorPreference(driver.executor) {
                await Self.serve(
                    accepted, served, startsConnections: startsConnections, finishesConnections: finishesConnections)
            }
        } onCancel: {
            cancel()
            served.cancelRequests()
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private static func serve(
        _ accepted: AcceptedConnections, _ served: ServedConnections, startsConnections: Bool,
        finishesConnections: Bool
    ) async {
        // No child task throws, but a throwing group is cheaper: for a non-throwing group the standard library wraps each child in a
        // throwing closure.
        try? await withThrowingDiscardingTaskGroup { group in
            while let connection = await accepted.next() {
                if startsConnections { connection.driver.start(on: nil, observer: connection) }
                group.addTask(executorPreference: connection.taskExecutor) {
                    let place = served.add(connection)
                    await served.body(connection)
                    served.remove(connection, from: place)
                }
            }
            guard !finishesConnections || Task.isCancelled else { return }
            group.cancelAll()
            served.cancelRequests()
        }
    }
}

/// The queue of accepted connections. The listener adds connections, and the task that serves them takes them.
///
/// `AsyncStream` would be too expensive here. Its generic storage costs more, for each connection, than all other steps
/// from the listener to the task.
private final class AcceptedConnections: Sendable {
    private struct State {
        var waiting = InlineFirstQueue<NWConnection>()
        var consumer: UnsafeContinuation<NWConnection?, Never>?
        var isFinished = false
    }

    private let state = LockedValue(State())

    func append(_ connection: NWConnection) {
        let consumer = state.withLock { state -> UnsafeContinuation<NWConnection?, Never>? in
            guard let consumer = state.consumer.take() else {
                state.waiting.append(connection)
                return nil
            }
            return consumer
        }
        consumer?.resume(returning: connection)
    }

    func finish() {
        let consumer = state.withLock { state in
            state.isFinished = true
            return state.consumer.take()
        }
        consumer?.resume(returning: nil)
    }

    /// Returns the next connection; `nil` when the listener has ended and no connection waits.
    ///
    /// Cancellation: ignored. ``NWListener/run(startsConnections:finishesConnections:_:)`` cancels the listener; the
    /// listener's final state change then ends the wait.
    nonisolated(nonsending) func next() async -> NWConnection? {
        await withUnsafeContinuation { consumer in
            let (connection, isDecided) = state.withLock { state -> (NWConnection?, Bool) in
                if let connection = state.waiting.popFirst() { return (connection, true) }
                if !state.isFinished { state.consumer = consumer }
                return (nil, state.isFinished)
            }
            if isDecided { consumer.resume(returning: connection) }
        }
    }
}

/// The connections that are being served, each by its own task.
///
/// The task group cancels these tasks together. ``cancelRequests()`` then ends the receive and send calls for which the
/// tasks wait.
private final class ServedConnections: Sendable {
    private struct Places {
        var taken: [NWConnection?] = []
        var free: [Int32] = []
    }

    let body: @Sendable (NWConnection) async -> Void
    private let places = LockedValue(Places())

    init(_ body: @escaping @Sendable (NWConnection) async -> Void) { self.body = body }

    /// Adds a connection to the list of served connections. Returns its index in this list.
    ///
    /// Call this method in the task that serves the connection. ``cancelRequests()`` ends only the receive and send
    /// calls of that task.
    func add(_ connection: NWConnection) -> Int32 {
        connection.driver.flow.makeHome()
        return places.withLock { places in
            if let place = places.free.popLast() {
                places.taken[Int(place)] = connection
                return place
            }
            places.taken.append(connection)
            return Int32(places.taken.count - 1)
        }
    }

    func remove(_ connection: NWConnection, from place: Int32) {
        connection.driver.flow.leaveHome()
        connection.cancel()
        places.withLock { places in
            places.taken[Int(place)] = nil
            places.free.append(place)
        }
    }

    func cancelRequests() {
        for connection in places.withLock({ $0.taken }) {
            connection?.driver.flow.cancelHome()
            connection?.driver.channel?.cancelHome()
        }
    }
}
