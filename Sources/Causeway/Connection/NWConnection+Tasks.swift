package import CausewayRuntime
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

extension NWConnection {
    /// Runs tasks on the connection's event loop: prefer it, and an await of the connection changes no thread.
    package var taskExecutor: any TaskExecutor { driver.flow.loop.executor }

    /// Receives what is there, at least one octet and at most `maximumLength`. `nil` when the peer has ended its side.
    ///
    /// Cancelling the task ends this receive alone and loses no octet.
    nonisolated(nonsending)
        package func receive(atMost maximumLength: Int) async throws(NWError) -> Data?
    {
        guard driver.channel == nil else { return try await receiveMessagePart(atMost: maximumLength) }
        switch await driver.flow.receive(minimum: 1, maximum: maximumLength) {
        case .success(let content): return content
        case .failure(let failure): throw failure.networkError
        }
    }

    /// The same through the protocols above the transport. Cancelling the task does not end it: cancelling the connection does.
    @inline(never)
    nonisolated(nonsending)
        private func receiveMessagePart(atMost maximumLength: Int) async throws(NWError) -> Data?
    {
        guard let channel = driver.channel else { return nil }
        let received = await withUnsafeContinuation { continuation in
            channel.receive(minimum: 1, maximum: maximumLength) { continuation.resume(returning: $0) }
        }
        if let data = received.data { return data }
        if let error = received.error, !received.isFinal { throw error.networkError }
        return received.isFinal ? nil : Data()
    }

    private func send(_ message: Data, isFinal: Bool, on channel: StackChannel) async throws(NWError) {
        let failure = await withUnsafeContinuation { continuation in
            channel.send(StackMessage(message, isFinal: isFinal, waiter: .task(continuation)))
        }
        if let failure { throw failure.networkError }
    }

    /// Sends content; suspends until the transport has taken all of it.
    nonisolated(nonsending)
        package func send(_ content: Data) async throws(NWError)
    {
        driver.contentCame()
        if let channel = driver.channel { return try await send(content, isFinal: false, on: channel) }
        if let error = await driver.flow.send(content) { throw error.networkError }
    }

    /// Ends the sending side after everything sent before. The receiving side stays open.
    nonisolated(nonsending)
        package func sendEnd() async throws(NWError)
    {
        driver.contentCame()
        if let channel = driver.channel { return try await send(Data(), isFinal: true, on: channel) }
        if let error = await driver.flow.send(Data(), endsStream: true) { throw error.networkError }
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

    private let progress = Guarded(Progress())

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
