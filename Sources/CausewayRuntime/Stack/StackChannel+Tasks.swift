package import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

/// Asynchronous receive and send methods. Cancelling a task ends only the request for which that task waits. No content
/// is lost.
extension StackChannel {
    /// Receives at least `minimum` and at most `maximum` bytes of one message, fewer if the message ends earlier.
    ///
    /// Cancellation: the request ends with `ECANCELED` and no content is lost. The task can call again.
    nonisolated(nonsending)
        package func receive(minimum: Int, maximum: Int) async -> ReceivedContent
    {
        let bounds = ReceiveQueue.bounds(minimum: minimum, maximum: maximum)
        return await receive(bounds.minimum, bounds.maximum)
    }

    /// Receives one whole message.
    ///
    /// Cancellation: the receive call ends with `ECANCELED`, and no content is lost. The task can call again.
    nonisolated(nonsending)
        package func receiveMessage() async -> ReceivedContent
    {
        await receive(ReceiveQueue.messageLimit, ReceiveQueue.messageLimit)
    }

    nonisolated(nonsending)
        private func receive(_ minimum: Int, _ maximum: Int) async -> ReceivedContent
    {
        guard !flow.isHome else {
            return await withUnsafeContinuation { request(Flow.homeID, minimum, maximum, $0) }
        }
        let id = Flow.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { request(id, minimum, maximum, $0) }
        } onCancel: {
            cancelReceive(id)
        }
    }

    @inline(never)
    private func request(
        _ id: UInt64, _ minimum: Int, _ maximum: Int, _ continuation: UnsafeContinuation<ReceivedContent, Never>
    ) {
        guard !Task.isCancelled else {
            return continuation.resume(returning: ReceivedContent(error: Failure(errno: Errno.cancelled)))
        }
        enqueue(StackReceive(minimum: minimum, maximum: maximum, receiver: .task(id, continuation)))
        // The cancellation handler may have run before the request was queued, and then it did not find the request. So
        // check for cancellation again.
        if Task.isCancelled { cancelReceive(id) }
    }

    /// Ends the request for which the flow's home task waits (see ``Flow/makeHome()``). The requests of all other tasks
    /// end when their task is cancelled.
    package func cancelHome() {
        cancelReceive(Flow.homeID)
        cancelSend(Flow.homeID)
    }

    private func cancelReceive(_ id: UInt64) {
        let continuation = state.withLock { state in state.receiving.forget(ofTask: id) }
        guard let continuation else { return }
        continuation.resume(returning: ReceivedContent(error: Failure(errno: Errno.cancelled)))
        // The next receive call may be satisfied with the content in the buffer. So request a turn, which is a round of
        // the channel's work.
        requestTurn()
    }

    /// Sends part of a message, and suspends until the transport has accepted this part. Returns the failure, or `nil`
    /// on success.
    ///
    /// A call on the loop's thread does not suspend if the transport accepts the content at once and `isFinal` is not
    /// set. Such a call does not check for cancellation. So a cancelled task can still send a short closing message.
    ///
    /// Cancellation: the call returns `ECANCELED`. Content that the stack has not accepted yet is not sent, unless
    /// `isFinal` is set.
    nonisolated(nonsending)
        package func send(
            _ content: Data, metadata: [any StageMetadata] = [], endsMessage: Bool = true, isFinal: Bool = false
        ) async -> Failure?
    {
        if !isFinal {
            switch sendAtOnce(content, metadata, endsMessage) {
            case .done: return nil
            case .unclaimed: break
            case .taken(let attempt): return await awaitTaken(attempt)
            }
        }
        let message = StackMessage(
            content, metadata: metadata, endsMessage: endsMessage, isFinal: isFinal, waiter: .unobserved)
        guard !flow.isHome else { return await withUnsafeContinuation { submit(message, Flow.homeID, $0) } }
        let id = Flow.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { submit(message, id, $0) }
        } onCancel: {
            cancelSend(id)
        }
    }

    nonisolated(nonsending)
        private func awaitTaken(_ attempt: UInt64) async -> Failure?
    {
        guard !flow.isHome else { return await withUnsafeContinuation { awaitTaken(attempt, Flow.homeID, $0) } }
        let id = Flow.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { awaitTaken(attempt, id, $0) }
        } onCancel: {
            cancelSend(id)
        }
    }

    /// Suspends a task that sends content. The task resumes when the transport has accepted all content that the stack
    /// has taken so far.
    @inline(never)
    private func awaitTaken(_ attempt: UInt64, _ id: UInt64, _ continuation: UnsafeContinuation<Failure?, Never>) {
        change { state in
            let waiter = SendWaiter.task(id, continuation)
            if let failure = state.failure {
                state.answer(waiter, failure)
            } else if state.attempt.number != attempt {
                state.answer(waiter, Failure(errno: Errno.connectionAborted))
            } else {
                state.sending.settleLater(waiter)
            }
        }
        if Task.isCancelled { cancelSend(id) }
    }

    private enum SendAttempt {
        /// The transport has accepted all bytes.
        case done
        /// The protocol stack has accepted the content, but the transport has not accepted all output yet. The value is
        /// the number of the attempt.
        case taken(UInt64)
        /// The call has not tried to send, so the caller must send the content in another way.
        case unclaimed
    }

    /// Sends on the caller's thread if no other work is pending. If the transport accepts the content at once, the task
    /// need not suspend.
    @inline(never)
    private func sendAtOnce(_ content: Data, _ metadata: [any StageMetadata], _ endsMessage: Bool) -> SendAttempt {
        guard flow.loop.isCurrent else { return .unclaimed }
        let now = System.now
        var attempt: UInt64 = 0
        var loan = 0
        let first = state.withLock { state -> Work? in
            guard state.takeAtOnce(content, metadata, endsMessage, now) else { return nil }
            attempt = state.attempt.number
            loan = state.nextLoan(now)
            guard loan > 0 else { return takeWork(&state, now) }
            state.turn.isRunning = true
            return nil
        }
        guard attempt > 0 else { return .unclaimed }
        if loan > 0 {
            if endTurn(write(loan: loan, attempt), now) { return .done }
        } else {
            proceed(first, now)
        }
        let isOut = state.withLock { state in
            state.attempt.number == attempt && state.failure == nil && state.isEmptied
        }
        return isOut ? .done : .taken(attempt)
    }

    @inline(never)
    private func submit(_ message: StackMessage, _ id: UInt64, _ continuation: UnsafeContinuation<Failure?, Never>) {
        var message = message
        message.waiter = .task(id, continuation)
        send(message)
        if Task.isCancelled { cancelSend(id) }
    }

    private func cancelSend(_ id: UInt64) {
        let waiter = state.withLock { state in state.sending.forget(ofTask: id) }
        waiter?.resume(returning: Failure(errno: Errno.cancelled))
    }
}

extension StackChannel.State {
    /// Passes content directly to the protocol stack. This is possible only if no earlier content waits. Returns
    /// whether the stack has accepted the content.
    fileprivate mutating func takeAtOnce(
        _ content: Data, _ metadata: [any StageMetadata], _ endsMessage: Bool, _ now: Duration
    ) -> Bool {
        guard executor.isLoop, !turn.isRunning, !isDatagram, phase.isOpen, failure == nil, sending.end == .open,
            attempt.outcome == nil, sending.isIdle, turn.answers.isEmpty, sending.unacknowledged == 0,
            let room = attempt.stack?.lookForOutboundRoom(), room > 0
        else { return false }
        let envelope = MessageChunk(metadata: metadata, endsMessage: endsMessage)
        guard content.withUnsafeBytes({ attempt.stack?.send(lent: $0, in: envelope, at: now) }) == true else {
            return false
        }
        sending.passed(content.count)
        return true
    }

    /// Whether the transport has accepted all output of the protocol stack.
    fileprivate var isEmptied: Bool {
        sending.unacknowledged == 0 && phase.isOpen && attempt.stack?.mayHaveOutbound == false
    }
}
