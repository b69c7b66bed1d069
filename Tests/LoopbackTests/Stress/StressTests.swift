import CausewaySystem
import Testing

extension Loopback {
    /// Storms from a seed. `CAUSEWAY_STRESS_SECONDS` sets their length, `CAUSEWAY_STRESS_SEED` the first seed, and
    /// `CAUSEWAY_ENGINE` the engine.
    @Suite("Storms")
    struct StressTests {
        private static let secondsPerStorm = 3

        @Test("Whatever happens in whatever order, every request is answered once and every connection ends once")
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
    }
}
