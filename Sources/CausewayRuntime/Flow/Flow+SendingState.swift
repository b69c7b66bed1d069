internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow.State {
    /// Gives the current thread the exclusive right to write, for content that bypasses the queue. Returns `nil` if
    /// earlier content waits, or if the flow cannot write now.
    mutating func beginImmediateWrite(_ count: Int) -> Transport? {
        guard kind == .stream, link.mayTransfer, writing.isWritable, !writing.isWriting, !writing.isCorked, count > 0,
            link.isOpen,
            failure == nil, writing.end == .open, writing.flight.entries.isEmpty, writing.backlog == nil,
            let transport = link.transport
        else { return nil }
        writing.claim(entryCount: 0)
        return transport
    }

    /// Gives a task's thread the exclusive right to write. If the task has written many times in a row and must suspend
    /// first, this method sets `isBurst` and returns `nil`.
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

    /// Whether a message can bypass the queue.
    private var letsPass: Bool {
        // Before the flow has a transport, no message bypasses the queue. The transmission of a message counts as
        // started once it has left the queue, and a later message with a higher priority could then not be sent first.
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
            // Parts of one message leave as one datagram. The send of a part is complete as soon as the part is
            // appended to the earlier parts.
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

    /// Returns the time at which the next message expires, for a new timer. Returns `nil` if no timer is needed: no
    /// message expires, the transport is closed, or a timer is already set for that time or earlier.
    mutating func takeExpiryTime() -> Duration? { link.isClosed ? nil : writing.takeExpiryTime() }

    /// Moves content from the queue to the content in flight (``Flight``), up to the limits for one gathered send (one
    /// system call that writes several pieces).
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

    /// Gives the current thread the exclusive right to write, and returns the write to perform. Returns `nil` if there
    /// is nothing to write, or if another thread is writing.
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

    /// Finishes entries without bytes, such as an end-of-message mark, at the head of the queue.
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
            // If the loop has reported during the write that the transport is writable, write again at once:
            // `isWritable` is set, and the loop does not report this readiness again.
            return writing.isWritable ? .none : .whenWritable
        case (.failed(Errno.noBuffers), _), (.failed(Errno.noMemory), _):
            return .later
        case (.failed(let code), _) where reading.takesOver(code): return .none
        case (.failed(let code), _):
            lose(Failure(errno: code), isBehindEnd: code == Errno.brokenPipe, &deferred)
            return .lost
        }
    }

    /// Notifies the flow's owner, once, that both directions have ended: the end of the local stream was sent, and the
    /// program has received the end of the peer's stream.
    mutating func noteEnds(_ deferred: inout DeferredActions) {
        guard writing.end == .sent, reading.receives.queue.hasDeliveredEnd, !link.isEnding, failure == nil,
            let owner = link.owner
        else { return }
        writing.end = .reported
        deferred.resume(.ended(owner))
    }

    /// Removes sent bytes from the front of the content in flight.
    mutating func advance(by count: Int, _ deferred: inout DeferredActions) {
        writing.byteCount &+= UInt64(count)
        var left = count
        while left > 0, let head = writing.flight.entries.first {
            let taken = writing.flight.advanceFirst(by: left)
            left -= taken
            // The stream's end is sent in a separate step after the bytes before it.
            guard taken == head.outbound.remaining, !head.outbound.endsStream else { return }
            _ = writing.flight.popFirst()
            finish(head, nil, &deferred)
        }
    }
}
