/// Arbitrary bytes, given to the library's own machines and parsers in every way that a peer or a program could.
///
/// Each function stops the process at the first broken promise. The fuzzers call them, and so do unit tests with random bytes: see
/// the package `Fuzz`.
public enum Exercise {
    /// Bytes as choices: the first ones given first, and zeros for ever after the last.
    struct Choices {
        private var bytes: ArraySlice<UInt8>

        init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes)[...] }

        var isEmpty: Bool { bytes.isEmpty }
        var rest: [UInt8] { Array(bytes) }

        mutating func next() -> UInt8 { bytes.popFirst() ?? 0 }
        mutating func next(below limit: Int) -> Int { Int(next()) % max(1, limit) }
        mutating func take(_ count: Int) -> [UInt8] {
            let taken = Array(bytes.prefix(count))
            bytes = bytes.dropFirst(count)
            return taken
        }
    }
}
