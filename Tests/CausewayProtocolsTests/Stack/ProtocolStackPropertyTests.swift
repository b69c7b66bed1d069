import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import Testing

@Suite("Protocol stack under any order of events")
struct ProtocolStackPropertyTests {
    @Test("One end, nothing after it, and a cleanup for every started framer", arguments: 0..<200)
    func holdsInvariants(seed: Int) {
        var pair =
            seed % 2 == 0
            ? ProtocolStackTests.framerPair(seed: UInt64(seed)) : ProtocolStackTests.webSocketPair(seed: UInt64(seed))
        var random = SplitMix64(seed: UInt64(seed) &+ 1_000_000)
        for _ in 0..<150 {
            let end = random.integer(in: 0...1)
            switch random.integer(in: 0...99) {
            case 0: pair.ends[end].close()
            case 1: pair.ends[end].receiveEnd()
            case 2:
                pair.ends[end].stack.abort(.aborted)
                pair.ends[end].settle()
            case 3: damage(&pair.wires[end], &random)
            case 4...30:
                pair.ends[end].send(random.bytes(random.integer(in: 0...300)), endsMessage: random.chance(oneIn: 2))
            case 31...50: pair.ends[end].read(atMost: random.integer(in: 0...200))
            case 51: pair.ends[end].stack.advance(to: .seconds(1))
            default: pair.step(longest: 200)
            }
            for end in pair.ends {
                #expect(end.endings <= 1)
                #expect(end.stack.hasEnded == (end.endings == 1))
            }
        }
        for end in 0..<2 { finish(&pair.ends[end]) }
    }

    private func damage(_ wire: inout ByteChain, _ random: inout SplitMix64) {
        var bytes = wire.bytes
        guard !bytes.isEmpty else { return }
        bytes[random.integer(in: 0...(bytes.count - 1))] ^= UInt8(random.integer(in: 1...255))
        wire = ByteChain(bytes)
    }

    private func finish(_ end: inout StackEnd) {
        end.stack.abort(.aborted)
        end.settle()
        #expect(end.endings == 1)
        let readNothing = !end.read()
        let tookNothing = !end.stack.send(MessageChunk([1]), at: .zero)
        #expect(readNothing && tookNothing)
        #expect(end.stack.deadline == nil)
        let events = end.events
        #expect(events.filter { $0 == "start" }.count == events.filter { $0 == "cleanup" }.count)
    }
}
