internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

// A stream that breaks can leave content behind: bytes that arrived earlier stay in the kernel until they are read. The
// kernel reports the cause only once. If a flow queries the cause before all bytes are read, the flow must store the
// cause and report it after the bytes.

extension Flow {
    /// The part of the peer's stream that can still be read after the transport broke.
    enum Remainder: UInt8, Sendable {
        case nothing
        case content
        /// The peer ended its side before the transport broke.
        case contentAndEnd
    }

    /// Checks a broken transport for its error and for unread content. If a thread is reading, or can read now, that
    /// thread does this check instead.
    func examineLoss() {
        let suspect = state.withLock { state in state.beginErrorCheck() }
        if let suspect { checkError(of: suspect) } else { requeueRead() }
    }

    /// Reads the transport's pending error. Ends this thread's exclusive right to read, which
    /// ``State/beginErrorCheck()`` has reserved.
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
    /// Whether the transport broke while earlier content may still be unread. In that case, send calls fail and receive
    /// calls continue.
    var isDraining: Bool { reading.remainder != .nothing && link.isOpen }

    /// Reserves the exclusive right to read for this thread, which then queries the transport's pending error. Returns
    /// `nil` if another thread is reading, or if content can be read now.
    ///
    /// In these two cases, the reading thread gets the error, or queries it after the read. If a query and a read ran
    /// at the same time, the query could take the error, and the read would report only an end of stream.
    mutating func beginErrorCheck() -> Transport? {
        guard link.isOpen, let transport = link.transport else { return nil }
        let isLeftToReader = reading.isReading || hasReadWork
        // While draining a broken transport, check after each read whether content remains.
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

    /// Records that the transport broke. The caller must then call ``Flow/examineLoss()`` to check for unread content.
    mutating func lose(_ error: Failure, isBehindEnd: Bool, _ deferred: inout DeferredActions) {
        guard !link.isEnding else { return }
        guard kind == .stream, link.isOpen else { return breakDown(error, &deferred) }
        guard failure == nil else {
            // EPIPE does not tell the cause: it means that another call received the cause. So replace a stored EPIPE.
            if failure == Failure(errno: Errno.brokenPipe) { failure = error }
            return
        }
        failure = error
        reading.broke(isBehindEnd: isBehindEnd)
        // Do not fail the send calls whose content is being written now, because the result of that write completes
        // them. The peer may have closed the connection in reply to this content.
        answerSends(error, keeping: Int(writing.activeEntryCount ?? 0), &deferred)
    }

    /// Fails the flow if nothing is left to read. If content is left and no receive call waits for it, notifies the
    /// flow's owner.
    fileprivate mutating func settleLoss(hasUnread: Bool, _ deferred: inout DeferredActions) {
        guard isDraining, let failure else { return }
        reading.isReadable = true
        if link.mayTransfer, !reading.receives.waiters.isEmpty { return }
        guard hasUnread || !reading.receives.leftover.isEmpty else { return breakDown(failure, &deferred) }
        if let owner = link.owner { deferred.resume(.lost(owner, failure)) }
    }

    /// Ends the flow after a read found no more content in a broken transport.
    mutating func finishDraining(_ deferred: inout DeferredActions) {
        // If a receive call was cancelled during the read, the content that was read waits for the next receive call.
        guard !reading.receives.waiters.isEmpty || reading.receives.leftover.isEmpty else { return }
        if reading.remainder == .contentAndEnd {
            if !reading.receives.waiters.isEmpty { reading.remainder = .nothing }
            reading.receives.queue.ended()
            match(nil, &deferred)
        }
        if let failure { breakDown(failure, &deferred) }
    }

    /// Completes a receive call that was made after the transport failed. If the peer ended its side before the
    /// failure, the first such call returns the end of the stream.
    mutating func answerLate(_ waiter: ReceiveWaiter, _ failure: Failure, _ deferred: inout DeferredActions) {
        guard reading.remainder == .contentAndEnd, link.isBroken else {
            return answer(waiter, ReceivedContent(error: failure), &deferred)
        }
        reading.remainder = .nothing
        answer(waiter, ReceivedContent(isFinal: true, isComplete: true), &deferred)
    }

    /// Completes the outstanding sends with `error`, except for the first `kept` entries in the list of content whose
    /// transmission has started.
    mutating func answerSends(_ error: Failure, keeping kept: Int = 0, _ deferred: inout DeferredActions) {
        for entry in writing.flight.removeAll(keeping: kept) { finish(entry, error, &deferred) }
        for entry in writing.backlog?.removeAll() ?? [] {
            entry.ticket?.progress = .failed
            answer(entry.payload.waiter, error, &deferred)
        }
        writing.backlog = nil
    }

    /// Completes the sends whose content was being written when the transport broke. A send succeeds if its content was
    /// written whole; otherwise it fails.
    mutating func finishWriteOfLost(_ result: IOResult, _ failure: Failure, _ deferred: inout DeferredActions) {
        if case .moved(let count) = result { advance(by: count, &deferred) }
        answerSends(failure, &deferred)
    }
}
