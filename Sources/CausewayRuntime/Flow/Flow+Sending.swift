package import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials
internal import Synchronization

extension Flow {
    /// The most pieces and bytes that one gathered send takes.
    static var gatherPieceLimit: Int { 32 }
    static var gatherByteLimit: Int { 1 << 20 }

    // MARK: Requests

    /// Queues a whole message without wishes. Its waiter learns when the transport has taken all of it.
    package func send(_ outbound: Outbound) {
        if sendAtOnce(outbound) { return }
        submit(outbound, ticket: nil) { state in state.enqueue(outbound) }
    }

    /// Queues content of a message that has wishes, or is longer than its first content.
    package func send(_ entry: SendQueue<Outbound>.Entry) {
        submit(entry.payload, ticket: entry.ticket) { state in state.enqueue(entry) }
        if entry.deadline != nil { armExpiry() }
    }

    /// Content that nothing stands before goes to the transport without being queued. Returns whether this was such.
    private func sendAtOnce(_ outbound: Outbound) -> Bool {
        guard !outbound.endsStream, outbound.offset == 0,
            let transport = state.withLock({ state in state.beginImmediateWrite(outbound.data.count) })
        else { return false }
        let result = outbound.data.withUnsafeBytes { transport.write(single: $0) }
        switch finishImmediateWrite(result, outbound.data.count, outbound.waiter) {
        case .partial(let sent, let retry):
            var rest = outbound
            rest.offset = sent
            continueWrite(rest, retry)
        case .done, .unclaimed, .postponed: break
        }
        return true
    }

