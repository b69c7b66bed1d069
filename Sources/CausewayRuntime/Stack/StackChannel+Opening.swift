internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

// The stack's opening phase, before the protocols are ready. A silent peer has limited time, and content can be sent
// together with the handshake.

extension StackChannel {
    /// The time limits for one attempt's handshakes.
    struct Opening: Sendable {
        /// How long a peer accepted by a listener may take to send its first bytes. After that, it has more time.
        static let silenceLimit = Duration.seconds(10)

        let limit: Duration
        var deadline: Duration
        /// When the peer last sent bytes.
        var lastHeard: Duration?
        private let start: Duration
        private let isAccepted: Bool
        /// The attempt's timer. It runs until the handshakes have ended.
        var timer: TimerID?
        var ticket: UnfinishedOpenings.Ticket?

        init(limit: Duration, from start: Duration, isAccepted: Bool) {
            (self.limit, self.start, self.isAccepted) = (limit, start, isAccepted)
            deadline = start + limit
        }

        mutating func end() { (timer, ticket) = (nil, nil) }

        /// Whether an accepted peer has sent nothing yet. When the timer fires, it gets no more time.
        var isSilent: Bool { isAccepted && lastHeard == nil }

        /// Returns how long the peer has been silent.
        func silence(at now: Duration) -> Duration { now - (lastHeard ?? start) }
    }

    /// Starts the attempt's timer, which ends it if the peer stops during a handshake.
    func limitOpening(to delay: Duration, _ attempt: UInt64) {
        // The timer ends with the handshakes, so it can hold a strong reference to this object. A weak reference would
        // slow down every use of this object.
        let timer = flow.loop.schedule(after: delay) { [self] in openingIsDue(attempt) }
        let isLate = state.withLock { state -> Bool in
            let isOver = state.attempt != attempt || state.stack?.isOpening != true
            if !isOver { state.opening.timer = timer }
            return isOver
        }
        if isLate { flow.loop.cancel(timer) }
    }

    private func openingIsDue(_ attempt: UInt64) {
        let delay = state.withLock { state -> Duration? in
            state.opening.timer = nil
            guard state.attempt == attempt, state.phase == .open, let stack = state.stack, stack.isOpening else {
                state.opening.ticket = nil
                return nil
            }
            let rest = state.opening.deadline - System.now
            if rest > .zero, !state.opening.isSilent { return rest }
            // The time limit does not run while a protocol waits for the program.
            guard stack.awaitsPeer else { return state.opening.limit }
            state.stack?.abort(Failure(errno: Errno.timedOut))
            state.opening.ticket = nil
            return nil
        }
        if let delay { limitOpening(to: delay, attempt) } else { requestTurn() }
    }

    /// Adds this channel's handshakes to the listener's unfinished handshakes.
    func join(_ openings: UnfinishedOpenings, _ attempt: UInt64) {
        let ticket = openings.enter { [self] patience in giveUpOpening(attempt, after: patience) }
        state.withLock { state in
            if state.attempt == attempt, state.stack?.isOpening == true, state.opening.timer != nil {
                state.opening.ticket = ticket
            }
        }
    }

    /// Aborts the handshakes if they wait for the peer and it has been silent for `patience`. Returns whether it
    /// aborted them.
    private func giveUpOpening(_ attempt: UInt64, after patience: Duration) -> Bool {
        let isOver = state.withLock { state -> Bool in
            guard state.attempt == attempt, state.phase == .open, let stack = state.stack, stack.awaitsPeer,
                state.opening.silence(at: System.now) >= patience
            else { return false }
            state.stack?.abort(Failure(errno: Errno.timedOut))
            return true
        }
        if isOver { requestTurn() }
        return isOver
    }
}

extension StackChannel.State {
    /// Passes idempotent content at the head of the queue to the stack, to send it with the handshake.
    mutating func sendEarly(through stack: inout ProtocolStack) {
        takeBackEarly()
        while let next = messages.first, next.mayComeTwice, stack.sendEarly([UInt8](next.content)) {
            early.append(next)
            messages.removeFirst()
        }
    }

    /// Puts content sent with a failed handshake back into the queue, for the next attempt.
    mutating func takeBackEarly() {
        messages.prepend(contentsOf: early)
        early = []
    }
}

extension StackMessage {
    /// Whether the content may arrive twice because the program sent it as idempotent. Such content has no completion
    /// handler, which identifies it.
    fileprivate var mayComeTwice: Bool {
        guard case .unobserved = waiter else { return false }
        return !content.isEmpty && metadata.isEmpty && !isFinal && deadline == nil
    }
}
