internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import Dispatch

extension NWListener {
    /// Listens until the task is cancelled or the listener fails. Each connection's `body` runs in a task of its own, on the
    /// connection's event loop; the connection is started before and cancelled after.
    package func run(_ body: @escaping @Sendable (NWConnection) async -> Void) async throws(NWError) {
        let (connections, feed) = AsyncStream.makeStream(of: NWConnection.self)
        let failure = Guarded<NWError?>(nil)
        newConnectionHandler = { feed.yield($0) }
        let report = stateUpdateHandler
        stateUpdateHandler = { state in
            report?(state)
            switch state {
            case .failed(let error):
                failure.withLock { $0 = error }
                feed.finish()
            case .cancelled: feed.finish()
            case .setup, .waiting, .ready: break
            }
        }
        driver.start(on: nil, observer: self)
        await withTaskCancellationHandler {
            // Where connections are accepted they are started as well: no other thread is woken.
            await withTaskExecutorPreference(driver.executor) { await Self.serve(connections, body) }
        } onCancel: {
            cancel()
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private static func serve(
        _ connections: AsyncStream<NWConnection>, _ body: @escaping @Sendable (NWConnection) async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            for await connection in connections {
                connection.driver.start(on: nil, observer: connection)
                group.addTask(executorPreference: connection.taskExecutor) {
                    await body(connection)
                    connection.cancel()
                }
            }
            group.cancelAll()
        }
    }
}
