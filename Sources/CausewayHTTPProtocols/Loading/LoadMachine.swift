internal import CausewayTypes

/// Decides how a load continues: how each response is used, which exchange comes next, and what ends the load.
///
/// A load begins with one request. It may repeat the request with a credential, over another connection, without a
/// condition, or for the rest of an upload. Until it is decided whether another request follows, the response is held:
/// the program does not receive it yet.
///
/// The load's driver performs the exchanges with the server, asks the program, and stores all content. The driver
/// reports every event, even a late or repeated one, and performs the returned action. Only one exchange runs at a
/// time. Each held response is delivered or discarded exactly once.
package struct LoadMachine: Sendable {
    /// The maximum number of content bytes to hold back while another request may follow.
    ///
    /// At this number, the load decides without waiting for the end of the response.
    package static let heldLimit = 64 << 10
    /// The maximum number of times that a request is repeated. The rules for challenges and retries have lower limits.
    /// This limit only protects against errors in those rules.
    package static let repetitionLimit = 100

    private var phase = Phase.preparing(nil)
    private var questionCount: UInt32 = 0
    private var repetitionCount = 0
    private var hasRetried = false
    private var isWaitingForPath = false
    /// Whether the exchange reads the response.
    package private(set) var isReading = true

    package init() {}

    // MARK: State

    package var isAwaitingHead: Bool { if case .waiting = phase { true } else { false } }
    package var isDeciding: Bool { if case .deciding = phase { true } else { false } }
    /// Whether no more bytes of the held-back response will arrive: it is complete or was cut off.
    package var isHeldResponseOver: Bool { if case .deciding(let held?, _) = phase { held.isOver } else { false } }

    /// Whether the program may now ask to take over the connection (handover).
    ///
    /// The request is permitted while content is delivered, and after the load has ended. After the end, the request is
    /// answered when the end of the load is reported.
    package var permitsHandOver: Bool {
        switch phase {
        case .streaming, .ended: true
        case .preparing, .waiting, .holding, .deciding, .releasing, .restarting, .pausing, .confirmed, .recovering:
            false
        }
    }

    // MARK: Requests

    package mutating func requestPrepared() -> Action {
        guard case .preparing = phase else { return .none }
        phase = .waiting
        isReading = true
        return .send
    }

    /// Reports that a stored response answers the request. This state machine's load then ends.
    ///
    /// The driver delivers the stored response itself, without this state machine.
    package mutating func storedResponseFound() -> Action {
        switch phase {
        case .preparing, .recovering: return loadEnded()
        case .waiting, .holding, .deciding, .releasing, .restarting, .pausing, .confirmed, .streaming, .ended:
            return .none
        }
    }

    /// Reports a redirect response from the cache. The load holds it back until the next step is decided, like a
    /// redirect from the server.
    package mutating func storedRedirectFound() -> Action {
        switch phase {
        case .preparing, .recovering:
            phase = .deciding(Held(followUp: .redirect, isOver: true), nil)
            return .decide(.redirect)
        case .waiting, .holding, .deciding, .releasing, .restarting, .pausing, .confirmed, .streaming, .ended:
            return .none
        }
    }

    // MARK: Responses

    package mutating func headArrived(_ verdict: Verdict) -> Action {
        guard case .waiting = phase else { return .none }
        switch verdict {
        case .deliver:
            phase = .streaming
            return .deliver
        // This response follows a retry and asks for another retry. There is no second retry, so deliver the response.
        case .hold(.retry) where hasRetried: return headArrived(.deliver)
        case .hold(let followUp):
            phase = .holding(Held(followUp: followUp))
            return .hold
        case .useStored:
            phase = .confirmed
            return .discard
        case .sendAgain:
            phase = .restarting
            return .discard
        }
    }

    package mutating func contentArrived(_ count: Int) -> Action {
        switch phase {
        case .streaming: return .deliver
        case .holding(var held):
            held.count += count
            guard held.count < Self.heldLimit else {
                phase = .deciding(held, nil)
                return .decide(held.followUp)
            }
            phase = .holding(held)
            return .hold
        // Hold the new content back too, because earlier content is still held back. Otherwise the new content would be
        // delivered first.
        case .deciding(_?, _), .releasing: return .hold
        case .preparing, .waiting, .deciding(nil, _), .restarting, .pausing, .confirmed, .recovering, .ended:
            return .none
        }
    }

    /// Reports that the exchange has ended.
    ///
    /// - Parameter isComplete: Whether the whole response has arrived. For a held response, the value makes no
    ///   difference. The head is enough to decide whether another request follows.
    package mutating func exchangeEnded(isComplete: Bool) -> Action {
        switch phase {
        case .waiting:
            guard !isComplete else { return .none }
            phase = .recovering
            return .recover
        case .holding(var held):
            held.isOver = true
            phase = .deciding(held, nil)
            return .decide(held.followUp)
        case .deciding(var held?, let question):
            held.isOver = true
            phase = .deciding(held, question)
            return .none
        case .releasing(var held):
            held.isOver = true
            phase = .releasing(held)
            return .none
        case .restarting, .pausing(.elapsed): return prepare()
        case .pausing(.running):
            phase = .pausing(.running(isExchangeOver: true))
            return .none
        case .confirmed:
            phase = .preparing(nil)
            return .deliverStored
        case .streaming: return isComplete ? .finish : .fail
        case .preparing, .deciding(nil, _), .recovering, .ended: return .none
        }
    }

    // MARK: Decisions

    /// Records a new question to the program. An answer to an earlier question no longer counts. Returns `nil` if the
    /// program must not be asked in the current phase.
    package mutating func asked() -> Question? {
        let question = Question(number: questionCount)
        switch phase {
        case .preparing: phase = .preparing(question)
        case .deciding(let held, _): phase = .deciding(held, question)
        case .waiting, .holding, .releasing, .restarting, .pausing, .confirmed, .recovering, .streaming, .ended:
            return nil
        }
        questionCount &+= 1
        return question
    }

    /// Records that the program has answered a question.
    ///
    /// Returns `false` if the question was no longer open. The caller must then ignore the answer.
    package mutating func answered(_ question: Question) -> Bool {
        switch phase {
        case .preparing(question): phase = .preparing(nil)
        case .deciding(let held, question): phase = .deciding(held, nil)
        case .preparing, .deciding, .waiting, .holding, .releasing, .restarting, .pausing, .confirmed, .recovering,
            .streaming, .ended:
            return false
        }
        return true
    }

    /// Records the decision to repeat the request, and returns the next action.
    package mutating func repetitionChosen() -> Action {
        guard case .deciding(let held, _) = phase else { return .none }
        guard repetitionCount < Self.repetitionLimit else { return deliveryChosen() }
        repetitionCount += 1
        if held?.followUp == .retry { hasRetried = true }
        if held?.isOver ?? true { return prepare() }
        phase = .restarting
        return .cancelExchange
    }

    /// Reports the decision to deliver the response that was held back. If there is none because the exchange failed,
    /// the load fails.
    package mutating func deliveryChosen() -> Action {
        guard case .deciding(let held, _) = phase else { return .none }
        guard let held else { return .fail }
        phase = .releasing(held)
        return .deliverHeld
    }

    /// Records that the caller has delivered all content that was held back. Content that arrives later is delivered at
    /// once.
    package mutating func heldContentTaken() -> Action {
        guard case .releasing(let held) = phase else { return .none }
        phase = .streaming
        return held.isOver ? .finish : .none
    }

    /// The exchange has failed. Reports that the request can be sent again with a credential.
    package mutating func recoveryFound() -> Action {
        guard case .recovering = phase else { return .none }
        phase = .deciding(nil, nil)
        return .decide(nil)
    }

    // MARK: Pauses

    /// Reports that an upload continues with another request after `delay`. Either its exchange failed, or its response
    /// did not complete the upload.
    package mutating func uploadInterrupted(for delay: Duration) -> Action {
        switch phase {
        case .waiting: phase = .pausing(.running(isExchangeOver: false))
        case .recovering: phase = .pausing(.running(isExchangeOver: true))
        case .preparing, .holding, .deciding, .releasing, .restarting, .pausing, .confirmed, .streaming, .ended:
            return .none
        }
        return .pause(delay)
    }

    package mutating func pauseElapsed() -> Action {
        guard case .pausing(.running(let isExchangeOver)) = phase else { return .none }
        if isExchangeOver { return prepare() }
        phase = .pausing(.elapsed)
        return .none
    }

    private mutating func prepare() -> Action {
        phase = .preparing(nil)
        return .prepare
    }

    // MARK: Demand and connectivity

    /// Reports whether the program wants content now. Response heads are always read. Content that is held back is read
    /// until it reaches ``heldLimit``.
    package mutating func demandChanged(isWanted: Bool) -> Action {
        let reads =
            switch phase {
            case .preparing, .waiting, .recovering: true
            case .holding(let held): held.count < Self.heldLimit
            case .deciding, .releasing, .restarting, .pausing, .confirmed: false
            case .streaming: isWanted
            case .ended: isReading
            }
        guard reads != isReading else { return .none }
        isReading = reads
        return .read(reads)
    }

    package mutating func pathLost() -> Action {
        guard !hasEnded, !isWaitingForPath else { return .none }
        isWaitingForPath = true
        return .reportWaiting
    }

    /// Reports that the exchange makes progress: it has sent content, or a response head has arrived.
    package mutating func pathFound() -> Action {
        guard !hasEnded, isWaitingForPath else { return .none }
        isWaitingForPath = false
        return .reportContinuing
    }

    // MARK: End

    /// Reports the end of the load: it was stopped, has failed, or all content has been delivered.
    package mutating func loadEnded() -> Action {
        guard !hasEnded else { return .none }
        phase = .ended
        return .end
    }
}

extension LoadMachine: UntimedMachine {
    package var hasEnded: Bool { if case .ended = phase { true } else { false } }
}
