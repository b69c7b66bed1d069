internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

// The stack's opening phase, before the protocols are ready. The time for which the peer may be silent is limited.

extension StackChannel {
    /// Starts the attempt's timer, which aborts the handshakes if the peer stops responding.
    func limitOpening(to delay: Duration, _ attempt: UInt64) {
        // The timer ends with the handshakes, so its closure can hold a strong reference to this object. A weak
        // reference would slow down every use of this object.
        let timer = flow.loop.schedule(after: delay) { [self] in openingIsDue(attempt) }
        let isLate = state.withLock { state -> Bool in
            let isOver = state.attempt.number != attempt || state.attempt.stack?.isOpening != true
            if !isOver { state.attempt.opening.timer = timer }
            return isOver
        }
        if isLate { flow.loop.cancel(timer) }
    }

    private func openingIsDue(_ attempt: UInt64) {
        let delay = state.withLock { state -> Duration? in
            // A later attempt may have begun before this timer was cancelled. That attempt has its own timer.
            guard state.attempt.number == attempt else { return nil }
            state.attempt.opening.timer = nil
            guard state.phase.isOpen, let stack = state.attempt.stack, stack.isOpening else {
                state.attempt.opening.ticket = nil
                return nil
            }
            let rest = state.attempt.opening.deadline - System.now
            if rest > .zero, !state.attempt.opening.isSilent { return rest }
            // The time limit does not run while a protocol waits for the program.
            guard stack.awaitsPeer else { return state.attempt.opening.limit }
            state.attempt.stack?.abort(Failure(errno: Errno.timedOut))
            state.attempt.opening.ticket = nil
            return nil
        }
        if let delay { limitOpening(to: delay, attempt) } else { requestTurn() }
    }

    /// Adds this channel's handshakes to the listener's unfinished handshakes.
    func join(_ openings: UnfinishedOpenings, _ attempt: UInt64) {
        let ticket = openings.enter { [self] patience in giveUpOpening(attempt, after: patience) }
        state.withLock { state in
            if state.attempt.number == attempt, state.attempt.stack?.isOpening == true,
                state.attempt.opening.timer != nil
            {
                state.attempt.opening.ticket = ticket
            }
        }
    }

    /// Aborts the handshakes if they wait for the peer and the peer has been silent for `patience`. Returns whether it
    /// aborted them.
    private func giveUpOpening(_ attempt: UInt64, after patience: Duration) -> Bool {
        let isOver = state.withLock { state -> Bool in
            guard state.attempt.number == attempt, state.phase.isOpen, let stack = state.attempt.stack,
                stack.awaitsPeer,
                state.attempt.opening.silence(at: System.now) >= patience
            else { return false }
            state.attempt.stack?.abort(Failure(errno: Errno.timedOut))
            return true
        }
        if isOver { requestTurn() }
        return isOver
    }
}
