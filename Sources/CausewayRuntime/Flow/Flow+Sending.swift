package import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow {
    /// The most pieces and octets that one gathered send takes.
    static var gatherPieceLimit: Int { 32 }
    static var gatherByteLimit: Int { 1 << 20 }

    // MARK: Requests

    /// Queues a whole message without wishes. Its waiter learns when the transport has taken all of it.
    package func send(_ outbound: Outbound) {
        submit(outbound, ticket: nil) { state in state.enqueue(outbound) }
    }

    /// Queues content of a message that has wishes, or is longer than its first content.
    package func send(_ entry: SendQueue<Outbound>.Entry) {
        submit(entry.payload, ticket: entry.ticket) { state in state.enqueue(entry) }
        if entry.deadline != nil { armExpiry() }
    }

    @inline(__always)
    private func submit(_ outbound: Outbound, ticket: MessageTicket?, _ enqueue: (inout State) -> Void) {
        var aftermath = Aftermath()
        var mustWrite = false
        let delivery = state.withLock { state -> Delivery? in
            if let failure = state.failure {
                ticket?.progress = .failed
                state.answer(outbound.waiter, failure, &aftermath)
            } else if state.sendingHasEnded {
                state.answer(outbound.waiter, Failure(errno: Errno.brokenPipe), &aftermath)
            } else {
                enqueue(&state)
                mustWrite = state.hasWriteWork
            }
            return state.delivery
        }
        aftermath.perform(delivery, on: loop)
        if mustWrite { pumpWrites() }
    }

    // MARK: Expiry

    /// Has messages answered when they expire, whether or not anything can leave by then.
    private func armExpiry() {
        guard let time = state.withLock({ state in state.takeExpiryTime() }) else { return }
        _ = loop.schedule(after: max(.zero, time - Machine.now)) { [weak self] in self?.expire(at: time) }
    }

    /// A timer that comes too early, too late, or after the message has left does no harm.
    private func expire(at time: Duration) {
        var aftermath = Aftermath()
        let delivery = state.withLock { state -> Delivery? in
            state.expiryTimes.removeAll { $0 == time }
            state.dropLost(at: max(time, Machine.now), &aftermath)
            return state.delivery
        }
        aftermath.perform(delivery, on: loop)
        armExpiry()
    }

    /// Writes on the caller's thread, if nothing stands before the content. Out of line: what it needs must not lie in the frame of every
    /// suspended task.
    @inline(never)
    func writeNow(_ data: Data, _ endsStream: Bool) -> ImmediateResult {
        guard !endsStream else { return .unclaimed }
        var isBurst = false
        guard let transport = state.withLock({ state in state.beginImmediateWrite(data.count, &isBurst) }) else {
            return isBurst ? .postponed : .unclaimed
        }
        return finishImmediateWrite(
            WritePlan(transport: transport, content: .single(data, from: 0)).perform(), data.count)
    }

    enum ImmediateResult {
        case done(Failure?)
        /// Some octets are out, and the claim is still held.
        case partial(Int, Retry)
        /// Nothing was tried.
        case unclaimed
        /// Nothing was tried, for others must get their turn first.
        case postponed
    }

    private func finishImmediateWrite(_ result: IOResult, _ count: Int) -> ImmediateResult {
        var sent = 0
        var retry = Retry.whenWritable
        switch result {
        case .moved(count):
            var mustWrite = false
            var mustRead = false
            let closing = state.withLock { state -> Closing? in
                state.isWritable = true
                state.isWriting = false
                state.sentByteCount &+= UInt64(count)
                // Others may have queued content while the claim was held.
                mustWrite = state.hasWriteWork
                mustRead = state.settleEnd()
                return state.takeClosing()
            }
            closing?.perform(on: loop)
            if mustRead { requeueRead() }
            if mustWrite { pumpWrites() }
            return .done(nil)
        case .moved(let some): sent = some
        case .wouldBlock: break
        case .failed(let code) where code == Errno.noBuffers || code == Errno.noMemory: retry = .later
        case .failed(let code):
            state.withLock { state in state.isWriting = false }
            fail(Failure(errno: code))
            return .done(Failure(errno: code))
        }
        state.withLock { state in state.sentByteCount &+= UInt64(sent) }
        return .partial(sent, retry)
    }

    /// Puts what is left of an immediate write ahead of everything, gives the claim back and waits for room.
    func continueWrite(_ outbound: Outbound, _ retry: Retry) {
        var aftermath = Aftermath()
        var mustRead = false
        let (delivery, closing, transport) = state.withLock { state -> (Delivery?, Closing?, Transport?) in
            state.isWriting = false
            mustRead = state.settleEnd()
            if let failure = state.failure {
                state.answer(outbound.waiter, failure, &aftermath)
            } else {
                state.inFlightByteCount += outbound.remaining
                state.inFlight.prepend(State.InFlight(outbound: outbound, ticket: nil, endsMessage: true))
            }
            return (state.delivery, state.takeClosing(), state.transport)
        }
        aftermath.perform(delivery, on: loop)
        closing?.perform(on: loop)
        if mustRead { requeueRead() }
        guard closing == nil, let transport else { return }
        // An edge may have come since: then there is room already.
        if state.withLock({ state in state.isWritable }) { pumpWrites() } else { arrange(retry, transport) }
    }

    /// While corked, content only gathers; ``uncork()`` sends it in as few system calls as possible.
    package func cork() { state.withLock { state in state.isCorked = true } }

    package func uncork() {
        state.withLock { state in state.isCorked = false }
        pumpWrites()
    }

    // MARK: Writing

    func pumpWrites() {
        var aftermath = Aftermath()
        var (delivery, plan) = state.withLock { state in
            let plan = state.beginWrite(&aftermath)
            return (state.delivery, plan)
        }
        aftermath.perform(delivery, on: loop)
        while let current = plan.take() {
            let result = current.perform()
            var closing: Closing?
            var retry = Retry.none
            var mustRead = false
            (delivery, plan) = state.withLock { state in
                retry = state.finishWrite(current, result, &aftermath)
                let next = retry == .none ? state.beginWrite(&aftermath) : nil
                mustRead = state.settleEnd()
                closing = state.takeClosing()
                return (state.delivery, next)
            }
            aftermath.perform(delivery, on: loop)
            closing?.perform(on: loop)
            if mustRead { requeueRead() }
            if closing == nil { arrange(retry, current.transport) }
        }
    }

    /// How a write that could not be done goes on.
    enum Retry: Equatable { case none, whenWritable, later }

    private func arrange(_ retry: Retry, _ transport: Transport) {
        switch retry {
        case .none: break
        case .later:
            // The kernel is short of buffers, and reports no edge when it has some again.
            _ = loop.schedule(after: .milliseconds(2)) { self.ready(for: .writable) }
        case .whenWritable:
            switch transport {
            case .socket(let fd, let registration):
                // A datagram socket reports an edge for each datagram that leaves, so it is asked only when needed.
                let kind = state.withLock { state in state.kind }
                if kind == .datagram { loop.update(registration, fd, for: [.readable, .writable]) }
                loop.await(.writable, of: registration)
            case .peer(let shared, _): shared.awaitWritable(self)
            case .scripted: break
            }
        }
    }
}