    @inline(__always)
    private func submit(_ outbound: Outbound, ticket: MessageTicket?, _ enqueue: (inout State) -> Void) {
        var deferred = DeferredActions()
        var mustWrite = false
        let delivery = state.withLock { state -> Delivery? in
            if let failure = state.failure {
                ticket?.progress = .failed
                state.answer(outbound.waiter, failure, &deferred)
            } else if state.sendingHasEnded {
                state.answer(outbound.waiter, Failure(errno: Errno.brokenPipe), &deferred)
            } else {
                enqueue(&state)
                mustWrite = state.hasWriteWork
            }
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
        if mustWrite { pumpWrites() }
    }

    // MARK: Expiry

    /// Has messages answered when they expire, whether or not anything can leave by then.
    private func armExpiry() {
        guard let time = state.withLock({ state in state.takeExpiryTime() }) else { return }
        _ = loop.schedule(after: max(.zero, time - System.now)) { [weak self] in self?.expire(at: time) }
    }

    /// A timer that comes too early, too late, or after the message has left does no harm.
    private func expire(at time: Duration) {
        var deferred = DeferredActions()
        let delivery = state.withLock { state -> Delivery? in
            state.expiryTimes.removeAll { $0 == time }
            state.dropLost(at: max(time, System.now), &deferred)
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
        armExpiry()
    }

    /// Writes on the caller's thread, if nothing stands before the content. Out of line: what it needs must not lie in the frame of every
    /// suspended task.
    @inline(never)
    package func writeNow(_ data: Data, _ endsStream: Bool) -> ImmediateResult {
        guard !endsStream else { return .unclaimed }
        var isBurst = false
        guard let transport = state.withLock({ state in state.beginTaskWrite(data.count, &isBurst) }) else {
            return isBurst ? .postponed : .unclaimed
        }
        return finishImmediateWrite(data.withUnsafeBytes { transport.write(single: $0) }, data.count)
    }

    /// The same for bytes that are lent for the duration of the call.
    func writeNow(lent bytes: UnsafeRawBufferPointer) -> ImmediateResult {
        var isBurst = false
        guard let transport = state.withLock({ state in state.beginTaskWrite(bytes.count, &isBurst) }) else {
            return .unclaimed
        }
        return finishImmediateWrite(transport.write(single: bytes), bytes.count)
    }

    package enum ImmediateResult {
        case done(Failure?)
        /// Some bytes are out, and the claim is still held.
        case partial(Int, Retry)
        /// Nothing was tried.
        case unclaimed
        /// Nothing was tried, for others must get their turn first.
        case postponed
    }

    /// Ends the claim, and answers who waits, if all is out or nothing ever will be.
    private func finishImmediateWrite(
        _ result: IOResult, _ count: Int, _ waiter: SendWaiter = .nobody
    ) -> ImmediateResult {
        var sent = 0
        var retry = Retry.whenWritable
        switch result {
        case .moved(count):
            finishWholeWrite(count, waiter)
            return .done(nil)
        case .moved(let some): sent = some
        case .wouldBlock: break
        case .failed(let code) where code == Errno.noBuffers || code == Errno.noMemory: retry = .later
        case .failed(let code) where state.withLock({ state in state.leavesToReader(code) }): break
        case .failed(let code):
            failWrite(Failure(errno: code), waiter)
            return .done(Failure(errno: code))
        }
        state.withLock { state in state.sentByteCount &+= UInt64(sent) }
        return .partial(sent, retry)
    }

    private func finishWholeWrite(_ count: Int, _ waiter: SendWaiter) {
        var posted: Delivery?
        var failure: Failure?
        var mustWrite = false
        var mustRead = false
        let closing = state.withLock { state -> Closing? in
            state.isWritable = true
            state.isWriting = false
            state.sentByteCount &+= UInt64(count)
            // Cancelled meanwhile: nobody knows what the peer will see of it.
            if state.closing != nil { failure = state.failure }
            if case .callback(let completion) = waiter { posted = state.post(.sent(completion, failure)) }
            // Others may have queued content while the claim was held.
            mustWrite = state.hasWriteWork
            mustRead = state.settleEnd()
            return state.takeClosing()
        }
        posted?.dispatch(behindBatchOf: loop)
        switch waiter {
        case .channel(let completion): completion(failure)
        case .task(_, let continuation): continuation.resume(returning: failure)
        case .callback, .nobody: break
        }
        closing?.perform(on: loop)
        if mustRead { requeueRead() }
        if mustWrite { pumpWrites() }
    }

    private func failWrite(_ failure: Failure, _ waiter: SendWaiter) {
        var deferred = DeferredActions()
        let (delivery, closing) = state.withLock { state -> (Delivery?, Closing?) in
            state.isWriting = false
            let told = state.failure ?? failure
            state.lose(failure, isBehindEnd: failure.code == Errno.brokenPipe, &deferred)
            state.answer(waiter, told, &deferred)
            return (state.delivery, state.takeClosing())
        }
        deferred.perform(delivery, on: loop)
        closing?.perform(on: loop)
        if closing == nil { examineLoss() }
    }

    /// Puts what is left of an immediate write ahead of everything, gives the claim back and waits for room.
    func continueWrite(_ outbound: Outbound, _ retry: Retry) {
        var deferred = DeferredActions()
        var mustRead = false
        let (delivery, closing, transport) = state.withLock { state -> (Delivery?, Closing?, Transport?) in
            state.isWriting = false
            mustRead = state.settleEnd()
            if let failure = state.failure {
                state.answer(outbound.waiter, failure, &deferred)
            } else {
                state.inFlightByteCount += outbound.remaining
                state.inFlight.prepend(State.InFlight(outbound: outbound, ticket: nil, endsMessage: true))
            }
            return (state.delivery, state.takeClosing(), state.transport)
        }
        deferred.perform(delivery, on: loop)
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
        var deferred = DeferredActions()
        var (delivery, plan) = state.withLock { state in
            let plan = state.beginWrite(&deferred)
            return (state.delivery, plan)
        }
        deferred.perform(delivery, on: loop)
        while let current = plan.take() {
            let result = current.perform()
            var closing: Closing?
            var retry = Retry.none
            var mustRead = false
            (delivery, plan) = state.withLock { state in
                retry = state.finishWrite(current, result, &deferred)
                let next = retry == .none ? state.beginWrite(&deferred) : nil
                mustRead = state.settleEnd()
                closing = state.takeClosing()
                return (state.delivery, next)
            }
            deferred.perform(delivery, on: loop)
            closing?.perform(on: loop)
            if mustRead { requeueRead() }
            if closing == nil { arrange(retry, current.transport) }
        }
    }

    /// How a write that could not be done goes on.
    package enum Retry: Equatable {
        case none, whenWritable, later
        /// Not at all, for the transport broke.
        case lost
    }

    private func arrange(_ retry: Retry, _ transport: Transport) {
        switch retry {
        case .none: break
        case .lost: examineLoss()
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
