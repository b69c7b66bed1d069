internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow {
    /// Blocks that one read of a flow's own datagram socket fills.
    private static var blockCount: Int { 4 }
    /// From here on a block is handed over instead of copied.
    static var datagramHandOverByteCount: Int { 12 << 10 }

    func readDatagrams(_ plan: ReadPlan, _ mayGoOn: Bool) -> ReadPlan? {
        var reader = PacketReader(blockCount: Self.blockCount)
        var trains: [DatagramBatch.Train] = []
        var failure: SystemError?
        do throws(SystemError) {
            let count = try reader.receive(plan.transport.descriptor, wantsPeer: false)
            for index in 0..<count { trains.append(reader.takeTrain(index, reader[index])) }
        } catch {
            failure = error
        }
        return finishRead(plan) { state, aftermath in
            state.finishReadingDatagrams(trains, isFull: trains.count == Self.blockCount, failure, &aftermath)
            return mayGoOn ? state.beginRead() : nil
        }
    }

    /// Datagrams of this flow's peer that somebody else read. Returns whether there was room for all of them.
    @discardableResult
    func arrived(_ trains: [DatagramBatch.Train]) -> Bool {
        var aftermath = Aftermath()
        let (delivery, fit) = state.withLock { state -> (Delivery?, Bool) in
            guard state.phase != .closed, state.closing == nil else { return (nil, true) }
            var fit = true
            for train in trains { fit = state.accept(train) && fit }
            state.match(nil, &aftermath)
            return (state.delivery, fit)
        }
        aftermath.perform(delivery, on: loop)
        return fit
    }
}

extension PacketReader {
    /// Small packets are copied out; a train of some length takes its block with it.
    mutating func takeTrain(_ index: Int, _ packet: ReceivedPacket) -> DatagramBatch.Train {
        let bytes: Data
        if packet.byteCount >= Flow.datagramHandOverByteCount {
            bytes = Data(bytesNoCopy: takeBlock(of: index), count: packet.byteCount, deallocator: .free)
        } else {
            bytes = withBytes(of: index) { Data($0) }
        }
        return DatagramBatch.Train(bytes: bytes, segment: packet.segmentByteCount, mark: packet.info.mark)
    }
}

extension Flow.State {
    mutating func accept(_ train: DatagramBatch.Train) -> Bool {
        receivedByteCount &+= UInt64(train.bytes.count)
        return datagrams[0].inbox.append(train)
    }

    mutating func finishReadingDatagrams(
        _ trains: [DatagramBatch.Train], isFull: Bool, _ failure: SystemError?, _ aftermath: inout Aftermath
    ) {
        isReading = false
        guard closing == nil else { return }
        if isFull { isReadable = true }
        for train in trains { _ = accept(train) }
        if let failure {
            // Somebody on the way refused an earlier datagram: a receive learns of it, and the flow lives on.
            isReadable = true
            datagrams[0].refusal = Failure(errno: failure.errno)
        }
        match(nil, &aftermath)
    }

    mutating func matchDatagrams(_ aftermath: inout Aftermath) {
        while let waiter = waiters.first, let demand = receive.oldest {
            if let refused = datagrams[0].refusal.take() {
                popDemand()
                answer(waiter, ReceivedContent(error: refused), &aftermath)
                continue
            }
            switch waiter {
            case .batch, .batchTask:
                guard let batch = datagrams[0].inbox.takeAll() else { return }
                popDemand()
                answer(waiter, batch, &aftermath)
            case .callback, .channel, .stack, .task, .distantTask, .contentTask:
                guard let (data, mark, isWhole) = datagrams[0].inbox.next(maximum: demand.maximum) else { return }
                popDemand()
                answer(waiter, ReceivedContent(data: data, packet: mark, isComplete: isWhole), &aftermath)
            }
        }
    }

    private mutating func popDemand() {
        _ = waiters.popFirst()
        _ = receive.forgetDemand(at: 0)
    }
}
