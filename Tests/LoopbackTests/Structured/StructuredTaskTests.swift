import Causeway
import CausewayRuntime
import CausewaySystem
import FoundationEssentials
import Testing

private enum Caller {
    @TaskLocal static var name = "no caller"
}

@MainActor
private final class Screen {
    private(set) var lines: [String] = []

    func show(_ endpoint: NWEndpoint) async throws {
        let connection = NetworkConnection(to: endpoint) { TCP() }.onStateUpdate { _, state in
            MainActor.preconditionIsolated()
            self.lines.append("\(state)")
        }
        try await connection.send(Data("hello"))
        MainActor.preconditionIsolated()
        lines.append(String(decoding: try await connection.receive(exactly: 5).content, as: UTF8.self))
    }
}

extension Loopback {
    @Suite("Tasks and the structured interface")
    struct StructuredTaskTests {
        @Test("Actors can use the interface directly, and handlers run in their own isolation")
        func mainActor() async throws {
            try await Hall.open(.parameters { TCP() }, serving: Hall.echo) { endpoint in
                let screen = await MainActor.run { Screen() }
                try await screen.show(endpoint)
                // The state handler runs in a task on the main actor, possibly after the answer has arrived. So wait
                // until all states are reported.
                try await eventually("the states are reported") {
                    Set(await screen.lines).isSuperset(of: ["preparing", "ready", "hello"])
                }
            }
        }

        @Test("Task-local values and the priority are the caller's, before and after an operation")
        func context() async throws {
            try await Hall.open(.parameters { TCP() }, serving: Hall.echo) { endpoint in
                try await Caller.$name.withValue("the caller") {
                    let task = Task(priority: .high) {
                        try await withNetworkConnection(to: endpoint) {
                            TCP()
                        } _: { connection in
                            #expect(Caller.name == "the caller" && Task.currentPriority == .high)
                            try await connection.send(UInt8(1))
                            _ = try await connection.receive(exactly: 1)
                            #expect(Caller.name == "the caller" && Task.currentPriority == .high)
                        }
                    }
                    try await task.value
                }
            }
        }

        @Test("A task that prefers the engine's executor stays on it, as a listener's tasks do by default")
        func executor() async throws {
            try await Hall.open(.parameters { TCP() }) { connection in
                let loop = connection.connection.driver.flow.loop
                for _ in 0..<50 {
                    #expect(loop.isCurrent)
                    try await connection.send(try await connection.receive(exactly: 1).content)
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TCP() }
                try await withTaskExecutorPreference(connection.taskExecutor) {
                    let loop = connection.connection.driver.flow.loop
                    for _ in 0..<50 {
                        #expect(loop.isCurrent)
                        try await connection.send(UInt8(1))
                        _ = try await connection.receive(exactly: 1)
                    }
                }
            }
        }

        @Test("Cancelling a scope's task ends its pending operations, then the connection; the closure may still send")
        func cancelledScope() async throws {
            let heard = Mailbox<Data>()
            try await Hall.open(.parameters { TCP() }) { connection in
                var content = Data()
                while true {
                    let (piece, metadata) = try await connection.receive(atMost: 100)
                    content += piece
                    if metadata.endOfStream { break }
                }
                heard.put(content)
            } _: { endpoint in
                let waits = Mailbox<Bool>()
                let task = Task {
                    try await withNetworkConnection(to: endpoint) {
                        TCP()
                    } _: { connection in
                        try await connection.send(Data("hello"))
                        waits.put(true)
                        await #expect(throws: NWError.posix(.ECANCELED)) { try await connection.receive(exactly: 1) }
                        try await connection.send(Data(" bye"))
                        throw DeadlineExceeded()
                    }
                }
                _ = try await waits.next()
                task.cancel()
                await #expect(throws: DeadlineExceeded.self) { try await task.value }
                #expect(try await heard.next() == Data("hello bye"))
            }
        }

        @Test("A deadline in a task group ends one receive, and the next one returns the content")
        func deadline() async throws {
            try await Hall.open(.parameters { TCP() }) { connection in
                _ = try await connection.receive(exactly: 1)
                try await connection.send(Data("late"))
            } _: { endpoint in
                try await withNetworkConnection(to: endpoint) {
                    TCP()
                } _: { connection in
                    await #expect(throws: DeadlineExceeded.self) {
                        try await within(.milliseconds(20)) { try await connection.receive(exactly: 4) }
                    }
                    try await connection.send(UInt8(1))
                    #expect(try await connection.receive(exactly: 4).content == Data("late"))
                }
            }
        }
    }
}
