import CausewaySystem
import FoundationEssentials
import Testing

@testable import Causeway

extension Loopback {
    @Suite("An exchange sequence that moves between connections")
    struct MigratingConnectionTests {
        private struct Ended: Error {}

        private static func ask(_ question: String, over connection: NWConnection) async throws -> String {
            try await connection.send(Data(question.utf8))
            guard let answer = try await connection.receive(atMost: 1_000) else { throw Ended() }
            return String(decoding: answer, as: UTF8.self)
        }

        @Test("Concurrent exchanges run one after the other over one connection")
        func turns() async throws {
            let server = try NumberingServer()
            let conversation = MigratingConnection(to: try await server.start())
            defer { conversation.cancel() }
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<50 {
                    group.addTask { try await conversation.exchange { try await Self.ask("q\(number)", over: $0) } }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(answers == Set((0..<50).map { "1 q\($0)" }))
            #expect(server.connectionCount == 1)
        }

        @Test("It moves once the other connection is ready, and never during an exchange")
        func moves() async throws {
            let server = try NumberingServer()
            let moves = LockedValue(0)
            let conversation = MigratingConnection(to: try await server.start()) { _ in moves.withLock { $0 += 1 } }
            defer { conversation.cancel() }
            let answer = try await conversation.exchange { connection in
                let first = try await Self.ask("a", over: connection)
                conversation.connect()
                try await eventually("the other connection exists") { server.connectionCount == 2 }
                return first + ", " + (try await Self.ask("b", over: connection))
            }
            #expect(answer == "1 a, 1 b")
            try await eventually("the exchanges have moved") {
                (try? await conversation.exchange { try await Self.ask("c", over: $0) }) == "2 c"
            }
            // An exchange may use the new connection before the other thread that has replaced it reports the move.
            try await eventually("the move is reported") { moves.withLock { $0 } == 2 }
            #expect(server.connectionCount == 2)
        }

        @Test("A move after an exchange that failed is reported, too")
        func movesAfterFailure() async throws {
            let server = try NumberingServer()
            let moves = LockedValue(0)
            let conversation = MigratingConnection(to: try await server.start()) { _ in moves.withLock { $0 += 1 } }
            defer { conversation.cancel() }
            await #expect(throws: Ended.self) {
                try await conversation.exchange { connection in
                    conversation.connect()
                    try await eventually("the other connection exists") { server.connectionCount == 2 }
                    // Wait for an answer. It shows that the other connection is ready.
                    _ = try await Self.ask("a", over: connection)
                    throw Ended()
                }
            }
            #expect(try await conversation.exchange { try await Self.ask("b", over: $0) } == "2 b")
            try await eventually("the move is reported") { moves.withLock { $0 } == 2 }
        }

        @Test("After an incomplete exchange, the next exchange uses a new connection")
        func failures() async throws {
            let server = try NumberingServer()
            let conversation = MigratingConnection(to: try await server.start())
            defer { conversation.cancel() }
            await #expect(throws: Ended.self) {
                try await conversation.exchange { connection in
                    try await connection.send(Data("half".utf8))
                    throw Ended()
                }
            }
            #expect(try await conversation.exchange { try await Self.ask("x", over: $0) } == "2 x")
            await #expect(throws: Ended.self) {
                _ = try await conversation.exchange { try await Self.ask("close", over: $0) }
            }
            #expect(try await conversation.exchange { try await Self.ask("y", over: $0) } == "3 y")
        }

        @Test("A cancelled exchange ends, and the exchanges after it continue")
        func cancelledTask() async throws {
            let server = try NumberingServer()
            let conversation = MigratingConnection(to: try await server.start())
            defer { conversation.cancel() }
            let hasBegun = LockedValue(false)
            let stuck = Task {
                try await conversation.exchange { connection in
                    hasBegun.withLock { $0 = true }
                    _ = try await connection.receive(atMost: 1)
                }
            }
            try await eventually("the exchange has started") { hasBegun.withLock { $0 } }
            async let next = conversation.exchange { try await Self.ask("next", over: $0) }
            stuck.cancel()
            await #expect(throws: NWError.self) { try await stuck.value }
            #expect(try await next == "2 next")
        }

        @Test("A cancelled exchange does not wait for the earlier ones")
        func cancelledTurn() async throws {
            let server = try NumberingServer()
            let conversation = MigratingConnection(to: try await server.start())
            defer { conversation.cancel() }
            let hasBegun = LockedValue(false)
            let stuck = Task {
                try await conversation.exchange { connection in
                    hasBegun.withLock { $0 = true }
                    _ = try await connection.receive(atMost: 1)
                }
            }
            try await eventually("the exchange has started") { hasBegun.withLock { $0 } }
            let queued = Task { try await conversation.exchange { try await Self.ask("queued", over: $0) } }
            await Task.yield()
            queued.cancel()
            await #expect(throws: NWError.posix(.ECANCELED)) { _ = try await queued.value }
            stuck.cancel()
            await #expect(throws: NWError.self) { try await stuck.value }
            #expect(try await conversation.exchange { try await Self.ask("next", over: $0) } == "2 next")
        }

        @Test("Exchanges wait for a server; cancelling the migrating connection, or the task, ends them")
        func cancelled() async throws {
            // Use a TCP port on which no program listens. The server's host refuses connections to it, so the
            // connections wait.
            let socket = try RawSocket.refusing(.tcp4)
            let conversation = MigratingConnection(to: Medium.tcp4.endpoint(of: socket))
            let first = Task { try await conversation.exchange { try await Self.ask("x", over: $0) } }
            first.cancel()
            await #expect(throws: NWError.posix(.ECANCELED)) { _ = try await first.value }
            let second = Task { try await conversation.exchange { try await Self.ask("x", over: $0) } }
            conversation.cancel()
            await #expect(throws: NWError.posix(.ECANCELED)) { _ = try await second.value }
            await #expect(throws: NWError.posix(.ECANCELED)) {
                _ = try await conversation.exchange { try await Self.ask("x", over: $0) }
            }
            withExtendedLifetime(socket) {}
        }
    }
}
