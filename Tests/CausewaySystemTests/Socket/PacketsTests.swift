import CausewaySystem
import Testing

@Suite("Packets")
struct PacketsTests {
    /// A receiving socket and a connected sending socket on the loopback interface.
    struct Pair: ~Copyable {
        let receiver: Descriptor
        let sender: Descriptor
        let address: SocketAddress

        init(_ loopback: SocketAddress, offload: Bool = false) throws {
            let receiver = try Socket.open(loopback.family, .datagram)
            let sender = try Socket.open(loopback.family, .datagram)
            try Socket.bind(receiver.rawValue, to: loopback)
            let isIPv4 = loopback.family == .ipv4
            try Socket.set(isIPv4 ? .receiveIPv4TrafficClass : .receiveIPv6TrafficClass, to: 1, on: receiver.rawValue)
            try Socket.set(isIPv4 ? .receiveIPv4PacketInfo : .receiveIPv6PacketInfo, to: 1, on: receiver.rawValue)
            if offload { try Socket.set(.receiveOffload, to: 1, on: receiver.rawValue) }
            let address = try #require(Socket.localAddress(receiver.rawValue))
            _ = try Socket.connect(sender.rawValue, to: address)
            self.receiver = receiver
            self.sender = sender
            self.address = address
        }

        borrowing func send(_ datagram: [UInt8], trafficClass: UInt8? = nil) -> IOResult {
            PacketsTests.send(sender.rawValue, [(datagram, 0, trafficClass)], to: nil)
        }
    }

