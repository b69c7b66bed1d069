internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

// What happens while the protocols are not ready: a bound on the peer's silence, and content that does not wait for them.

extension StackChannel {
    /// A peer that stops in the middle of a handshake must not hold the connection for ever.
    func limitOpening(to delay: Duration, _ attempt: UInt64) {
        // It ends with the handshakes. A weak reference would make every use of this object slower.
        let timer = flow.loop.schedule(after: delay) { [self] in openingIsDue(attempt) }
        let isLate = state.withLock { state -> Bool in
            let isOver = state.attempt != attempt || state.stack?.isOpening != true
            if !isOver { state.openingTimer = timer }
            return isOver
        }
        if isLate { flow.loop.cancel(timer) }
    }

    private func openingIsDue(_ attempt: UInt64) {
        let delay = state.withLock { state -> Duration? in
            state.openingTimer = nil
            guard state.attempt == attempt, state.phase == .open, let stack = state.stack, stack.isOpening else {
                return nil
            }
            let rest = state.openingDeadline - Machine.now
            if rest > .zero { return rest }
            // The program's turn takes as long as the program wants.
            guard stack.awaitsPeer else { return state.openingLimit }
            state.stack?.abort(Failure(errno: Errno.timedOut))
            return nil
        }
        if let delay { limitOpening(to: delay, attempt) } else { requestTurn() }
    }
}

extension StackChannel.State {
    /// Gives the stack what the program marked as idempotent, if it was sent before everything else.
    mutating func sendEarly(through stack: inout ProtocolStack) {
        takeBackEarly()
        while let next = messages.first, next.mayComeTwice, stack.sendEarly([UInt8](next.content)) {
            early.append(next)
            messages.removeFirst()
        }
    }

    /// The handshake came to nothing: what went along with it waits for the next one.
    mutating func takeBackEarly() {
        messages.prepend(contentsOf: early)
        early = []
    }
}

extension StackMessage {
    /// Nobody is told what becomes of it: that is how a program says that it does no harm when it arrives twice.
    fileprivate var mayComeTwice: Bool {
        guard case .nobody = waiter else { return false }
        return !content.isEmpty && metadata.isEmpty && !isFinal && deadline == nil
    }
}
