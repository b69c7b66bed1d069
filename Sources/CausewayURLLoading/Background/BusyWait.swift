/// How long a discretionary session waits for a computer that is not busy.
struct BusyWait: Sendable {
    /// The longest wait. After it the session goes on, also on a busy computer.
    static let maximum = Duration.seconds(3_600)

    /// Since when the computer has been busy; `nil` if it is not, or the session does not care.
    private var since: Duration?

    /// Returns whether the session starts nothing.
    ///
    /// - Parameters:
    ///   - load: The number of threads that want to run; `nil` if it is unknown.
    ///   - processorCount: The number of processors.
    ///   - now: The wall-clock time since 1970.
    mutating func waits(load: Double?, processorCount: Int, at now: Duration) -> Bool {
        guard let load, load > Double(processorCount) else {
            since = nil
            return false
        }
        // If the clock was set back, the wait begins again.
        let start = min(since ?? now, now)
        since = start
        return now - start < Self.maximum
    }
}
