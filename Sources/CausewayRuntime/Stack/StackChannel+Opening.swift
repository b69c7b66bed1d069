internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

// The opening phase of a protocol stack, which ends when the protocols are ready. A timer limits how long the peer may
// be silent in this phase.

extension StackChannel {
    /// Starts a timer for the attempt. The timer aborts the handshakes if the peer stops responding.
    func limitOpening(to delay: Duration, _ attempt: UInt64) {
        // The closure holds a strong reference to this object. This is harmless, because the timer ends with the
        // handshakes. A weak reference would slow down every use of this object.
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
            // This timer may belong to an earlier attempt. Ignore it in that case, because the current attempt has its
            // own timer.
            guard state.attempt.number == attempt else { return nil }
            state.attempt.opening.timer = nil
            guard state.phase.isOpen, let stack = state.attempt.stack, stack.isOpening else {
                state.attempt.opening.ticket = nil
                return nil
            }
            let rest = state.attempt.opening.deadline - System.now
            if rest > .zero, !state.attempt.opening.isSilent { return rest }
            // The limit does not include the time in which a protocol waits for the program.
            guard stack.awaitsPeer else { return state.attempt.opening.limit }
            state.attempt.stack?.abort(Failure(errno: Errno.timedOut))
            state.attempt.opening.ticket = nil
            return nil
        }
        if let delay { limitOpening(to: delay, attempt) } else { requestTurn() }
    }

    /// Adds this channel's handshakes to the listener's list of unfinished handshakes.
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
