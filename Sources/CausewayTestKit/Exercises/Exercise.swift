/// Arbitrary octets, given to the library's own machines and parsers in every way that a peer or a program could.
///
/// Each function stops the process at the first broken promise. The fuzzers call them, and so do unit tests with random octets: see
/// the package `Fuzz`.
public enum Exercise {
    /// Octets as choices: the first ones given first, and zeros for ever after the last.
    struct Choices {
        private var octets: ArraySlice<UInt8>

        init(_ octets: some Sequence<UInt8>) { self.octets = Array(octets)[...] }

        var isEmpty: Bool { octets.isEmpty }
        var rest: [UInt8] { Array(octets) }

        mutating func next() -> UInt8 { octets.popFirst() ?? 0 }
        mutating func next(below limit: Int) -> Int { Int(next()) % max(1, limit) }
        mutating func take(_ count: Int) -> [UInt8] {
            let taken = Array(octets.prefix(count))
            octets = octets.dropFirst(count)
            return taken
        }
    }
}
