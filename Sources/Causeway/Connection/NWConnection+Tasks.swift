package import CausewayRuntime
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

extension NWConnection {
    /// An executor that runs tasks on the connection's event loop. A task that prefers this executor does not change threads when it waits
    /// for the connection.
    package var taskExecutor: any TaskExecutor { driver.flow.loop.executor }

    /// Waits until bytes are available, then receives at most `maximumLength` bytes. Returns `nil` after the peer has closed its sending
    /// direction.
    ///
    /// Cancellation: ends only this receive; no byte is lost.
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

    /// Receives through the protocols above the transport; see ``receive(atMost:)``.
    @inline(never)
    nonisolated(nonsending)
        private func receiveMessagePart(atMost maximumLength: Int) async throws(NWError) -> Data?
    {
        guard let received = await driver.channel?.receive(minimum: 1, maximum: maximumLength) else { return nil }
        if let data = received.data { return data }
        if let error = received.error, !received.isFinal { throw error.networkError }
        return received.isFinal ? nil : Data()
    }

    /// Receives a message with its context, like ``receiveMessage(completion:)``.
    ///
    /// Cancellation: ends only this receive, with the error `ECANCELED`; no message is lost.
    nonisolated(nonsending)
        package func nextMessage() async -> (content: Data?, context: ContentContext?, error: NWError?)
    {
        let received =
            if let channel = driver.channel {
                await channel.receiveMessage()
            } else {
                await driver.flow.receiveMessage()
            }
        return (received.data, received.context, received.error?.networkError)
    }

    /// Sends content. Suspends until the transport has accepted the content.
    nonisolated(nonsending)
        package func send(_ content: Data) async throws(NWError)
    {
        driver.contentCame()
        let failure =
            if let channel = driver.channel { await channel.send(content) } else { await driver.flow.send(content) }
        if let failure { throw failure.networkError }
    }

    /// Queues content. Only Causeway's own code uses this method. `completion` must not block. It may run on any
    /// thread, and runs inside this call if the transport accepts the content at once.
    package func send(_ content: Data, passing completion: @escaping @Sendable (NWError?) -> Void) {
        enqueue(content, .defaultMessage, true, .channel { failure in completion(failure?.networkError) })
    }

    /// Sends several pieces of content with as few system calls as possible. Suspends until the transport has accepted
    /// all pieces.
    ///
    /// Cancellation: withdraws only content that the transport has not started to send. If there are no protocols above
    /// the transport, only the final piece of `contents` can be withdrawn. Only this piece is associated with the
    /// waiting task.
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
            for content in contents.dropLast() { flow.send(Outbound(content, waiter: .unobserved)) }
            flow.send(Outbound(last, waiter: waiter))
            flow.uncork()
        }
        if let failure { throw failure.networkError }
    }

    /// Closes the sending direction after all earlier content has been sent. The receiving direction stays open.
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

    /// Waits until at least one datagram has arrived, then receives all datagrams that have arrived.
    ///
    /// Cancellation: ends only this receive; no datagram is lost.
    nonisolated(nonsending)
        package func receiveBatch() async throws(NWError) -> DatagramBatch?
    {
        do throws(Failure) {
            return try await driver.flow.receiveBatch()
        } catch {
            throw error.networkError
        }
    }

    /// Cancels gracefully and suspends until `cancelled` is reported. This takes up to two seconds if a protocol above the transport cannot
    /// send its closing message because the peer does not read.
    ///
    /// Cancellation: has no effect.
    nonisolated(nonsending)
        package func close() async
    {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            guard update({ handlers in handlers.released.append { continuation.resume() } }) else {
                return continuation.resume()
            }
            cancel()
        }
    }

    /// Starts the connection without a queue, and suspends until it is ready.
    ///
    /// - Throws: The error of the state `waiting` or `failed`, or `ECANCELED`. The connection is then cancelled.
    ///
    /// Cancellation: throws `ECANCELED`.
    nonisolated(nonsending)
        package func open() async throws(NWError)
    {
        let opening = Opening()
        stateUpdateHandler = { state in opening.changed(to: state) }
        driver.start(on: nil, observer: self)
        // A connection from a listener may already be started. `start` then reports no state, so read the state here.
        opening.changed(to: state)
        do throws(NWError) {
            try await opening.outcome().get()
        } catch {
            cancel()
            throw error
        }
    }
}

/// Waits until the connection is ready, cannot be established, or is cancelled. The first of these outcomes is the
/// result; later state changes do not alter it.
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
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let known = progress.withLock { progress in
                    if progress.outcome == nil { progress.waiter = waiter }
                    return progress.outcome
                }
                if let known { waiter.resume(returning: known) }
            }
        } onCancel: {
            decide(.failure(NWError(errno: Errno.cancelled)))
        }
    }
}
