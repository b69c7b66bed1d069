package import CausewayRuntime
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

extension NWConnection {
    /// Runs tasks on the connection's event loop: prefer it, and an await of the connection changes no thread.
    package var taskExecutor: any TaskExecutor { driver.flow.loop.executor }

    /// Receives what is there, at least one byte and at most `maximumLength`. `nil` when the peer has ended its side.
    ///
    /// Cancelling the task ends this receive alone and loses no byte.
    nonisolated(nonsending)
        package func receive(atMost maximumLength: Int) async throws(NWError) -> Data?
    {
        guard driver.channel == nil else { return try await receiveMessagePart(atMost: maximumLength) }
        switch await driver.flow.receivePiece(minimum: 1, maximum: maximumLength) {
        case .success(let piece): return piece.data
        case .failure(Failure(errno: Errno.noData)): return nil
        case .failure(let failure): throw failure.networkError
        }
    }

    /// The same through the protocols above the transport.
    @inline(never)
    nonisolated(nonsending)
        private func receiveMessagePart(atMost maximumLength: Int) async throws(NWError) -> Data?
    {
        guard let received = await driver.channel?.receive(minimum: 1, maximum: maximumLength) else { return nil }
        if let data = received.data { return data }
        if let error = received.error, !received.isFinal { throw error.networkError }
        return received.isFinal ? nil : Data()
    }

    /// Sends content; suspends until the transport has taken all of it.
    nonisolated(nonsending)
        package func send(_ content: Data) async throws(NWError)
    {
        driver.contentCame()
        let failure =
            if let channel = driver.channel { await channel.send(content) } else { await driver.flow.send(content) }
        if let failure { throw failure.networkError }
    }

    /// Sends contents in as few system calls as possible; suspends until the transport has taken all of them.
    ///
    /// Cancelling the task takes back the last of them at most.
    nonisolated(nonsending)
        package func send(together contents: [Data]) async throws(NWError)
    {
        guard driver.channel == nil, let last = contents.last else {
            for content in contents { try await send(content) }
            return
        }
        driver.contentCame()
        let flow = driver.flow
        let failure = await flow.suspendSending { waiter in
            flow.cork()
            for content in contents.dropLast() { flow.send(Outbound(content, waiter: .nobody)) }
            flow.send(Outbound(last, waiter: waiter))
            flow.uncork()
        }
        if let failure { throw failure.networkError }
    }

    /// Ends the sending side after everything sent before. The receiving side stays open.
    nonisolated(nonsending)
        package func sendEnd() async throws(NWError)
    {
        driver.contentCame()
        let failure =
            if let channel = driver.channel {
                await channel.send(Data(), isFinal: true)
            } else {
                await driver.flow.send(Data(), endsStream: true)
            }
        if let failure { throw failure.networkError }
    }

    /// Receives all datagrams that have arrived, at least one.
    nonisolated(nonsending)
        package func receiveBatch() async throws(NWError) -> DatagramBatch?
    {
        do throws(Failure) {
            return try await driver.flow.receiveBatch()
        } catch {
            throw error.networkError
        }
    }

    /// Cancels gracefully, and suspends until `cancelled` is reported: at once, or within two seconds where a protocol above the
    /// transport cannot send its goodbye because the peer does not read. Cancelling the task shortens nothing.
    nonisolated(nonsending)
        package func close() async
    {
        guard state != .cancelled else { return }
        await withUnsafeContinuation { continuation in
            update { handlers in handlers.released = { continuation.resume() } }
            cancel()
        }
    }

    /// Starts the connection without a queue of the program's, and suspends until it is ready.
    ///
    /// - Throws: why it waits or failed. A waiting connection is cancelled.
    nonisolated(nonsending)
        package func open() async throws(NWError)
    {
        let opening = Opening()
        stateUpdateHandler = { state in opening.changed(to: state) }
        driver.start(on: nil, observer: self)
        // A connection from a listener may have been started before.
        opening.changed(to: state)
        do throws(NWError) {
            try await opening.outcome().get()
        } catch {
            cancel()
            throw error
        }
    }
}

/// Waits for the first state that decides whether a connection is there.
private final class Opening: Sendable {
    private struct Progress {
        var outcome: Result<Void, NWError>?
        var waiter: CheckedContinuation<Result<Void, NWError>, Never>?
    }

    private let progress = LockedValue(Progress())

    func changed(to state: NWConnection.State) {
        switch state {
        case .ready: decide(.success(()))
        case .waiting(let error), .failed(let error): decide(.failure(error))
        case .cancelled: decide(.failure(NWError(errno: Errno.cancelled)))
        case .setup, .preparing: break
        }
    }

    private func decide(_ outcome: Result<Void, NWError>) {
        let waiter = progress.withLock { progress in
            if progress.outcome == nil { progress.outcome = outcome }
            return progress.waiter.take()
        }
        waiter?.resume(returning: outcome)
    }

    func outcome() async -> Result<Void, NWError> {
        await withCheckedContinuation { waiter in
            let known = progress.withLock { progress in
                if progress.outcome == nil { progress.waiter = waiter }
                return progress.outcome
            }
            if let known { waiter.resume(returning: known) }
        }
    }
}
