import CausewaySystem
import Testing

@Suite("Random numbers in bulk")
struct BulkRandomTests {
    @Test("No number is repeated, across the blocks that are fetched")
    func distinct() {
        var random = BulkRandom()
        // A thousand random 64-bit numbers contain a repetition once in 10^13 runs.
        let numbers = (0..<1_000).map { _ in random.next() }
        #expect(Set(numbers).count == numbers.count)
        #expect(!numbers.contains(0))
    }
}
