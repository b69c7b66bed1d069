internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
internal import DequeModule

// Handles a broken transport. Content that arrived earlier may still be inside the protocols, and some of these
// protocols may be the program's own. The channel therefore continues to work, without reading from or writing to the
// transport, until no more content moves.

extension StackChannel {
    /// Ends sending because the transport broke. A receive call fails with `failure` only after all earlier content was
    /// delivered.
    ///
    /// - Parameters:
    ///   - failure: Why the transport broke.
    ///   - whenRead: Called when the program has received all content, or at once if the protocols can contain no more.
    ///     Gets the failure that ends the connection.
    package func lose(_ failure: Failure, _ whenRead: @escaping @Sendable (Failure) -> Void) {
        let isDraining = state.withLock { state -> Bool in
            guard state.mayDrain else { return false }
            state.phase = .draining(whenRead: whenRead)
            state.receiving.transportHasEnded = true
            state.endSending(with: failure)
            return true
        }
        if isDraining { requestTurn() } else { whenRead(fail(failure)) }
    }
}

extension StackChannel.State {
    /// Whether the stack may still hold content for the program.
    fileprivate var mayDrain: Bool {
        phase.isOpen && !isDatagram && !attempt.hasFailed && attempt.stack?.isReady == true
    }

    /// Whether content for a receive call may be available.
    var mayDeliver: Bool {
        switch phase {
        case .open, .draining: true
        case .failed: !receiving.hasDelivered
        case .idle, .closing, .closed: false
        }
    }

    /// Moves remaining content out of the stack before the stack ends.
    ///
    /// The stages' buffers limit the encoded size. The content can be a thousand times larger: 64 KiB of compressed
    /// data may inflate to 64 MiB, which stays in memory until the program has received it.
    ///
    /// - Returns: Whether any content was moved.
    @discardableResult
    mutating func keepRest(_ now: Duration) -> Bool {
        var hasMoved = false
        while let chunk = attempt.stack?.nextInbound(atMost: .max, at: now) {
            receiving.keep(chunk)
            hasMoved = true
        }
        return hasMoved
    }

    /// Moves content through the stack after the transport broke. Runs in the phase `draining`. Ends the stack when no
    /// more content moves.
    ///
    /// - Returns: Whether content moved or the stack ended.
    mutating func settleLoss(_ now: Duration) -> Bool {
        // A read that is in progress may still bring content.
        guard !receiving.isReadOutstanding, let failure else { return false }
        var hasMoved = false
        while attempt.stack?.nextOutbound(at: now) != nil { hasMoved = true }
        if keepRest(now) || hasMoved { return true }
        attempt.stack?.abort(failure)
        // `abort` can make a protocol deliver an end of stream, so move remaining content out of the stack again.
        keepRest(now)
        phase.fail()
        while nextDelivery(now) {}
        end(with: failure)
        return true
    }

    /// Returns the closure to call when the program has received everything; `nil` before that time, and after the
    /// closure was returned once.
    mutating func takeWhenRead() -> (@Sendable () -> Void)? {
        guard case .failed(let report?) = phase, receiving.hasDelivered, turn.answers.isEmpty, let failure else {
            return nil
        }
        phase = .failed(whenRead: nil)
        return { report(failure) }
    }
}
