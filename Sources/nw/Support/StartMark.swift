import CausewaySystem

/// Reports when a command starts its work, for benchmarks that exclude process startup.
enum StartMark {
    /// Prints a line with the word `call` and the monotonic clock's time in seconds, if the environment contains
    /// `NW_START_MARK`.
    static func print() {
        guard getenv("NW_START_MARK") != nil else { return }
        printLine("call \(System.now / .seconds(1))")
    }
}
