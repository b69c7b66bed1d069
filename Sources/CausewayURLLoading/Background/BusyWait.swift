/// How long a discretionary session waits for a low system load.
struct BusyWait: Sendable {
    /// The maximum time to wait. Afterwards the session continues even under high load.
    static let maximum = Duration.seconds(3_600)

    /// When the load of the host became high. `nil` if the load is low, or if the session is not discretionary.
    private var since: Duration?

    /// Returns whether the session must wait.
    ///
    /// - Parameters:
    ///   - load: The number of runnable threads; `nil` if it is unknown.
    ///   - processorCount: The number of processors.
    ///   - now: The wall-clock time since 1970.
    mutating func waits(load: Double?, processorCount: Int, at now: Duration) -> Bool {
        guard let load, load > Double(processorCount) else {
            since = nil
            return false
        }
        // If the clock was set back, start the wait again.
        let start = min(since ?? now, now)
        since = start
        return now - start < Self.maximum
    }
}
