/// A small random number generator whose whole state is its seed: the same seed gives the same test.
///
/// Nearby seeds give unrelated sequences, so a property test can use consecutive seeds. Not for cryptography.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator. Equal seeds give equal sequences.
    public init(seed: UInt64) { state = seed }

    /// Returns the next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension RandomNumberGenerator {
    /// Returns a random integer of the range.
    public mutating func integer(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// Returns `true` once in `one` calls on average.
    public mutating func chance(oneIn one: Int) -> Bool { Int.random(in: 0..<max(one, 1), using: &self) == 0 }

    /// Returns random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
