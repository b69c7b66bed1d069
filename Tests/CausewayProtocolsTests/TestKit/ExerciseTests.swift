import CausewayTestKit
import Testing

/// The fuzzers' promises, with random octets. A broken one stops the process.
@Suite("Exercises")
struct ExerciseTests {
    @Test("WebSocket machines meet mutated frames", arguments: 0..<40)
    func webSocket(seed: Int) {
        let opcodes: [UInt8] = [0, 1, 2, 8, 9, 10]
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<50 {
            var octets = random.octets(2)
            let mask: UInt32? = octets[0] & 1 != 0 ? UInt32.random(in: 0 ... .max, using: &random) : nil
            for _ in 0..<random.integer(in: 0...6) {
                let opcode = opcodes[random.integer(in: 0...5)]
                octets += frame(
                    opcode, random.octets(random.integer(in: 0...150)), fin: random.chance(oneIn: 2), mask: mask)
            }
            if random.chance(oneIn: 2) { octets[random.integer(in: 0...(octets.count - 1))] ^= 1 << UInt8(seed & 7) }
            Exercise.webSocketMachine(octets)
            Exercise.webSocketFrames(Array(octets.dropFirst(2)))
        }
    }

    @Test("Upgrade heads meet anything", arguments: 0..<20)
    func heads(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let words = [
            "GET / HTTP/1.1", "\r\n", "\r", "\n", ": ", "Host", "h", "Upgrade", "websocket", "Connection",
            "Sec-WebSocket-Key",
            "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version", "13", " ", ",", "\u{0}", "/", "HTTP/1.1 101 x",
        ]
        for _ in 0..<200 {
            var octets: [UInt8] = []
            for _ in 0..<random.integer(in: 0...25) {
                octets += Array(words[random.integer(in: 0...(words.count - 1))].utf8)
            }
            Exercise.upgradeHead(octets)
        }
    }

    @Test("Framers meet any order of calls", arguments: 0..<200)
    func framers(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<20 { Exercise.framer(random.octets(random.integer(in: 0...300))) }
    }
}
