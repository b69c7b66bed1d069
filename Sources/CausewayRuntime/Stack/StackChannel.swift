package import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
internal import DequeModule
package import FoundationEssentials

/// Runs a ``ProtocolStack`` over a ``Flow``. Content between program and transport passes through the stack.
///
/// The work is done in turns, one at a time, on the connection's queue. A turn repeatedly takes the next step from the
/// stack. It performs this step without holding the lock. Every state change requests a turn. Only a turn calls the
/// program's code. If tasks use the connection, there is no queue, and turns run on the event loop.
///
/// Requests outlive connection attempts. They wait until a stack is ready, and fail when the connection has ended.
package final class StackChannel: Sendable {
    /// The result of an attempt to establish and use the stack.
    package enum Outcome: Sendable {
        case ready
        /// Both directions have ended, and all content was delivered.
        case ended
        /// The handshake failed, or the established connection failed later.
        case failed(Failure)
    }

    let flow: Flow
    let state: LockedValue<State>

    package init(over flow: Flow, isDatagram: Bool) {
        self.flow = flow
        state = LockedValue(State(isDatagram: isDatagram))
    }

    // MARK: Start and end

    /// Begins the handshakes over a ready transport.
    ///
    /// - Parameters:
    ///   - layers: The protocols, from bottom to top.
    ///   - limit: How long the handshakes may wait for the peer in total. The time for which a protocol waits for the
    ///     program does not count.
    ///   - openings: The accepting listener's unfinished handshakes. If this is not `nil`, a peer that sends nothing
    ///     has less time.
    ///   - report: Called at most once with each outcome, on the connection's queue or loop.
    package func begin(
        _ layers: [StackLayer], within limit: Duration, among openings: UnfinishedOpenings? = nil,
        _ report: @escaping @Sendable (Outcome) -> Void
    ) {
        let delivery = flow.state.withLock { $0.delivery }
        let isDirect = delivery == nil && layers.allSatisfy { $0.delegate?.callsProgram != true }
        let opening = StackOpening(limit: limit, from: System.now, isAccepted: openings != nil)
        let attempt = state.withLock { state -> UInt64? in
            guard case .idle = state.phase else { return nil }
            (state.executor, state.phase) = (isDirect ? .loop : .queue(delivery), .open)
            state.turn.isHeld = false
            state.receiving.restart()
            // An earlier stack may have accepted content without sending it. This content is lost, so fail its sends.
            for waiter in state.sending.restart() { state.answer(waiter, Failure(errno: Errno.connectionAborted)) }
            var stack = ProtocolStack(layers.map(\.stage))
            let ids = stack.stageIDs
            state.sending.sendEarly(through: &stack)
            stack.start(at: System.now)
            state.attempt.start(stack, Dictionary(uniqueKeysWithValues: zip(ids, layers)), opening, report)
            return state.attempt.number
        }
        if let attempt {
            limitOpening(to: openings == nil ? limit : min(limit, StackOpening.silenceLimit), attempt)
            if let openings { join(openings, attempt) }
        }
        requestTurn()
    }

    /// Ends the attempt. Pending requests wait for the next attempt.
    package func detach() {
        state.withLock { state in
            guard state.phase.isOpen else { return }
            state.attempt.stack?.abort(Failure(errno: Errno.connectionAborted))
            (state.phase, state.turn.isHeld) = (.idle, false)
            state.attempt.forgetReports()
            state.sending.takeBackEarly()
        }
        requestTurn()
    }

    /// Fails every receive call with `ECANCELED`, sends the queued content, closes the protocols, then calls
    /// `completion`.
    ///
    /// If the protocols are not ready, or the queued content is not sent within ``closingLimit``, the remaining sends
    /// fail with `ECANCELED`.
    ///
    /// - Parameters:
    ///   - abortively: Whether to skip the queued content and the protocols' closing messages.
    ///   - left: Called before `completion` if everything was sent and only the peer's closing message is awaited.
    ///   - completion: Called on the connection's queue or loop when the protocols are closed; at once if the channel
    ///     is already closing or closed.
    package func close(
        abortively: Bool, left: @escaping @Sendable () -> Void = {}, _ completion: @escaping @Sendable () -> Void
    ) {
        let isFirst = state.withLock { state -> Bool in
            guard state.phase.isUnclosed else { return false }
            let isAborted = abortively || !state.phase.isOpen
            state.phase = .closing(Farewell(left: left, closed: completion, isAborted: isAborted))
            state.turn.isHeld = false
            state.attempt.forgetReports()
            let failure = Failure(errno: Errno.cancelled)
            state.endReceiving(with: failure)
            if isAborted {
                state.attempt.abort(failure)
                state.sending.giveUpOutput()
                state.endSending(with: failure)
            } else if state.attempt.stack?.isReady == true {
                // Do not close the stack here. `continueClosing` closes it later, when it has taken the queued content.
                state.sending.forgetEarly()
            } else {
                state.endSending(with: failure)
                state.attempt.stack?.close(at: System.now)
            }
            return true
        }
        guard isFirst else { return completion() }
        if !abortively { limitClosing() }
        requestTurn()
    }

    /// Sets the timer that limits how long closing takes. Without it, a peer that does not answer could keep the
    /// connection open.
    private func limitClosing() {
        let timer = flow.loop.schedule(after: Self.closingLimit) { [self] in giveUpClosing() }
        let isLate = state.withLock { state -> Bool in
            guard case .closing(var farewell) = state.phase else { return true }
            farewell.timer = timer
            state.phase = .closing(farewell)
            return false
        }
        if isLate { flow.loop.cancel(timer) }
    }

    /// How long the queued content and the protocols' closing messages may take.
    private static let closingLimit = Duration.seconds(2)

    /// Ends closing without sending the remaining content and the protocols' closing messages. The peer did not answer
    /// or did not read within the time limit.
    private func giveUpClosing() {
        state.withLock { state in
            guard case .closing(var farewell) = state.phase else { return }
            farewell.timer = nil
            state.phase = .closing(farewell)
            state.abandonClosing(Failure(errno: Errno.timedOut))
        }
        requestTurn()
    }

    /// Ends the channel because its transport is lost.
    ///
    /// Delivers all content that has arrived. Then fails all current and future requests.
    ///
    /// - Returns: The reason why the connection ends. If a protocol has detected a failure before, the reason is that
    ///   failure and not `failure`.
    @discardableResult
    package func fail(_ failure: Failure) -> Failure {
        let reason = state.withLock { state -> Failure in
            switch state.phase {
            case .idle, .open, .draining: break
            case .failed, .closing, .closed:
                // The transport is already closed, so no closing message can be sent.
                state.attempt.hasStackClosed = true
                state.sending.giveUpOutput()
                state.endSending(with: failure)
                return failure
            }
            while state.nextDelivery(System.now) {}
            state.keepRest(System.now)
            let reason = if case .failed(let known) = state.attempt.outcome { known } else { failure }
            state.attempt.stack?.abort(reason)
            // `abort` can make a protocol deliver an end of stream. So move the remaining content out of the stack once
            // more.
            state.keepRest(System.now)
            state.phase.fail()
            state.turn.isHeld = false
            while state.nextDelivery(System.now) {}
            state.end(with: reason)
            return reason
        }
        requestTurn()
        return reason
    }

    // MARK: Requests

    /// Receives at least `minimum` and at most `maximum` bytes of one message, fewer if the message ends earlier.
    package func receive(minimum: Int, maximum: Int, _ completion: @escaping ReceiveCompletion) {
        let bounds = ReceiveQueue.bounds(minimum: minimum, maximum: maximum)
        enqueue(StackReceive(minimum: bounds.minimum, maximum: bounds.maximum, receiver: .callback(completion)))
    }

    /// Receives one whole message.
    package func receiveMessage(_ completion: @escaping ReceiveCompletion) {
        let limit = ReceiveQueue.messageLimit
        enqueue(StackReceive(minimum: limit, maximum: limit, receiver: .callback(completion)))
    }

    func enqueue(_ waiter: StackReceive) {
        change { state in
            state.receiving.waiters.append(waiter)
            guard let failure = state.failure, !state.phase.isDraining else { return }
            while state.nextDelivery(System.now) {}
            // Only receive calls fail here. Send calls may stay pending, because a cancelled connection first sends its
            // queued content.
            if !state.receiving.waiters.isEmpty { state.endReceiving(with: failure) }
        }
    }

    /// Queues part of a message with its metadata for the protocols.
    package func send(_ message: StackMessage) {
        change { state in
            if let failure = state.failure {
                state.answer(message.waiter, failure)
            } else if state.sending.end != .open {
                state.answer(message.waiter, Failure(errno: Errno.brokenPipe))
            } else {
                if message.isFinal { state.sending.end = .requested }
                state.sending.messages.append(message)
            }
        }
    }

    // MARK: Stages

    /// The delegates for the current attempt's stages, ordered from the top stage to the bottom stage.
    package var delegates: [any StageDelegate] {
        state.withLock { state in
            guard let stack = state.attempt.stack else { return Array(state.attempt.delegates.values) }
            return stack.stageIDs.reversed().compactMap { state.attempt.delegates[$0] }
        }
    }

    /// How long the handshake of each stage took in the current attempt. The stages are listed from bottom to top, each
    /// with its delegate.
    package var handshakes: [(delegate: any StageDelegate, duration: Duration)] {
        state.withLock { state in
            (state.attempt.stack?.handshakes ?? []).compactMap { stage, duration in
                state.attempt.delegates[stage].map { ($0, duration) }
            }
        }
    }

    /// The numbers of bytes that the program has received and sent so far, measured above all protocols.
    package var transferred: (received: UInt64, sent: UInt64) {
        state.withLock { state in (state.receiving.byteCount, state.sending.byteCount) }
    }

    func withStage<Stage: ProtocolStage, Result: Sendable>(
        _ id: ProtocolStack.StageID, _ attempt: UInt64, as type: Stage.Type, isAnswer: Bool,
        _ body: @Sendable (inout Stage) -> Result
    ) -> Result? {
        let result = state.withLock { state -> Result? in
            guard state.attempt.number == attempt else { return nil }
            if isAnswer { state.attempt.opening.deadline = System.now + state.attempt.opening.limit }
            let result = state.attempt.stack?.withStage(id, as: type) { stage in body(&stage) }
            state.attempt.stack?.resume(at: System.now)
            return result
        }
        if result != nil { requestTurn() }
        return result
    }

    func insert(
        _ layer: StackLayer, above id: ProtocolStack.StageID, _ attempt: UInt64
    ) -> ProtocolStack.StageID? {
        let inserted = state.withLock { state -> ProtocolStack.StageID? in
            guard state.attempt.number == attempt, let inserted = state.attempt.stack?.insert(layer.stage, above: id)
            else {
                return nil
            }
            state.attempt.delegates[inserted] = layer.delegate
            return inserted
        }
        if inserted != nil { requestTurn() }
        return inserted
    }
}

/// A message, or part of one, that the program sends with the stack's top protocol.
package struct StackMessage: Sendable {
    package var content: Data
    package var metadata: [any StageMetadata]
    package var endsMessage: Bool
    /// Whether this is the program's final content.
    package var isFinal: Bool
    package var waiter: SendWaiter
    /// The latest time at which the message's transmission may start. After this time, a message that has not started
    /// fails.
    package var deadline: Duration?

    package init(
        _ content: Data, metadata: [any StageMetadata] = [], endsMessage: Bool = true, isFinal: Bool = false,
        deadline: Duration? = nil, waiter: SendWaiter
    ) {
        self.content = content
        self.metadata = metadata
        self.endsMessage = endsMessage
        self.isFinal = isFinal
        self.deadline = deadline
        self.waiter = waiter
    }
}
