internal import CausewayWire

/// Computes random delays before messages that other hosts may send at the same time.
///
/// After an event that many hosts notice, the delays are uniformly distributed, so that the hosts do not send together. Without such an
/// event usually only one host sends. Its delay is within the same bounds, but short delays are more likely.
struct ResponseDelays: Sendable {
    /// The time after an event within which the affected hosts start.
    private static let aftermath: Duration = .seconds(10)

    /// The time of the last event that many hosts on the link may have noticed.
    var upheaval: Duration = .zero

    /// - Parameter count: Without a recent event the delay is the minimum of this number of random values. Each moment is then at most this
    ///   many times as likely as with a uniform delay.
    func wait(
        in bounds: Range<Duration>, leastOf count: Int, at now: Duration,
        using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        let isCalm = now - upheaval >= Self.aftermath
        return (0..<(isCalm ? count : 1)).reduce(bounds.upperBound) { minimum, _ in
            min(minimum, .random(in: bounds, using: &random))
        }
    }
}
