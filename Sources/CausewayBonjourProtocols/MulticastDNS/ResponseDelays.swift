internal import CausewayWire

/// Computes random delays for messages that other hosts may send at the same time.
///
/// Some events are noticed by many hosts. After such an event, the delays are distributed uniformly, so that the hosts
/// do not send together. At other times, usually only one host sends. Short delays are then more likely, within the
/// same bounds.
struct ResponseDelays: Sendable {
    /// The period after an event that many hosts notice. During this period, delays are uniformly distributed, because
    /// the hosts may still be starting.
    private static let aftermath: Duration = .seconds(10)

    /// The time of the latest event that many hosts on the link may have noticed, such as a link that came up.
    private(set) var upheaval: Duration = .zero

    mutating func manyHostsStarted(at time: Duration) { upheaval = time }

    /// - Parameter count: The delay is the minimum of `count` random values. Short delays are therefore up to `count`
    ///   times as likely as with a uniform delay. Shortly after an event that many hosts noticed, the delay is a single
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
