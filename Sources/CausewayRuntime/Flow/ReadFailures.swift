/// Limits how often in a row a datagram socket is read again after errors.
///
/// An error usually concerns a datagram sent earlier (an ICMP error), and the next read succeeds. But if an error such
/// as `ENOMEM` persists, unlimited reads would keep the loop busy.
struct ReadFailures {
    /// The number of consecutive errors after which reading pauses.
    static let limit = 16
    /// The length of the pause.
    static let pause = Duration.milliseconds(10)

    private var count = 0

    mutating func readSucceeded() { count = 0 }

    /// Records an error. Returns how long to wait before the next read; `nil` to read again at once.
    mutating func readFailed() -> Duration? {
        count = min(count + 1, Self.limit)
        return count < Self.limit ? nil : Self.pause
    }
}
