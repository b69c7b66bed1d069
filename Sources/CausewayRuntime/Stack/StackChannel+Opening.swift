internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

// What happens while the protocols are not ready: a bound on the peer's silence, and content that does not wait for them.

extension StackChannel {
    /// How long the peer may keep the handshakes waiting.
    struct Opening: Sendable {
        /// A peer that a listener accepted and that says nothing at all has less time than one that is slow.
        static let silenceLimit = Duration.seconds(10)

        let limit: Duration
        var deadline: Duration
        /// When the peer last sent something.
        var lastHeard: Duration?
        private let start: Duration
        private let isAccepted: Bool
        /// Until the handshakes have ended.
        var timer: TimerID?
        var ticket: UnfinishedOpenings.Ticket?

        init(limit: Duration, from start: Duration, isAccepted: Bool) {
            (self.limit, self.start, self.isAccepted) = (limit, start, isAccepted)
            deadline = start + limit
        }

        mutating func end() { (timer, ticket) = (nil, nil) }

        /// When the timer fires: whether the peer has said nothing, and will not begin any more.
        var isSilent: Bool { isAccepted && lastHeard == nil }

        /// How long the peer has said nothing.
        func silence(at now: Duration) -> Duration { now - (lastHeard ?? start) }
    }

    /// A peer that stops in the middle of a handshake must not hold the connection for ever.
    func limitOpening(to delay: Duration, _ attempt: UInt64) {
        // It ends with the handshakes. A weak reference would make every use of this object slower.
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
            // The program's turn takes as long as the program wants.
            guard stack.awaitsPeer else { return state.opening.limit }
            state.stack?.abort(Failure(errno: Errno.timedOut))
            state.opening.ticket = nil
            return nil
        }
        if let delay { limitOpening(to: delay, attempt) } else { requestTurn() }
    }

    /// Counts the handshakes among those of the listener that are not finished.
    func join(_ openings: UnfinishedOpenings, _ attempt: UInt64) {
        let ticket = openings.enter { [self] patience in giveUpOpening(attempt, after: patience) }
        state.withLock { state in
            if state.attempt == attempt, state.stack?.isOpening == true, state.opening.timer != nil {
                state.opening.ticket = ticket
            }
        }
    }

    /// Aborts the handshakes if the peer has been silent for `patience` and is expected to send. Returns whether it did.
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
    /// Gives the stack what the program marked as idempotent, if it was sent before everything else.
    mutating func sendEarly(through stack: inout ProtocolStack) {
        takeBackEarly()
        while let next = messages.first, next.mayComeTwice, stack.sendEarly([UInt8](next.content)) {
            early.append(next)
            messages.removeFirst()
        }
    }

    /// The handshake came to nothing: what went along with it waits for the next one.
    mutating func takeBackEarly() {
        messages.prepend(contentsOf: early)
        early = []
    }
}

extension StackMessage {
    /// Nobody is told what becomes of it: that is how a program says that it does no harm when it arrives twice.
    fileprivate var mayComeTwice: Bool {
        guard case .nobody = waiter else { return false }
        return !content.isEmpty && metadata.isEmpty && !isFinal && deadline == nil
    }
}
