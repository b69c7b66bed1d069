/// A small random number generator. Its whole state is determined by its seed, so the same seed always gives the same
/// test.
///
/// Seeds that are close to each other give unrelated sequences. A property test can therefore use consecutive seeds. Do
/// not use it for cryptography.
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

    /// Returns `true` with a probability of 1 / `one`.
    public mutating func chance(oneIn one: Int) -> Bool { Int.random(in: 0..<max(one, 1), using: &self) == 0 }

    /// Returns random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
