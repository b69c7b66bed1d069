import CausewayTLS
import CausewayTypes
import Testing

@Suite("Damaged handshakes")
struct DamageTests {
    /// Changes, removes and inserts bytes in transit at random, from a seed.
    private struct Vandal {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(1, bound)
        }

        mutating func damage(_ bytes: [UInt8]) -> [UInt8] {
            guard !bytes.isEmpty else { return bytes }
            var result = bytes
            let place = next(bytes.count)
            switch next(5) {
            case 0: result[place] ^= UInt8(1 << next(8))
            case 1: result.remove(at: place)
            case 2: result.insert(UInt8(next(256)), at: place)
            case 3: result.removeLast(next(bytes.count))
            default: result = (0..<next(64)).map { _ in UInt8(next(256)) } + result
            }
            return result
        }
    }

    /// Tests with damaged input. No input may make the process trap. Each side must accept only content that the other
    /// side has sent.
    @Test(
        "With any damaged input, both sides survive, and content is correct or missing",
        arguments: 0..<8 as Range<UInt64>)
    func vandalism(_ part: UInt64) throws {
        let contexts = try [TLSVersion.tls12, .tls13].map { version in
            (
                try TLSContext(
                    .client {
                        $0.maximumVersion = version
                        $0.identity = try? Identities.client.get()
                    }), try TLSContext(.server { $0.peerAuthentication = .optional })
            )
        }
        for seed in part * 40..<part * 40 + 40 {
            let (client, server) = contexts[Int(seed % 2)]
            var vandal = Vandal(state: seed &* 0x9e37_79b9_7f4a_7c15)
            var untilDamage = vandal.next(6)
            let pair = try EnginePair(client, server)
            pair.deliver = { piece in
                untilDamage -= 1
                return untilDamage == -1 ? vandal.damage(piece) : piece
            }
            pair.run()
            _ = try? pair.client.write("right")
            pair.carry(from: pair.client, to: pair.server)
            let heard = pair.server.readText
            #expect("right".hasPrefix(heard), "seed \(seed)")
            _ = pair.client.readAll()
        }
    }

    @Test("Damaged datagrams", arguments: 0..<4 as Range<UInt64>)
    func datagramVandalism(_ part: UInt64) throws {
        let client = try TLSContext(.client { $0.usesDatagrams = true })
        let server = try TLSContext(.server { $0.usesDatagrams = true })
        for seed in part * 40..<part * 40 + 40 {
            var vandal = Vandal(state: seed &* 0x9e37_79b9_7f4a_7c15)
            let pair = try EnginePair(client, server)
            pair.deliver = { piece in vandal.next(3) == 0 ? vandal.damage(piece) : piece }
            pair.run()
            _ = try? pair.client.write("right")
            pair.carry(from: pair.client, to: pair.server)
            let heard = pair.server.readText
            #expect(heard.isEmpty || heard == "right", "seed \(seed)")
        }
    }
}
