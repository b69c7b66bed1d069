import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Listeners of the structured interface")
    struct StructuredListenerTests {
        @Test("An error of one closure does not affect the others")
        func failingHandler() async throws {
            try await Hall.open(.parameters { TCP() }) { connection in
                let number = try await connection.receive(as: UInt8.self).content
                guard number > 0 else { throw DeadlineExceeded() }
                try await connection.send(number)
            } _: { endpoint in
                let failed = NetworkConnection(to: endpoint) { TCP() }
                try await failed.send(UInt8(0))
                #expect(try await failed.receive(atMost: 1).metadata.endOfStream)
                for number in UInt8(1)...3 {
                    let connection = NetworkConnection(to: endpoint) { TCP() }
                    try await connection.send(number)
                    #expect(try await connection.receive(as: UInt8.self).content == number)
                }
            }
        }

        @Test("Cancelling the listener ends the receives and sends of its closures")
        func cancelling() async throws {
            let busy = Mailbox<Int>()
            let ends = Mailbox<NWError?>()
            let clients = LockedValue<[NetworkConnection<TCP>]>([])
            try await Hall.open(.parameters { TCP() }) { connection in
                do throws(any Error) {
                    let kind = try await connection.receive(as: UInt8.self).content
                    busy.put(Int(kind))
                    if kind == 0 { _ = try await connection.receive(exactly: 1) }
                    while true { try await connection.send(Data(count: 1 << 20)) }
                } catch {
                    ends.put(error as? NWError)
                }
            } _: { endpoint in
                for kind in UInt8(0)...1 {
                    let connection = NetworkConnection(to: endpoint) { TCP() }
                    try await connection.send(kind)
                    clients.withLock { $0.append(connection) }
                }
                _ = try await busy.next(2)
                try await Task.sleep(for: Patience.silence)
            }
            #expect(try await ends.next(2) == [.posix(.ECANCELED), .posix(.ECANCELED)])
        }

        @Test("A closure isolated to an actor runs there, the others on their connection's loop")
        func isolation() async throws {
            try await Hall.open(.parameters { TCP() }) { @MainActor connection in
                MainActor.preconditionIsolated()
                let byte = try await connection.receive(as: UInt8.self).content
                MainActor.preconditionIsolated()
                try await connection.send(byte)
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TCP() }
                try await connection.send(UInt8(7))
                #expect(try await connection.receive(as: UInt8.self).content == 7)
            }
        }

        @Test("At the limit, further connections wait until it is raised")
        func limit() async throws {
            Backend.choose()
            let listener = try NetworkListener(
                using: .parameters { TCP() }.localEndpoint(.hostPort(host: .ipv4(.loopback), port: .any))
            ).newConnectionLimit(1)
            let ready = Mailbox<Bool>()
            listener.onStateUpdate { _, state in if state == .ready { ready.put(true) } }
            let server = Task { try await listener.run { connection in try await connection.send(UInt8(1)) } }
            _ = try await ready.next()
            let endpoint = NWEndpoint.hostPort(host: .ipv4(.loopback), port: try #require(listener.port))
            let first = NetworkConnection(to: endpoint) { TCP() }
            #expect(try await first.receive(as: UInt8.self).content == 1)
            #expect(listener.newConnectionLimit == 0)
            let second = NetworkConnection(to: endpoint) { TCP() }
            let answer = Task { try await second.receive(as: UInt8.self).content }
            listener.newConnectionLimit = NWListener.InfiniteConnectionLimit
            #expect(try await answer.value == 1)
            server.cancel()
            await #expect(throws: NWError.posix(.ECANCELED)) { try await server.value }
            await #expect(throws: NWError.posix(.EALREADY)) { try await listener.run { _ in } }
        }

        @Test("A port in use fails the listener")
        func portInUse() async throws {
            try await Hall.open(.parameters { TCP() }, serving: Hall.echo) { endpoint in
                let other = try NetworkListener(using: .parameters { TCP() }.localEndpoint(endpoint))
                await #expect(throws: NWError.posix(.EADDRINUSE)) { try await other.run { _ in } }
            }
        }

        @Test("1,000 clients are answered while 100 of them never read")
        func manyClients() async throws {
            let count = Settings.number("CAUSEWAY_CLIENTS", default: 200)
            try await Hall.open(.parameters { TCP() }, serving: Hall.echo) { endpoint in
                let idlers = (0..<(count / 10)).map { _ in NetworkConnection(to: endpoint) { TCP() } }
                for idler in idlers { try await idler.send(Data(count: 100_000)) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<(count - idlers.count) {
                        group.addTask {
                            let connection = NetworkConnection(to: endpoint) { TCP() }
                            try await connection.send(UInt32(number))
                            #expect(try await connection.receive(as: UInt32.self).content == UInt32(number))
                        }
                    }
                    try await group.waitForAll()
                }
                withExtendedLifetime(idlers) {}
            }
        }
    }
}
