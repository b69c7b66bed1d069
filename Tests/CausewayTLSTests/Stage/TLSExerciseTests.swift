import CausewayExercises
import CausewayTestKit
import CausewayTLS
import Testing

/// The invariants of the fuzzers for TLS and certificates, with random bytes. A violation stops the process.
@Suite("Exercises with TLS")
struct TLSExerciseTests {
    @Test("Two ends with any bytes between them", arguments: 0..<40)
    func conversations(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let quiet: [UInt8] = [0, 255, 0x80, 255, 14, 1]
        for kind in UInt8(0)..<5 {
            var bytes = [kind]
            // Half of the runs complete their handshake undamaged.
            if random.chance(oneIn: 2) { for _ in 0..<8 { bytes += quiet } }
            Exercise.tls(bytes + random.bytes(random.integer(in: 0...120)))
        }
    }

    @Test("An undamaged connection loses nothing", arguments: UInt8(0)..<5)
    func unharmed(kind: UInt8) {
        var random = SplitMix64(seed: UInt64(kind))
        for _ in 0..<5 {
            // Only deliveries, sends and reads, of all lengths.
            let steps = (0..<60).flatMap { _ -> [UInt8] in
                [UInt8(random.integer(in: 0...7)) | (random.chance(oneIn: 2) ? 0x80 : 0)] + random.bytes(1)
            }
            Exercise.tls([kind] + steps)
        }
    }

    @Test("Certificates and keys of every form, damaged", arguments: UInt8(0)..<8)
    func certificates(form: UInt8) {
        var random = SplitMix64(seed: UInt64(form))
        for _ in 0..<40 { Exercise.certificates([form] + random.bytes(3 * random.integer(in: 0...4))) }
    }
}
