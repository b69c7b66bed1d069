internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

extension StackChannel {
    enum Phase: Sendable {
        /// There is no transport. The program's receive and send calls wait for one.
        case idle
        case open
        /// The transport broke. The program still receives earlier content. `whenRead` is called when the program has
        /// received all of that content.
        case draining(whenRead: @Sendable (Failure) -> Void)
        /// The transport broke, and the stack produces no more content. The program may still receive earlier content.
        /// After that, `whenRead` is called, unless it is `nil`.
        case failed(whenRead: (@Sendable (Failure) -> Void)?)
        case closing(Farewell)
        case closed
    }

    /// The notifications that a closing channel must still make.
    struct Farewell: Sendable {
        /// Called when everything else is done and only the peer's closing message is awaited.
        var left: (@Sendable () -> Void)?
        /// Called when the peer's closing message has arrived or the wait for it has ended.
        let closed: @Sendable () -> Void
        /// Whether the stack sends nothing more, not even an end of stream, because the connection is reset.
        let isAborted: Bool
        /// The timer that limits how long closing takes.
        var timer: TimerID?
    }

    /// The result of one receive or send call. The channel reports the result to the program in one of its turns
    /// (rounds of work).
    enum Answer: Sendable {
        /// No result. This is a case and not an optional: the runtime would copy an optional of this size one field at
        /// a time, in each turn (round of work).
        case nothing
        case received(ReceiveCompletion, ReceivedContent)
        case sent(SendCompletion, Failure?)
        /// The result of a send by Causeway's own code. Any thread may report this result.
        case passed(SendCompletion, Failure?)
        case taskReceived(UnsafeContinuation<ReceivedContent, Never>, ReceivedContent)
        case taskSent(UnsafeContinuation<Failure?, Never>, Failure?)
    }

    /// The state that the channel's lock protects.
    struct State: Sendable {
        let isDatagram: Bool
        /// The place where the channel works: a queue, or the event loop if tasks use the connection and the channel's
        /// work never calls the program's code.
        var executor = Executor.queue(nil)
        var phase = Phase.idle
        /// The failure for all current and future requests; `nil` while requests are accepted.
        var failure: Failure?
        var attempt = StackAttempt()
        var turn = Turn()
        var receiving = StackReadSide()
        var sending = StackWriteSide()

        init(isDatagram: Bool) { self.isDatagram = isDatagram }
    }

    /// The state of the channel's current turn (round of work) or, if none is running, of the next turn.
    struct Turn: Sendable {
        var isRunning = false
        var alarm: (deadline: Duration, timer: TimerID)?
        /// The number of steps that delivered received content, counted since the program's sends and the stack's timer
        /// last had priority over such steps.
        var deliveryStepCount = 0
        /// The results that were not reported to the program yet.
        var answers: Deque<Answer> = []
        /// Whether results wait until the `ready` report is in the program's queue.
        var isHeld = false
    }
}

extension StackChannel.Phase {
    var isOpen: Bool { if case .open = self { true } else { false } }
    var isDraining: Bool { if case .draining = self { true } else { false } }
    var isFailed: Bool { if case .failed = self { true } else { false } }
    var isClosing: Bool { if case .closing = self { true } else { false } }

    /// Whether output for the transport may be taken from the stack.
    var maySend: Bool {
        switch self {
        case .open: true
        case .closing(let farewell): !farewell.isAborted
        case .idle, .draining, .failed, .closed: false
        }
    }

    /// Whether no close has begun.
    var isUnclosed: Bool {
        switch self {
        case .idle, .open, .draining, .failed: true
        case .closing, .closed: false
        }
    }

    /// Changes the phase to `failed`. Keeps the closure to call when the program has received the remaining content.
    mutating func fail() {
        switch self {
        case .draining(let whenRead): self = .failed(whenRead: whenRead)
        case .failed(let whenRead): self = .failed(whenRead: whenRead)
        case .idle, .open, .closing, .closed: self = .failed(whenRead: nil)
        }
    }
}

extension StackChannel.State {
    /// Whether the channel has no work now: all receive and send calls wait for the transport or for the program.
    var isQuiet: Bool {
        phase.isOpen && receiving.isReadOutstanding && turn.answers.isEmpty && sending.isIdle && attempt.outcome == nil
            && attempt.opening.timer == nil && (receiving.waiters.isEmpty || receiving.inbox.isUntouched)
            && attempt.stack?.isQuiet == true
    }

    /// Fails all current and future requests with `failure`. The first receive call also gets all arrived content.
    mutating func end(with failure: Failure) {
        endSending(with: failure)
        endReceiving(with: failure)
    }

    /// Fails all current receive calls and all future requests with `failure`. The first receive call also gets all
    /// arrived content. Send calls that the channel has already accepted stay pending.
    mutating func endReceiving(with failure: Failure) {
        let failure = self.failure ?? failure
        self.failure = failure
        turn.answers += receiving.end(with: failure)
    }

    /// Returns whether both directions have ended and the end must be reported; the result is `true` only once.
    mutating func takeEnds() -> Bool {
        guard sending.end == .requested, receiving.inbox.hasEnded, phase.isOpen, !isDatagram, sending.isIdle,
            turn.answers.isEmpty
        else { return false }
        sending.end = .reported
        return true
    }

    /// Discards received content. Closes the stack once the stack has accepted all content that the program sent before
    /// it cancelled the connection. Runs in the phase `closing`.
    ///
    /// - Returns: Whether the stack began to close.
    mutating func continueClosing(_ now: Duration) -> Bool {
        guard attempt.stack?.isReady == true else { return false }
        // Some peers read nothing until the content that they sent was read. So read and discard received content: the
        // peer then reads the content that this side still has to send.
        while attempt.stack?.nextInbound(atMost: .max, at: now) != nil {}
        guard sending.messages.isEmpty else { return false }
        attempt.stack?.close(at: now)
        return true
    }

    /// Stops closing in an orderly way: the remaining content and the closing messages are not sent.
    mutating func abandonClosing(_ failure: Failure) {
        if !attempt.hasStackClosed { attempt.abort(failure) }
        sending.giveUpOutput()
        endSending(with: failure)
    }

    /// Fails all current send calls and all future requests with `failure`.
    mutating func endSending(with failure: Failure) {
        let failure = self.failure ?? failure
        self.failure = failure
        for waiter in sending.removeAll() { answer(waiter, failure) }
    }

    mutating func answer(_ waiter: SendWaiter, _ failure: Failure?) {
        switch waiter {
        case .unobserved, .idempotent: break
        case .callback(let completion): turn.answers.append(.sent(completion, failure))
        case .channel(let completion): turn.answers.append(.passed(completion, failure))
        case .task(_, let continuation): turn.answers.append(.taskSent(continuation, failure))
        }
    }
}
