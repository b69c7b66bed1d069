import CausewayRuntime
import CausewayTestKit
import Testing

@Suite("Ring")
struct RingTests {
    /// A test element whose instances are counted.
    final class Token {
        let number: Int
        let living: Counter

        init(_ number: Int, _ living: Counter) {
            self.number = number
            self.living = living
            living.value += 1
        }

        deinit { living.value -= 1 }
    }

    final class Counter {
        var value = 0
    }

    @Test("Equals an array, and retains no removed elements", arguments: 0..<20 as Range<UInt64>)
    func agreesWithArray(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let living = Counter()
        var model: [Int] = []
        do {
            let ring = Ring<Token>()
            for number in 0..<3_000 {
                // Append and remove elements in bursts, so that the ring grows, wraps around and shrinks.
                #expect(ring.first?.number == model.first)
                if random.chance(oneIn: number / 500 % 2 == 0 ? 4 : 2) {
                    #expect(ring.popFirst()?.number == (model.isEmpty ? nil : model.removeFirst()))
                } else {
                    ring.append(Token(number, living))
                    model.append(number)
                }
                #expect(ring.count == model.count && ring.isEmpty == model.isEmpty && living.value == model.count)
                guard random.chance(oneIn: 400) else { continue }
                while let token = ring.popFirst() { #expect(token.number == model.removeFirst()) }
                #expect(model.isEmpty && living.value == 0)
            }
        }
        #expect(living.value == 0)
    }

    @Test("A burst of any length keeps its order")
    func burst() {
        let ring = Ring<Int>()
        for _ in 0..<4 {
            for number in 0..<20_000 { ring.append(number) }
            #expect((0..<20_000).allSatisfy { ring.popFirst() == $0 } && ring.popFirst() == nil)
        }
    }
}
