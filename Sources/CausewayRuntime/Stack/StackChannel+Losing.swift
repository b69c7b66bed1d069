internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
internal import DequeModule

// The stack after its transport broke. Content that arrived earlier may still be inside the protocols, and the program
// may implement some of them. The channel therefore continues to run turns without reading or writing until no more
// content moves.

extension StackChannel {
    /// Ends sending because the transport broke. A receive fails with `failure` only after all earlier content was
    /// delivered.
    ///
    /// - Parameters:
    ///   - failure: Why the transport broke.
    ///   - whenRead: Called in a turn once the program has received everything, with the failure that ends the
    ///     connection.
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
    /// Whether the stack may still hold content for the program.
    fileprivate var mayDrain: Bool {
        guard phase == .open, !isDatagram, let stack else { return false }
        if case .failed = outcome { return false }
        return stack.isReady
    }

    /// Whether content for a receive may be available.
    var mayDeliver: Bool {
        switch phase {
        case .open, .draining: true
        case .failed: !hasDelivered
        case .idle, .closing, .closed: false
        }
    }

    /// Whether all arrived content was delivered.
    private var hasDelivered: Bool { rest.isEmpty && inbox.content.isEmpty && !inbox.isWhole }

    /// Moves remaining content out of the stack before the stack ends. The stages' buffers limit its size.
    mutating func keepRest(_ now: Duration) {
        while let chunk = stack?.nextInbound(atMost: .max, at: now) { rest.append(chunk) }
    }

    /// Moves content through the stack after the transport broke. Ends the stack when no more content moves.
    ///
    /// - Returns: Whether content moved or the stack ended.
    mutating func settleLoss(_ now: Duration) -> Bool {
        // An outstanding read may still bring content.
        guard phase == .draining, !isReadOutstanding, let failure else { return false }
        var hasMoved = false
        while stack?.nextOutbound(at: now) != nil { hasMoved = true }
        while let chunk = stack?.nextInbound(atMost: .max, at: now) {
            rest.append(chunk)
            hasMoved = true
        }
        if hasMoved { return true }
        stack?.abort(failure)
        // `abort` can make a protocol deliver an end of stream, so collect the content again.
        keepRest(now)
        phase = .failed
        while nextDelivery(now) {}
        end(with: failure)
        return true
    }

    /// Returns the closure to call when the program has received everything; `nil` before that, and after it was
    /// returned once.
    mutating func takeWhenRead() -> (@Sendable () -> Void)? {
        guard phase == .failed, hasDelivered, answers.isEmpty, let failure, let report = whenRead.take() else {
            return nil
        }
        return { report(failure) }
    }
}
