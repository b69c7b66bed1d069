internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

extension StackChannel {
    enum Phase: Sendable {
        /// The channel has no transport yet. Receive and send calls wait until it has one.
        case idle
        case open
        /// The transport broke. The program still receives earlier content.
        ///
        /// When the program has received all of it, `whenRead` is called.
        case draining(whenRead: @Sendable (Failure) -> Void)
        /// The transport broke, and the stack produces no more content. The program may still receive earlier content.
        /// After that, the channel calls `whenRead`, unless it is `nil`.
        case failed(whenRead: (@Sendable (Failure) -> Void)?)
        case closing(Farewell)
        case closed
    }

    /// The callbacks that a closing channel must still call.
    struct Farewell: Sendable {
        /// Called when everything was sent and only the peer's closing message is missing.
        var left: (@Sendable () -> Void)?
        /// Called when the peer's closing message has arrived, or when the channel has stopped waiting for it.
        let closed: @Sendable () -> Void
        /// Whether the stack sends nothing more, not even an end of stream, because the connection is reset.
        let isAborted: Bool
        /// The timer that limits how long closing takes.
        var timer: TimerID?
    }

    /// The result of one receive or send call. The channel reports it to the program in a later round of work (turn).
    enum Answer: Sendable {
        /// No result. This is a case of the enumeration and not an optional `Answer`. The runtime would copy an
        /// optional of this size one field at a time, in each turn.
        case nothing
        case received(ReceiveCompletion, ReceivedContent)
        case sent(SendCompletion, Failure?)
        /// The result of a send by Causeway's own code. Any thread may report this result.
        case passed(SendCompletion, Failure?)
        case taskReceived(UnsafeContinuation<ReceivedContent, Never>, ReceivedContent)
        case taskSent(UnsafeContinuation<Failure?, Never>, Failure?)
    }

    /// The channel's state, which a lock protects.
    struct State: Sendable {
        let isDatagram: Bool
        /// Where the channel runs its work: on a queue or on the event loop.
        ///
        /// The event loop is used if two conditions hold: tasks use the connection, and the channel's work never calls
        /// code in the program.
        var executor = Executor.queue(nil)
        var phase = Phase.idle
        /// The error with which all current and future requests fail; `nil` while the channel accepts requests.
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
        /// The number of delivery steps since the count last restarted. A delivery step delivers received content. The
        /// count restarts when the program's sends and the stack's timer get priority over such steps.
        var deliveryStepCount = 0
        /// The results that were not reported to the program yet.
        var answers: Deque<Answer> = []
        /// Whether the channel holds results back. It does so until the `ready` report is in the program's queue.
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

    /// Whether closing has not begun yet.
    var isUnclosed: Bool {
        switch self {
        case .idle, .open, .draining, .failed: true
        case .closing, .closed: false
        }
    }

    /// Changes the phase to `failed`. Keeps `whenRead`. This closure is called when the program has received the
    /// remaining content.
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

    /// Makes all current and future requests fail with `failure`. The first receive call still gets the content that
    /// has already arrived.
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

    /// Returns `true` once, when both directions have ended. The caller must then report the end.
    mutating func takeEnds() -> Bool {
        guard sending.end == .requested, receiving.inbox.hasEnded, phase.isOpen, !isDatagram, sending.isIdle,
            turn.answers.isEmpty
        else { return false }
        sending.end = .reported
        return true
    }

    /// Discards received content while the channel is closing. Also closes the stack when it has accepted all content
    /// to send.
    ///
    /// The content to send is what the program sent before it cancelled the connection.
    ///
    /// - Returns: Whether the stack began to close.
    mutating func continueClosing(_ now: Duration) -> Bool {
        guard attempt.stack?.isReady == true else { return false }
        // Read the received content, and discard it. Some peers read nothing until someone reads the content that they
        // have sent. Only then can they read this side's remaining content.
        while attempt.stack?.nextInbound(atMost: .max, at: now) != nil {}
        guard sending.messages.isEmpty else { return false }
        attempt.stack?.close(at: now)
        return true
    }

    /// Aborts an orderly close: the remaining content and the closing messages are not sent.
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
