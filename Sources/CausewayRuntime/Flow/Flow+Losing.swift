internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

// When a stream breaks, bytes that arrived earlier stay in the kernel until they are read. The kernel reports the cause
// of the break only once. If a flow queries the cause before it has read all bytes, it must store the cause and report
// it after the bytes.

extension Flow {
    /// What the program can still read from the peer after the transport has failed.
    enum Remainder: UInt8, Sendable {
        case nothing
        case content
        /// Content remains. The end of the stream follows this content, because the peer ended its sending direction
        /// before the transport broke.
        case contentAndEnd
    }

    /// Examines a broken transport: its error, and content that was not read. If a thread is reading, or can read now,
    /// leaves the examination to that thread.
    func examineLoss() {
        let suspect = state.withLock { state in state.beginErrorCheck() }
        if let suspect { checkError(of: suspect) } else { requeueRead() }
    }

    /// Reads the pending error of the transport.
    ///
    /// ``State/beginErrorCheck()`` has given this thread the exclusive right to read. This method ends that right.
    func checkError(of transport: Transport) {
        let loss = transport.takeLoss()
        let hasUnread = transport.hasUnread
        var deferred = DeferredActions()
        var next: ReadPlan?
        var closing: Closing?
        var mustAwait = false
        var isMuted = false
        let delivery = state.withLock { state -> Delivery? in
            state.reading.isReading = false
            if loss.code != 0 { state.failed(Failure(errno: loss.code), isBehindEnd: loss.isBehindEnd, &deferred) }
            state.settleLoss(hasUnread: hasUnread, &deferred)
            next = state.beginRead()
            closing = state.takeClosing()
            mustAwait = !state.reading.isReadable && next == nil
            if mustAwait { isMuted = state.reading.reports.wasReadOut() }
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
        if mustAwait, closing == nil { awaitArrival(transport, isMuted: isMuted) }
        closing?.perform(on: loop)
        if let next { pumpReads(next) }
    }
}

extension Flow.State {
    /// Whether the transport broke while earlier content may still be unread. Send calls then fail, and receive calls
    /// continue.
    var isDraining: Bool { reading.remainder != .nothing && link.isOpen }

    /// Reserves the exclusive right to read, so that this thread can query the transport's pending error. Returns `nil`
    /// if another thread is reading, or if content can be read now.
    ///
    /// In these two cases, the reading thread gets the error, or queries it after the read. A query during a read could
    /// take the error. The read would then report only an end of stream.
    mutating func beginErrorCheck() -> Transport? {
        guard link.isOpen, let transport = link.transport else { return nil }
        let isLeftToReader = reading.isReading || hasReadWork
        // A broken transport may still have content. While the flow drains it, check after each read whether content
        // remains.
        reading.signs.set(.error, to: isLeftToReader || isDraining)
        guard !isLeftToReader else { return nil }
        reading.isReading = true
        return transport
    }

    fileprivate mutating func failed(_ error: Failure, isBehindEnd: Bool, _ deferred: inout DeferredActions) {
        guard !link.isEnding else { return }
        if kind == .stream { return lose(error, isBehindEnd: isBehindEnd, &deferred) }
        // Keep a datagram socket open: the error means only that one datagram was rejected (RFC 1122 §4.1.3.3). One
        // receive call reports the error.
        datagrams[0].refusal = error
        match(nil, &deferred)
    }

    /// Records that the transport has failed. The caller must then call ``Flow/examineLoss()``, which checks for
    /// content that was not read.
    mutating func lose(_ error: Failure, isBehindEnd: Bool, _ deferred: inout DeferredActions) {
        guard !link.isEnding else { return }
        guard kind == .stream, link.isOpen else { return breakDown(error, &deferred) }
        guard failure == nil else {
            // Another call has already received the cause of the failure, and this side knows only EPIPE. So replace a
            // stored EPIPE with this error.
            if failure == Failure(errno: Errno.brokenPipe) { failure = error }
            return
        }
        failure = error
        reading.broke(isBehindEnd: isBehindEnd)
        // Keep the send calls whose content is being written now. The result of that write completes them. The peer may
        // have received this content before it closed the connection.
        answerSends(error, keeping: Int(writing.activeEntryCount ?? 0), &deferred)
    }

    /// Fails the flow if all received content was read. If content is left but no receive call waits for it, this
    /// method notifies the flow's owner instead.
    fileprivate mutating func settleLoss(hasUnread: Bool, _ deferred: inout DeferredActions) {
        guard isDraining, let failure else { return }
        reading.isReadable = true
        if link.mayTransfer, !reading.receives.waiters.isEmpty { return }
        guard hasUnread || !reading.receives.leftover.isEmpty else { return breakDown(failure, &deferred) }
        if let owner = link.owner { deferred.resume(.lost(owner, failure)) }
    }

    /// Ends a flow whose transport has failed. Called after a read found no more content in the transport.
    mutating func finishDraining(_ deferred: inout DeferredActions) {
        // A receive call can be cancelled during the read. The content of that read then waits for the next receive
        // call, so the flow does not end yet.
        guard !reading.receives.waiters.isEmpty || reading.receives.leftover.isEmpty else { return }
        if reading.remainder == .contentAndEnd {
            if !reading.receives.waiters.isEmpty { reading.remainder = .nothing }
            reading.receives.queue.ended()
            match(nil, &deferred)
        }
        if let failure { breakDown(failure, &deferred) }
    }

    /// Completes a receive call that was made after the transport failed. The peer may have ended its side of the
    /// stream before the failure. In that case, the first such call returns the end of the stream.
    mutating func answerLate(_ waiter: ReceiveWaiter, _ failure: Failure, _ deferred: inout DeferredActions) {
        guard reading.remainder == .contentAndEnd, link.isBroken else {
            return answer(waiter, ReceivedContent(error: failure), &deferred)
        }
        reading.remainder = .nothing
        answer(waiter, ReceivedContent(isFinal: true, isComplete: true), &deferred)
    }

    /// Fails the send calls that are not complete, with `error`. The first `kept` entries whose transmission has
    /// started are left out.
    mutating func answerSends(_ error: Failure, keeping kept: Int = 0, _ deferred: inout DeferredActions) {
        for entry in writing.flight.removeAll(keeping: kept) { finish(entry, error, &deferred) }
        for entry in writing.backlog?.removeAll() ?? [] {
            entry.ticket?.progress = .failed
            answer(entry.payload.waiter, error, &deferred)
        }
        writing.backlog = nil
    }

    /// Completes the sends that were in progress when the transport broke. A send succeeds if all its content was
    /// written. Otherwise, the send fails.
    mutating func finishWriteOfLost(_ result: IOResult, _ failure: Failure, _ deferred: inout DeferredActions) {
        if case .moved(let count) = result { advance(by: count, &deferred) }
        answerSends(failure, &deferred)
    }
}
