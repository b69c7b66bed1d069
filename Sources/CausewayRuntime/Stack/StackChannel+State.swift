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
        /// With the number under which the task stops waiting.
        case task(UInt64, UnsafeContinuation<ReceivedContent, Never>)
    }

    enum Phase: Sendable {
        /// No transport: requests wait.
        case idle
        case open
        /// The transport broke: what arrived before still goes to the program.
        case draining
        case failed
        case closing
        case closed
    }

    /// What the program is told, in a turn.
    enum Answer: Sendable {
        /// Not an optional: the runtime takes a large one apart piece by piece, at each turn.
        case nothing
        case received(ReceiveCompletion, ReceivedContent)
        case sent(SendCompletion, Failure?)
        case taskReceived(UnsafeContinuation<ReceivedContent, Never>, ReceivedContent)
        case taskSent(UnsafeContinuation<Failure?, Never>, Failure?)
    }

    /// Everything behind the channel's lock.
    struct State: Sendable {
        let isDatagram: Bool
        /// Turns are done wherever there is something to do, without a queue: tasks use the connection, and no code of the program's
        /// is called in a turn.
        var isDirect = false
        /// The program's queue, if there is one.
        var delivery: Delivery?
        var phase = Phase.idle
        var failure: Failure?
        /// Tells the stages of one attempt from those of another.
        var attempt: UInt64 = 0
        var stack: ProtocolStack?
        var delegates: [ProtocolStack.StageID: any StageDelegate] = [:]
        var report: (@Sendable (Outcome) -> Void)?
        var outcome: Outcome?
        /// Called when nothing but the peer's goodbye is awaited, and when that has come or is given up.
        var whenLeft: (@Sendable () -> Void)?
        var whenClosed: (@Sendable () -> Void)?
        /// Called once the program has everything that came before the transport broke.
        var whenRead: (@Sendable (Failure) -> Void)?
        var hasSaidGoodbye = false
        /// Nothing is to leave any more, not even an end: a reset follows.
        var isAborted = false

        var isTurning = false
        var alarm: (deadline: Duration, timer: TimerID)?
        var answers: Deque<Answer> = []
        /// Answers wait until the program's queue knows that the connection is ready.
        var isHeld = false

        var hasToldEnds = false
        var isReadOutstanding = false
        var transportHasEnded = false
        var waiters: Deque<Waiter> = []
        var inbox = Inbox()
        /// The message that a control message has interrupted.
        var interrupted: Inbox?
        /// What the stack had for the program when its transport broke.
        var rest: Deque<MessageChunk> = []

        var opening = Opening(limit: .zero, from: .zero, isAccepted: false)
        var goodbyeTimer: TimerID?

        var messages: Deque<StackMessage> = []
        /// Went along with the handshake. They are sent again if that comes to nothing.
        var early: [StackMessage] = []
        var sendingHasEnded = false
        /// Sends whose bytes the stack has taken, and the count of outbound bytes at which all of theirs are out; `nil` while the
        /// stack still holds some.
        var taken: Deque<(waiter: SendWaiter, mark: UInt64?)> = []
        var producedByteCount: UInt64 = 0
        var unacknowledged = 0
        /// What the program received and sent.
        var receivedByteCount: UInt64 = 0
        var sentByteCount: UInt64 = 0

        init(isDatagram: Bool) { self.isDatagram = isDatagram }
    }

    /// The message that is being received.
    struct Inbox: Sendable {
        var content = Data()
        var metadata: [any StageMetadata] = []
        var isWhole = false
        var isFinal = false
        /// The end came in the middle of the message.
        var isCutOff = false
        /// The end was delivered: nothing follows.
        var hasEnded = false
        var kind = MessageChunk.Kind.content

        var isUntouched: Bool { !isWhole && !isFinal && !hasEnded && content.isEmpty && metadata.isEmpty }
    }
}

extension StackChannel.State {
    /// A turn would find nothing to do: everybody waits for the transport, or for the program.
    var isQuiet: Bool {
        phase == .open && isReadOutstanding && answers.isEmpty && messages.isEmpty && taken.isEmpty && outcome == nil
            && opening.timer == nil && (waiters.isEmpty || inbox.isUntouched) && stack?.isQuiet == true
    }

    /// Every request is answered with this, now and from now on; what was received goes with the first.
    mutating func end(with failure: Failure) {
        endSending(with: failure)
        let failure = self.failure ?? failure
        let content = inbox.content.isEmpty ? interrupted?.content ?? Data() : inbox.content
        var rest: Data? = content.isEmpty ? nil : content
        if !waiters.isEmpty { (inbox, interrupted) = (StackChannel.Inbox(), nil) }
        for waiter in waiters {
            answers.append(waiter.answer(ReceivedContent(data: rest.take(), error: failure)))
        }
        waiters = []
    }

    /// Whether to report that both directions have ended.
    mutating func takeEnds() -> Bool {
        guard sendingHasEnded, inbox.hasEnded, !hasToldEnds, phase == .open, !isDatagram, messages.isEmpty,
            taken.isEmpty,
            answers.isEmpty
        else { return false }
        hasToldEnds = true
        return true
    }

    /// Every request to send is answered with this, now and from now on.
    mutating func endSending(with failure: Failure) {
        let failure = self.failure ?? failure
        self.failure = failure
        for (waiter, _) in taken { answer(waiter, failure) }
        for message in messages { answer(message.waiter, failure) }
        (taken, messages, early) = ([], [], [])
    }

    mutating func answer(_ waiter: SendWaiter, _ failure: Failure?) {
        switch waiter {
        case .nobody: break
        case .callback(let completion), .channel(let completion): answers.append(.sent(completion, failure))
        case .task(_, let continuation): answers.append(.taskSent(continuation, failure))
        }
    }
}
