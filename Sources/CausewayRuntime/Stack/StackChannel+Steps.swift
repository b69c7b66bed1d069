internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

// Selects the next step of the channel's work. All code here runs under the channel's lock.

extension StackChannel {
    /// Returns the next step of the channel's work.
    ///
    /// The steps have this order:
    ///
    /// 1. events of the stack
    /// 2. output of the stack
    /// 3. results of the program's calls
    /// 4. the next read
    /// 5. the program's sends
    ///
    /// Because sends come last, a program that sends again in each completion handler still receives content. If the
    /// peer sends without a pause, ``nextOverdueStep(_:_:)`` makes sure that the program's sends continue.
    func nextStep(_ state: inout State, _ now: Duration) -> Step {
        if state.attempt.stack?.mayHaveEvent == true, let event = state.attempt.stack?.nextEvent(at: now) {
            return take(event, &state)
        }
        if let step = nextReady(&state) { return step }
        switch state.phase {
        case .open: if let step = nextOpenStep(&state, now) { return step }
        case .draining:
            if let step = nextOutcome(&state) { return step }
            if state.nextDelivery(now) || state.settleLoss(now) { return .again }
        case .failed:
            if let step = nextOutcome(&state) { return step }
            if state.nextDelivery(now) { return .again }
            if let completion = state.takeWhenRead() { return .perform(.finish(completion)) }
        case .closing: if let step = nextClosingStep(&state, now) { return step }
        case .idle, .closed: break
        }
        return nextTimerStep(&state)
    }

    /// Reports the state `ready`.
    ///
    /// The report comes before the final handshake message is written. So the connection is already ready when the peer
    /// reacts to that message.
    private func nextReady(_ state: inout State) -> Step? {
        guard case .ready = state.attempt.outcome, let report = state.attempt.report else { return nil }
        state.attempt.outcome = nil
        state.sending.forgetEarly()
        state.turn.isHeld = state.executor.delivery != nil
        return .perform(.report(.ready, report))
    }

    /// Cancels the handshake timer after the handshakes have ended. The peer and the program do not wait for this step,
    /// so it comes after the stack's output and outcome.
    private func nextEndOfOpening(_ state: inout State) -> Step? {
        guard let timer = state.attempt.opening.timer, state.attempt.stack?.isOpening != true else { return nil }
        state.attempt.opening.end()
        return .perform(.dropTimer(timer))
    }

    private func nextOutcome(_ state: inout State) -> Step? {
        guard let outcome = state.attempt.outcome.take(), let report = state.attempt.report.take() else { return nil }
        return .perform(.report(outcome, report))
    }

    private func nextOpenStep(_ state: inout State, _ now: Duration) -> Step? {
        let loan = state.nextLoan(now)
        if loan > 0 { return .write(loan: loan) }
        if let write = state.nextWrite(now, StackWriteSide.largestWrite) { return .perform(.write(write)) }
        if let step = nextOutcome(&state) { return step }
        if let step = nextEndOfOpening(&state) { return step }
        if state.settleSends() { return .again }
        if let step = nextOverdueStep(&state, now) { return step }
        if state.nextDelivery(now) {
            state.turn.deliveryStepCount += 1
            return .again
        }
        if let read = state.nextRead() { return .read(read) }
        if state.nextMessage(now) { return .again }
        if state.takeEnds(), let report = state.attempt.report { return .perform(.report(.ended, report)) }
        return nil
    }

    /// The maximum number of consecutive steps that deliver received content. After these steps, the stack's timer and
    /// the program's sends get one turn first.
    private static let deliveryStepsInARow = 16

    /// Returns a step that must come before further received content: the stack's timer or the program's sends.
    ///
    /// If a peer sends and the program receives without a pause, there is always content to deliver. So the timer and
    /// the sends come first once after every ``deliveryStepsInARow`` steps that deliver content.
    private func nextOverdueStep(_ state: inout State, _ now: Duration) -> Step? {
        guard state.turn.deliveryStepCount >= Self.deliveryStepsInARow else { return nil }
        if let step = nextAlarm(&state) { return step }
        state.turn.deliveryStepCount = 0
        var hasTaken = false
        for _ in 0..<Self.deliveryStepsInARow where state.nextMessage(now) { hasTaken = true }
        return hasTaken ? .again : nil
    }

    private func nextClosingStep(_ state: inout State, _ now: Duration) -> Step? {
        if let write = state.nextWrite(now, StackWriteSide.largestWrite) { return .perform(.write(write)) }
        if state.settleSends() || state.continueClosing(now) { return .again }
        if let read = state.nextRead() { return .read(read) }
        if state.nextMessage(now) { return .again }
        guard case .closing(var farewell) = state.phase else { return nil }
        if state.sending.hasSettled, state.attempt.stack?.awaitsGoodbye == true, let left = farewell.left.take() {
            state.phase = .closing(farewell)
            return .perform(.finish(left))
        }
        guard state.attempt.hasStackClosed, state.sending.unacknowledged == 0 else { return nil }
        if let timer = farewell.timer.take() {
            state.phase = .closing(farewell)
            return .perform(.dropTimer(timer))
        }
        state.phase = .closed
        (state.attempt.stack, state.attempt.delegates) = (nil, [:])
        return .perform(.finish(farewell.closed))
    }

    private func take(_ event: ProtocolStack.Event, _ state: inout State) -> Step {
        switch event {
        case .stage(let id, let event):
            guard let delegate = state.attempt.delegates[id] else { return .again }
            return .perform(.attend(delegate, event, StagePlace(id, in: self, state.attempt.number)))
        case .ready:
            if state.attempt.report != nil { state.attempt.outcome = .ready }
        case .failed(let failure):
            if state.phase.isOpen { state.attempt.outcome = .failed(failure) }
            if state.phase.isDraining { state.failure = failure }
            if state.phase.isClosing { state.endSending(with: failure) }
            state.attempt.hasStackClosed = true
        case .closed:
            state.attempt.hasStackClosed = true
        }
        return .again
    }

    private func nextTimerStep(_ state: inout State) -> Step {
        nextAlarm(&state) ?? nextEndOfOpening(&state) ?? .nothing
    }

    private func nextAlarm(_ state: inout State) -> Step? {
        guard let deadline = state.attempt.stack?.lookForWakeUp(), state.turn.alarm?.deadline != deadline else {
            return nil
        }
        let old = state.turn.alarm?.timer
        state.turn.alarm = nil
        return .perform(.setAlarm(deadline, replacing: old))
    }
}
