internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials
internal import Synchronization

/// Receives and sends for Swift tasks.
///
/// Cancelling a task ends only the request that the task waits for. The flow stays open. The next receive call gets the
/// content, and a send that has started is completed.
///
/// A cancellable suspension costs a record in the task, two locks and a quarter of the task's memory. A connection that
/// only one task uses can avoid this cost. That task becomes the flow's home task, and ``cancelHome()`` cancels its
/// request.
extension Flow {
    /// Makes the current task the flow's home task.
    ///
    /// Simple receive and send calls of the home task have no cancellation handler, which saves memory and time. To end
    /// such a call, use ``cancelHome()``.
    package func makeHome() { homeTask.store(ThreadLocal.task, ordering: .relaxed) }

    package func leaveHome() { homeTask.store(0, ordering: .relaxed) }

    /// Cancels the receive or send call in which the flow's home task waits (see ``makeHome()``). A call in another
    /// task ends when that task is cancelled.
    package func cancelHome() {
        cancelReceive(Self.homeID)
        cancelSend(Self.homeID)
    }

    /// Identifies the receive or send call in which the flow's home task waits (see ``makeHome()``). The home task
    /// waits in at most one call at a time.
    package static var homeID: UInt64 { 0 }

    /// A number that identifies the current task's request. If the task is cancelled, the request is found by this
    /// number. A task waits for only one request at a time. The number is never equal to ``homeID``.
    static var taskID: UInt64 { UInt64(truncatingIfNeeded: ThreadLocal.task) }

    package var isHome: Bool { ThreadLocal.task == homeTask.load(ordering: .relaxed) }

    // MARK: Receiving

    /// Receives at least `minimum` and at most `maximum` bytes from a byte stream, like
    /// ``receive(minimum:maximum:_:)``.
    ///
    /// Cancellation: the call ends with `ECANCELED`. No bytes are lost, and the task can receive again. If the flow's
    /// home task (see ``makeHome()``) waits in this call, only ``cancelHome()`` ends the call early.
    nonisolated(nonsending)
        package func receivePiece(minimum: Int, maximum: Int) async -> Result<StreamPiece, Failure>
    {
        guard isHome else {
            return await receiveCancellably(minimum: minimum, maximum: maximum)
        }
        return await withUnsafeContinuation { waiter in request(Self.homeID, minimum, maximum, waiter) }
    }

    /// Receives bytes from a stream, or `nil` at its end.
    ///
    /// Cancellation: as for ``receivePiece(minimum:maximum:)``.
    nonisolated(nonsending)
        package func receive(minimum: Int, maximum: Int) async -> Result<Data?, Failure>
    {
        switch await receivePiece(minimum: minimum, maximum: maximum) {
        case .success(let piece): .success(piece.data)
        case .failure(Failure(errno: Errno.noData)): .success(nil)
        case .failure(let failure): .failure(failure)
        }
    }