/// One write that was claimed. It retains the content, so that its addresses stay valid.
struct WritePlan {
    enum Content {
        case single(Data, from: Int)
        case gathered([Data], from: Int)
        case end
        case datagrams(DatagramPlan)
    }

    var transport: Transport
    var content: Content
    /// Octets offered.
    var byteCount = 0

    func perform() -> IOResult {
        switch content {
        case .single(let data, let offset):
            return data.withUnsafeBytes { bytes in
                if case .socket(let fd, _) = transport {
                    return Socket.send(fd, UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                }
                var piece = iovec(rebasing: bytes, from: offset)
                return withUnsafePointer(to: &piece) { transport.write(UnsafeBufferPointer(start: $0, count: 1)) }
            }
        case .gathered(let contents, let offset):
            return withPieces(contents, from: offset) { transport.write($0) }
        case .end:
            let code = transport.shutdownWrite()
            // The peer may have gone already: then reading will say so.
            return code == 0 || code == Errno.notConnected ? .moved(0) : .failed(code)
        case .datagrams(let plan):
            return plan.perform(transport)
        }
    }
}

extension iovec {
    init(rebasing bytes: UnsafeRawBufferPointer, from offset: Int = 0) {
        self.init(
            iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress.map { $0 + offset }),
            iov_len: bytes.count - offset)
    }
}

/// Calls `body` with the addresses of all contents at once: each lies in the scope of the one before.
func withPieces<R>(_ contents: [Data], from offset: Int, _ body: (UnsafeBufferPointer<iovec>) -> R) -> R {
    withUnsafeTemporaryAllocation(of: iovec.self, capacity: contents.count) { pieces in
        func descend(_ index: Int) -> R {
            if index == contents.count { return body(UnsafeBufferPointer(pieces)) }
            return contents[index].withUnsafeBytes { bytes in
                pieces.initializeElement(at: index, to: iovec(rebasing: bytes, from: index == 0 ? offset : 0))
                return descend(index + 1)
            }
        }
        return descend(0)
    }
}

extension Flow.State {
    /// Immediate writes in a row before a task must suspend.
    private static var burstLimit: UInt8 { 32 }

