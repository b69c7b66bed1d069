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
            // No sender is waiting. If the interest stayed set, each sent datagram would still be reported.
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
    }
}