    /// Sends packets. Each is a tuple of bytes, segment length and traffic class. The bytes are passed in two buffers.
    static func send(_ fd: CInt, _ packets: [([UInt8], Int, UInt8?)], to peer: SocketAddress?) -> IOResult {
        var blocks = packets.map { packet in
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, packet.0.count), alignment: 1)
            block.copyBytes(from: packet.0)
            return block
        }
        var pieces: [UnsafeMutableBufferPointer<iovec>] = []
        defer {
            for block in blocks { block.deallocate() }
            for piece in pieces { piece.deallocate() }
            blocks = []
        }
        let outgoing = zip(packets, blocks).map { packet, block in
            let half = packet.0.count / 2
            let piece = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 2)
            piece.initializeElement(at: 0, to: iovec(iov_base: block.baseAddress, iov_len: half))
            piece.initializeElement(
                at: 1, to: iovec(iov_base: block.baseAddress! + half, iov_len: packet.0.count - half))
            pieces.append(piece)
            return OutgoingPacket(
                pieces: UnsafeBufferPointer(piece), segmentByteCount: packet.1, trafficClass: packet.2)
        }
        return outgoing.withUnsafeBufferPointer { Socket.send(fd, $0, to: peer, from: nil) }
    }

    static func receive(_ fd: CInt, _ reader: inout PacketReader) throws -> [(packet: ReceivedPacket, bytes: [UInt8])] {
        StreamSocketTests.awaitEvent(fd, POLLIN)
        var all: [(packet: ReceivedPacket, bytes: [UInt8])] = []
        while case let count = try reader.receive(fd, wantsPeer: true), count > 0 {
            for index in 0..<count { all.append((reader[index], reader.withBytes(of: index) { Array($0) })) }
        }
        return all
    }

    @Test(
        "Datagrams arrive one by one, with sender, traffic class and local address",
        arguments: SocketAddressTests.loopbacks)
    func single(_ loopback: SocketAddress) throws {
        let pair = try Pair(loopback)
        var reader = PacketReader(blockCount: 4)
        #expect(try reader.receive(pair.receiver.rawValue, wantsPeer: true) == 0)
        #expect(pair.send([1, 2, 3], trafficClass: 0xb8) == .moved(1))
        #expect(pair.send([]) == .moved(1))
        #expect(pair.send([4], trafficClass: 0) == .moved(1))
        let all = try Self.receive(pair.receiver.rawValue, &reader)
        #expect(all.map(\.bytes) == [[1, 2, 3], [], [4]])
        #expect(all.map(\.packet.info.mark.trafficClass) == [0xb8, 0, 0])
        let sender = Socket.localAddress(pair.sender.rawValue)
        for (packet, bytes) in all {
            #expect(packet.peer == sender && !packet.isTruncated)
            #expect(
                packet.datagramCount == 1 && packet.segmentByteCount == bytes.count && packet.byteCount == bytes.count)
            #expect(packet.info.interfaceIndex == 1)
        }
        switch (loopback, all[0].packet.info.local) {
        case (.ipv4(let bits, _), .ipv4(let local, 0)): #expect(bits == local)
        case (.ipv6(_, let low, _, _), .ipv6(0, let local, 0, _)): #expect(low == local)
        default: Issue.record("no local address: \(all[0].packet.info)")
        }
    }

    @Test("More datagrams than blocks need several calls", arguments: [1, 3, 16, 99])
    func blocks(_ blockCount: Int) throws {
        let pair = try Pair(SocketAddressTests.loopbacks[0])
        for number in 0..<20 { #expect(pair.send([UInt8(number)]) == .moved(1)) }
        var reader = PacketReader(blockCount: blockCount)
        StreamSocketTests.awaitEvent(pair.receiver.rawValue, POLLIN)
        #expect(try reader.receive(pair.receiver.rawValue, wantsPeer: false) == min(blockCount, 16))
        let rest = try Self.receive(pair.receiver.rawValue, &reader)
        #expect(rest.last?.bytes == [19] && rest.count == 20 - min(blockCount, 16))
    }

    struct TrainRow: CustomTestStringConvertible {
        var loopback: SocketAddress
        var segment: Int
        var total: Int
        var testDescription: String { "\(loopback.family) \(total) in \(segment)s" }
    }

    static let trainRows = SocketAddressTests.loopbacks.flatMap { loopback in
        [(1_000, 10_000), (1_000, 9_001), (500, 32_000), (1_200, 1_201), (1_000, 999), (1_000, 1_000)].map {
            TrainRow(loopback: loopback, segment: $0.0, total: $0.1)
        }
    }

    @Test(
        "A train arrives as its datagrams, and coalesced if the receiver requests it", arguments: trainRows,
        [false, true])
    func trains(_ row: TrainRow, _ offload: Bool) throws {
        let pair = try Pair(row.loopback, offload: offload)
        let bytes = (0..<row.total).map { UInt8(truncatingIfNeeded: $0 / row.segment) }
        #expect(Self.send(pair.sender.rawValue, [(bytes, row.segment, nil)], to: nil) == .moved(1))
        var reader = PacketReader(blockCount: 16)
        var datagrams: [[UInt8]] = []
        var packets = 0
        while datagrams.joined().count < row.total {
            for (packet, content) in try Self.receive(pair.receiver.rawValue, &reader) {
                packets += 1
                #expect(!packet.isTruncated)
                let own = stride(from: 0, to: content.count, by: packet.segmentByteCount).map {
                    Array(content[$0...].prefix(packet.segmentByteCount))
                }
                #expect(own.count == packet.datagramCount)
                datagrams += own
            }
        }
        #expect(Array(datagrams.joined()) == bytes)
        let expected = (row.total + row.segment - 1) / row.segment
        #expect(datagrams.count == expected && datagrams.dropLast().allSatisfy { $0.count == row.segment })
        if !offload { #expect(packets == expected) } else if expected > 2 { #expect(packets < expected) }
    }

    @Test("Several packets are sent in one call, to a given peer", arguments: SocketAddressTests.loopbacks)
    func severalToPeer(_ loopback: SocketAddress) throws {
        let pair = try Pair(loopback)
        let other = try Socket.open(loopback.family, .datagram)
        let packets: [([UInt8], Int, UInt8?)] = (0..<10).map { ([UInt8]($0...9), 0, $0 == 4 ? 0x20 : nil) }
        #expect(Self.send(other.rawValue, packets, to: pair.address) == .moved(10))
        var reader = PacketReader(blockCount: 16)
        let all = try Self.receive(pair.receiver.rawValue, &reader)
        #expect(all.map(\.bytes) == packets.map(\.0))
        #expect(all.map(\.packet.info.mark.trafficClass) == (0..<10).map { $0 == 4 ? 0x20 : 0 })
    }

    @Test("One call accepts a limited number of packets and returns their number")
    func limit() throws {
        let pair = try Pair(SocketAddressTests.loopbacks[0])
        let packets = (0..<50).map { ([UInt8($0)], 0, UInt8?.none) }
        #expect(Self.send(pair.sender.rawValue, packets, to: nil) == .moved(Socket.packetLimit))
    }

    @Test("A block that was taken does not change when the reader continues")
    func takenBlock() throws {
        let pair = try Pair(SocketAddressTests.loopbacks[0])
        var reader = PacketReader(blockCount: 1)
        #expect(pair.send([1, 2, 3]) == .moved(1))
        StreamSocketTests.awaitEvent(pair.receiver.rawValue, POLLIN)
        #expect(try reader.receive(pair.receiver.rawValue, wantsPeer: false) == 1)
        let block = reader.takeBlock(of: 0)
        #expect(pair.send([9, 9, 9]) == .moved(1))
        #expect(try Self.receive(pair.receiver.rawValue, &reader).map(\.bytes) == [[9, 9, 9]])
        #expect(Array(UnsafeRawBufferPointer(start: block.bytes, count: 3)) == [1, 2, 3])
    }

    @Test("The time of arrival is on the raw monotonic clock")
    func receiveTime() throws {
        let pair = try Pair(SocketAddressTests.loopbacks[0])
        try Socket.set(.receiveTime, to: 1, on: pair.receiver.rawValue)
        func now() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC_RAW, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
        let before = now()
        #expect(pair.send([1]) == .moved(1))
        var reader = PacketReader(blockCount: 1)
        let time = try Self.receive(pair.receiver.rawValue, &reader).first?.packet.info.mark.timeNanoseconds ?? 0
        // The conversion reads two clocks, one after the other. So permit a difference of one millisecond.
        #expect(time + 1_000_000 >= before && time <= now() + 1_000_000)
    }

    @Test("A dual-stack socket answers an IPv4 peer, with its traffic class")
    func dualStack() throws {
        let server = try Socket.open(.ipv6, .datagram)
        try Socket.set(.ipv6Only, to: 0, on: server.rawValue)
        try Socket.bind(server.rawValue, to: .ipv6(high: 0, low: 0, port: 0, scope: 0))
        try Socket.set(.receiveIPv4TrafficClass, to: 1, on: server.rawValue)
        let port = try #require(Socket.localAddress(server.rawValue)).port
        let client = try Pair(SocketAddressTests.loopbacks[0])
        #expect(
            Self.send(client.receiver.rawValue, [([1], 0, 0x48)], to: .ipv4(bits: 0x7f00_0001, port: port)) == .moved(1)
        )
        var reader = PacketReader(blockCount: 1)
        let question = try #require(try Self.receive(server.rawValue, &reader).first?.packet)
        #expect(question.peer?.unmapped == client.address && question.info.mark.trafficClass == 0x48)
        #expect(Self.send(server.rawValue, [([2], 0, 0x20)], to: question.peer) == .moved(1))
        let answer = try Self.receive(client.receiver.rawValue, &reader)
        #expect(answer.map(\.bytes) == [[2]] && answer.first?.packet.info.mark.trafficClass == 0x20)
    }

    @Test("A refused datagram is an error of the next call, and the socket stays usable")
    func refused() throws {
        // A socket that is connected to itself receives no datagrams from others, and keeps its port. A free port could
        // be taken by another test.
        let holder = try Socket.open(.ipv4, .datagram)
        try Socket.bind(holder.rawValue, to: SocketAddressTests.loopbacks[0])
        let address = try #require(Socket.localAddress(holder.rawValue))
        #expect(try Socket.connect(holder.rawValue, to: address))
        let sender = try Socket.open(.ipv4, .datagram)
        #expect(try Socket.connect(sender.rawValue, to: address))
        #expect(Self.send(sender.rawValue, [([1], 0, nil)], to: nil) == .moved(1))
        var reader = PacketReader(blockCount: 2)
        StreamSocketTests.awaitEvent(sender.rawValue, POLLERR)
        #expect(throws: SystemError(errno: ECONNREFUSED, call: "recvmmsg")) {
            try reader.receive(sender.rawValue, wantsPeer: false)
        }
        #expect(try reader.receive(sender.rawValue, wantsPeer: false) == 0)
        holder.close()
    }
}
