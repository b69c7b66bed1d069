internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
internal import DequeModule

// Handles a broken transport.
//
// Content that arrived earlier may still be inside the protocols. Some of these protocols may be the program's own. So
// the channel continues to work until no more content moves. During this time, the channel neither reads from the
// transport nor writes to it.

extension StackChannel {
    /// Ends sending because the transport broke. Receive calls still deliver all earlier content. After that, they fail
    /// with `failure`.
    ///
    /// - Parameters:
    ///   - failure: Why the transport broke.
    ///   - whenRead: Called when the program has received all content. Called at once if the protocols can contain no
    ///     more content. Receives the failure that ends the connection.
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
    /// Whether the protocol stack may still contain content that the program can receive.
    fileprivate var mayDrain: Bool {
        phase.isOpen && !isDatagram && !attempt.hasFailed && attempt.stack?.isReady == true
    }

    /// Whether a receive call may still get content.
    var mayDeliver: Bool {
        switch phase {
        case .open, .draining: true
        case .failed: !receiving.hasDelivered
        case .idle, .closing, .closed: false
        }
    }

    /// Moves the remaining content from the stack to the program's queue, before the stack ends.
    ///
    /// The buffers of the stages limit only the encoded size of this content. The content itself can be a thousand
    /// times larger. For example, 64 KiB of compressed data may inflate to 64 MiB. It stays in memory until the program
    /// has received it.
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

    /// Moves the remaining content through the stack after the transport broke. Called in the phase `draining`. When no
    /// more content moves, ends the stack.
    ///
    /// - Returns: Whether content moved or the stack ended.
    mutating func settleLoss(_ now: Duration) -> Bool {
        // If a read is in progress, wait for it, because it may still bring content.
        guard !receiving.isReadOutstanding, let failure else { return false }
        var hasMoved = false
        while attempt.stack?.nextOutbound(at: now) != nil { hasMoved = true }
        if keepRest(now) || hasMoved { return true }
        attempt.stack?.abort(failure)
        // `abort` can make a protocol deliver the end of the stream. So move the remaining content out of the stack
        // again.
        keepRest(now)
        phase.fail()
        while nextDelivery(now) {}
        end(with: failure)
        return true
    }

    /// Returns the closure to call when the program has received everything. Returns `nil` before that time. Also
    /// returns `nil` after the closure was returned once.
    mutating func takeWhenRead() -> (@Sendable () -> Void)? {
        guard case .failed(let report?) = phase, receiving.hasDelivered, turn.answers.isEmpty, let failure else {
            return nil
        }
        phase = .failed(whenRead: nil)
        return { report(failure) }
    }
}
