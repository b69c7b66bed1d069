internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow.State {
    /// Immediate writes in a row before a task must suspend.
    private static var burstLimit: UInt8 { 32 }

    /// Claims a write that need not be queued: nothing waits and the transport has room.
    mutating func beginImmediateWrite(_ count: Int) -> Transport? {
        guard kind == .stream, mayTransfer, isWritable, !isWriting, !isCorked, count > 0, closing == nil,
            phase == .open, failure == nil, !sendingHasEnded, inFlight.isEmpty, backlog == nil, let transport
        else { return nil }
        isWriting = true
        // Cleared before the call: an edge that comes during it must not be lost.
        isWritable = false
        return transport
    }

    /// The same for a task, which must suspend now and then.
    mutating func beginTaskWrite(_ count: Int, _ isBurst: inout Bool) -> Transport? {
        guard burst + 1 == Self.burstLimit else {
            guard let transport = beginImmediateWrite(count) else { return nil }
            burst += 1
            return transport
        }
        burst = 0
        isBurst = true
        return nil
    }

    mutating func enqueue(_ outbound: Outbound) {
        let outbound = prepare(outbound)
        if letsPass {
            inFlightByteCount += outbound.data.count
            inFlight.append(InFlight(outbound: outbound, ticket: nil, endsMessage: true))
        } else {
            queue(.init(outbound))
        }
    }

    mutating func enqueue(_ entry: SendQueue<Outbound>.Entry) {
        var entry = entry
        entry.payload = prepare(entry.payload)
        if letsPass, entry.endsMessage, entry.antecedent == nil, entry.deadline == nil {
            inFlightByteCount += entry.payload.data.count
            inFlight.append(InFlight(outbound: entry.payload, ticket: entry.ticket, endsMessage: true))
        } else {
            queue(entry)
        }
    }

    private mutating func queue(_ entry: SendQueue<Outbound>.Entry) {
        if backlog == nil { backlog = SendQueue() }
        backlog?.append(entry)
    }

    /// Whether a message may begin at once, ahead of everything queued.
    private var letsPass: Bool {
        // Before the transport is there nothing has begun, so wishes still count.
        mayTransfer && backlog == nil && inFlight.count < Flow.gatherPieceLimit
            && (datagrams.first?.outgoing.count ?? 0) == 0
    }

    private mutating func prepare(_ outbound: Outbound) -> Outbound {
        var outbound = outbound
        if kind == .stream {
            if outbound.endsStream { sendingHasEnded = true }
        } else {
            // There is no half-close of a datagram socket; a missing content sends nothing, an empty one does.
            outbound.endsStream = false
            outbound.isDatagram = outbound.hasContent
        }
        return outbound
    }

    private mutating func begin(_ entry: SendQueue<Outbound>.Entry, _ deferred: inout DeferredActions) {
        var entry = entry
        if kind == .datagram, datagrams[0].outgoing.count > 0 || !entry.endsMessage {
            // Parts of one message leave as one datagram; a part is taken when it has joined the others.
            datagrams[0].outgoing += entry.payload.data
            guard entry.endsMessage else { return answer(entry.payload.waiter, nil, &deferred) }
            entry.payload.data = datagrams[0].outgoing
            entry.payload.isDatagram = true
            datagrams[0].outgoing = Data()
        }
        inFlightByteCount += entry.payload.data.count
        inFlight.append(InFlight(outbound: entry.payload, ticket: entry.ticket, endsMessage: entry.endsMessage))
    }

    private func lose(_ entry: SendQueue<Outbound>.Entry, _ code: CInt, _ deferred: inout DeferredActions) {
        entry.ticket?.progress = .failed
        answer(entry.payload.waiter, Failure(errno: code), &deferred)
    }

    /// Answers what will never leave.
    mutating func dropLost(at now: Duration, _ deferred: inout DeferredActions) {
        while let step = backlog?.nextLost(at: now) {
            switch step {
            case .send: return
            case .expired(let entry): lose(entry, Errno.timedOut, &deferred)
            case .antecedentFailed(let entry): lose(entry, Errno.cancelled, &deferred)
            }
        }
        if backlog?.letsPlainPass == true { backlog = nil }
    }

    /// When the next message expires, if no timer goes off by then already.
    mutating func takeExpiryTime() -> Duration? {
        guard phase != .closed, let next = backlog?.nextDeadline, expiryTimes.allSatisfy({ next < $0 }) else {
            return nil
        }
        expiryTimes.append(next)
        return next
    }

    /// Moves queued content into flight, as much as one call can take.
    mutating func fillFlight(_ deferred: inout DeferredActions) {
        while inFlight.count < Flow.gatherPieceLimit, inFlightByteCount < Flow.gatherByteLimit {
            switch backlog?.next(at: System.now) {
            case .send(let entry): begin(entry, &deferred)
            case .expired(let entry): lose(entry, Errno.timedOut, &deferred)
            case .antecedentFailed(let entry): lose(entry, Errno.cancelled, &deferred)
            case nil:
                if backlog?.letsPlainPass == true { backlog = nil }
                return
            }
        }
    }

    /// Claims the next write, unless there is nothing to write or somebody is at it.
    mutating func beginWrite(_ deferred: inout DeferredActions) -> WritePlan? {
        guard hasWriteWork, let transport else { return nil }
        repeat {
            finishEmpty(&deferred)
            if backlog != nil { fillFlight(&deferred) }
        } while inFlight.first?.isEmpty == true
        guard let head = inFlight.first else { return nil }
        isWriting = true
        // Cleared before the call: an edge that comes during it must not be lost.
        isWritable = false
        if kind == .datagram {
            return WritePlan(transport: transport, content: .datagrams(planDatagrams()))
        }
        if head.outbound.remaining == 0 { return WritePlan(transport: transport, content: .end) }
        return planStream(transport, head)
    }

    private func planStream(_ transport: Transport, _ head: InFlight) -> WritePlan {
        var byteCount = head.outbound.remaining
        if head.outbound.endsStream || (inFlight.count < 2 || inFlight[1].outbound.remaining == 0) {
            let content = WritePlan.Content.single(head.outbound.data, from: head.outbound.offset)
            return WritePlan(transport: transport, content: content, byteCount: byteCount)
        }
        var contents = [head.outbound.data]
        for entry in inFlight.dropFirst() {
            guard contents.count < Flow.gatherPieceLimit, byteCount < Flow.gatherByteLimit else { break }
            // An end, or an empty content, gets its own turn.
            guard entry.outbound.remaining > 0 else { break }
            contents.append(entry.outbound.data)
            byteCount += entry.outbound.remaining
            if entry.outbound.endsStream { break }
        }
        let content = WritePlan.Content.gathered(contents, from: head.outbound.offset)
        return WritePlan(transport: transport, content: content, byteCount: byteCount)
    }

    /// Nothing to write: a mark at the end of a message, for instance. It is done when its turn comes.
    private mutating func finishEmpty(_ deferred: inout DeferredActions) {
        while let head = inFlight.first, head.isEmpty {
            _ = inFlight.popFirst()
            finish(head, nil, &deferred)
        }
    }

    mutating func finishWrite(_ plan: WritePlan, _ result: IOResult, _ deferred: inout DeferredActions) -> Flow.Retry {
        isWriting = false
        guard closing == nil, failure == nil else { return .none }
        if case .datagrams(let datagrams) = plan.content { return finishDatagrams(datagrams, result, &deferred) }
        switch (result, plan.content) {
        case (.moved, .end):
            isWritable = true
            if let head = inFlight.popFirst() { finish(head, nil, &deferred) }
            outboundEnd = .sent
            noteEnds(&deferred)
            return .none
        case (.moved(let count), _):
            advance(by: count, &deferred)
            if count == plan.byteCount { isWritable = true }
            return isWritable ? .none : .whenWritable
        case (.wouldBlock, _):
            // An edge may have come during the call: it is the only one.
            return isWritable ? .none : .whenWritable
        case (.failed(Errno.noBuffers), _), (.failed(Errno.noMemory), _):
            return .later
        case (.failed(let code), _) where leavesToReader(code): return .none
        case (.failed(let code), _):
            lose(Failure(errno: code), isBehindEnd: code == Errno.brokenPipe, &deferred)
            return .lost
        }
    }

    /// Tells the owner, once, that both directions have ended and the program knows.
    mutating func noteEnds(_ deferred: inout DeferredActions) {
        guard outboundEnd == .sent, receive.hasDeliveredEnd, closing == nil, failure == nil, let owner else { return }
        outboundEnd = .told
        deferred.resume(.ended(owner))
    }

    /// Whether a write's failure is the reader's to tell. The kernel tells one call why a connection broke, and the next ones only that
    /// it did: while somebody reads, that may have been the call.
    mutating func leavesToReader(_ code: CInt) -> Bool {
        guard code == Errno.brokenPipe, isReading else { return false }
        isPipeBroken = true
        return true
    }

    /// Takes sent bytes off the front.
    mutating func advance(by count: Int, _ deferred: inout DeferredActions) {
        sentByteCount &+= UInt64(count)
        inFlightByteCount -= count
        var left = count
        while left > 0, let head = inFlight.first {
            let taken = min(left, head.outbound.remaining)
            left -= taken
            inFlight[0].outbound.offset += taken
            // The end of a stream is a step of its own, after its bytes.
            guard taken == head.outbound.remaining, !head.outbound.endsStream else { return }
            _ = inFlight.popFirst()
            finish(head, nil, &deferred)
        }
    }
}

extension Flow.State.InFlight {
    /// Whether there is nothing that the transport must be told.
    var isEmpty: Bool { outbound.remaining == 0 && !outbound.endsStream && !outbound.isDatagram }
}
