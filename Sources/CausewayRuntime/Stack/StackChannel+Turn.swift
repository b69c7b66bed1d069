internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

extension StackChannel {
    /// The maximum number of steps in one turn. A turn is one round of the channel's work. After this number of steps,
    /// other work on the queue runs first.
    private static let turnBudget = 256
    /// The limits for the program's callbacks in one turn: their number, and the time after which no further callback
    /// begins.
    ///
    /// A turn is a round of the channel's work. A program may receive again in its callback. Without the limits, it
    /// could delay the other connections on its queue.
    private static let callBudget = (count: 16, time: Duration.milliseconds(2))
    /// The maximum number of work steps that the channel performs before it releases its lock.
    private static let stepsAtOnce = 16

    // MARK: Turns

    /// Requests a turn, which is a round of the channel's work, on the connection's queue or loop.
    ///
    /// If a turn is already running, this function does nothing. That turn looks for new work before it ends.
    func requestTurn() {
        arrange(state.withLock { state in state.turn.isRunning ? nil : state.executor })
    }

    /// Mutates the state, then handles the work that has become possible.
    ///
    /// If this work may run on the caller's thread, it runs at once. Otherwise it runs later, on the connection's queue
    /// or loop. The caller must hold no lock, and must not be performing a step of the channel's work.
    func change(_ body: (inout State) -> Void) {
        let isOnLoop = flow.loop.isCurrent
        var now = Duration.zero
        var executor: Executor?
        let first = state.withLock { state -> Work? in
            body(&state)
            guard !state.turn.isRunning, !state.isQuiet else { return nil }
            if state.executor.isLoop, isOnLoop {
                now = System.now
                return takeWork(&state, now)
            }
            executor = state.executor
            return nil
        }
        if first != nil { proceed(first, now) }
        arrange(executor)
    }

    /// Ends a turn that consists of a single write or read. A turn is a round of the channel's work. If the write or
    /// read has created more work, continues the turn instead.
    ///
    /// - Parameter written: The number of bytes that the transport has accepted.
    /// - Returns: Whether the transport has accepted all output.
    @discardableResult
    func endTurn(_ written: Int, _ now: Duration) -> Bool {
        var isOut = false
        let rest = state.withLock { state -> Work? in
            state.sending.accepted(written)
            guard state.isQuiet else { return takeWork(&state, now) }
            state.turn.isRunning = false
            isOut = state.sending.unacknowledged == 0
            return nil
        }
        if rest != nil { proceed(rest, now) }
        return isOut
    }

    /// Begins a turn, which is a round of the channel's work. This turn consists of a single read. Returns `nil` if the
    /// stack needs no read, or if the channel also has other work.
    func beginRead(_ state: inout State) -> Read? {
        guard let read = state.nextRead() else { return nil }
        guard state.isQuiet else {
            state.receiving.isReadOutstanding = false
            return nil
        }
        state.turn.isRunning = true
        return read
    }

    func arrange(_ executor: Executor?) {
        switch executor {
        case .loop: flow.loop.execute { self.turn() }
        case .queue: post(.calls { self.turn() })
        case nil: break
        }
    }

    func onQueue(_ body: @escaping @Sendable () -> Void) { post(.call(body)) }
    private func post(_ item: Delivery.Item) {
        (flow.state.withLock { $0.delivery } ?? Delivery.fallback).post(item)
    }

    @discardableResult
    private func turn() -> Int {
        let now = System.now
        return proceed(state.withLock { state -> Work? in state.turn.isRunning ? nil : takeWork(&state, now) }, now)
    }

