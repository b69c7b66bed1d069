internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

extension StackChannel {
    /// Octets that the transport may hold of the stack's: beyond them the stack fills, and its program waits.
    private static let writeWindow = 256 << 10
    private static let largestWrite = 64 << 10
    private static let largestRead = 64 << 10

    /// Steps that one turn does before others on the queue get theirs.
    private static let turnBudget = 256

    private enum Action: Sendable {
        case answer(Answer)
        case attend(any StageAttendant, any StageEvent, StagePlace)
        case write(Outbound, Int, UInt64)
        case read(Int, UInt64)
        case setAlarm(Duration, replacing: TimerID?)
        case dropTimer(TimerID)
        case report(Outcome, @Sendable (Outcome) -> Void)
        case finish(@Sendable () -> Void)
        /// Look again: something moved inside.
        case again
    }

    // MARK: Turns

    /// Asks for a turn, on the connection's queue.
    func requestTurn() {
        let (isUnderWay, isDirect) = noteTurn()
        if isUnderWay { return }
        if isDirect { flow.loop.execute { self.turn() } } else { onQueue { self.turn() } }
    }

    /// Content has come, or somebody who waits for some: asks for a turn, which is done at once where that is allowed. The caller
    /// holds no lock, and is not in the middle of anything.
    func moved() {
        let (isUnderWay, isDirect) = noteTurn()
        if isUnderWay { return }
        if !isDirect { return onQueue { self.turn() } }
        if flow.loop.isCurrent { turn() } else { flow.loop.execute { self.turn() } }
    }

    private func noteTurn() -> (isUnderWay: Bool, isDirect: Bool) {
        state.withLock { state in
            if state.isTurning { state.mustTurn = true }
            return (state.isTurning, state.isDirect)
        }
    }

    func onQueue(_ body: @escaping @Sendable () -> Void) {
        (flow.state.withLock { $0.delivery } ?? Delivery.fallback).post(.call(body))
    }

    private func turn() {
        let isMine = state.withLock { state -> Bool in
            guard !state.isTurning else {
                state.mustTurn = true
                return false
            }
            state.isTurning = true
            return true
        }
        guard isMine else { return }
        var budget = Self.turnBudget
        repeat {
            while budget > 0, let action = state.withLock({ state in nextAction(&state) }) {
                perform(action)
                budget -= 1
            }
            guard budget > 0 else { return yieldTurn() }
        } while state.withLock { state in
            state.isTurning = state.mustTurn
            state.mustTurn = false
            return state.isTurning
        }
    }

    /// A program that sends from each completion would keep its queue busy for ever, and what has arrived would wait there.
    private func yieldTurn() {
        let isDirect = state.withLock { state in
            (state.isTurning, state.mustTurn) = (false, false)
            return state.isDirect
        }
        if isDirect { flow.loop.execute { self.turn() } } else { onQueue { self.turn() } }
    }

    private func nextAction(_ state: inout State) -> Action? {
        if let answer = state.answers.popFirst() { return .answer(answer) }
        let now = Machine.now
        if let action = nextNews(&state, now) { return action }
        // Ahead of the last words of the handshake: what the peer makes of those befalls a connection that is ready.
        if case .ready = state.outcome, let report = state.report {
            (state.outcome, state.early) = (nil, [])
            return .report(.ready, report)
        }
        if let action = state.nextWrite(now, Self.writeWindow, Self.largestWrite) {
            return .write(action.0, action.1, state.attempt)
        }
        if let outcome = state.outcome.take(), let report = state.report {
            state.report = nil
            return .report(outcome, report)
        }
        if let timer = state.openingTimer, state.stack?.isOpening != true {
            state.openingTimer = nil
            return .dropTimer(timer)
        }
        // What arrives is bounded, what a program sends from its completions is not: so it comes last.
        if state.settleSends() || state.nextDelivery(now) { return .again }
        if let length = state.nextRead(Self.largestRead) { return .read(length, state.attempt) }
        if state.nextMessage(now) { return .again }
        if state.phase == .closing, state.hasSaidGoodbye, state.unacknowledged == 0 {
            if let timer = state.goodbyeTimer.take() { return .dropTimer(timer) }
            state.phase = .closed
            (state.stack, state.attendants) = (nil, [:])
            if let completion = state.whenClosed.take() { return .finish(completion) }
        }
        return nextAlarm(&state, now)
    }

