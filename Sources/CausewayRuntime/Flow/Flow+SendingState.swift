internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow.State {
    /// The maximum number of immediate writes in a row before a task must suspend.
    private static var burstLimit: UInt8 { 32 }

    /// Claims a write that bypasses the queue: no content waits and the transport has room.
    mutating func beginImmediateWrite(_ count: Int) -> Transport? {
        guard kind == .stream, mayTransfer, isWritable, !isWriting, !isCorked, count > 0, closing == nil,
            phase == .open, failure == nil, !sendingHasEnded, inFlight.isEmpty, backlog == nil, let transport
        else { return nil }
        isWriting = true
        writtenEntryCount = 0
        // Clear the flag before the call, so that an edge during the call is not lost.
        isWritable = false
        return transport
    }

    /// Claims a write for a task. Every ``burstLimit`` writes the task must suspend once: this function then sets
    /// `isBurst` and returns `nil`.
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

    /// Whether a message can bypass the queue.
    private var letsPass: Bool {
        // Before the flow has a transport, all messages are queued: per-message options still apply to messages that
        // have not started.
        mayTransfer && backlog == nil && inFlight.count < Flow.gatherPieceLimit
            && (datagrams.first?.outgoing.count ?? 0) == 0
    }

    private mutating func prepare(_ outbound: Outbound) -> Outbound {
        var outbound = outbound
        if kind == .stream {
            if outbound.endsStream { sendingHasEnded = true }
        } else {
            // A datagram socket has no half-close. Without content nothing is sent; with empty content an empty datagram is sent.
            outbound.endsStream = false
            outbound.isDatagram = outbound.hasContent
        }
        return outbound
    }

    private mutating func begin(_ entry: SendQueue<Outbound>.Entry, _ deferred: inout DeferredActions) {
        var entry = entry
        if kind == .datagram, datagrams[0].outgoing.count > 0 || !entry.endsMessage {
            // Parts of one message leave as one datagram. A part's send completes when the part was appended to the
            // earlier ones.
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

    /// Fails messages that can no longer be sent: expired ones, and those whose antecedent failed.
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

    /// Returns when the next message expires; `nil` if an existing timer fires by then.
    mutating func takeExpiryTime() -> Duration? {
        guard phase != .closed, let next = backlog?.deadline, expiryTimes.allSatisfy({ next < $0 }) else {
            return nil
        }
        expiryTimes.append(next)
        return next
    }

    /// Moves queued content into flight, up to the limits for one gathered send.
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

    /// Claims the next write. Returns `nil` if there is nothing to write or another thread is writing.
    mutating func beginWrite(_ deferred: inout DeferredActions) -> WritePlan? {
        guard hasWriteWork, let transport else { return nil }
        repeat {
            finishEmpty(&deferred)
            if backlog != nil { fillFlight(&deferred) }
        } while inFlight.first?.isEmpty == true
        guard let head = inFlight.first else { return nil }
        isWriting = true
        // Clear the flag before the call, so that an edge during the call is not lost.
        isWritable = false
        if kind == .datagram {
            writtenEntryCount = .max
            return WritePlan(transport: transport, content: .datagrams(planDatagrams()))
        }
        writtenEntryCount = 1
        if head.outbound.remaining == 0 { return WritePlan(transport: transport, content: .end) }
        return planStream(transport, head)
    }

    private mutating func planStream(_ transport: Transport, _ head: InFlight) -> WritePlan {
        var byteCount = head.outbound.remaining
        if head.outbound.endsStream || (inFlight.count < 2 || inFlight[1].outbound.remaining == 0) {
            let content = WritePlan.Content.single(head.outbound.data, from: head.outbound.offset)
            return WritePlan(transport: transport, content: content, byteCount: byteCount)
        }
        var contents = [head.outbound.data]
        for entry in inFlight.dropFirst() {
            guard contents.count < Flow.gatherPieceLimit, byteCount < Flow.gatherByteLimit else { break }
            // An entry without remaining bytes (an end of stream or empty content) is written in a separate step.
            guard entry.outbound.remaining > 0 else { break }
            contents.append(entry.outbound.data)
            byteCount += entry.outbound.remaining
            if entry.outbound.endsStream { break }
        }
        writtenEntryCount = UInt8(contents.count)
        let content = WritePlan.Content.gathered(contents, from: head.outbound.offset)
        return WritePlan(transport: transport, content: content, byteCount: byteCount)
    }

    /// Finishes entries without bytes, such as an end-of-message mark, at the head of the queue.
    private mutating func finishEmpty(_ deferred: inout DeferredActions) {
        while let head = inFlight.first, head.isEmpty {
            _ = inFlight.popFirst()
            finish(head, nil, &deferred)
        }
    }

    mutating func finishWrite(_ plan: WritePlan, _ result: IOResult, _ deferred: inout DeferredActions) -> Flow.Retry {
        isWriting = false
        guard closing == nil else { return .none }
        if let failure {
            finishWriteOfLost(result, failure, &deferred)
            return .none
        }
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
            // An edge during the call has set `isWritable`, and the loop does not report that edge again.
            return isWritable ? .none : .whenWritable
        case (.failed(Errno.noBuffers), _), (.failed(Errno.noMemory), _):
            return .later
        case (.failed(let code), _) where leavesToReader(code): return .none
        case (.failed(let code), _):
            lose(Failure(errno: code), isBehindEnd: code == Errno.brokenPipe, &deferred)
            return .lost
        }
    }

    /// Notifies the owner, once, that both directions have ended and the program has received the end of the peer's
    /// stream.
    mutating func noteEnds(_ deferred: inout DeferredActions) {
        guard outboundEnd == .sent, receive.hasDeliveredEnd, closing == nil, failure == nil, let owner else { return }
        outboundEnd = .told
        deferred.resume(.ended(owner))
    }

    /// Returns whether the reader must report a write failure. The kernel reports why a connection broke to one call
    /// only; later writes get EPIPE. An active read may have received the cause.
    mutating func leavesToReader(_ code: CInt) -> Bool {
        guard code == Errno.brokenPipe, isReading else { return false }
        isPipeBroken = true
        return true
    }

    /// Removes sent bytes from the front of the content in flight.
    mutating func advance(by count: Int, _ deferred: inout DeferredActions) {
        sentByteCount &+= UInt64(count)
        inFlightByteCount -= count
        var left = count
        while left > 0, let head = inFlight.first {
            let taken = min(left, head.outbound.remaining)
            left -= taken
            inFlight[0].outbound.offset += taken
            // The end of a stream is a separate step after its bytes.
            guard taken == head.outbound.remaining, !head.outbound.endsStream else { return }
            _ = inFlight.popFirst()
            finish(head, nil, &deferred)
        }
    }
}

extension Flow.State.InFlight {
    /// Whether the entry needs no call to the transport.
    var isEmpty: Bool { outbound.remaining == 0 && !outbound.endsStream && !outbound.isDatagram }
}
