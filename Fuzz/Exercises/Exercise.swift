/// Runs the library's state machines and parsers with arbitrary bytes.
///
/// Each function stops the process at the first violated invariant. The functions are called by the fuzzers in the package `Fuzz` and by
/// unit tests with random bytes.
public enum Exercise {
    /// Receives the violations of invariants that ``check(_:_:)`` finds. If this is `nil`, as in fuzzers, the first
    /// violation stops the process.
    @TaskLocal public static var violated: (@Sendable (String) -> Void)?

    /// Checks an invariant, and reports a violation.
    static func check(
        _ holds: @autoclosure () -> Bool, _ message: @autoclosure () -> String = "an invariant is violated",
        file: StaticString = #fileID, line: UInt = #line
    ) {
        guard !holds() else { return }
        guard let violated else { preconditionFailure("\(message()) (\(file):\(line))") }
        violated("\(message()) (\(file):\(line))")
    }

    /// Reads the fuzzer's input bytes as a series of choices. After the last byte, every choice is 0.
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
