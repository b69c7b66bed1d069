@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import Dispatch
import FoundationEssentials
import Testing

extension Runtime {
    @Suite("Shared datagram socket")
    struct SharedDatagramSocketTests {
        final class Sender: ReadinessHandler {
            let reports = LockedValue(0)
            func ready(for readiness: Readiness) { reports.withLock { $0 += 1 } }
        }

        @Test(
            "A sender that finds no room during the notification of others is notified too, or room is requested again")
        func overtaken() throws {
            let loop = ManualLoop()
            let socket = try SharedDatagramSocket(Socket.open(.ipv4, .datagram), on: loop) { _, _ in }
            let registration = Registration(token: 1)
            let (first, second) = (Sender(), Sender())
            socket.awaitWritable(first)
            #expect(loop.watch(registration)?.interest.contains(.writable) == true)
            loop.beforeNextUpdate { socket.awaitWritable(second) }
            loop.report(.writable, of: registration)
            #expect(first.reports.withLock { $0 } == 1)
            let isAskedFor = loop.watch(registration)?.interest.contains(.writable) == true
            #expect(second.reports.withLock { $0 } == 1 || isAskedFor)
            // No sender waits any more. So the loop must stop reporting that the socket is writable. Otherwise, it
            // would report each sent datagram.
            loop.report(.writable, of: registration)
            #expect(loop.watch(registration)?.interest == .readable)
            #expect(second.reports.withLock { $0 } == 1)
            socket.stop()
        }

        @Test("One wake-up reads all datagrams, and equal-sized ones of a peer become one train")
        func untilEmpty() throws {
            let loop = ManualLoop()
            let descriptor = try Socket.open(.ipv4, .datagram)
            try Socket.bind(descriptor.rawValue, to: .ipv4(bits: 0x7f00_0001, port: 0))
            let address = try #require(Socket.localAddress(descriptor.rawValue))
            let flows = LockedValue<[Flow]>([])
            let socket = try SharedDatagramSocket(descriptor, on: loop, tracksSource: true) { _, flow, _ in
                flows.withLock { $0.append(flow) }
                return true
            }
            let senders = try (0..<2).map { _ in try Socket.open(.ipv4, .datagram).release() }
            defer { for fd in senders { Descriptor(adopting: fd).close() } }
            var sent: [[[UInt8]]] = [[], []]
            for fd in senders { _ = try Socket.connect(fd, to: address) }
            for number in 0..<60 {
                let place = number / 10 % 2
                let bytes = [UInt8](repeating: UInt8(number), count: number % 7 == 0 ? 0 : 1_200 - number % 3)
                _ = bytes.withUnsafeBytes { Socket.send(senders[place], $0) }
                sent[place].append(bytes)
            }
            loop.report(.readable, of: Registration(token: 1))
            let arrived = flows.withLock { $0 }
            #expect(arrived.count == 2)
            for (flow, expected) in zip(arrived, sent) {
                let owner = Stage.Owner(Log(), SharedDelivery.on(.main).delivery)
                flow.attach(.peer(socket, .ipv4(bits: 0, port: 1)), owner: owner)
                flow.begin()
                var received: [[UInt8]] = []
                while let content = flow.takeDatagram() { received.append([UInt8](content.data)) }
                #expect(received == expected)
            }
            socket.stop()
        }

        /// Returns a train, which is a block with several datagrams. `sizes` contains the size of each datagram. All
        /// sizes must be equal, except that of the last datagram.
        private static func train(_ sizes: [Int]) throws -> DatagramBatch.Train {
            let receiver = try Socket.open(.ipv4, .datagram)
            try Socket.bind(receiver.rawValue, to: .ipv4(bits: 0x7f00_0001, port: 0))
            let sender = try Socket.open(.ipv4, .datagram)
            _ = try Socket.connect(sender.rawValue, to: #require(Socket.localAddress(receiver.rawValue)))
            for (number, size) in sizes.enumerated() {
                let bytes = [UInt8](repeating: UInt8(number), count: size)
                #expect(bytes.withUnsafeBytes { Socket.send(sender.rawValue, $0) } == .moved(size))
            }
            var reader = PacketReader(blockCount: PacketReader.packetLimit)
            let count = try reader.receive(receiver.rawValue, wantsPeer: false)
            let trains = reader.takeTrains(0..<count)
            #expect(trains.count == 1)
            return trains[0]
        }

        @Test("Large datagrams of a train share its block, and each can be changed without effect on the others")
        func sharedBlock() throws {
            let sizes = Array(repeating: 1_200, count: 15) + [700]
            let train = try Self.train(sizes)
            let block = try #require(train.block)
            var inbox = DatagramInbox()
            #expect(inbox.append(train) == true)
            var taken: [Data] = []
            while let (data, _, isWhole) = inbox.next(maximum: .max) {
                #expect(isWhole && data.startIndex == 0)
                data.withUnsafeBytes { #expect($0.baseAddress == UnsafeRawPointer(block.bytes + 1_200 * taken.count)) }
                taken.append(data)
            }
            taken[3][0] = 99
            taken[3].append(98)
            taken[4][1_199] = 97
            for (number, data) in taken.enumerated() {
                var expected = [UInt8](repeating: UInt8(number), count: sizes[number])
                if number == 3 { expected = [99] + expected.dropFirst() + [98] }
                if number == 4 { expected[1_199] = 97 }
                #expect([UInt8](data) == expected)
            }
        }

        @Test("A small datagram does not keep its block")
        func smallDatagrams() throws {
            let train = try Self.train(Array(repeating: 1_200, count: 15) + [511])
            let block = try #require(train.block)
            var inbox = DatagramInbox()
            #expect(inbox.append(train) == true)
            var last: Data?
            while let (data, _, _) = inbox.next(maximum: .max) { last = data }
            let bytes = UnsafeRawBufferPointer(start: block.bytes, count: PacketReader.blockByteCount)
            last?.withUnsafeBytes { part in #expect(!bytes.contains(part)) }
            #expect(last == Data(repeating: 15, count: 511))
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func contains(_ part: UnsafeRawBufferPointer) -> Bool {
        guard let own = baseAddress, let other = part.baseAddress else { return false }
        return other >= own && other < own + count
    }
}