    private func nextNews(_ state: inout State, _ now: Duration) -> Action? {
        guard let event = state.stack?.nextEvent(at: now) else { return nil }
        switch event {
        case .stage(let id, let event):
            guard let attendant = state.attendants[id] else { return .again }
            return .attend(attendant, event, StagePlace(id, in: self, state.attempt))
        case .ready:
            state.outcome = .ready
        case .failed(let failure):
            if state.phase == .open { state.outcome = .failed(failure) }
            state.hasSaidGoodbye = true
        case .closed:
            state.hasSaidGoodbye = true
        }
        return .again
    }

    private func nextAlarm(_ state: inout State, _ now: Duration) -> Action? {
        guard let deadline = state.stack?.wakeUp, state.alarm?.deadline != deadline else { return nil }
        let old = state.alarm?.timer
        state.alarm = nil
        return .setAlarm(deadline, replacing: old)
    }

    private func perform(_ action: Action) {
        switch action {
        case .again: break
        case .answer(.received(let completion, let content)): callProgram { completion(content) }
        case .answer(.sent(let completion, let failure)): callProgram { completion(failure) }
        case .answer(.taskReceived(let completion, let content)): completion(content)
        case .answer(.taskSent(let continuation, let failure)): continuation.resume(returning: failure)
        case .attend(let attendant, let event, let place): attendant.stageReported(event, from: place)
        case .write(var outbound, let count, let attempt):
            let completion: SendCompletion = { [weak self] failure in self?.wrote(count, failure, attempt) }
            outbound.waiter = flow.hasDelivery ? .callback(completion) : .channel(completion)
            flow.send(outbound)
        case .read(let length, let attempt): read(length, attempt)
        case .setAlarm(let deadline, let old):
            if let old { flow.loop.cancel(old) }
            setAlarm(at: deadline)
        case .dropTimer(let timer): flow.loop.cancel(timer)
        case .report(let outcome, let report): report(outcome)
        case .finish(let completion): completion()
        }
    }

    /// A turn without a queue must not wait for the program.
    private func callProgram(_ body: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.isDirect }) { Delivery.fallback.post(.call(body)) } else { body() }
    }

    private func setAlarm(at deadline: Duration) {
        let timer = flow.loop.schedule(after: deadline - Machine.now) { [weak self] in
            guard let self else { return }
            state.withLock { state in
                state.alarm = nil
                state.stack?.advance(to: Machine.now)
            }
            requestTurn()
        }
        state.withLock { state in state.alarm = (deadline, timer) }
    }

    // MARK: The transport

    private func read(_ length: Int, _ attempt: UInt64) {
        let completion: ReceiveCompletion = { [weak self] content in self?.arrived(content, attempt) }
        let isDatagram = state.withLock { $0.isDatagram }
        flow.request(.channel(completion, isDirect: !flow.hasDelivery)) { queue in
            if isDatagram { queue.demandMessage() } else { queue.demand(minimum: 1, maximum: length) }
        }
    }

    private func arrived(_ content: ReceivedContent, _ attempt: UInt64) {
        state.withLock { state in
            guard state.attempt == attempt else { return }
            state.isReadOutstanding = false
            state.take(content)
        }
        moved()
    }

    private func wrote(_ count: Int, _ failure: Failure?, _ attempt: UInt64) {
        state.withLock { state in
            // What failed here fails the flow as well, whose owner tells the channel: until then nothing counts as sent.
            guard state.attempt == attempt, failure == nil || state.phase == .closing else { return }
            state.unacknowledged = max(0, state.unacknowledged - count)
        }
        moved()
    }
}
