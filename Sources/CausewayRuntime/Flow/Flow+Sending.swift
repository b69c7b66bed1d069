package import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials
internal import Synchronization

extension Flow {
    /// The maximum numbers of pieces and bytes in one gathered send (one system call that writes several pieces).
    static var gatherPieceLimit: Int { 32 }
    package static var gatherByteLimit: Int { 1 << 20 }

    // MARK: Requests

    /// Queues a whole message without per-message options.
    ///
    /// The send completes when the transport has accepted the whole message.
    package func send(_ outbound: Outbound) {
        if sendAtOnce(outbound) { return }
        submit(outbound, ticket: nil) { state in state.enqueue(outbound) }
    }

    /// Queues content of a message that has its own options, or more than one part.
    package func send(_ entry: SendQueue<Outbound>.Entry) {
        submit(entry.payload, ticket: entry.ticket) { state in state.enqueue(entry) }
        if entry.deadline != nil { armExpiry() }
    }

    /// Writes the content directly, without queueing it first. This is possible only if no earlier content is queued.
    ///
    /// Returns whether a write was attempted. If so, ``continueWrite(_:_:)`` sends the bytes that the transport did not
    /// accept.
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
            } else if state.writing.end != .open {
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

    /// Starts a timer that fails messages when they expire, even while nothing can be sent.
    private func armExpiry() {
        guard let time = state.withLock({ state in state.takeExpiryTime() }) else { return }
        _ = loop.schedule(after: max(.zero, time - System.now)) { [weak self] in self?.expire(at: time) }
    }

    /// Drops expired messages. The timer does no harm if it fires early, late, or after the message was sent.
    private func expire(at time: Duration) {
        var deferred = DeferredActions()
        let delivery = state.withLock { state -> Delivery? in
            state.writing.expiryTimes.removeAll { $0 == time }
            state.dropLost(at: max(time, System.now), &deferred)
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
        armExpiry()
    }

    /// Writes content on the caller's thread, if no earlier content is queued.
    ///
    /// The method is not inlined. Otherwise, its local variables would enlarge the frame of each suspended task.
    @inline(never)
    package func writeNow(_ data: Data, _ endsStream: Bool) -> ImmediateResult {
        guard !endsStream else { return .unclaimed }
        var isBurst = false
        guard let transport = state.withLock({ state in state.beginTaskWrite(data.count, &isBurst) }) else {
            return isBurst ? .postponed : .unclaimed
        }
        return finishImmediateWrite(data.withUnsafeBytes { transport.write(single: $0) }, data.count)
    }

    /// Writes bytes on the caller's thread without a copy. The bytes must stay valid only until this call returns.
    func writeNow(lent bytes: UnsafeRawBufferPointer) -> ImmediateResult {
        var isBurst = false
        guard let transport = state.withLock({ state in state.beginTaskWrite(bytes.count, &isBurst) }) else {
            return .unclaimed
        }
        return finishImmediateWrite(transport.write(single: bytes), bytes.count)
    }

    package enum ImmediateResult {
        case done(Failure?)
        /// The transport has accepted only some bytes; the first value is their number. The thread keeps its exclusive
        /// right to write (its claim).
        case partial(Int, Retry)
        /// Nothing was written, because this thread did not have the exclusive right to write.
        case unclaimed
        /// No write was attempted in this turn, so that other tasks get a turn first.
        case postponed
    }

    /// Completes the send if all bytes were sent, or if the transport failed. In these two cases, it also ends this
    /// thread's exclusive right to write. Otherwise, the caller must continue the write.
    private func finishImmediateWrite(
        _ result: IOResult, _ count: Int, _ waiter: SendWaiter = .unobserved
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
        case .failed(let code) where state.withLock({ state in state.reading.takesOver(code) }): break
        case .failed(let code):
            failWrite(Failure(errno: code), waiter)
            return .done(Failure(errno: code))
        }
        state.withLock { state in state.writing.byteCount &+= UInt64(sent) }
        return .partial(sent, retry)
    }

    private func finishWholeWrite(_ count: Int, _ waiter: SendWaiter) {
        var posted: Delivery?
        var failure: Failure?
        var mustWrite = false
        var mustRead = false
        let closing = state.withLock { state -> Closing? in
            state.writing.isWritable = true
            state.writing.endClaim()
            state.writing.byteCount &+= UInt64(count)
            // The flow may have been cancelled during the write. If so, report the failure, because some of the bytes
            // may not reach the peer.
            if state.link.isEnding { failure = state.failure }
            if case .callback(let completion) = waiter { posted = state.post(.sent(completion, failure)) }
            // While this thread was writing, other threads may have queued content. This thread must then write that
            // content too.
            mustWrite = state.hasWriteWork
            mustRead = state.settleEnd()
            return state.takeClosing()
        }
        posted?.dispatch(behindBatchOf: loop)
        switch waiter {
        case .channel(let completion): completion(failure)
        case .task(_, let continuation): continuation.resume(returning: failure)
        case .callback, .unobserved, .idempotent: break
        }
        closing?.perform(on: loop)
        if mustRead { requeueRead() }
        if mustWrite { pumpWrites() }
    }

    private func failWrite(_ failure: Failure, _ waiter: SendWaiter) {
        var deferred = DeferredActions()
        let (delivery, closing) = state.withLock { state -> (Delivery?, Closing?) in
            state.writing.endClaim()
            let told = state.failure ?? failure
            state.lose(failure, isBehindEnd: failure.code == Errno.brokenPipe, &deferred)
            state.answer(waiter, told, &deferred)
            return (state.delivery, state.takeClosing())
        }
        deferred.perform(delivery, on: loop)
        closing?.perform(on: loop)
        if closing == nil { examineLoss() }
    }

    /// Queues the bytes that an immediate write could not send. An immediate write is a write that bypasses the queue.
    ///
    /// The flow writes these bytes before all other content, as soon as the transport accepts more. This call ends the
    /// thread's exclusive right to write (its claim).
    func continueWrite(_ outbound: Outbound, _ retry: Retry) {
        var deferred = DeferredActions()
        var mustRead = false
        let (delivery, closing, transport) = state.withLock { state -> (Delivery?, Closing?, Transport?) in
            state.writing.endClaim()
            mustRead = state.settleEnd()
            if let failure = state.failure {
                state.answer(outbound.waiter, failure, &deferred)
            } else {
                state.writing.flight.prepend(outbound)
            }
            return (state.delivery, state.takeClosing(), state.link.transport)
        }
        deferred.perform(delivery, on: loop)
        closing?.perform(on: loop)
        if mustRead { requeueRead() }
        guard closing == nil, let transport else { return }
        // Since the write, the loop may have reported that the transport is writable. If so, the transport accepts
        // bytes again, so write again at once.
        if state.withLock({ state in state.writing.isWritable }) { pumpWrites() } else { arrange(retry, transport) }
    }

    /// Collects content until ``uncork()``, and writes nothing meanwhile. ``uncork()`` then writes all of it in as few
    /// system calls as possible.
    package func cork() { state.withLock { state in state.writing.isCorked = true } }

    package func uncork() {
        state.withLock { state in state.writing.isCorked = false }
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

    /// How to continue a write that could not complete.
    package enum Retry: Equatable {
        case none, whenWritable, later
        /// The transport broke, so the write must not continue.
        case lost
    }

    private func arrange(_ retry: Retry, _ transport: Transport) {
        switch retry {
        case .none: break
        case .lost: examineLoss()
        case .later:
            // The kernel has no memory for the packet (ENOBUFS or ENOMEM). It does not report when memory is free
            // again, so retry after a delay.
            _ = loop.schedule(after: .milliseconds(2)) { self.ready(for: .writable) }
        case .whenWritable:
            switch transport {
            case .socket(let fd, let registration):
                // With a datagram socket, the kernel reports each sent datagram as a writable event. So request this
                // event only when it is needed.
                let kind = state.withLock { state in state.kind }
                if kind == .datagram { loop.update(registration, fd, for: [.readable, .writable]) }
                loop.await(.writable, of: registration)
            case .peer(let shared, _): shared.awaitWritable(self)
            case .scripted: break
            }
        }
    }
}
