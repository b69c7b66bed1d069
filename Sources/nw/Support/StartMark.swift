import CausewaySystem

/// When a command begins with its work, for whoever measures: how long a program takes to start is another matter.
enum StartMark {
    /// Prints `call`, and the seconds of the monotonic clock, if the environment has `NW_START_MARK`.
    static func print() {
        guard getenv("NW_START_MARK") != nil else { return }
        printLine("call \(System.now / .seconds(1))")
    }
}
