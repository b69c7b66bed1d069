import CausewaySystem

/// Reports when a command starts its work, for benchmarks that exclude process startup.
enum StartMark {
    /// Prints a line with the word `call` and the monotonic clock's time in seconds, in builds with the compilation
    /// condition `START_MARK`. Releases do not contain it.
    static func print() {
        #if START_MARK
            printLine("call \(System.now / .seconds(1))")
        #endif
    }
}
