import CausewayExercises
import CausewayTestKit
import CausewayTLS
import Testing

/// Runs the TLS and certificate fuzz exercises with random bytes. A violated invariant stops the process.
@Suite("Exercises with TLS")
struct TLSExerciseTests {
    /// Fuzzer input with which the handshake completes: the bytes are delivered in both directions, and the certificate
    /// is accepted.
    private static let handshake = [[UInt8]](repeating: [0, 255, 0x80, 255, 14, 1], count: 8).flatMap { $0 }

    @Test("Two ends with any bytes between them", arguments: 0..<40)
    func conversations(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for kind in UInt8(0)..<5 {
            var bytes = [kind]
            // In half of the runs, begin with the bytes of an undamaged handshake.
            if random.chance(oneIn: 2) { bytes += Self.handshake }
            let counts = Exercise.tls(bytes + random.bytes(random.integer(in: 0...120)))
            // DTLS drops a datagram that the link has duplicated.
            #expect(counts.map { $0.received <= $0.sent } == true)
        }
    }

    @Test("An undamaged connection loses nothing", arguments: UInt8(0)..<5)
    func unharmed(kind: UInt8) throws {
        var random = SplitMix64(seed: UInt64(kind))
        for _ in 0..<5 {
            // Use only steps that deliver, send or read bytes. Each step has a random length.
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
        // In forms 0 to 3, the exercise parses arbitrary bytes. In forms 4 to 7, it parses valid examples. Any further
        // input bytes damage these examples.
        #expect(Exercise.certificates([form]) == (form < 4 ? 0 : 1))
        for _ in 0..<40 {
            let count = Exercise.certificates([form] + random.bytes(3 * random.integer(in: 0...4)))
            #expect(count <= (form < 4 ? 0 : 1))
        }
    }

    @Test("Keys that programs store, damaged", arguments: UInt8(0)..<8)
    func keys(form: UInt8) {
        var random = SplitMix64(seed: UInt64(form))
        // The first byte selects the form. Forms 4 to 7 start with a valid example key, which the bytes after it can
        // damage.
        #expect(Exercise.keys([form]) == (form >= 4))
        for _ in 0..<40 { Exercise.keys([form] + random.bytes(3 * random.integer(in: 0...4))) }
    }
}
