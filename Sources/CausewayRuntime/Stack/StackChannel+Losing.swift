internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
internal import DequeModule

// The transport broke. What arrived before may still be on its way through the protocols, and some of those are the program's code: so the
// stack goes on in turns, without reading or writing, until nothing moves any more.

extension StackChannel {
    /// The transport broke: nothing is sent any more, and every receive is answered with the failure behind what has arrived.
    ///
    /// - Parameter whenRead: Called in a turn once the program has received everything, with the reason for the end.
    package func lose(_ failure: Failure, _ whenRead: @escaping @Sendable (Failure) -> Void) {
        let isDraining = state.withLock { state -> Bool in
            guard state.mayDrain else { return false }
            state.phase = .draining
            state.transportHasEnded = true
            state.whenRead = whenRead
            state.endSending(with: failure)
            return true
        }
        if isDraining { requestTurn() } else { whenRead(fail(failure)) }
    }
}

extension StackChannel.State {
    /// Something may have arrived that no one has received.
    fileprivate var mayDrain: Bool {
        guard phase == .open, !isDatagram, let stack else { return false }
        if case .failed = outcome { return false }
        return stack.isReady
    }

    /// Whether there may be something to answer a receive with.
    var mayDeliver: Bool {
        switch phase {
        case .open, .draining: true
        case .failed: !hasDelivered
        case .idle, .closing, .closed: false
        }
    }

    /// Everything that came was delivered.
    private var hasDelivered: Bool { rest.isEmpty && inbox.content.isEmpty && !inbox.isWhole }

    /// The stack ends, and what it has decided on is kept: that is no more than it could hold.
    mutating func keepRest(_ now: Duration) {
        while let chunk = stack?.nextInbound(atMost: .max, at: now) { rest.append(chunk) }
    }

    /// No further event arrives. Makes room behind a broken transport, and ends the stack when nothing moves for that.
    ///
    /// - Returns: Whether anything moved.
    mutating func settleLoss(_ now: Duration) -> Bool {
        // What the transport has read last may not be here yet.
        guard phase == .draining, !isReadOutstanding, let failure else { return false }
        var hasMoved = false
        while stack?.nextOutbound(at: now) != nil { hasMoved = true }
        while let chunk = stack?.nextInbound(atMost: .max, at: now) {
            rest.append(chunk)
            hasMoved = true
        }
        if hasMoved { return true }
        stack?.abort(failure)
        // A protocol may take the failure for an end.
        keepRest(now)
        phase = .failed
        while nextDelivery(now) {}
        end(with: failure)
        return true
    }

    /// What to call when the program has received everything.
    mutating func takeWhenRead() -> (@Sendable () -> Void)? {
        guard phase == .failed, hasDelivered, answers.isEmpty, let failure, let report = whenRead.take() else {
            return nil
        }
        return { report(failure) }
    }
}
