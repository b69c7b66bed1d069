internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

// A stream that breaks may leave content behind: bytes that arrived before, which the kernel keeps until they are read. The reason of the
// break is told to whoever asks first, so that a flow which asks before it has read everything must remember it, and tell it last.

extension Flow {
    /// What a broken transport may still give.
    enum Remainder: UInt8, Sendable {
        case nothing
        case content
        /// The peer had ended its side before the transport broke.
        case contentAndEnd
    }

    /// How far the program's own end has got.
    enum OutboundEnd: UInt8, Sendable {
        case none, sent
        /// Both ends were reported.
        case told
    }

    /// Reads what a broken transport has left, on the thread that noticed.
    func examineLoss() {
        let suspect = state.withLock { state in state.beginErrorCheck() }
        if let suspect { checkError(of: suspect) } else { requeueRead() }
    }

    /// Ends the claim of ``State/beginErrorCheck()``.
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
    /// The transport broke, and what arrived before may not have been read: sends fail, receives go on.
    var isDraining: Bool { remainder != .nothing && closing == nil && phase == .open }

    /// Claims the reading side to ask what failed, if nobody reads or is about to: whoever does will come upon it, and asks
    /// afterwards if not. Both at once, the one would take the error, and the other take its absence for the stream's end.
    mutating func beginErrorCheck() -> Transport? {
        guard phase == .open, closing == nil, let transport else { return nil }
        let isLeftToReader = isReading || hasReadWork
        // Once it is known to be broken, each read may be the last one.
        hasErrorPending = isLeftToReader || isDraining
        guard !isLeftToReader else { return nil }
        isReading = true
        return transport
    }

    fileprivate mutating func failed(_ error: Failure, isBehindEnd: Bool, _ deferred: inout DeferredActions) {
        guard closing == nil else { return }
        if kind == .stream { return lose(error, isBehindEnd: isBehindEnd, &deferred) }
        // A datagram socket lives on: one datagram was refused (RFC 1122 §4.1.3.3). A receive reports it.
        datagrams[0].refusal = error
        match(nil, &deferred)
    }

    /// The transport broke. The caller sees to it that what is left is looked at: see ``Flow/examineLoss()``.
    mutating func lose(_ error: Failure, isBehindEnd: Bool, _ deferred: inout DeferredActions) {
        guard kind == .stream, phase == .open else { return breakDown(error, &deferred) }
        guard closing == nil else { return }
        guard failure == nil else {
            // Writing says only that it is broken, reading says why.
            if failure == Failure(errno: Errno.brokenPipe) { failure = error }
            return
        }
        failure = error
        remainder = isBehindEnd ? .contentAndEnd : .content
        (isReadable, hasErrorPending, hasEndPending, isEndDoubtful) = (true, true, true, false)
        answerSends(error, &deferred)
    }

    /// Breaks down if nothing is left to read, and tells the owner else.
    fileprivate mutating func settleLoss(hasUnread: Bool, _ deferred: inout DeferredActions) {
        guard isDraining, let failure else { return }
        isReadable = true
        if mayTransfer, !waiters.isEmpty { return }
        guard hasUnread || !leftover.isEmpty else { return breakDown(failure, &deferred) }
        if let owner { deferred.resume(.lost(owner, failure)) }
    }

    /// Reading found nothing more of a broken transport.
    mutating func finishDraining(_ deferred: inout DeferredActions) {
        // A receive that was cancelled meanwhile has left content for the next.
        guard !waiters.isEmpty || leftover.isEmpty else { return }
        if remainder == .contentAndEnd {
            if !waiters.isEmpty { remainder = .nothing }
            receive.ended()
            match(nil, &deferred)
        }
        if let failure { breakDown(failure, &deferred) }
    }

    /// A request to receive, after the end. The peer's end is reported before the failure if it came first.
    mutating func answerLate(_ waiter: ReceiveWaiter, _ failure: Failure, _ deferred: inout DeferredActions) {
        guard remainder == .contentAndEnd, case .broken = closing else {
            return answer(waiter, ReceivedContent(error: failure), &deferred)
        }
        remainder = .nothing
        answer(waiter, ReceivedContent(isFinal: true, isComplete: true), &deferred)
    }

    /// Answers everything that was to be sent.
    mutating func answerSends(_ error: Failure, _ deferred: inout DeferredActions) {
        for entry in inFlight { finish(entry, error, &deferred) }
        inFlight = []
        for entry in backlog?.removeAll() ?? [] {
            entry.ticket?.progress = .failed
            answer(entry.payload.waiter, error, &deferred)
        }
        backlog = nil
        inFlightByteCount = 0
    }
}
