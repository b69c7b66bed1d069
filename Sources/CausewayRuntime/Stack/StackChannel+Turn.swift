internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

extension StackChannel {
    /// The maximum number of bytes that may wait in the transport. Above this limit the stack keeps its output, its
    /// buffers fill up, and the program has to wait.
    static let writeWindow = 256 << 10
    private static let largestWrite = 64 << 10
    private static let largestRead = 64 << 10

    /// The maximum number of steps in one turn. After that, the queue's other work runs first.
    private static let turnBudget = 256
    /// The maximum number of callbacks in one turn, and the time after which no further one begins. Without a limit, a program that
    /// receives again in its callback keeps the queue's other connections waiting until all of its content is received.
    private static let callBudget = (count: 16, time: Duration.milliseconds(2))
    /// The maximum number of steps that a turn performs before it releases the lock.
    private static let stepsAtOnce = 16

    // MARK: Turns

    /// Requests a turn on the connection's queue or loop. A running turn needs none: it looks for new work before it ends.
    func requestTurn() {
        arrange(state.withLock { state in state.isTurning ? nil : state.isDirect ? .loop : .queue })
    }

    /// Mutates the state, then runs the work that this enables: on the caller's thread if permitted, else in a new
    /// turn. The caller must hold no lock and must not be performing a turn's step.
    func change(_ body: (inout State) -> Void) {
        let isOnLoop = flow.loop.isCurrent
        var now = Duration.zero
        var place: Place?
        let first = state.withLock { state -> Work? in
            body(&state)
            guard !state.isTurning, !state.isQuiet else { return nil }
            if state.isDirect, isOnLoop {
                now = System.now
                return takeWork(&state, now)
            }
            place = state.isDirect ? .loop : .queue
            return nil
        }
        if first != nil { proceed(first, now) }
        arrange(place)
    }

    /// Ends a turn with a single write or read, or continues the turn if that step created more work.
    ///
    /// - Parameter written: The number of bytes that the transport has accepted.
    /// - Returns: Whether the transport has accepted all output.
    @discardableResult
    func endTurn(_ written: Int, _ now: Duration) -> Bool {
        var isOut = false
        let rest = state.withLock { state -> Work? in
            state.unacknowledged = max(0, state.unacknowledged - written)
            guard state.isQuiet else { return takeWork(&state, now) }
            state.isTurning = false
            isOut = state.unacknowledged == 0
            return nil
        }
        if rest != nil { proceed(rest, now) }
        return isOut
    }

    /// Begins a turn with a single read. Returns `nil` if the stack needs no read, or if the turn has other work too.
    func beginRead(_ state: inout State) -> Read? {
        guard let read = takeRead(&state) else { return nil }
        guard state.isQuiet else {
            state.isReadOutstanding = false
            return nil
        }
        state.isTurning = true
        return read
    }

    func arrange(_ place: Place?) {
        switch place {
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
        return proceed(state.withLock { state -> Work? in state.isTurning ? nil : takeWork(&state, now) }, now)
    }

    /// Runs a turn's steps, beginning with `first`. Returns the number of callbacks.
    @discardableResult
    func proceed(_ first: consuming Work?, _ start: Duration) -> Int {
        var now = start
        var next = first
        var budget = Self.turnBudget
        var callCount = 0
        while var work = next.take() {
            let isLast = work.action == nil && work.read == nil && work.loan == 0
            // Write first: a read would overwrite the bytes in the scratch block.
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
                state.unacknowledged = max(0, state.unacknowledged - written)
                return takeWork(&state, now)
            }
        }
        return callCount
    }

    /// Releases the held results once the `ready` report is in the program's queue, so that the program receives them after that report.
    package func readyIsTold() {
        guard state.withLock({ state in state.isHeld }) else { return }
        onQueue {
            self.state.withLock { state in state.isHeld = false }
            self.turn()
        }
    }

    private func yieldTurn(_ written: Int) {
        // Let the queue's other work run next. Otherwise a program that sends from each completion could occupy its
        // queue forever, and received content would not be delivered.
        state.withLock { state in
            state.unacknowledged = max(0, state.unacknowledged - written)
            state.isTurning = false
        }
        requestTurn()
    }

