internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow {
    /// The minimum size in bytes of a datagram train that is delivered without a copy.
    ///
    /// A train is a series of datagrams that were received in one block. A smaller train is copied out of the memory
    /// block into which it was read.
    static var datagramHandOverByteCount: Int { 12 << 10 }

    func readDatagrams(_ plan: ReadPlan, _ mayGoOn: Bool) -> ReadPlan? {
        var reader = PacketReader(blockCount: PacketReader.packetLimit)
        var trains: [DatagramBatch.Train] = []
        var isFull = false
        var failure: SystemError?
        do throws(SystemError) {
            let count = try reader.receive(plan.transport.descriptor, wantsPeer: false)
            isFull = count == PacketReader.packetLimit
            trains = reader.takeTrains(0..<count)
        } catch {
            failure = error
        }
        return finishRead(plan) { state, deferred in
            state.finishReadingDatagrams(trains, isFull: isFull, failure, &deferred)
            return mayGoOn ? state.beginRead() : nil
        }
    }

    /// Accepts datagrams from this flow's peer. The reader of the shared socket calls this method. The result states
    /// whether reading must pause, and whether datagrams were dropped.
    @discardableResult
    func arrived(_ trains: [DatagramBatch.Train], isSocketDeep: Bool = false) -> DatagramInbox.Room {
        var deferred = DeferredActions()
        var hasRoom = true
        let (delivery, isAbove) = state.withLock { state -> (Delivery?, Bool) in
            guard !state.link.isEnding else { return (nil, false) }
            for train in trains { hasRoom = state.accept(train) && hasRoom }
            state.datagrams[0].holdRule.isSocketDeep = isSocketDeep
            state.match(nil, &deferred)
            return (state.delivery, state.datagrams[0].isAboveMark)
        }
        deferred.perform(delivery, on: loop)
        // Check the limit again, because the program may have received datagrams since the first check.
        guard isAbove, state.withLock({ state in state.beginHold() }) else { return .ample }
        return hasRoom ? .held : .none
    }
}

extension PacketReader {
    /// Converts one peer's packets to trains. A train is a group of datagrams that were received in one block.
    ///
    /// The kernel can coalesce several datagrams in one packet, which is already a train. The other packets contain one
    /// datagram each. Consecutive datagrams of equal length are joined to one train and share one block. The program
    /// receives them as a batch or one by one.
    mutating func takeTrains(_ range: Range<Int>) -> [DatagramBatch.Train] {
        var trains: [DatagramBatch.Train] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = endOfRun(from: start, before: range.upperBound)
            let segment = shape(of: start).segmentByteCount
            join(start..<end)
            trains.append(takeTrain(start, segment: segment))
            start = end
        }
        return trains
    }

    /// Finds the packets that can be joined with the packet at `start` to one train. A train is several datagrams in
    /// one block. Returns the index after the last packet.
    ///
    /// Each joined packet is a single datagram. These datagrams have equal length; only the final datagram can be
    /// shorter.
    private func endOfRun(from start: Int, before limit: Int) -> Int {
        let (count, segment) = shape(of: start)
        guard count > 0, count == segment else { return start + 1 }
        let mark = mark(of: start)
        var (end, total) = (start + 1, count)
        while end < limit {
            let next = shape(of: end)
            guard next.byteCount == next.segmentByteCount, next.byteCount > 0, next.byteCount <= count,
                total + next.byteCount <= Self.blockByteCount, self.mark(of: end) == mark
            else { break }
            total += next.byteCount
            end += 1
            if next.byteCount < count { break }
        }
        return end
    }

    /// Returns the packet at `index` as a train, which is a memory block with one or more datagrams.
    ///
    /// The bytes of a small packet are copied. For a large packet, the train takes over the reader's memory block.
    mutating func takeTrain(_ index: Int, segment: Int) -> DatagramBatch.Train {
        let (count, mark) = (shape(of: index).byteCount, mark(of: index))
        guard count >= Flow.datagramHandOverByteCount else {
            return DatagramBatch.Train(bytes: withBytes(of: index) { Data($0) }, segment: segment, mark: mark)
        }
        let block = takeBlock(of: index)
        return DatagramBatch.Train(bytes: block.data(0, count), segment: segment, mark: mark, block: block)
    }
}

