import CausewaySystem

/// Reports when a command starts its work, for benchmarks that exclude the start of the process.
enum StartMark {
    /// Prints `call` and the seconds of the monotonic clock, if the environment contains `NW_START_MARK`.
    static func print() {
        guard getenv("NW_START_MARK") != nil else { return }
        printLine("call \(System.now / .seconds(1))")
    }
}