    /// Receives like ``receivePiece(minimum:maximum:)``, but also has a cancellation handler. For all tasks except the
    /// flow's home task (see ``makeHome()``).
    ///
    /// This function is not inlined, like several other functions of this type. Otherwise its local variables would
    /// enlarge every suspended task's frame.
    @inline(never)
    nonisolated(nonsending)
        package func receiveCancellably(minimum: Int, maximum: Int) async -> Result<StreamPiece, Failure>
    {
        let id = Self.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in request(id, minimum, maximum, waiter) }
        } onCancel: {
            cancelReceive(id)
        }
    }

    @inline(never)
    package func request(
        _ id: UInt64, _ minimum: Int, _ maximum: Int, _ continuation: TaskContinuation
    ) {
        let waiter = loop.isCurrent ? ReceiveWaiter.task(id, continuation) : .distantTask(id, continuation)
        var plan: ReadPlan?
        let isQueued = enqueue(waiter, &plan) { $0.demand(minimum: minimum, maximum: maximum) }
        // A cancelled task must receive no bytes. If the task was cancelled before this call, its cancellation handler
        // may have run too early to find the request. So check for cancellation after the request was queued.
        if ThreadLocal.isTaskCancelled {
            guard isQueued else { return continuation.resume(returning: .failure(Failure(errno: Errno.cancelled))) }
            cancelReceive(id)
        } else if !isQueued {
            requestAtOnce(waiter) { $0.demand(minimum: minimum, maximum: maximum) }
            if ThreadLocal.isTaskCancelled { cancelReceive(id) }
        }
        if let plan { pumpReads(plan) }
    }

    /// Receives one whole message, like ``receiveMessage(_:)``.
    ///
    /// Cancellation: the call ends with `ECANCELED`, and the message stays for the next receive call. If the flow's
    /// home task (see ``makeHome()``) waits in this call, only ``cancelHome()`` ends the call early.
    nonisolated(nonsending)
        package func receiveMessage() async -> ReceivedContent
    {
        if !ThreadLocal.isTaskCancelled {
            if let (data, mark) = takeDatagram() {
                return ReceivedContent(data: data, packet: mark, isComplete: true)
            }
            if mustGiveWay() { await giveWay() }
        }
        guard !isHome else { return await withUnsafeContinuation { waiter in requestMessage(Self.homeID, waiter) } }
        let id = Self.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in requestMessage(id, waiter) }
        } onCancel: {
            cancelReceive(id)
        }
    }

    @inline(never)
    private func requestMessage(_ id: UInt64, _ waiter: UnsafeContinuation<ReceivedContent, Never>) {
        let cancelled = ReceivedContent(error: Failure(errno: Errno.cancelled))
        guard !ThreadLocal.isTaskCancelled else { return waiter.resume(returning: cancelled) }
        request(.contentTask(id, waiter)) { $0.demandMessage() }
        if ThreadLocal.isTaskCancelled { cancelReceive(id) }
    }

    /// Receives all datagrams that have arrived, like ``receiveBatch(_:)``. Returns `nil` when the flow has ended.
    ///
    /// Cancellation: the call ends with `ECANCELED`, and the datagrams stay for the next receive call. If the flow's
    /// home task (see ``makeHome()``) waits in this call, only ``cancelHome()`` ends the call early.
    nonisolated(nonsending)
        package func receiveBatch() async throws(Failure) -> DatagramBatch?
    {
        let result: Result<DatagramBatch?, Failure>
        if isHome {
            result = await withUnsafeContinuation { waiter in requestBatch(Self.homeID, waiter) }
        } else {
            let id = Self.taskID
            result = await withTaskCancellationHandler {
                await withUnsafeContinuation { waiter in requestBatch(id, waiter) }
            } onCancel: {
                cancelReceive(id)
            }
        }
        return try result.get()
    }

    @inline(never)
    private func requestBatch(_ id: UInt64, _ waiter: UnsafeContinuation<Result<DatagramBatch?, Failure>, Never>) {
        guard !ThreadLocal.isTaskCancelled else {
            return waiter.resume(returning: .failure(Failure(errno: Errno.cancelled)))
        }
        request(.batchTask(id, waiter)) { $0.demandMessage() }
        if ThreadLocal.isTaskCancelled { cancelReceive(id) }
    }

    private func cancelReceive(_ id: UInt64) {
        var deferred = DeferredActions()
        let delivery = state.withLock { state in
            // The cancelled call may have requested more bytes than the next receive call. So the bytes that have
            // arrived may be enough for the next call.
            if state.forgetReceive(id, &deferred) { state.match(nil, &deferred) }
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
    }

    // MARK: Sending

    /// Suspends until the transport has accepted the content. Returns the failure, or `nil` on success.
    ///
    /// If the transport accepts the content at once, the task usually does not suspend. It still suspends from time to
    /// time, so that other tasks can run. A send that completes at once does not check for cancellation. So a cancelled
    /// task can still send a final message.
    ///
    /// Cancellation: content whose transmission has not started is removed from the queue.
    nonisolated(nonsending)
        package func send(_ data: Data, endsStream: Bool = false) async -> Failure?
    {
        let attempt = writeNow(data, endsStream)
        if case .done(let failure) = attempt { return failure }
        return await finish(data, endsStream, attempt)
    }

    @inline(never)
    nonisolated(nonsending)
        package func finish(_ data: Data, _ endsStream: Bool, _ first: ImmediateResult) async -> Failure?
    {
        var attempt = first
        if case .postponed = attempt {
            await giveWay()
            attempt = writeNow(data, endsStream)
        }
        if case .done(let failure) = attempt { return failure }
        guard isHome else { return await finishCancellably(data, endsStream, attempt) }
        return await withUnsafeContinuation { waiter in finishLater(Self.homeID, data, endsStream, attempt, waiter) }
    }

    /// Returns whether the task must now let other tasks run. This is so if it has received the maximum number of
    /// datagrams in a row. Also resets the task's count.
    private func mustGiveWay() -> Bool {
        let (isSpent, released) = state.withLock { state -> (Bool, SharedDatagramSocket?) in
            guard state.kind == .datagram else { return (false, nil) }
            defer { state.datagrams[0].immediateCount = 0 }
            return (state.datagrams[0].immediateCount >= Self.immediateBudget, state.takeReleased())
        }
        released?.continueReading()
        return isSpent
    }

    /// Suspends the task once, so that other tasks on the loop can run.
    @inline(never)
    nonisolated(nonsending)
        private func giveWay() async
    {
        await withUnsafeContinuation { waiter in loop.execute { waiter.resume() } }
    }

    @inline(never)
    nonisolated(nonsending)
        private func finishCancellably(_ data: Data, _ endsStream: Bool, _ attempt: ImmediateResult) async -> Failure?
    {
        let id = Self.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in finishLater(id, data, endsStream, attempt, waiter) }
        } onCancel: {
            cancelSend(id)
        }
    }

    @inline(never)
    private func finishLater(
        _ id: UInt64, _ data: Data, _ endsStream: Bool, _ attempt: ImmediateResult,
        _ waiter: UnsafeContinuation<Failure?, Never>
    ) {
        switch attempt {
        case .partial(let sent, let retry):
            continueWrite(Outbound(data, offset: sent, waiter: .task(id, waiter)), retry)
        case .done, .unclaimed, .postponed:
            send(Outbound(data, endsStream: endsStream, waiter: .task(id, waiter)))
        }
        if ThreadLocal.isTaskCancelled { cancelSend(id) }
    }

    /// Suspends the current task until its content was sent. `enqueue` receives the task's continuation, and must queue
    /// the content.
    ///
    /// Cancellation: content whose transmission has not started is removed from the queue.
    nonisolated(nonsending)
        package func suspendSending(_ enqueue: (SendWaiter) -> Void) async -> Failure?
    {
        let id = Self.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                enqueue(.task(id, waiter))
                if ThreadLocal.isTaskCancelled { cancelSend(id) }
            }
        } onCancel: {
            cancelSend(id)
        }
    }

    private func cancelSend(_ id: UInt64) {
        let waiter = state.withLock { state in state.writing.forget(ofTask: id) }
        waiter?.resume(returning: Failure(errno: Errno.cancelled))
    }
}

extension Flow.State {
    /// Completes a cancelled task's receive call with `ECANCELED`. Returns `false` if the call is already complete.
    mutating func forgetReceive(_ id: UInt64, _ deferred: inout DeferredActions) -> Bool {
        guard let waiter = reading.receives.remove(ofTask: id) else { return false }
        answer(waiter, ReceivedContent(error: Failure(errno: Errno.cancelled)), &deferred)
        return true
    }
}