    /// Claims a write that need not be queued: nothing waits and the transport has room.
    mutating func beginImmediateWrite(_ count: Int, _ isBurst: inout Bool) -> Transport? {
        guard kind == .stream, mayTransfer, isWritable, !isWriting, !isCorked, count > 0, closing == nil,
            phase == .open,
            failure == nil, !sendingHasEnded, inFlight.isEmpty, backlog == nil, let transport
        else { return nil }
        burst += 1
        guard burst < Self.burstLimit else {
            burst = 0
            isBurst = true
            return nil
        }
        isWriting = true
        // Cleared before the call: an edge that comes during it must not be lost.
        isWritable = false
        return transport
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

    private mutating func begin(_ entry: SendQueue<Outbound>.Entry, _ aftermath: inout Aftermath) {
        var entry = entry
        if kind == .datagram, datagrams[0].outgoing.count > 0 || !entry.endsMessage {
            // Parts of one message leave as one datagram; a part is taken when it has joined the others.
            datagrams[0].outgoing += entry.payload.data
            guard entry.endsMessage else { return answer(entry.payload.waiter, nil, &aftermath) }
            entry.payload.data = datagrams[0].outgoing
            entry.payload.isDatagram = true
            datagrams[0].outgoing = Data()
        }
        inFlightByteCount += entry.payload.data.count
        inFlight.append(InFlight(outbound: entry.payload, ticket: entry.ticket, endsMessage: entry.endsMessage))
    }

    private func lose(_ entry: SendQueue<Outbound>.Entry, _ code: CInt, _ aftermath: inout Aftermath) {
        entry.ticket?.progress = .failed
        answer(entry.payload.waiter, Failure(errno: code), &aftermath)
    }

    /// Answers what will never leave.
    mutating func dropLost(at now: Duration, _ aftermath: inout Aftermath) {
        while let step = backlog?.nextLost(at: now) {
            switch step {
            case .send: return
            case .expired(let entry): lose(entry, Errno.timedOut, &aftermath)
            case .antecedentFailed(let entry): lose(entry, Errno.cancelled, &aftermath)
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
    mutating func fillFlight(_ aftermath: inout Aftermath) {
        while inFlight.count < Flow.gatherPieceLimit, inFlightByteCount < Flow.gatherByteLimit {
            switch backlog?.next(at: Machine.now) {
            case .send(let entry): begin(entry, &aftermath)
            case .expired(let entry): lose(entry, Errno.timedOut, &aftermath)
            case .antecedentFailed(let entry): lose(entry, Errno.cancelled, &aftermath)
            case nil:
                if backlog?.letsPlainPass == true { backlog = nil }
                return
            }
        }
    }

    /// Claims the next write, unless there is nothing to write or somebody is at it.
    mutating func beginWrite(_ aftermath: inout Aftermath) -> WritePlan? {
        guard hasWriteWork, let transport else { return nil }
        repeat {
            finishEmpty(&aftermath)
            if backlog != nil { fillFlight(&aftermath) }
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
    private mutating func finishEmpty(_ aftermath: inout Aftermath) {
        while let head = inFlight.first, head.isEmpty {
            _ = inFlight.popFirst()
            finish(head, nil, &aftermath)
        }
    }

    mutating func finishWrite(_ plan: WritePlan, _ result: IOResult, _ aftermath: inout Aftermath) -> Flow.Retry {
        isWriting = false
        guard closing == nil else { return .none }
        if case .datagrams(let datagrams) = plan.content { return finishDatagrams(datagrams, result, &aftermath) }
        switch (result, plan.content) {
        case (.moved, .end):
            isWritable = true
            if let head = inFlight.popFirst() { finish(head, nil, &aftermath) }
            return .none
        case (.moved(let count), _):
            advance(by: count, &aftermath)
            if count == plan.byteCount { isWritable = true }
            return isWritable ? .none : .whenWritable
        case (.wouldBlock, _):
            // An edge may have come during the call: it is the only one.
            return isWritable ? .none : .whenWritable
        case (.failed(Errno.noBuffers), _), (.failed(Errno.noMemory), _):
            return .later
        case (.failed(let code), _):
            breakDown(Failure(errno: code), &aftermath)
            return .none
        }
    }

    /// Takes sent octets off the front.
    mutating func advance(by count: Int, _ aftermath: inout Aftermath) {
        sentByteCount &+= UInt64(count)
        inFlightByteCount -= count
        var left = count
        while left > 0, let head = inFlight.first {
            let taken = min(left, head.outbound.remaining)
            left -= taken
            inFlight[0].outbound.offset += taken
            // The end of a stream is a step of its own, after its octets.
            guard taken == head.outbound.remaining, !head.outbound.endsStream else { return }
            _ = inFlight.popFirst()
            finish(head, nil, &aftermath)
        }
    }
}

extension Flow.State.InFlight {
    /// Whether there is nothing that the transport must be told.
    var isEmpty: Bool { outbound.remaining == 0 && !outbound.endsStream && !outbound.isDatagram }
}