    /// Returns the next work to perform without the lock. Without a read or an action, the turn ends, and later changes
    /// request a new turn.
    ///
    /// - Parameter answer: A new result to report. Unless it is `nothing`, no earlier results may be queued.
    func takeWork(_ state: inout State, _ now: Duration, _ answer: consuming Answer = .nothing) -> Work {
        var work = Work()
        state.isTurning = true
        if answer.isForTask {
            work.resumption = answer
        } else if !answer.isNothing {
            state.answers.append(answer)
        }
        for _ in 0..<Self.stepsAtOnce {
            if !state.answers.isEmpty, !state.isHeld {
                let answer = state.answers.removeFirst()
                if answer.isForTask, work.resumption.isNothing {
                    work.resumption = answer
                    continue
                }
                // The program's callback may take a long time, so begin the next read before it. During a handshake,
                // write pending messages before the next read.
                if work.read == nil, state.stack?.isReady == true, state.outcome == nil {
                    work.read = takeRead(&state)
                }
                work.action = .answer(answer, elsewhere: state.isDirect)
                return work
            }
            switch nextStep(&state, now) {
            case .perform(let action):
                work.action = consume action
                return work
            case .write(loan: let count):
                (work.loan, work.attempt) = (count, state.attempt)
                return work
            case .read(let read): work.read = read
            case .again: break
            case .nothing:
                state.isTurning = work.read != nil
                return work
            }
        }
        work.action = .pause
        return work
    }

    private func takeRead(_ state: inout State) -> Read? {
        state.nextRead(Self.largestRead).map {
            Read(length: $0, attempt: state.attempt, isDirect: state.delivery == nil)
        }
    }

    private func nextStep(_ state: inout State, _ now: Duration) -> Step {
        if state.stack?.mayHaveEvent == true, let event = state.stack?.nextEvent(at: now) {
            return take(event, &state)
        }
        // Report `ready` before writing the last handshake message: the peer's reaction to that message then reaches a ready connection.
        if case .ready = state.outcome, let report = state.report {
            (state.outcome, state.early) = (nil, [])
            state.isHeld = state.delivery != nil
            return .perform(.report(.ready, report))
        }
        let loan = state.nextLoan(now, Self.writeWindow)
        if loan > 0 { return .write(loan: loan) }
        if let write = state.nextWrite(now, Self.writeWindow, Self.largestWrite) {
            return .perform(.write(write))
        }
        if let outcome = state.outcome.take(), let report = state.report {
            state.report = nil
            return .perform(.report(outcome, report))
        }
        if let timer = state.opening.timer, state.stack?.isOpening != true {
            state.opening.end()
            return .perform(.dropTimer(timer))
        }
        // The program's sends come last: received content is limited, but sends from completions are not.
        if state.settleSends() || state.nextDelivery(now) || state.continueClosing(now) { return .again }
        if let read = takeRead(&state) { return .read(read) }
        if state.nextMessage(now) { return .again }
        if state.phase == .closing, state.taken.isEmpty, state.stack?.awaitsGoodbye == true,
            let left = state.whenLeft.take()
        {
            return .perform(.finish(left))
        }
        if state.takeEnds(), let report = state.report { return .perform(.report(.ended, report)) }
        if state.phase == .closing, state.hasStackClosed, state.unacknowledged == 0 {
            if let timer = state.closingTimer.take() { return .perform(.dropTimer(timer)) }
            state.phase = .closed
            (state.stack, state.delegates, state.whenLeft) = (nil, [:], nil)
            if let completion = state.whenClosed.take() { return .perform(.finish(completion)) }
        }
        if state.settleLoss(now) { return .again }
        if let completion = state.takeWhenRead() { return .perform(.finish(completion)) }
        return nextAlarm(&state)
    }

    private func take(_ event: ProtocolStack.Event, _ state: inout State) -> Step {
        switch event {
        case .stage(let id, let event):
            guard let delegate = state.delegates[id] else { return .again }
            return .perform(.attend(delegate, event, StagePlace(id, in: self, state.attempt)))
        case .ready:
            state.outcome = .ready
        case .failed(let failure):
            if state.phase == .open { state.outcome = .failed(failure) }
            if state.phase == .draining { state.failure = failure }
            if state.phase == .closing { state.endSending(with: failure) }
            state.hasStackClosed = true
        case .closed:
            state.hasStackClosed = true
        }
        return .again
    }

    private func nextAlarm(_ state: inout State) -> Step {
        guard let deadline = state.stack?.lookForWakeUp(), state.alarm?.deadline != deadline else { return .nothing }
        let old = state.alarm?.timer
        state.alarm = nil
        return .perform(.setAlarm(deadline, replacing: old))
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
                state.alarm = nil
                state.stack?.advance(to: System.now)
            }
            requestTurn()
        }
        state.withLock { state in state.alarm = (deadline, timer) }
    }
}
