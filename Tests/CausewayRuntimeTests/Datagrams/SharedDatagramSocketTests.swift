@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import Testing

extension Runtime {
    @Suite("Shared datagram socket")
    struct SharedDatagramSocketTests {
        final class Sender: ReadinessHandler {
            let reports = Guarded(0)
            func ready(for readiness: Readiness) { reports.withLock { $0 += 1 } }
        }

        @Test("Who finds no room while others are told of some is told as well, or room is still asked for")
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
            // Nobody waits any more: each datagram that leaves would be reported.
            loop.report(.writable, of: registration)
            #expect(loop.watch(registration)?.interest == .readable)
            #expect(second.reports.withLock { $0 } == 1)
            socket.stop()
        }
    }
}