extension PacketBlock {
    /// Returns part of this memory block's bytes as data, without copying them. The returned data retains the block.
    func data(_ start: Int, _ count: Int) -> Data {
        Data(bytesNoCopy: bytes + start, count: count, deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
}

extension Flow.State {
    mutating func accept(_ train: DatagramBatch.Train) -> Bool {
        reading.byteCount &+= UInt64(train.bytes.count)
        return datagrams[0].inbox.append(train)
    }

    mutating func finishReadingDatagrams(
        _ trains: [DatagramBatch.Train], isFull: Bool, _ failure: SystemError?, _ deferred: inout DeferredActions
    ) {
        reading.isReading = false
        guard !link.isEnding else { return }
        if isFull { reading.isReadable = true }
        for train in trains { _ = accept(train) }
        if let failure {
            // A host or router on the path has rejected an earlier datagram. One receive call reports this error. The
            // flow stays open.
            reading.isReadable = true
            datagrams[0].refusal = Failure(errno: failure.errno)
        }
        match(nil, &deferred)
    }

    /// Completes the receive calls for which datagrams are available.
    ///
    /// If the oldest call has a closure for a serial queue, this method only schedules the delivery on that queue.
    ///
    /// The scheduled method ``Flow/deliverDatagrams()`` delivers one datagram after another, so a batch needs only one
    /// dispatch.
    mutating func matchDatagrams(_ deferred: inout DeferredActions) {
        while let isOfQueue = reading.receives.waiters.first?.isOfQueue, datagrams[0].hasAnswer {
            if isOfQueue, let delivery, delivery.isSerial, let flow = datagrams[0].flow {
                return postDatagrams(of: flow, on: delivery, &deferred)
            }
            guard let (waiter, answer) = takeDatagramAnswer() else { break }
            self.answer(waiter, answer, &deferred)
        }
        releaseHold(&deferred)
    }

    /// Pauses the shared socket's reader if too many datagrams wait for the program (``DatagramInbox/Mark``). The
    /// reader continues when the number of waiting datagrams has fallen to half of this limit. Returns `false` if the
    /// limit is not exceeded.
    mutating func beginHold() -> Bool {
        guard kind == .datagram, !link.isEnding else { return false }
        return datagrams[0].beginHold()
    }

    /// Resumes reading if a full inbox had paused it and the inbox is now at most half full.
    mutating func releaseHold(_ deferred: inout DeferredActions) {
        if let socket = takeReleased() { deferred.resume(.read(socket)) }
    }

    /// Ends a pause in reading from a shared socket. Does so only if a full inbox caused the pause and the inbox is now
    /// at most half full.
    ///
    /// Returns the shared socket, which the caller must read again. Returns `nil` in all other cases.
    mutating func takeReleased() -> SharedDatagramSocket? {
        guard datagrams[0].inbox.releaseHold(), case .peer(let socket, _) = link.transport else { return nil }
        return socket
    }

    /// Completes waiting receive calls with datagrams that arrived before the flow ended.
    mutating func answerWithDatagrams(_ deferred: inout DeferredActions) {
        guard link.mayTransfer else { return }
        while let (waiter, answer) = takeDatagramAnswer() { self.answer(waiter, answer, &deferred) }
        releaseHold(&deferred)
    }

    private func answer(_ waiter: ReceiveWaiter, _ answer: DatagramAnswer, _ deferred: inout DeferredActions) {
        switch answer {
        case .content(let content): self.answer(waiter, content, &deferred)
        case .batch(let batch): self.answer(waiter, batch, &deferred)
        }
    }

    /// Removes the oldest receive call and returns it with its result; `nil` if no call can complete yet.
    mutating func takeDatagramAnswer() -> (ReceiveWaiter, DatagramAnswer)? {
        guard let takesBatch = reading.receives.waiters.first?.takesBatch, let demand = reading.receives.queue.oldest
        else { return nil }
        let answer: DatagramAnswer
        if let refused = datagrams[0].refusal.take() {
            answer = .content(ReceivedContent(error: refused))
        } else if takesBatch {
            guard let batch = datagrams[0].inbox.takeAll() else { return nil }
            answer = .batch(batch)
        } else {
            guard let (data, mark, isWhole) = datagrams[0].inbox.next(maximum: demand.maximum) else { return nil }
            answer = .content(ReceivedContent(data: data, packet: mark, isComplete: isWhole))
        }
        reading.receives.queue.dropOldest()
        return reading.receives.waiters.popFirst().map { ($0, answer) }
    }
}

/// The result of a receive call: one datagram, or all datagrams as a batch.
enum DatagramAnswer {
    case content(ReceivedContent)
    case batch(DatagramBatch)
}
