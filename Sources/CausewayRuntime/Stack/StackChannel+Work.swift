internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

// The steps of one turn, which is a round of the channel's work. The channel's lock is not held during these steps.

extension StackChannel {
    /// An action to perform in one round of the channel's work (a turn). This type is not copyable, because copying its
    /// payload would cost more than performing some of the actions.
    enum Action: ~Copyable, Sendable {
        /// Reports the result of a call to the program. If `elsewhere` is set, the program's completion handler runs on
        /// a global queue, so that the event loop does not wait for it.
        case answer(Answer, elsewhere: Bool)
        case attend(any StageDelegate, any StageEvent, StagePlace)
        case write(Write)
        case setAlarm(Duration, replacing: TimerID?)
        case dropTimer(TimerID)
        case report(Outcome, @Sendable (Outcome) -> Void)
        case finish(@Sendable () -> Void)
        /// Releases the channel's lock briefly, and then takes it again.
        case pause

        /// Whether the action reports a result on the current thread. The report may call the program's code.
        var isCallback: Bool {
            switch self {
            case .answer(_, elsewhere: let isElsewhere): !isElsewhere
            case .attend: false
            case .write: false
            case .setAlarm: false
            case .dropTimer: false
            case .report: false
            case .finish: false
            case .pause: false
            }
        }

        /// Whether performing the action may run other code, such as the program's callbacks.
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

    /// A read from the transport. The read is limited to the number of bytes that the stack accepts.
    struct Read: Sendable {
        /// The maximum number of bytes to read from a stream; `nil` to read one datagram.
        var length: Int?
        var attempt: UInt64
        var isDirect: Bool
    }

    /// Bytes from the protocol stack that the transport must send.
    struct Write: Sendable {
        var bytes: ByteChain
        var endsStream: Bool
        var attempt: UInt64
    }

    /// The work to do before the channel takes its lock again.
    struct Work: ~Copyable, Sendable {
        /// The number of output bytes that this work has placed in the thread's scratch block. Write them to the
        /// transport before any other work on this thread, because other work overwrites the block.
        var loan = 0
        var attempt: UInt64 = 0
        /// A task to resume. Resuming only schedules the task, and runs none of its code on this thread. So the task
        /// may be resumed before or after the read and the action.
        var resumption = Answer.nothing
        /// A read operation to perform before `action`.
        var read: Read?
        var action: Action?
    }

    /// The next step of a turn (a round of the channel's work).
    enum Step: ~Copyable {
        case write(loan: Int)
        case perform(Action)
        case read(Read)
        /// The state has changed, so look for the next step again.
        case again
        case nothing
    }

    /// Where the channel's work runs: on the event loop or on a queue. One round of this work is called a turn.
    enum Executor: Sendable {
        case loop
        /// The program's queue, if there is one; otherwise a global queue.
        case queue(Delivery?)

        var isLoop: Bool { if case .loop = self { true } else { false } }

        var delivery: Delivery? { if case .queue(let delivery) = self { delivery } else { nil } }

        /// Whether a turn may run on the current thread, inside a call from the flow. A turn is a round of the
        /// channel's work.
        func mayTurn(isOnLoop: Bool) -> Bool {
            switch self {
            case .loop: isOnLoop
            case .queue(let delivery): delivery?.isDraining ?? false
            }
        }
    }
}

extension StackChannel.Answer {
    var isForTask: Bool {
        switch self {
        case .taskReceived, .taskSent: true
        case .nothing, .received, .sent, .passed: false
        }
    }

    var isNothing: Bool { if case .nothing = self { true } else { false } }

    consuming func perform() {
        switch consume self {
        case .nothing: break
        case .received(let completion, let content): completion(content)
        case .sent(let completion, let failure), .passed(let completion, let failure): completion(failure)
        case .taskReceived(let continuation, let content): continuation.resume(returning: content)
        case .taskSent(let continuation, let failure): continuation.resume(returning: failure)
        }
    }

    consuming func performElsewhere() {
        guard !isForTask else { return perform() }
        switch consume self {
        case .received(let completion, let content): Delivery.fallback.post(.received(completion, content))
        case .sent(let completion, let failure): Delivery.fallback.post(.sent(completion, failure))
        case .passed(let completion, let failure): completion(failure)
        case .nothing, .taskReceived, .taskSent: break
        }
    }
}
