internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials
internal import Synchronization

/// Requests of tasks. Cancelling a task ends the one request that it waits for, and the flow goes on: what a receive waited for is the
/// next one's, and what a send has begun leaves whole.
///
/// Being cancellable costs each suspension a record in its task, two locks and a quarter of the task's memory. Where one task serves
/// a connection, and who may cancel it is known, nobody pays that: such a task is the flow's home.
extension Flow {
    /// Makes the current task the flow's home: whoever cancels it calls ``cancelHome()``.
    package func makeHome() { homeTask.store(ThreadLocal.task, ordering: .relaxed) }

    package func leaveHome() { homeTask.store(0, ordering: .relaxed) }

    /// Ends the request that the home waits for, as cancelling any other task does.
    package func cancelHome() {
        cancelReceive(Self.homeID)
        cancelSend(Self.homeID)
    }

    /// What all requests of the home are called: there is one at a time.
    package static var homeID: UInt64 { 0 }

    /// What a request is called, so that it can be cancelled alone: a task waits for one at a time. Never ``homeID``.
    static var taskID: UInt64 { UInt64(truncatingIfNeeded: ThreadLocal.task) }

    package var isHome: Bool { ThreadLocal.task == homeTask.load(ordering: .relaxed) }

    // MARK: Receiving

    /// As ``receive(minimum:maximum:_:)``, for a byte stream.
    nonisolated(nonsending)
        package func receivePiece(minimum: Int, maximum: Int) async -> Result<StreamPiece, Failure>
    {
        guard isHome else {
            return await receiveCancellably(minimum: minimum, maximum: maximum)
        }
        return await withUnsafeContinuation { waiter in request(Self.homeID, minimum, maximum, waiter) }
    }

    /// The same, where the end is no content: `nil`.
    nonisolated(nonsending)
        package func receive(minimum: Int, maximum: Int) async -> Result<Data?, Failure>
    {
        switch await receivePiece(minimum: minimum, maximum: maximum) {
        case .success(let piece): .success(piece.data)
        case .failure(Failure(errno: Errno.noData)): .success(nil)
        case .failure(let failure): .failure(failure)
        }
    }

    /// Out of line, as all below: what it needs must not lie in the frame of every suspended task.
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
        // A task that is cancelled takes no bytes with it. Asked when the request is there for whoever cancels to find.
        if ThreadLocal.isTaskCancelled {
            guard isQueued else { return continuation.resume(returning: .failure(Failure(errno: Errno.cancelled))) }
            cancelReceive(id)
        } else if !isQueued {
            requestAtOnce(waiter) { $0.demand(minimum: minimum, maximum: maximum) }
            if ThreadLocal.isTaskCancelled { cancelReceive(id) }
        }
        if let plan { pumpReads(plan) }
    }

    /// As ``receiveMessage(_:)``.
    nonisolated(nonsending)
        package func receiveMessage() async -> ReceivedContent
    {
        if !ThreadLocal.isTaskCancelled {
            if let content = takeDatagram() { return content }
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

    /// As ``receiveBatch(_:)``; `nil` when the flow has ended.
    nonisolated(nonsending)
        package func receiveBatch() async throws(Failure) -> DatagramBatch?
    {
        try await withUnsafeContinuation { continuation in
            request(.batchTask(continuation)) { $0.demandMessage() }
        }.get()
    }

    private func cancelReceive(_ id: UInt64) {
        var deferred = DeferredActions()
        let delivery = state.withLock { state in
            // What it had waited for may be enough for the next.
            if state.forgetReceive(id, &deferred) { state.match(nil, &deferred) }
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
    }

    // MARK: Sending

    /// Suspends until the transport has taken the content. Returns why it did not.
    ///
    /// Content that the transport takes at once costs no suspension, save now and then, so that other tasks get their turn; a
    /// cancelled task can still say goodbye with it. Cancelled while it waits, it takes back what has not begun to leave.
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

    /// Whether a task has taken its share of datagrams in a row and must let others run. Then counting restarts.
    private func mustGiveWay() -> Bool {
        state.withLock { state in
            guard state.kind == .datagram, !state.datagrams.isEmpty else { return false }
            defer { state.datagrams[0].immediateCount = 0 }
            return state.datagrams[0].immediateCount >= Self.immediateBudget
        }
    }

    /// Lets other tasks have their turn.
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

    /// Suspends until content is out that `enqueue` sends with the waiter it is given.
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
        let waiter = state.withLock { state in state.forgetSend(id) }
        waiter?.resume(returning: Failure(errno: Errno.cancelled))
    }
}

extension Flow.State {
    /// Answers the receive of a cancelled task, unless it has been answered already.
    mutating func forgetReceive(_ id: UInt64, _ deferred: inout DeferredActions) -> Bool {
        var position = -1
        let found = waiters.removeFirst { waiter in
            position += 1
            switch waiter {
            case .task(let number, _), .distantTask(let number, _), .contentTask(let number, _): return number == id
            case .callback, .channel, .stack, .batch, .batchTask: return false
            }
        }
        guard let found else { return false }
        _ = receive.forgetDemand(at: position)
        answer(found, ReceivedContent(error: Failure(errno: Errno.cancelled)), &deferred)
        return true
    }

    /// Finds the send of a cancelled task, unless it has been answered already. What has not begun is taken back.
    fileprivate mutating func forgetSend(_ id: UInt64) -> UnsafeContinuation<Failure?, Never>? {
        for index in inFlight.indices {
            guard case .task(id, let waiter) = inFlight[index].outbound.waiter else { continue }
            let entry = inFlight[index]
            // A write under way may have read it already. The end of a stream stays: nothing can be sent behind it any more.
            if isWriting || entry.outbound.offset > 0 || entry.outbound.endsStream {
                inFlight[index].outbound.waiter = .nobody
            } else {
                inFlight.remove(at: index)
                inFlightByteCount -= entry.outbound.remaining
                entry.ticket?.progress = .failed
            }
            return waiter
        }
        var found: UnsafeContinuation<Failure?, Never>?
        let entry = backlog?.withdraw { outbound in
            guard !outbound.endsStream, case .task(id, let waiter) = outbound.waiter else { return false }
            found = waiter
            return true
        }
        entry?.ticket?.progress = .failed
        if backlog?.isEmpty == true { backlog = nil }
        return entry == nil ? nil : found
    }
}
