internal import CausewayWire

/// Computes random delays for messages that other hosts may send at the same time.
///
/// After an event that many hosts notice, the delays are uniformly distributed, so that the hosts do not send together.
/// Otherwise usually only one host sends, and short delays are more likely, within the same bounds.
struct ResponseDelays: Sendable {
    /// How long delays are uniformly distributed after an event that many hosts notice. The hosts may need this time to
    /// start.
    private static let aftermath: Duration = .seconds(10)

    /// When an event last occurred that many hosts on the link may have noticed, such as a link that came up.
    private(set) var upheaval: Duration = .zero

    mutating func manyHostsStarted(at time: Duration) { upheaval = time }

    /// - Parameter count: The delay is the minimum of `count` random values, so short delays are more likely: up to
    ///   `count` times as likely as with a uniform delay. Shortly after an event that many hosts noticed, it is one
    ///   random value.
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
