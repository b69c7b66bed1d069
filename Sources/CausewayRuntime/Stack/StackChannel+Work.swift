internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

// What a turn does, between one hold of the lock and the next.

extension StackChannel {
    /// Never copied: with all that it may hold that would cost more than some of the actions.
    enum Action: ~Copyable, Sendable {
        /// `elsewhere` where a turn must not wait for the program's code.
        case answer(Answer, elsewhere: Bool)
        case attend(any StageDelegate, any StageEvent, StagePlace)
        case write(Write)
        case setAlarm(Duration, replacing: TimerID?)
        case dropTimer(TimerID)
        case report(Outcome, @Sendable (Outcome) -> Void)
        case finish(@Sendable () -> Void)
        /// Let go of the lock for a moment.
        case pause

        /// Whether it runs code of others.
        var takesTime: Bool {
            switch self {
            case .answer: true
            case .attend: true
            case .report: true
            case .finish: true
            case .pause: true
            case .write: false
            case .setAlarm: false
            case .dropTimer: false
            }
        }
    }

    /// What the stack has room for.
    struct Read: Sendable {
        var length: Int
        var attempt: UInt64
        var isDirect: Bool
    }

    /// What the stack has for the transport.
    struct Write: Sendable {
        var bytes: ByteChain
        var endsStream: Bool
        var attempt: UInt64
    }

    /// What is done in one release of the lock.
    struct Work: ~Copyable, Sendable {
        /// Bytes for the transport in the thread's block, which goes to it before anything else is done on the thread.
        var loan = 0
        var attempt: UInt64 = 0
        /// A task to resume. That runs no code of the program's, and does not mind what else is done meanwhile.
        var resumption = Answer.nothing
        /// With the action, and before it.
        var read: Read?
        var action: Action?
    }

    /// What came of looking for something to do.
    enum Step: ~Copyable {
        case write(loan: Int)
        case perform(Action)
        case read(Read)
        /// Something moved inside.
        case again
        case nothing
    }

    /// Where a turn is to be done.
    enum Place {
        case loop
        case queue
    }
}

extension StackChannel.Answer {
    var isForTask: Bool {
        switch self {
        case .taskReceived, .taskSent: true
        case .nothing, .received, .sent: false
        }
    }

    var isNothing: Bool { if case .nothing = self { true } else { false } }

    consuming func perform() {
        switch consume self {
        case .nothing: break
        case .received(let completion, let content): completion(content)
        case .sent(let completion, let failure): completion(failure)
        case .taskReceived(let continuation, let content): continuation.resume(returning: content)
        case .taskSent(let continuation, let failure): continuation.resume(returning: failure)
        }
    }

    consuming func performElsewhere() {
        guard !isForTask else { return perform() }
        switch consume self {
        case .received(let completion, let content): Delivery.fallback.post(.received(completion, content))
        case .sent(let completion, let failure): Delivery.fallback.post(.sent(completion, failure))
        case .nothing, .taskReceived, .taskSent: break
        }
    }
}
