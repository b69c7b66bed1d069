internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

extension StackChannel {
    enum Phase: Sendable {
        /// There is no transport. Requests wait.
        case idle
        case open
        /// The transport broke. The program still receives earlier content. `whenRead` is called when it has received
        /// all of that content.
        case draining(whenRead: @Sendable (Failure) -> Void)
        /// Like `draining`, but the stack produces no more content.
        case failed(whenRead: (@Sendable (Failure) -> Void)?)
        case closing(Farewell)
        case closed
    }

    /// The notifications that a closing channel must still make.
    struct Farewell: Sendable {
        /// Called when only the peer's closing message is awaited.
        var left: (@Sendable () -> Void)?
        /// Called when the peer's closing message has arrived or the wait for it has ended.
        let closed: @Sendable () -> Void
        /// Whether the stack sends nothing more, not even an end of stream, because the connection is reset.
        let isAborted: Bool
        /// Limits the wait.
        var timer: TimerID?
    }

    /// The result of one receive or send. The channel reports it to the program in one of its turns.
    enum Answer: Sendable {
        /// No result. A case, not an optional, because the runtime would copy an optional of this size field by field
        /// in each turn.
        case nothing
        case received(ReceiveCompletion, ReceivedContent)
        case sent(SendCompletion, Failure?)
        /// The result of a send by Causeway's own code, which any thread may report.
        case passed(SendCompletion, Failure?)
        case taskReceived(UnsafeContinuation<ReceivedContent, Never>, ReceivedContent)
        case taskSent(UnsafeContinuation<Failure?, Never>, Failure?)
    }

    /// The state behind the channel's lock.
    struct State: Sendable {
        let isDatagram: Bool
        /// Where turns run: on a queue, or on the event loop if tasks use the connection and no turn calls the
        /// program's code.
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

    /// The turn that runs, or the next turn.
    struct Turn: Sendable {
        var isRunning = false
        var alarm: (deadline: Duration, timer: TimerID)?
        /// How many delivery steps were taken since the latest step in which sends and the stack's timer came first.
        var deliveryStepCount = 0
        /// Results to report.
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

    /// Whether content for the transport may leave the stack.
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
    /// Whether a turn would find no work: all requests wait for the transport or for the program.
    var isQuiet: Bool {
        phase.isOpen && receiving.isReadOutstanding && turn.answers.isEmpty && sending.isIdle && attempt.outcome == nil
            && attempt.opening.timer == nil && (receiving.waiters.isEmpty || receiving.inbox.isUntouched)
            && attempt.stack?.isQuiet == true
    }

    /// Fails all current and future requests with `failure`. The first receive also gets all arrived content.
    mutating func end(with failure: Failure) {
        endSending(with: failure)
        endReceiving(with: failure)
    }

    /// Fails all current receives and all future requests with `failure`. The first receive also gets all arrived
    /// content. Sends already accepted by the channel stay pending.
    mutating func endReceiving(with failure: Failure) {
        let failure = self.failure ?? failure
        self.failure = failure
        turn.answers += receiving.end(with: failure)
    }

    /// Returns whether both directions have ended and the end must be reported; `true` only once.
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
        // Some peers read nothing until their own content was read.
        while attempt.stack?.nextInbound(atMost: .max, at: now) != nil {}
        guard sending.messages.isEmpty else { return false }
        attempt.stack?.close(at: now)
        return true
    }

    /// Ends closing without the remaining content and closing messages.
    mutating func abandonClosing(_ failure: Failure) {
        if !attempt.hasStackClosed { attempt.abort(failure) }
        sending.giveUpOutput()
        endSending(with: failure)
    }

    /// Fails all current and future sends with `failure`.
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
