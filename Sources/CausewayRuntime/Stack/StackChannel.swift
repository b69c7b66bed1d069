package import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
internal import DequeModule
package import FoundationEssentials

/// Runs a ``ProtocolStack`` over a ``Flow``: what the program sends and receives goes through the stack's protocols.
///
/// All work is done in turns, one at a time, on the connection's queue: a turn takes from the stack whatever it has to say, performs it
/// with the lock released, and looks again. Whoever changes something asks for a turn. The program's code is called in a turn only.
/// Where tasks use the connection there is no such queue: turns are done on the event loop, by whoever has something for them.
///
/// Requests outlive attempts: they wait until a stack is ready, and are answered when the connection has ended.
package final class StackChannel: Sendable {
    /// What came of an attempt.
    package enum Outcome: Sendable {
        case ready
        /// Both directions have ended, and the program knows.
        case ended
        /// The handshake, or the conversation after it, failed.
        case failed(Failure)
    }

    let flow: Flow
    let isDatagram: Bool
    let state: LockedValue<State>

    package init(over flow: Flow, isDatagram: Bool) {
        self.flow = flow
        self.isDatagram = isDatagram
        state = LockedValue(State(isDatagram: isDatagram))
    }

    // MARK: Life

    /// The transport is there: begins the handshakes. `report` is called in turns: once with `ready`, at most once with each of the others.
    ///
    /// - Parameters:
    ///   - limit: How long the peer may keep the handshakes waiting in all. What the program takes to answer does not count.
    ///   - openings: The unfinished handshakes of the listener that accepted the connection. Then a peer that says nothing has less time.
    package func begin(
        _ layers: [StackLayer], within limit: Duration, among openings: UnfinishedOpenings? = nil,
        _ report: @escaping @Sendable (Outcome) -> Void
    ) {
        let delivery = flow.state.withLock { $0.delivery }
        let isDirect = delivery == nil && layers.allSatisfy { $0.delegate?.callsProgram != true }
        let attempt = state.withLock { state -> UInt64? in
            guard state.phase == .idle else { return nil }
            (state.isDirect, state.delivery) = (isDirect, delivery)
            state.attempt += 1
            state.phase = .open
            (state.isReadOutstanding, state.transportHasEnded, state.isHeld) = (false, false, false)
            state.unacknowledged = 0
            (state.inbox, state.interrupted) = (Inbox(), nil)
            state.hasToldEnds = false
            // What an earlier stack took and did not pass on is lost with it.
            for (waiter, _) in state.taken { state.answer(waiter, Failure(errno: Errno.connectionAborted)) }
            state.taken = []
            state.report = report
            var stack = ProtocolStack(layers.map(\.stage))
            state.delegates = Dictionary(
                uniqueKeysWithValues: zip(stack.stageIDs, layers).compactMap { id, layer in
                    layer.delegate.map { (id, $0) }
                })
            state.sendEarly(through: &stack)
            stack.start(at: System.now)
            state.stack = stack
            state.opening = Opening(limit: limit, from: System.now, isAccepted: openings != nil)
            return state.attempt
        }
        if let attempt {
            limitOpening(to: openings == nil ? limit : min(limit, Opening.silenceLimit), attempt)
            if let openings { join(openings, attempt) }
        }
        requestTurn()
    }

    /// The attempt is over; what waits goes on waiting for the next one.
    package func detach() {
        state.withLock { state in
            guard state.phase == .open else { return }
            state.stack?.abort(Failure(errno: Errno.connectionAborted))
            (state.phase, state.isHeld) = (.idle, false)
            (state.report, state.outcome) = (nil, nil)
            state.takeBackEarly()
        }
        requestTurn()
    }

    /// Answers every request with `ECANCELED`, lets the protocols say goodbye unless `abortively`, then calls `completion`.
    ///
    /// - Parameter left: Called before that if all that is left is to wait for the peer's goodbye.
    package func close(
        abortively: Bool, left: @escaping @Sendable () -> Void = {}, _ completion: @escaping @Sendable () -> Void
    ) {
        let isFirst = state.withLock { state -> Bool in
            guard state.phase != .closing, state.phase != .closed else { return false }
            let hasStack = state.phase == .open
            (state.phase, state.isHeld) = (.closing, false)
            (state.report, state.outcome, state.whenRead) = (nil, nil, nil)
            state.end(with: Failure(errno: Errno.cancelled))
            (state.whenLeft, state.whenClosed) = (left, completion)
            if abortively || !hasStack {
                state.isAborted = true
                state.stack?.abort(Failure(errno: Errno.cancelled))
                state.hasSaidGoodbye = true
                state.unacknowledged = 0
            } else {
                state.stack?.close(at: System.now)
            }
            return true
        }
        guard isFirst else { return completion() }
        if !abortively { limitGoodbye() }
        requestTurn()
    }

    /// A peer that does not answer must not keep the connection.
    private func limitGoodbye() {
        let timer = flow.loop.schedule(after: Self.goodbyeLimit) { [self] in giveUpGoodbye() }
        let isLate = state.withLock { state -> Bool in
            guard state.phase != .closed else { return true }
            state.goodbyeTimer = timer
            return false
        }
        if isLate { flow.loop.cancel(timer) }
    }

    /// The longest that protocols may take to say goodbye.
    private static let goodbyeLimit = Duration.seconds(2)

    private func giveUpGoodbye() {
        state.withLock { state in
            state.goodbyeTimer = nil
            guard state.phase == .closing, !state.hasSaidGoodbye else { return }
            state.stack?.abort(Failure(errno: Errno.timedOut))
            state.hasSaidGoodbye = true
            state.unacknowledged = 0
        }
        requestTurn()
    }

    /// The transport is gone for good: every request is answered with this, now and from now on, once what has arrived is read.
    ///
    /// - Returns: Why the connection ends: if a protocol has failed and waits to say so, what befell the transport came after.
    @discardableResult
    package func fail(_ failure: Failure) -> Failure {
        let reason = state.withLock { state -> Failure in
            guard state.phase == .idle || state.phase == .open || state.phase == .draining else {
                // Nobody is left to say goodbye to.
                state.hasSaidGoodbye = true
                state.unacknowledged = 0
                return failure
            }
            while state.nextDelivery(System.now) {}
            state.keepRest(System.now)
            let reason = if case .failed(let known) = state.outcome { known } else { failure }
            state.stack?.abort(reason)
            // A protocol may take the failure for an end.
            state.keepRest(System.now)
            (state.phase, state.isHeld) = (.failed, false)
            while state.nextDelivery(System.now) {}
            state.end(with: reason)
            return reason
        }
        requestTurn()
        return reason
    }

    // MARK: Requests

    /// Delivers at least `minimum` and at most `maximum` bytes of one message, fewer where it ends first.
    package func receive(minimum: Int, maximum: Int, _ completion: @escaping ReceiveCompletion) {
        let bounds = ReceiveQueue.bounds(minimum: minimum, maximum: maximum)
        enqueue(Waiter(minimum: bounds.minimum, maximum: bounds.maximum, receiver: .callback(completion)))
    }

    /// Delivers one whole message.
    package func receiveMessage(_ completion: @escaping ReceiveCompletion) {
        let limit = ReceiveQueue.messageLimit
        enqueue(Waiter(minimum: limit, maximum: limit, receiver: .callback(completion)))
    }

    func enqueue(_ waiter: Waiter) {
        change { state in
            state.waiters.append(waiter)
            guard let failure = state.failure, state.phase != .draining else { return }
            while state.nextDelivery(System.now) {}
            if !state.waiters.isEmpty { state.end(with: failure) }
        }
    }

    /// Queues a piece of a message with what its protocols are to know.
    package func send(_ message: StackMessage) {
        change { state in
            if let failure = state.failure {
                state.answer(message.waiter, failure)
            } else if state.sendingHasEnded {
                state.answer(message.waiter, Failure(errno: Errno.brokenPipe))
            } else {
                state.sendingHasEnded = message.isFinal
                state.messages.append(message)
            }
        }
    }

    // MARK: Stages

    /// Those who answer the stages of the attempt under way, from the top down.
    package var delegates: [any StageDelegate] {
        state.withLock { state in
            guard let stack = state.stack else { return Array(state.delegates.values) }
            return stack.stageIDs.reversed().compactMap { state.delegates[$0] }
        }
    }

    /// How long the handshakes of the attempt under way took, from the bottom up, by those who answer the stages.
    package var handshakes: [(delegate: any StageDelegate, duration: Duration)] {
        state.withLock { state in
            (state.stack?.handshakes ?? []).compactMap { stage, duration in
                state.delegates[stage].map { ($0, duration) }
            }
        }
    }

    /// Bytes that the program received and sent so far, above all protocols.
    package var transferred: (received: UInt64, sent: UInt64) {
        state.withLock { state in (state.receivedByteCount, state.sentByteCount) }
    }

    func withStage<Stage: ProtocolStage, Result: Sendable>(
        _ id: ProtocolStack.StageID, _ attempt: UInt64, as type: Stage.Type, isAnswer: Bool,
        _ body: @Sendable (inout Stage) -> Result
    ) -> Result? {
        let result = state.withLock { state -> Result? in
            guard state.attempt == attempt else { return nil }
            if isAnswer { state.opening.deadline = System.now + state.opening.limit }
            let result = state.stack?.withStage(id, as: type) { stage in body(&stage) }
            state.stack?.resume(at: System.now)
            return result
        }
        if result != nil { requestTurn() }
        return result
    }

    func insert(
        _ layer: StackLayer, above id: ProtocolStack.StageID, _ attempt: UInt64
    ) -> ProtocolStack.StageID? {
        let inserted = state.withLock { state -> ProtocolStack.StageID? in
            guard state.attempt == attempt, let inserted = state.stack?.insert(layer.stage, above: id) else {
                return nil
            }
            state.delegates[inserted] = layer.delegate
            return inserted
        }
        if inserted != nil { requestTurn() }
        return inserted
    }
}

/// A piece of a message for the uppermost protocol.
package struct StackMessage: Sendable {
    package var content: Data
    package var metadata: [any StageMetadata]
    package var endsMessage: Bool
    /// Nothing follows in this direction.
    package var isFinal: Bool
    package var waiter: SendWaiter
    /// The time from which on it is not begun any more.
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
