import CausewayProtocols
import CausewayTestKit
import Testing

@Suite("Byte chain")
struct ByteChainTests {
    @Test("After any appends and reads, the bytes equal those of an array", arguments: 0..<50)
    func likeAnArray(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var chain = ByteChain()
        var model: [UInt8] = []
        for _ in 0..<200 {
            let count = random.chance(oneIn: 10) ? random.integer(in: 0...9000) : random.integer(in: 0...40)
            switch random.integer(in: 0...6) {
            case 0, 1:
                let bytes = random.bytes(count)
                chain.append(bytes)
                model += bytes
            case 2:
                let bytes = random.bytes(count + 4)
                chain.append(bytes[2..<(count + 2)])
                model += bytes[2..<(count + 2)]
            case 3:
                let taken = chain.take(atMost: count).bytes
                #expect(taken == Array(model.prefix(count)))
                model.removeFirst(taken.count)
            case 4:
                let front = Array(chain.front(count))
                #expect(front == Array(model.prefix(count)))
            case 5:
                let piece = chain.popPiece(atMost: count).map(Array.init) ?? []
                #expect(piece == Array(model.prefix(piece.count)))
                #expect(piece.count <= count && (!piece.isEmpty || model.isEmpty || count == 0))
                model.removeFirst(piece.count)
            default:
                let dropped = chain.drop(atMost: count)
                #expect(dropped == min(count, model.count))
                model.removeFirst(dropped)
            }
            #expect(chain.count == model.count)
            #expect(chain.isEmpty == model.isEmpty)
        }
        #expect(chain.bytes == model)
    }

    @Test("Large pieces keep their arrays; small ones are merged")
    func pieces() {
        var chain = ByteChain([UInt8](repeating: 1, count: 10_000))
        chain.append([UInt8](repeating: 2, count: 10_000))
        for _ in 0..<100 { chain.append([3]) }
        var counts: [Int] = []
        while let piece = chain.popPiece() { counts.append(piece.count) }
        #expect(counts == [10_000, 10_000, 100])
    }

    @Test("Invalid limits take nothing")
    func limits() {
        var chain = ByteChain([1, 2])
        let pieces = [chain.popPiece(atMost: 0), chain.popPiece(atMost: -1)]
        let counts = [chain.take(atMost: -1).count, chain.drop(atMost: -1), chain.front(-1).count]
        #expect(pieces == [nil, nil])
        #expect(counts == [0, 0, 0])
        #expect(chain.bytes == [1, 2])
    }

    @Test("When a chunk is split, only its last piece ends the message")
    func chunks() {
        var queue = MessageChunkQueue()
        queue.append(MessageChunk([1, 2, 3], endsMessage: true))
        queue.append(MessageChunk([], endsMessage: true))
        #expect(queue.byteCount == 3)
        let first = queue.pop(atMost: 2)
        #expect(first?.bytes.bytes == [1, 2])
        #expect(first?.endsMessage == false)
        #expect(queue.byteCount == 1)
        let second = queue.pop(atMost: 2)
        #expect(second?.bytes.bytes == [3])
        #expect(second?.endsMessage == true)
        let third = queue.pop(atMost: 1)
        #expect(third?.bytes.isEmpty == true)
        #expect(queue.isEmpty && queue.byteCount == 0)
    }
}
