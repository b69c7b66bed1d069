/// Limits how many times in a row a datagram socket is read again after errors.
///
/// Most errors concern a datagram that was sent earlier (an ICMP error), and the next read succeeds. But an error such
/// as `ENOMEM` can persist. Without a limit, the reads would then keep the loop busy.
struct ReadFailures {
    /// The number of consecutive read errors after which the socket pauses reading.
    static let limit = 16
    /// How long the socket pauses reading after too many read errors.
    static let pause = Duration.milliseconds(10)

    private var count = 0

    mutating func readSucceeded() { count = 0 }

    /// Records an error. Returns how long to wait before the next read; `nil` to read again at once.
    mutating func readFailed() -> Duration? {
        count = min(count + 1, Self.limit)
        return count < Self.limit ? nil : Self.pause
    }
}
