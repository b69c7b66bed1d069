internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow.State {
    /// Gives the current thread the exclusive right to write content that bypasses the queue. Returns `nil` if earlier
    /// content waits, or if the flow cannot write now.
    mutating func beginImmediateWrite(_ count: Int) -> Transport? {
        guard kind == .stream, link.mayTransfer, writing.isWritable, !writing.isWriting, !writing.isCorked, count > 0,
            link.isOpen,
            failure == nil, writing.end == .open, writing.flight.entries.isEmpty, writing.backlog == nil,
            let transport = link.transport
        else { return nil }
        writing.claim(entryCount: 0)
        return transport
    }

    /// Gives a task's thread the exclusive right to write.
    ///
    /// If the task has written many times in a row, it must suspend first. This method then sets `isBurst` and returns
    /// `nil`.
    mutating func beginTaskWrite(_ count: Int, _ isBurst: inout Bool) -> Transport? {
        guard writing.permitsTaskWrite() else {
            isBurst = true
            return nil
        }
        guard let transport = beginImmediateWrite(count) else { return nil }
        writing.countTaskWrite()
        return transport
    }

    mutating func enqueue(_ outbound: Outbound) {
        let outbound = prepare(outbound)
        if letsPass {
            writing.flight.append(outbound)
        } else {
            writing.queue(.init(outbound))
        }
    }

    mutating func enqueue(_ entry: SendQueue<Outbound>.Entry) {
        var entry = entry
        entry.payload = prepare(entry.payload)
        if letsPass, entry.endsMessage, entry.antecedent == nil, entry.deadline == nil {
            writing.flight.append(entry.payload, entry.ticket)
        } else {
            writing.queue(entry)
        }
    }

    /// Whether a message can be sent at once, without waiting in the queue.
    private var letsPass: Bool {
        // Until the flow has a transport, keep all messages in the queue. A message that has left the queue counts as
        // started, so a later message with a higher priority could not overtake it.
        link.mayTransfer && writing.letsPass && (datagrams.first?.outgoing.count ?? 0) == 0
    }

    private mutating func prepare(_ outbound: Outbound) -> Outbound {
        var outbound = outbound
        if kind == .stream {
            if outbound.endsStream { writing.end = .requested }
        } else {
            // A datagram socket has no half-close. Empty content is sent as an empty datagram; without content, nothing
            // is sent.
            outbound.endsStream = false
            outbound.isDatagram = outbound.hasContent
        }
        return outbound
    }

    private mutating func begin(_ entry: SendQueue<Outbound>.Entry, _ deferred: inout DeferredActions) {
        var entry = entry
        if kind == .datagram, datagrams[0].outgoing.count > 0 || !entry.endsMessage {
            // All parts of one message leave as one datagram. The send call for a part is complete as soon as the part
            // is appended to the earlier parts.
            datagrams[0].outgoing += entry.payload.data
            guard entry.endsMessage else { return answer(entry.payload.waiter, nil, &deferred) }
            entry.payload.data = datagrams[0].outgoing
            entry.payload.isDatagram = true
            datagrams[0].outgoing = Data()
        }
        writing.flight.append(entry.payload, entry.ticket, endsMessage: entry.endsMessage)
    }

    private func lose(_ entry: SendQueue<Outbound>.Entry, _ code: CInt, _ deferred: inout DeferredActions) {
        entry.ticket?.progress = .failed
        answer(entry.payload.waiter, Failure(errno: code), &deferred)
    }

    /// Fails messages that can no longer be sent: expired messages, and messages whose antecedent (the message that
    /// must be sent first) has failed.
    mutating func dropLost(at now: Duration, _ deferred: inout DeferredActions) {
        while let step = writing.backlog?.nextLost(at: now) {
            switch step {
            case .send: return
            case .expired(let entry): lose(entry, Errno.timedOut, &deferred)
            case .antecedentFailed(let entry): lose(entry, Errno.cancelled, &deferred)
            }
        }
        writing.dropSpentBacklog()
    }

    /// Returns the time for a new timer, which is the time when the next message expires. Returns `nil` if no new timer
    /// is needed. This is the case if no message expires, if the transport is closed, or if a timer is already set for
    /// that time or earlier.
    mutating func takeExpiryTime() -> Duration? { link.isClosed ? nil : writing.takeExpiryTime() }

    /// Takes content from the queue and adds it to the ``Flight``. One system call writes several pieces, so the limits
    /// of that call apply.
    mutating func fillFlight(_ deferred: inout DeferredActions) {
        while writing.flight.entries.count < Flow.gatherPieceLimit, writing.flight.byteCount < Flow.gatherByteLimit {
            switch writing.backlog?.next(at: System.now) {
            case .send(let entry): begin(entry, &deferred)
            case .expired(let entry): lose(entry, Errno.timedOut, &deferred)
            case .antecedentFailed(let entry): lose(entry, Errno.cancelled, &deferred)
            case nil:
                writing.dropSpentBacklog()
                return
            }
        }
    }

    /// Takes the exclusive right to write for the current thread, and returns the write to perform.
    ///
    /// Returns `nil` if there is nothing to write, or if another thread is writing.
    mutating func beginWrite(_ deferred: inout DeferredActions) -> WritePlan? {
        guard hasWriteWork, let transport = link.transport else { return nil }
        repeat {
            finishEmpty(&deferred)
            if writing.backlog != nil { fillFlight(&deferred) }
        } while writing.flight.entries.first?.isEmpty == true
        guard let head = writing.flight.entries.first else { return nil }
        if kind == .datagram {
            writing.claim(entryCount: .max)
            return WritePlan(transport: transport, content: .datagrams(planDatagrams()))
        }
        return writing.planStream(transport, head)
    }

    /// Removes and finishes entries without bytes, such as an end-of-message mark, from the front of the send queue.
    private mutating func finishEmpty(_ deferred: inout DeferredActions) {
        while let head = writing.flight.entries.first, head.isEmpty {
            _ = writing.flight.popFirst()
            finish(head, nil, &deferred)
        }
    }

    mutating func finishWrite(_ plan: WritePlan, _ result: IOResult, _ deferred: inout DeferredActions) -> Flow.Retry {
        writing.endClaim()
        guard !link.isEnding else { return .none }
        if let failure {
            finishWriteOfLost(result, failure, &deferred)
            return .none
        }
        if case .datagrams(let datagrams) = plan.content { return finishDatagrams(datagrams, result, &deferred) }
        switch (result, plan.content) {
        case (.moved, .end):
            writing.isWritable = true
            if let head = writing.flight.popFirst() { finish(head, nil, &deferred) }
            writing.end = .sent
            noteEnds(&deferred)
            return .none
        case (.moved(let count), _):
            advance(by: count, &deferred)
            if count == plan.byteCount { writing.isWritable = true }
            return writing.isWritable ? .none : .whenWritable
        case (.wouldBlock, _):
            // The transport can become writable during the write. The loop reports this only once, and then sets
            // `isWritable`. In this case, try again at once.
            return writing.isWritable ? .none : .whenWritable
        case (.failed(Errno.noBuffers), _), (.failed(Errno.noMemory), _):
            return .later
        case (.failed(let code), _) where reading.takesOver(code): return .none
        case (.failed(let code), _):
            lose(Failure(errno: code), isBehindEnd: code == Errno.brokenPipe, &deferred)
            return .lost
        }
    }

    /// Notifies the flow's owner once that both directions have ended. Two conditions must hold. The end of the local
    /// stream was sent, and the program has received the end of the peer's stream.
    mutating func noteEnds(_ deferred: inout DeferredActions) {
        guard writing.end == .sent, reading.receives.queue.hasDeliveredEnd, !link.isEnding, failure == nil,
            let owner = link.owner
        else { return }
        writing.end = .reported
        deferred.resume(.ended(owner))
    }

    /// Removes `count` bytes, which were sent, from the front of the content in flight.
    mutating func advance(by count: Int, _ deferred: inout DeferredActions) {
        writing.byteCount &+= UInt64(count)
        var left = count
        while left > 0, let head = writing.flight.entries.first {
            let taken = writing.flight.advanceFirst(by: left)
            left -= taken
            // An element that also ends the stream is not finished here, even if all its bytes were sent. The end of
            // the stream is sent in a separate step.
            guard taken == head.outbound.remaining, !head.outbound.endsStream else { return }
            _ = writing.flight.popFirst()
            finish(head, nil, &deferred)
        }
    }
}
