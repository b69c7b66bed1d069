/// Controls the probe rate. The rate rises with answers to first attempts, halves after a loss, and never exceeds the
/// user's limit.
///
/// The type applies TCP's congestion window principle (RFC 5681 §3.1) to a rate, not to the number of unanswered
/// probes. A limit on that number would stop the scan when many ports do not answer.
struct ScanPace: Sendable {
    /// Probes per second.
    private(set) var rate: Double
    private let maximum: Double
    private let minimum: Double
    private var allowance: Double
    private var last: Int64 = 0
    private var isStarting = true
    private var heldUntil: Int64 = 0

    /// The initial rate in probes per second. With 60 bytes per probe, this is five megabits per second.
    static let first = 10_000.0
    /// The highest rate, also if the user allows more.
    static let highest = 1_000_000.0

    init(maximumPerSecond: Double?) {
        maximum = min(maximumPerSecond ?? Self.highest, Self.highest)
        rate = min(Self.first, maximum)
        minimum = min(200, maximum)
        allowance = min(16, max(1, rate / 100))
    }

    /// Returns whether a probe may be sent at this time. A result of `true` counts as a sent probe.
    ///
    /// - Parameter now: The current time in microseconds.
    mutating func take(_ now: Int64) -> Bool {
        if now > last {
            // After a pause, permit a burst of packets, but at most as many as the rate permits in five milliseconds.
            // On a busy machine, the sender may run only once in five milliseconds.
            let room = max(1, min(rate / 200, maximum / 50))
            allowance = min(allowance + Double(now - last) * rate / 1e6, max(room, 1))
            last = now
        }
        guard allowance >= 1 else { return false }
        allowance -= 1
        return true
    }

    /// The earliest time for the next probe.
    var next: Int64 { last + Int64(max(1, (1 - allowance) * 1e6 / rate)) }

    mutating func answered() {
        rate = min(maximum, isStarting ? rate * (1 + 1.0 / 64) : rate + 50)
    }

    /// Records that a probe or its answer was lost. Losses within a round trip count once.
    mutating func lost(_ now: Int64, roundTrip: Int64) {
        guard now >= heldUntil else { return }
        isStarting = false
        rate = max(minimum, rate / 2)
        heldUntil = now + max(roundTrip, 100_000)
    }
}