    /// Performs one round (turn) of the channel's work. The round begins with the work in `first`. Returns the number
    /// of program callbacks that the round called.
    @discardableResult
    func proceed(_ first: consuming Work?, _ start: Duration) -> Int {
        var now = start
        var next = first
        var budget = Self.turnBudget
        var callCount = 0
        while var work = next.take() {
            let isLast = work.action == nil && work.read == nil && work.loan == 0
            // Write first, and then read. Reading would overwrite the bytes that wait in the scratch buffer.
            var written = work.loan > 0 ? write(loan: work.loan, work.attempt) : 0
            if let read = work.read { perform(read) }
            var resumption = Answer.nothing
            swap(&resumption, &work.resumption)
            resumption.perform()
            if isLast { break }
            if let action = work.action.take() {
                let takesTime = action.takesTime
                if action.isCallback { callCount += 1 }
                written += perform(action)
                if takesTime { now = System.now }
            }
            budget -= 1
            let maySpend = callCount == 0 || callCount < Self.callBudget.count && now - start < Self.callBudget.time
            guard budget > 0, maySpend else {
                yieldTurn(written)
                break
            }
            next = state.withLock { state -> Work? in
                state.sending.accepted(written)
                return takeWork(&state, now)
            }
        }
        return callCount
    }

    /// Called when the `ready` report is in the program's queue. Results are held back until then, so that the program
    /// gets them after this report.
    package func readyIsTold() {
        guard state.withLock({ state in state.turn.isHeld }) else { return }
        onQueue {
            self.state.withLock { state in state.turn.isHeld = false }
            self.turn()
        }
    }

    private func yieldTurn(_ written: Int) {
        // End this turn (a round of the channel's work) and request another, so that the queue's other work runs in
        // between. Otherwise a program that sends from each completion handler could occupy its queue forever, and
        // received content would not be delivered.
        state.withLock { state in
            state.sending.accepted(written)
            state.turn.isRunning = false
        }
        requestTurn()
    }

    /// Returns the next work, which the caller performs without the lock.
    ///
    /// The current turn (a round of the channel's work) ends if the work contains no read, no action and no output.
    /// Later changes then request a new turn.
    ///
    /// - Parameter answer: A new result to report. It may differ from `nothing` only if no earlier result is queued.
    func takeWork(_ state: inout State, _ now: Duration, _ answer: consuming Answer = .nothing) -> Work {
        var work = Work()
        state.turn.isRunning = true
        if answer.isForTask {
            work.resumption = answer
        } else if !answer.isNothing {
            state.turn.answers.append(answer)
        }
        for _ in 0..<Self.stepsAtOnce {
            if !state.turn.answers.isEmpty, !state.turn.isHeld {
                let answer = state.turn.answers.removeFirst()
                if answer.isForTask, work.resumption.isNothing {
                    work.resumption = answer
                    continue
                }
                // The program's callback may take a long time, so begin the next read before the callback. Do this only
                // after the handshake. During a handshake, the stack's output is written before the next read.
                if work.read == nil, state.attempt.stack?.isReady == true, state.attempt.outcome == nil {
                    work.read = state.nextRead()
                }
                work.action = .answer(answer, elsewhere: state.executor.isLoop)
                return work
            }
            switch nextStep(&state, now) {
            case .perform(let action):
                work.action = consume action
                return work
            case .write(loan: let count):
                (work.loan, work.attempt) = (count, state.attempt.number)
                return work
            case .read(let read): work.read = read
            case .again: break
            case .nothing:
                state.turn.isRunning = work.read != nil
                return work
            }
        }
        work.action = .pause
        return work
    }

    /// Performs one action.
    ///
    /// - Returns: The number of bytes that the transport has accepted.
    private func perform(_ action: consuming Action) -> Int {
        switch consume action {
        case .pause: break
        case .answer(let answer, elsewhere: let isElsewhere):
            if isElsewhere { answer.performElsewhere() } else { answer.perform() }
        case .attend(let delegate, let event, let place): delegate.stageReported(event, from: place)
        case .write(let content): return write(content)
        case .setAlarm(let deadline, let old):
            if let old { flow.loop.cancel(old) }
            setAlarm(at: deadline)
        case .dropTimer(let timer): flow.loop.cancel(timer)
        case .report(let outcome, let report): report(outcome)
        case .finish(let completion): completion()
        }
        return 0
    }

    private func setAlarm(at deadline: Duration) {
        let timer = flow.loop.schedule(after: deadline - System.now) { [weak self] in
            guard let self else { return }
            state.withLock { state in
                state.turn.alarm = nil
                state.attempt.stack?.advance(to: System.now)
            }
            requestTurn()
        }
        state.withLock { state in state.turn.alarm = (deadline, timer) }
    }
}
