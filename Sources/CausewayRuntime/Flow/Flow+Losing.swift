internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

// A stream that breaks can leave content behind: bytes that arrived earlier stay in the kernel until they are read. The
// kernel reports the cause only once. If a flow queries it before all bytes are read, the flow must store the cause and
// report it last.

extension Flow {
    /// The readable rest of the peer's stream after the transport broke.
    enum Remainder: UInt8, Sendable {
        case nothing
        case content
        /// The peer ended its side before the transport broke.
        case contentAndEnd
    }

    /// How far the sending direction has ended.
    enum OutboundEnd: UInt8, Sendable {
        case none, sent
        /// The owner was notified that both directions have ended.
        case told
    }

    /// Checks a broken transport for its error and for unread content. Leaves this to the reader if a read is active or
    /// due.
    func examineLoss() {
        let suspect = state.withLock { state in state.beginErrorCheck() }
        if let suspect { checkError(of: suspect) } else { requeueRead() }
    }

    /// Reads the pending error and releases the claim from ``State/beginErrorCheck()``.
    func checkError(of transport: Transport) {
        let loss = transport.takeLoss()
        let hasUnread = transport.hasUnread
        var deferred = DeferredActions()
        var next: ReadPlan?
        var closing: Closing?
        var mustAwait = false
        var isMuted = false
        let delivery = state.withLock { state -> Delivery? in
            state.isReading = false
            if loss.code != 0 { state.failed(Failure(errno: loss.code), isBehindEnd: loss.isBehindEnd, &deferred) }
            state.settleLoss(hasUnread: hasUnread, &deferred)
            next = state.beginRead()
            closing = state.takeClosing()
            mustAwait = !state.isReadable && next == nil
            if mustAwait { isMuted = state.takeMuting() }
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
        if mustAwait, closing == nil { awaitArrival(transport, isMuted: isMuted) }
        closing?.perform(on: loop)
        if let next { pumpReads(next) }
    }
}

extension Flow.State {
    /// Whether the transport broke while earlier content may still be unread. Sends then fail and receives continue.
    var isDraining: Bool { remainder != .nothing && closing == nil && phase == .open }

    /// Claims the reading side to query the pending error, unless a read is active or due. In that case the reader sees
    /// the error, or queries it afterwards. If query and read ran at once, one could take the error, and the other
    /// would see only an end of stream.
    mutating func beginErrorCheck() -> Transport? {
        guard phase == .open, closing == nil, let transport else { return nil }
        let isLeftToReader = isReading || hasReadWork
        // While draining a broken transport, check after each read whether content remains.
        hasErrorPending = isLeftToReader || isDraining
        guard !isLeftToReader else { return nil }
        isReading = true
        return transport
    }

    fileprivate mutating func failed(_ error: Failure, isBehindEnd: Bool, _ deferred: inout DeferredActions) {
        guard closing == nil else { return }
        if kind == .stream { return lose(error, isBehindEnd: isBehindEnd, &deferred) }
        // A datagram socket stays open: one datagram was rejected (RFC 1122 §4.1.3.3). One receive reports the error.
        datagrams[0].refusal = error
        match(nil, &deferred)
    }

    /// Records that the transport broke. The caller must then call ``Flow/examineLoss()``, which checks for unread content.
    mutating func lose(_ error: Failure, isBehindEnd: Bool, _ deferred: inout DeferredActions) {
        guard kind == .stream, phase == .open else { return breakDown(error, &deferred) }
        guard closing == nil else { return }
        guard failure == nil else {
            // EPIPE means only that an earlier call received the cause. Keep that cause instead.
            if failure == Failure(errno: Errno.brokenPipe) { failure = error }
            return
        }
        failure = error
        remainder = isBehindEnd ? .contentAndEnd : .content
        (isReadable, hasErrorPending, hasEndPending, isEndDoubtful) = (true, true, true, false)
        // Leave the entries of an active write to that write's result: the break can be the peer's reply to its
        // content.
        answerSends(error, keeping: isWriting ? Int(writtenEntryCount) : 0, &deferred)
    }

    /// Fails the flow if nothing is left to read; otherwise notifies the owner.
    fileprivate mutating func settleLoss(hasUnread: Bool, _ deferred: inout DeferredActions) {
        guard isDraining, let failure else { return }
        isReadable = true
        if mayTransfer, !waiters.isEmpty { return }
        guard hasUnread || !leftover.isEmpty else { return breakDown(failure, &deferred) }
        if let owner { deferred.resume(.lost(owner, failure)) }
    }

    /// Ends the flow after a read found no more content in a broken transport.
    mutating func finishDraining(_ deferred: inout DeferredActions) {
        // If a receive was cancelled during the read, its content waits for the next receive.
        guard !waiters.isEmpty || leftover.isEmpty else { return }
        if remainder == .contentAndEnd {
            if !waiters.isEmpty { remainder = .nothing }
            receive.ended()
            match(nil, &deferred)
        }
        if let failure { breakDown(failure, &deferred) }
    }

    /// Completes a receive requested after the transport failed. If the peer ended its side before the failure, the
    /// first such receive returns the end of the stream.
    mutating func answerLate(_ waiter: ReceiveWaiter, _ failure: Failure, _ deferred: inout DeferredActions) {
        guard remainder == .contentAndEnd, case .broken = closing else {
            return answer(waiter, ReceivedContent(error: failure), &deferred)
        }
        remainder = .nothing
        answer(waiter, ReceivedContent(isFinal: true, isComplete: true), &deferred)
    }

    /// Completes every outstanding send with `error`, except the first `kept` ones in flight.
    mutating func answerSends(_ error: Failure, keeping kept: Int = 0, _ deferred: inout DeferredActions) {
        for entry in inFlight.dropFirst(kept) { finish(entry, error, &deferred) }
        inFlight.removeLast(max(0, inFlight.count - kept))
        inFlightByteCount = inFlight.reduce(0) { $0 + $1.outbound.remaining }
        for entry in backlog?.removeAll() ?? [] {
            entry.ticket?.progress = .failed
            answer(entry.payload.waiter, error, &deferred)
        }
        backlog = nil
    }

    /// Completes content that was being written when the transport broke: entries written whole succeed, the others
    /// fail.
    mutating func finishWriteOfLost(_ result: IOResult, _ failure: Failure, _ deferred: inout DeferredActions) {
        if case .moved(let count) = result { advance(by: count, &deferred) }
        answerSends(failure, &deferred)
    }
}
