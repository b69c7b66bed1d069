import CausewayTypes
import Testing

/// A random number generator with a seed, so that a failing property test can be reproduced from its argument.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) {
        state = UInt64(truncatingIfNeeded: seed)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func text(of alphabet: [Character], upTo limit: Int) -> String {
        let count = Int.random(in: 0...limit, using: &self)
        return String((0..<count).compactMap { _ in alphabet.randomElement(using: &self) })
    }
}

/// Returns the loopback interface, which every network namespace has.
func loopbackInterface() throws -> NWInterface {
    try #require(NWInterface(name: "lo"))
}
