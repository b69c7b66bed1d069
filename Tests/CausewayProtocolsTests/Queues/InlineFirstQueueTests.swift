import CausewayProtocols
import CausewayTestKit
import Testing

@Suite("Inline-first queue")
struct InlineFirstQueueTests {
    @Test("Behaves as an array does", arguments: 0..<50 as Range<UInt64>)
    func agreesWithArray(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = InlineFirstQueue<Int>()
        var model: [Int] = []
        for value in 0..<400 {
            switch random.integer(in: 0...9) {
            case 0...3:
                queue.append(value)
                model.append(value)
            case 4:
                queue.prepend(value)
                model.insert(value, at: 0)
            case 5:
                queue.dropFirst()
                model = Array(model.dropFirst())
            case 6, 7:
                let expected = model.isEmpty ? nil : model.removeFirst()
                #expect(queue.popFirst() == expected)
            case 8:
                let divisor = random.integer(in: 2...5)
                let index = model.firstIndex { $0.isMultiple(of: divisor) }
                let expected = index.map { model.remove(at: $0) }
                let removed = queue.removeFirst { $0.isMultiple(of: divisor) }
                #expect(removed == expected)
            default:
                guard random.chance(oneIn: 10) else { continue }
                #expect(queue.removeAll() == model)
                model = []
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty)
            #expect(queue.first == model.first)
        }
        #expect(queue.removeAll() == model && queue.isEmpty)
    }

    @Test("One element needs no allocation")
    func oneElementInline() {
        var queue = InlineFirstQueue<Int>()
        queue.append(1)
        #expect(queue.rest.isEmpty && queue.first == 1)
        queue.append(2)
        #expect(queue.popFirst() == 1)
        #expect(queue.rest.isEmpty && queue.first == 2)
    }
}
