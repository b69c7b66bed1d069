internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// The datagrams for one system call. Consecutive datagrams of equal length form a train, which the kernel takes as one
/// block (segmentation offload).
struct DatagramPlan {
    /// A single datagram or a train. A train consists of several datagrams with the same length. Only the last of them
    /// can be shorter.
    struct Group {
        var range: Range<Int>
        /// The number of bytes per datagram in a train; 0 for a single datagram. A train is several datagrams that the
        /// kernel takes in one block.
        var segment: Int
        var trafficClass: UInt8?
    }

    var contents: [Data] = []
    var groups: [Group] = []

    func perform(_ transport: Transport) -> IOResult {
        withPieces(contents, from: 0) { pieces in
            withUnsafeTemporaryAllocation(of: OutgoingPacket.self, capacity: groups.count) { packets in
                for (index, group) in groups.enumerated() {
                    let packet = OutgoingPacket(
                        pieces: UnsafeBufferPointer(rebasing: pieces[group.range]), segmentByteCount: group.segment,
                        trafficClass: group.trafficClass)
                    packets.initializeElement(at: index, to: packet)
                }
                return transport.send(UnsafeBufferPointer(packets))
            }
        }
    }
}

extension Transport {
    func send(_ packets: UnsafeBufferPointer<OutgoingPacket>) -> IOResult {
        switch self {
        case .socket(let fd, _): Socket.send(fd, packets, to: nil, from: nil)
        case .peer(let shared, let address):
            shared.send(packets, to: address)
        case .scripted(let script):
            // In tests, a scripted transport replaces the socket. Each write passes it one datagram or one train of
            // datagrams.
            packets.first.map { packet -> IOResult in
                let result = script.write(packet.pieces)
                if case .moved = result { return .moved(1) }
                return result
            } ?? .moved(0)
        }
    }
}

extension Flow.State {
    private static var datagramLimit: Int { 64 }

    /// Groups the datagrams that are ready to be sent.
    ///
    /// If the kernel supports segmentation offload (UDP_SEGMENT) on this socket, consecutive datagrams of equal length
    /// form a train. The kernel receives a train as one block and splits it into datagrams.
    func planDatagrams() -> DatagramPlan {
        var plan = DatagramPlan()
        append(writing.flight.entries.first, to: &plan)
        for entry in writing.flight.entries.dropFirst() {
            guard plan.contents.count < Self.datagramLimit, entry.outbound.isDatagram else { break }
            guard plan.groups.count < Socket.packetLimit else { break }
            append(entry, to: &plan)
        }
        return plan
    }

    private func append(_ entry: Flight.Entry?, to plan: inout DatagramPlan) {
        guard let outbound = entry?.outbound else { return }
        let index = plan.contents.count
        let count = outbound.data.count
        if datagrams[0].hasSegmentOffload, var group = plan.groups.last, group.trafficClass == outbound.trafficClass,
            count > 0
        {
            let first = plan.contents[group.range.lowerBound].count
            let last = plan.contents[group.range.upperBound - 1].count
            let fits =
                group.range.count < Socket.trainDatagramLimit
                && first * (group.range.count + 1) <= Socket.trainByteLimit
            if last == first, count <= first, fits {
                group.range = group.range.lowerBound..<(index + 1)
                group.segment = first
                plan.groups[plan.groups.count - 1] = group
                plan.contents.append(outbound.data)
                return
            }
        }
        plan.contents.append(outbound.data)
        plan.groups.append(
            DatagramPlan.Group(range: index..<(index + 1), segment: 0, trafficClass: outbound.trafficClass))
    }

    mutating func finishDatagrams(
        _ plan: DatagramPlan, _ result: IOResult, _ deferred: inout DeferredActions
    ) -> Flow.Retry {
        switch result {
        case .moved(let count):
            writing.isWritable = true
            for group in plan.groups.prefix(count) {
                for _ in group.range { finishDatagram(nil, &deferred) }
            }
            return .none
        case .wouldBlock:
            // The loop may have reported during the send call that the socket is writable. In this case, `isWritable`
            // is set, and the loop does not report it again. So send again at once.
            return writing.isWritable ? .none : .whenWritable
        case .failed(Errno.noBuffers), .failed(Errno.noMemory):
            return .later
        case .failed(let code):
            writing.isWritable = true
            if (plan.groups.first?.segment ?? 0) > 0, Self.meansNoOffload(code) {
                // Some devices and paths do not permit segmentation offload. From now on, this flow sends its datagrams
                // one by one.
                datagrams[0].hasSegmentOffload = false
            } else {
                // Fail only the first datagram, and continue with the others. The error may belong to a datagram that
                // was sent earlier. It may also be temporary, for example if sending is not permitted at present.
                finishDatagram(Failure(errno: code), &deferred)
            }
            return .none
        }
    }

    /// Returns whether the error code means that the kernel cannot divide a block into its datagrams.
    ///
    /// Any other error, such as a rejection by the peer's host, would also occur for single datagrams.
    private static func meansNoOffload(_ code: CInt) -> Bool {
        [Errno.invalid, Errno.inputOutput, Errno.messageTooLong, Errno.notSupported, Errno.protocolOptionNotSupported]
            .contains(code)
    }

    private mutating func finishDatagram(_ error: Failure?, _ deferred: inout DeferredActions) {
        guard let head = writing.flight.popFirst() else { return }
        if error == nil { writing.byteCount &+= UInt64(head.outbound.data.count) }
        finish(head, error, &deferred)
    }
}
