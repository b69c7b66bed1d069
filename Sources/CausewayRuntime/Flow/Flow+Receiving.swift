internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow {
    /// The maximum number of reads that one flow makes in a row before other flows run. The limit also applies to
    /// receive calls that read directly on the loop's thread. After this many such calls, the next one waits until
    /// other work has run.
    static var readBudget: Int { 16 }
    /// The number of bytes that a read may return beyond the requested number, so that a small receive call does not
    /// always cost a system call.
    static var readAhead: Int { 16 << 10 }
    /// The minimum size of content that takes over the memory block into which it was read. Smaller content is copied.
    /// In bytes.
    static var handOverByteCount: Int { 48 << 10 }

    // MARK: Requests

    /// Receives at least `minimum` and at most `maximum` bytes, fewer if the message or stream ends earlier.
    package func receive(minimum: Int, maximum: Int, _ completion: @escaping ReceiveCompletion) {
        request(.callback(completion)) { $0.demand(minimum: minimum, maximum: maximum) }
    }

    /// Receives one whole message.
    package func receiveMessage(_ completion: @escaping ReceiveCompletion) {
        request(.callback(completion)) { $0.demandMessage() }
    }

    /// Receives all datagrams that have arrived. If none has arrived, waits for the first one.
    package func receiveBatch(_ completion: @escaping BatchCompletion) {
        request(.batch(completion)) { $0.demandMessage() }
    }

    func request(_ waiter: ReceiveWaiter, _ demand: (inout ReceiveQueue) -> Void) {
        var plan: ReadPlan?
        if !enqueue(waiter, &plan, demand) { requestAtOnce(waiter, demand) }
        if let plan { pumpReads(plan) }
    }

    /// Queues a request if no earlier request waits and no content is available for it. Returns whether it was queued.
    @inline(__always)
    func enqueue(_ waiter: ReceiveWaiter, _ plan: inout ReadPlan?, _ demand: (inout ReceiveQueue) -> Void) -> Bool {
        var isPostponed = false
        let isPlaced = state.withLock { state in
            if state.kind == .datagram { return state.joinDelivery(waiter, demand) }
            guard state.failure == nil, state.reading.receives.queue.isIdle else { return false }
            state.reading.receives.append(waiter, demand)
            plan = state.beginRead(onLoop: loop.isCurrent, &isPostponed)
            return true
        }
        if isPostponed { requeueRead() }
        return isPlaced
    }

    /// Queues a receive request, and completes it at once if enough content is available.
    func requestAtOnce(_ waiter: ReceiveWaiter, _ demand: (inout ReceiveQueue) -> Void) {
        var deferred = DeferredActions()
        var plan: ReadPlan?
        var isPostponed = false
        var suspect: Transport?
        let delivery = state.withLock { state -> Delivery? in
            if let failure = state.failure, !state.isDraining {
                state.answerLate(waiter, failure, &deferred)
            } else {
                if state.kind == .datagram {
                    state.datagrams[0].holdRule.isReadOnLoop = !waiter.isOfQueue && loop.isCurrent
                }
                state.reading.receives.append(waiter, demand)
                state.match(nil, &deferred)
                plan = state.beginRead(onLoop: loop.isCurrent, &isPostponed)
                if plan == nil, !isPostponed, state.isDraining { suspect = state.beginErrorCheck() }
            }
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
        if isPostponed { requeueRead() }
        if let plan { pumpReads(plan) }
        if let suspect { checkError(of: suspect) }
    }

    // MARK: Reading

    func readOnQueue() {
        let plan = state.withLock { state in
            state.reading.isPosted = false
            return state.beginRead()
        }
        if let plan { pumpReads(plan) }
    }

    func pumpReads() {
        if let plan = state.withLock({ state in state.beginRead() }) { pumpReads(plan) }
    }

    /// Performs a read that this thread has already claimed. Then reads again while there is content, up to a limit.
    func pumpReads(_ first: ReadPlan) {
        var budget = Self.readBudget
        var plan: ReadPlan? = first
        while let current = plan.take() {
            budget -= 1
            let mayGoOn = budget > 0
            plan = current.isDatagram ? readDatagrams(current, mayGoOn) : readStream(current, mayGoOn)
        }
        // Let other flows on this thread run first, and read the remaining bytes later.
        if budget <= 0 { requeueRead() }
    }

    func requeueRead() {
        var posted: Delivery?
        var onLoop = false
        state.withLock { state in
            guard state.hasReadWork else { return }
            if state.reading.receives.waiters.first?.isDirect == false, let delivery = state.delivery {
                if state.reading.post(self, on: delivery) { posted = delivery }
            } else {
                onLoop = true
            }
        }
        posted?.dispatch(behindBatchOf: loop)
        if onLoop { loop.execute { self.pumpReads() } }
    }

    /// Reads once from a stream and delivers the content. If another read is possible at once, reserves this read for
    /// the current thread and returns it. The caller must perform the returned read.
    private func readStream(_ plan: ReadPlan, _ mayGoOn: Bool) -> ReadPlan? {
        let scratch = ThreadLocal.scratch
        let length = min(plan.length, scratch.count)
        let result = plan.transport.read(into: UnsafeMutableRawBufferPointer(rebasing: scratch[..<length]))
        // Allocate memory for the content now, before this method takes the lock.
        var arrived: Arrived?
        if case .moved(let count) = result, count > 0 {
            if plan.isForChannel {
                arrived = .lent(count)
            } else {
                guard let content = pass(Self.content(of: scratch, count), plan, length) else { return nil }
                arrived = .data(content)
            }
        }
        return finishRead(plan) { state, deferred in
            state.finishRead(result, length, arrived, &deferred)
            return mayGoOn ? state.beginRead() : nil
        }
    }

    /// Completes a read in the common case: only one receive call waits, and this call gets all bytes of the read. This
    /// method then ends this thread's claim, which is its exclusive right to read.
    ///
    /// In all other cases, this method only returns the content.
    private func pass(_ content: consuming Data, _ plan: ReadPlan, _ length: Int) -> Data? {
        guard plan.isForOne else { return content }
        var mustAwait = false
        var isMuted = false
        var posted: Delivery?
        var task: TaskContinuation?
        var isDistant = false
        let count = content.count
        let isPassed = state.withLock { state in
            guard state.finishRead(forOne: count, length) else { return false }
            mustAwait = !state.reading.isReadable
            if mustAwait { isMuted = state.reading.reports.wasReadOut() }
            switch state.reading.receives.waiters.first {
            case .task(_, let continuation): task = continuation
            case .distantTask(_, let continuation): (task, isDistant) = (continuation, true)
            case .callback(let completion):
                posted = state.post(.received(completion, ReceivedContent(data: copy content)))
            default: break
            }
            state.reading.receives.waiters.first = nil
            return true
        }
        guard isPassed else { return content }
        if mustAwait { awaitArrival(plan.transport, isMuted: isMuted) }
        posted?.dispatch(behindBatchOf: loop)
        guard let task else { return nil }
        if isDistant, loop.isCurrent {
            loop.resumeAfterBatch(.receive(task, StreamPiece(data: content, isFinal: false)))
        } else {
            task.resume(returning: .success(StreamPiece(data: content, isFinal: false)))
        }
        return nil
    }

    /// Ends this thread's exclusive right to read (its claim), and delivers the content. Closes the transport if the
    /// flow waits for this and no other thread uses the transport.
    func finishRead(
        _ plan: ReadPlan, _ finish: (inout State, inout DeferredActions) -> ReadPlan?
    ) -> ReadPlan? {
        var deferred = DeferredActions()
        var next: ReadPlan?
        var closing: Closing?
        var mustAwait = false
        var isMuted = false
        var suspect: Transport?
        let delivery = state.withLock { state -> Delivery? in
            next = finish(&state, &deferred)
            if next == nil, state.reading.signs.contains(.brokenPipe), state.failure == nil {
                state.lose(Failure(errno: Errno.brokenPipe), isBehindEnd: false, &deferred)
                next = state.beginRead()
            }
            if next == nil, state.reading.signs.contains(.error) { suspect = state.beginErrorCheck() }
            closing = state.takeClosing()
            mustAwait = !state.reading.isReadable && next == nil
            if mustAwait { isMuted = state.reading.reports.wasReadOut() }
            return state.delivery
        }
        deferred.perform(delivery, on: loop)
        if mustAwait, closing == nil { awaitArrival(plan.transport, isMuted: isMuted) }
        closing?.perform(on: loop)
        if let suspect { checkError(of: suspect) }
        return next
    }

    /// Returns the content in the thread's scratch block, a reusable buffer for reads. Small content is copied. Large
    /// content is not copied, and the result owns the block.
    private static func content(of scratch: UnsafeMutableRawBufferPointer, _ count: Int) -> Data {
        guard count >= handOverByteCount, let base = scratch.baseAddress else {
            return Data(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        }
        _ = ThreadLocal.takeScratch()
        return Data(bytesNoCopy: base, count: count, deallocator: .free)
    }
}
