internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

extension StackChannel {
    struct Waiter: Sendable {
        var minimum: Int
        var maximum: Int
        var receiver: Receiver

        func answer(_ content: consuming ReceivedContent) -> Answer {
            switch receiver {
            case .callback(let completion): .received(completion, consume content)
            case .task(_, let continuation): .taskReceived(continuation, consume content)
            }
        }
    }

    enum Receiver: Sendable {
        case callback(ReceiveCompletion)
        /// A suspended task, with the identifier for cancelling its request.
        case task(UInt64, UnsafeContinuation<ReceivedContent, Never>)
    }

    enum Phase: Sendable {
        /// There is no transport. Requests wait.
        case idle
        case open
        /// The transport broke. The program still receives earlier content.
        case draining
        case failed
        case closing
        case closed
    }

    /// One request's result, reported to the program in a turn.
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
        /// Whether turns run on the event loop instead of a queue: tasks use the connection, and no turn calls the
        /// program's code.
        var isDirect = false
        /// The program's queue, if there is one.
        var delivery: Delivery?
        var phase = Phase.idle
        var failure: Failure?
        /// The current attempt's number. Results from an earlier attempt are ignored.
        var attempt: UInt64 = 0
        var stack: ProtocolStack?
        var delegates: [ProtocolStack.StageID: any StageDelegate] = [:]
        var report: (@Sendable (Outcome) -> Void)?
        var outcome: Outcome?
        /// `whenLeft` is called when only the peer's closing message is awaited, `whenClosed` when that message has
        /// arrived or the wait has ended.
        var whenLeft: (@Sendable () -> Void)?
        var whenClosed: (@Sendable () -> Void)?
        /// Called once the program has received all content that arrived before the transport broke.
        var whenRead: (@Sendable (Failure) -> Void)?
        var hasStackClosed = false
        /// Whether the stack sends nothing more, not even an end of stream, because the connection is reset.
        var isAborted = false

        var isTurning = false
        var alarm: (deadline: Duration, timer: TimerID)?
        var answers: Deque<Answer> = []
        /// Whether the results in `answers` are held until the `ready` report is in the program's queue.
        var isHeld = false

        var hasToldEnds = false
        var isReadOutstanding = false
        var transportHasEnded = false
        var waiters: Deque<Waiter> = []
        var inbox = Inbox()
        /// The message interrupted by a control message.
        var interrupted: Inbox?
        /// Content that the stack held for the program when its transport broke.
        var rest: Deque<MessageChunk> = []

        var opening = Opening(limit: .zero, from: .zero, isAccepted: false)
        var closingTimer: TimerID?

        var messages: Deque<StackMessage> = []
        /// Content sent with the handshake. If the handshake fails, it is sent again.
        var early: [StackMessage] = []
        var sendingHasEnded = false
        /// Sends whose bytes the stack has accepted. A send is complete once the transport has accepted `mark` bytes in
        /// total; `mark` is `nil` while the stack holds some of its bytes.
        var taken: Deque<(waiter: SendWaiter, mark: UInt64?)> = []
        var producedByteCount: UInt64 = 0
        var unacknowledged = 0
        /// The numbers of bytes that the program received and sent.
        var receivedByteCount: UInt64 = 0
        var sentByteCount: UInt64 = 0

        init(isDatagram: Bool) { self.isDatagram = isDatagram }
    }

    /// The message being received.
    struct Inbox: Sendable {
        var content = Data()
        var metadata: [any StageMetadata] = []
        var isWhole = false
        var isFinal = false
        /// Whether the stream ended within the message.
        var isCutOff = false
        /// Whether the end of the stream was delivered. No content follows.
        var hasEnded = false
        var kind = MessageChunk.Kind.content

        var isUntouched: Bool { !isWhole && !isFinal && !hasEnded && content.isEmpty && metadata.isEmpty }
    }
}

extension StackChannel.State {
    /// Whether a turn would find no work: all requests wait for the transport or for the program.
    var isQuiet: Bool {
        phase == .open && isReadOutstanding && answers.isEmpty && messages.isEmpty && taken.isEmpty && outcome == nil
            && opening.timer == nil && (waiters.isEmpty || inbox.isUntouched) && stack?.isQuiet == true
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
        let content = inbox.content.isEmpty ? interrupted?.content ?? Data() : inbox.content
        var rest: Data? = content.isEmpty ? nil : content
        if !waiters.isEmpty { (inbox, interrupted) = (StackChannel.Inbox(), nil) }
        for waiter in waiters {
            answers.append(waiter.answer(ReceivedContent(data: rest.take(), error: failure)))
        }
        waiters = []
    }

    /// Returns whether both directions have ended and the end must be reported; `true` only once.
    mutating func takeEnds() -> Bool {
        guard sendingHasEnded, inbox.hasEnded, !hasToldEnds, phase == .open, !isDatagram, messages.isEmpty,
            taken.isEmpty,
            answers.isEmpty
        else { return false }
        hasToldEnds = true
        return true
    }

    /// Discards received content, and closes the stack once it has taken all content sent before the connection was
    /// cancelled.
    ///
    /// - Returns: Whether the stack began to close.
    mutating func continueClosing(_ now: Duration) -> Bool {
        guard phase == .closing, stack?.isReady == true else { return false }
        // A peer that is sending may read nothing until its own content is read.
        while stack?.nextInbound(atMost: .max, at: now) != nil {}
        guard messages.isEmpty else { return false }
        stack?.close(at: now)
        return true
    }

    /// Ends closing without the remaining content and closing messages.
    mutating func abandonClosing(_ failure: Failure) {
        if !hasStackClosed { stack?.abort(failure) }
        hasStackClosed = true
        unacknowledged = 0
        endSending(with: failure)
    }

    /// Fails all current and future sends with `failure`.
    mutating func endSending(with failure: Failure) {
        let failure = self.failure ?? failure
        self.failure = failure
        for (waiter, _) in taken { answer(waiter, failure) }
        for message in messages { answer(message.waiter, failure) }
        (taken, messages, early) = ([], [], [])
    }

    mutating func answer(_ waiter: SendWaiter, _ failure: Failure?) {
        switch waiter {
        case .unobserved: break
        case .callback(let completion): answers.append(.sent(completion, failure))
        case .channel(let completion): answers.append(.passed(completion, failure))
        case .task(_, let continuation): answers.append(.taskSent(continuation, failure))
        }
    }
}
