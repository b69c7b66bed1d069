import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

extension Loopback {
    /// Performs random operations, which depend on a seed. Environment variables set the duration
    /// (`CAUSEWAY_STRESS_SECONDS`), the first seed (`CAUSEWAY_STRESS_SEED`) and the engine (`CAUSEWAY_ENGINE`).
    @Suite("Storms")
    struct StressTests {
        private static let secondsPerStorm = 3

        @Test("In any order of operations, every request completes once and every connection ends once")
        func storm() async throws {
            let seconds = Settings.number("CAUSEWAY_STRESS_SECONDS", default: Self.secondsPerStorm)
            let first = Settings.number("CAUSEWAY_STRESS_SEED", default: 1)
            for round in 0..<max(1, seconds / Self.secondsPerStorm) {
                let seed = UInt64(first + round)
                let storm = try await Storm(seed: seed, seconds: min(seconds, Self.secondsPerStorm))
                let violations = await storm.run()
                #expect(violations.isEmpty, "seed \(seed): \(violations.prefix(10))")
                #expect(storm.connectionCount.value > 10)
                if !violations.isEmpty { break }
            }
        }

        @Test("10,000 of 10,000 answers are received although the peer resets after each")
        func answersBeforeResets() async throws {
            let listener = try RawSocket.listening(.tcp4, backlog: 128)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            Backend.choose()
            let (clients, count) = (16, 10_000)
            let answer = Data.pattern(2_000)
            async let server: Void = {
                for _ in 0..<count {
                    let peer = try await listener.accept()
                    _ = try await peer.read(atMost: 1)
                    try await peer.write(answer)
                    // This server has not read all received content. So the kernel sends a reset when the server closes
                    // the socket.
                    peer.close()
                }
            }()
            let received = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<clients {
                    group.addTask {
                        var received = 0
                        for round in 0..<(count / clients) {
                            let content = try await Self.answer(
                                from: port, waitsFirst: (number + round) % 3 > 0, answer.count)
                            if content == answer { received += 1 }
                        }
                        return received
                    }
                }
                return try await group.reduce(0, +)
            }
            try await server
            #expect(received == count)
        }

        /// Sends a request and receives the answer. If `waitsFirst` is `true`, this function waits before it receives.
        /// The answer and the reset can then both arrive before the first read.
        private static func answer(from port: NWEndpoint.Port, waitsFirst: Bool, _ count: Int) async throws -> Data {
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp).start()
            defer { client.connection.cancel() }
            try await client.ready()
            try await client.deliver(Data(count: 100))
            if waitsFirst { try await Task.sleep(for: .milliseconds(1)) }
            var content = Data()
            while content.count < count, let data = try await client.receive(1, 700).data { content += data }
            return content
        }
    }
}
