/// How fast probes may leave: faster with every answer, at half speed after a loss, never above what the user allows.
///
/// The same idea as TCP's congestion window (RFC 5681 §3.1), as a rate: a window would wait for ports that never answer.
struct ScanPace: Sendable {
    /// Probes a second.
    private(set) var rate: Double
    private let maximum: Double
    private let minimum: Double
    private var allowance: Double
    private var last: Int64 = 0
    private var isStarting = true
    private var heldUntil: Int64 = 0

    /// The rate before anything is known: 60 bytes each make five megabits a second.
    static let first = 10_000.0

    init(maximumPerSecond: Double?) {
        maximum = maximumPerSecond ?? 1_000_000
        rate = min(Self.first, maximum)
        minimum = min(200, maximum)
        allowance = min(16, max(1, rate / 100))
    }

    /// Whether a probe may leave now, at this time in microseconds; it then counts as sent.
    mutating func take(_ now: Int64) -> Bool {
        if now > last {
            // What was saved in five milliseconds may leave at once: that is how often a busy machine lets us run.
            let room = max(1, min(rate / 200, maximum / 50))
            allowance = min(allowance + Double(now - last) * rate / 1e6, max(room, 1))
            last = now
        }
        guard allowance >= 1 else { return false }
        allowance -= 1
        return true
    }

    /// When the next probe may leave.
    var next: Int64 { last + Int64(max(1, (1 - allowance) * 1e6 / rate)) }

    mutating func answered() {
        rate = min(maximum, isStarting ? rate * (1 + 1.0 / 64) : rate + 50)
    }

    /// A probe or its answer was lost on the way. Losses come in groups, of which one counts.
    mutating func lost(_ now: Int64, roundTrip: Int64) {
        guard now >= heldUntil else { return }
        isStarting = false
        rate = max(minimum, rate / 2)
        heldUntil = now + max(roundTrip, 100_000)
    }
}
