import CausewayExercises
import CausewayTestKit
import CausewayTLS
import Testing

/// The invariants of the fuzzers for TLS and certificates, with random bytes. A violation stops the process.
@Suite("Exercises with TLS")
struct TLSExerciseTests {
    /// Deliveries in both directions and an accepted certificate, until the handshake is complete.
    private static let handshake = [[UInt8]](repeating: [0, 255, 0x80, 255, 14, 1], count: 8).flatMap { $0 }

    @Test("Two ends with any bytes between them", arguments: 0..<40)
    func conversations(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for kind in UInt8(0)..<5 {
            var bytes = [kind]
            // Half of the runs complete their handshake undamaged.
            if random.chance(oneIn: 2) { bytes += Self.handshake }
            let counts = Exercise.tls(bytes + random.bytes(random.integer(in: 0...120)))
            // Repeated datagrams of the link are dropped.
            #expect(counts.map { $0.received <= $0.sent } == true)
        }
    }

    @Test("An undamaged connection loses nothing", arguments: UInt8(0)..<5)
    func unharmed(kind: UInt8) throws {
        var random = SplitMix64(seed: UInt64(kind))
        for _ in 0..<5 {
            // Only deliveries, sends and reads, of all lengths.
            let steps = (0..<60).flatMap { _ -> [UInt8] in
                [UInt8(random.integer(in: 0...7)) | (random.chance(oneIn: 2) ? 0x80 : 0)] + random.bytes(1)
            }
            let counts = try #require(Exercise.tls([kind] + Self.handshake + steps))
            #expect(counts.received == counts.sent && counts.sent > 0)
        }
    }

    @Test("Certificates and keys of every form, damaged", arguments: UInt8(0)..<8)
    func certificates(form: UInt8) {
        var random = SplitMix64(seed: UInt64(form))
        // The forms from 4 on are valid examples, damaged or not.
        #expect(Exercise.certificates([form]) == (form < 4 ? 0 : 1))
        for _ in 0..<40 {
            let count = Exercise.certificates([form] + random.bytes(3 * random.integer(in: 0...4)))
            #expect(count <= (form < 4 ? 0 : 1))
        }
    }

    @Test("Keys that programs store, damaged", arguments: UInt8(0)..<8)
    func keys(form: UInt8) {
        var random = SplitMix64(seed: UInt64(form))
        // The forms from 4 on are valid examples, damaged or not.
        #expect(Exercise.keys([form]) == (form >= 4))
        for _ in 0..<40 { Exercise.keys([form] + random.bytes(3 * random.integer(in: 0...4))) }
    }
}
