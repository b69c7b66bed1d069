import ArgumentParser

/// A rate limit in bytes per second that several transfers share.
///
/// The limit reads no clock: after each chunk, a transfer passes the current time and gets a delay. After a pause, a
/// burst of bytes may pass at once. The burst is as large as the rate allows in a quarter of a second.
struct TransferRate: Equatable, Sendable, ExpressibleByArgument {
    private static let burst = Duration.milliseconds(250)

    let bytesPerSecond: UInt64
    /// The time at which all bytes so far would have been transferred at exactly this rate.
    private var end = Duration.zero - Self.burst

    init(bytesPerSecond: UInt64) { self.bytesPerSecond = max(1, bytesPerSecond) }

    /// Parses a number of bytes per second, with `k`, `m` or `g` for KiB, MiB and GiB. Returns `nil` for 0 and for other text.
    init?(argument: String) {
        let shifts: [Character: Int] = ["k": 10, "m": 20, "g": 30]
        let shift = argument.last.flatMap { shifts[Character($0.lowercased())] }
        guard let number = Double(shift == nil ? argument[...] : argument.dropLast()), number.isFinite else {
            return nil
        }
        let rate = number * Double(1 << (shift ?? 0))
        guard rate >= 1, rate < 1e15 else { return nil }
        self.init(bytesPerSecond: UInt64(rate))
    }

    /// Counts transferred bytes. Returns how long to wait before the next bytes.
    mutating func delay(after count: Int, at now: Duration) -> Duration {
        end = max(end, now - Self.burst) + .seconds(Double(count) / Double(bytesPerSecond))
        return max(.zero, end - now)
    }
}
