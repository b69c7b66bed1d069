import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests that run for a long time in a separate process. `CAUSEWAY_SOAK_SECONDS` sets the number of seconds: 3600
    /// means an hour.
    @Suite("Soak")
    struct SoakTests {
        @Test("Mixed traffic for a long time does not increase descriptors or memory")
        func soak() async {
            await #expect(processExitsWith: .success) {
                let seconds = Settings.number("CAUSEWAY_SOAK_SECONDS", default: 5)
                Watchdog.arm(seconds: 300 + 2 * seconds)
                try await Soak().expectFlat(for: .seconds(seconds))
            }
        }
    }
}

/// Opens connections of every kind in rounds. Messages are exchanged over each connection.
private struct Soak {
    /// The maximum growth of the memory in bytes after the warm-up.
    private static let allowance = 8 << 20
    private static let messages = 50

    func expectFlat(for duration: Duration) async throws {
        // Run some rounds first, so that caches, pools and the allocator fill up.
        let start = System.now
        var rounds = 0
        while rounds < 3 || System.now - start < duration / 4 {
            try await round(rounds)
            rounds += 1
        }
        let before = (memory: System.residentMemory.current, descriptors: ConnectionCycles.descriptorCount)
        while System.now - start < duration {
            try await round(rounds)
            rounds += 1
        }
        let isClosed = await eventually { ConnectionCycles.descriptorCount <= before.descriptors }
        #expect(isClosed, "\(ConnectionCycles.descriptorCount) descriptors, \(before.descriptors) before")
        let growth = System.residentMemory.current - before.memory
        #expect(growth < Self.allowance, "grew by \(growth >> 10) KiB")
        print("soak: \(rounds) rounds, memory \(before.memory >> 10) KiB and \(growth >> 10) KiB more")
    }

    private func round(_ number: Int) async throws {
        for stack in MessageStack.allCases { try await converse(stack, UInt64(number)) }
        for medium in [Medium.tcp4, .tcp6, .unix, .udp4, .udp6] { try await ConnectionCycles(medium).run(32) }
    }

    private func converse(_ stack: MessageStack, _ seed: UInt64) async throws {
        try await StackPair.with(
            client: try stack.parameters(isServer: false, seed: seed),
            server: try stack.parameters(isServer: true, seed: seed + 1), on: stack.isDatagram ? .udp4 : .tcp4
        ) { pair in
            if stack.isDatagram { #expect(try await pair.server.receiveMessage().text == "hello") }
            let sender = MessageSender(
                stack, on: pair.client.connection, pair.client.queue, seed: seed, count: Self.messages)
            let receiver = MessageReceiver(stack, on: pair.server.connection, seed: seed, count: Self.messages) {
                sender.wasReceived($1)
            }
            receiver.ask()
            sender.begin()
            let outcome = try await receiver.outcome.next()
            #expect(outcome == .all, "\(stack)")
            #expect(await eventually { sender.isAnswered })
        }
    }
}
