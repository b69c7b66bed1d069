@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

extension Runtime {
    @Suite("Group inbox")
    struct GroupInboxTests {
        let socket: SharedDatagramSocket
        let peer = SocketAddress.ipv4(bits: 0xc000_0201, port: 7)

        init() throws {
            let descriptor = try Socket.open(.ipv4, .datagram)
            socket = try SharedDatagramSocket(descriptor, on: ManualLoop()) { _, _ in }
        }

        func arrival(_ bytes: [UInt8], segment: Int? = nil) -> DatagramArrival {
            var info = PacketInfo()
            info.destination = .ipv4(bits: 0xef01_0203, port: 0)
            info.interfaceIndex = 3
            let train = DatagramBatch.Train(bytes: Data(bytes), segment: segment ?? bytes.count, mark: PacketMark())
            return DatagramArrival(train: train, peer: peer, info: info)
        }

        @Test("A train is split into its datagrams, with their destinations")
        func order() throws {
            var inbox = GroupInbox()
            for arrival in [arrival([1, 2, 3, 4, 5], segment: 2), arrival([]), arrival([6])] {
                let fits = inbox.append(arrival, from: socket)
                #expect(fits)
            }
            var found: [[UInt8]] = []
            while let next = inbox.next(port: 9) {
                found.append(Array(next.data))
                #expect(next.data.startIndex == 0 && next.peer == peer && next.interfaceIndex == 3)
                #expect(next.destination == .ipv4(bits: 0xef01_0203, port: 9))
            }
            #expect(found == [[1, 2], [3, 4], [5], [], [6]] && inbox.isEmpty)
        }

        @Test("One sender's datagrams can be taken, also from the middle of a train")
        func taken() {
            var inbox = GroupInbox()
            var other = arrival([9])
            other.peer = .ipv4(bits: 0xc000_0202, port: 7)
            for arrival in [arrival([1, 2, 3, 4, 5], segment: 2), other, arrival([6])] {
                let fits = inbox.append(arrival, from: socket)
                #expect(fits)
            }
            let first = inbox.next(port: 9)
            #expect(first.map { Array($0.data) } == [1, 2])
            let trains = inbox.take(from: peer, at: socket)
            #expect(trains.map { Array($0.bytes) } == [[3, 4, 5], [6]] && trains.first?.count == 2)
            let none = inbox.take(from: peer, at: socket)
            let last = inbox.next(port: 9)
            #expect(none.isEmpty && last.map { Array($0.data) } == [9] && inbox.isEmpty)
        }

        @Test("A sender's datagrams can be taken also after some of its others were delivered or taken")
        func takenAgain() {
            var inbox = GroupInbox()
            for byte in UInt8(1)...3 { _ = inbox.append(arrival([byte]), from: socket) }
            _ = inbox.next(port: 9)
            let second = inbox.take(from: peer, at: socket)
            _ = inbox.append(arrival([4]), from: socket)
            let third = inbox.take(from: peer, at: socket)
            inbox.removeAll()
            let none = inbox.take(from: peer, at: socket)
            #expect(second.map { Array($0.bytes) } == [[2], [3]] && third.map { Array($0.bytes) } == [[4]])
            #expect(none.isEmpty && inbox.isEmpty)
        }

        @Test("The number of bytes and datagrams is limited, and released room counts")
        func bounds() {
            var inbox = GroupInbox()
            let large = arrival(Array(repeating: 0, count: 65_000))
            var count = 0
            while count < 1_000, inbox.append(large, from: socket) { count += 1 }
            #expect(count == GroupInbox.byteLimit / 65_000)
            _ = inbox.next(port: 9)
            let fitsAgain = inbox.append(large, from: socket)
            #expect(fitsAgain)
            inbox.removeAll()
            count = 0
            while count < 100_000, inbox.append(arrival([1]), from: socket) { count += 1 }
            #expect(count == GroupInbox.datagramLimit)
        }
    }
}
