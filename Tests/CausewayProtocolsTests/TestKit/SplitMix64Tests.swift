import CausewayTestKit
import Testing

@Suite("Seeded random numbers")
struct SplitMix64Tests {
    /// Checks the first numbers of the reference implementation for seed 1234567.
    @Test("Returns the published sequence")
    func vector() {
        var random = SplitMix64(seed: 1_234_567)
        let numbers = (0..<5).map { _ in random.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }

    @Test("Stays in its range and reaches all values in it")
    func ranges() {
        var random = SplitMix64(seed: 1)
        let seen = Set((0..<200).map { _ in random.integer(in: -1...2) })
        #expect(seen == [-1, 0, 1, 2])
        let (some, none) = (random.bytes(9), random.bytes(0))
        #expect(some.count == 9 && none.isEmpty)
        let hits = (0..<1_000).count { _ in random.chance(oneIn: 4) }
        #expect((180...320).contains(hits))
    }
}
