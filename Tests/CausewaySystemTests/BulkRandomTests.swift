import CausewaySystem
import Testing

@Suite("Random numbers in bulk")
struct BulkRandomTests {
    @Test("No number comes twice, across the pieces that are fetched")
    func distinct() {
        var random = BulkRandom()
        // Of a thousand numbers of 64 bits two agree once in 10^13 runs.
        let numbers = (0..<1_000).map { _ in random.next() }
        #expect(Set(numbers).count == numbers.count)
        #expect(!numbers.contains(0))
    }
}
