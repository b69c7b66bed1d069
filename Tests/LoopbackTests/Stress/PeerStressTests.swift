import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

extension Loopback {
    /// Stress tests of peers. Each runs for a fifth of `CAUSEWAY_STRESS_SECONDS`, from the seed `CAUSEWAY_STRESS_SEED`.
    @Suite("Peer storms")
    struct PeerStressTests {
        private let seconds = max(2, Settings.number("CAUSEWAY_STRESS_SECONDS", default: 10) / 5)
        private let seed = UInt64(Settings.number("CAUSEWAY_STRESS_SEED", default: 1))

        /// Waits until `isGone` returns `true`, which means that all objects are gone. Gives up after a time limit.
        /// Returns whether the objects are gone.
        private func gone(_ isGone: () -> Bool) async throws -> Bool {
            for _ in 0..<4_500 where !isGone() { try await Task.sleep(for: .milliseconds(20)) }
            return isGone()
        }

        @Test("Sessions of MultipeerConnectivity that come and go report states in order, and leave nothing behind")
        func multipeer() async throws {
            Backend.choose()
            let storm = try MultipeerStorm(seed: seed)
            await storm.run(for: seconds)
            #expect(try await gone { StormLife.left.isEmpty && storm.livingNodes == 0 })
            #expect(StormLife.left.isEmpty && storm.livingNodes == 0, "seed \(seed): \(StormLife.left)")
            #expect(storm.log.violations.isEmpty, "seed \(seed)")
            #expect(storm.log.connections.value > 0 && storm.log.messages.value > 0)
        }

        @Test("Peer sessions that come and go, with tasks that are cancelled, leave nothing behind")
        func sessions() async throws {
            Backend.choose()
            let storm = try PeerSessionStorm(seed: seed)
            await storm.run(for: seconds)
            #expect(try await gone { storm.livingSessions == 0 && storm.places.living.isEmpty })
            #expect(storm.livingSessions == 0 && storm.places.living.isEmpty, "seed \(seed)")
            #expect(storm.log.violations.isEmpty, "seed \(seed)")
            #expect(storm.log.connections.value > 0 && storm.log.messages.value > 0)
        }
    }
}
