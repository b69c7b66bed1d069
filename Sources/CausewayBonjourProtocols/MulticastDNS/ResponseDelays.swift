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

/// Names for which other hosts also have records. Those hosts answer the same questions as this host.
struct SharedRecordNames: Sendable {
    /// How long a name is stored: a host that had a record with this name within this time may still have the record.
    private static let memory: Duration = .seconds(Int64(MulticastDNS.otherTimeToLive))
    /// The maximum number of names.
    private static let limit = 1_024

    private var heard: [DNSName: Duration] = [:]

    mutating func note(_ name: DNSName, at now: Duration) {
        if heard.count >= Self.limit, heard[name] == nil {
            heard = heard.filter { now - $0.value < Self.memory }
            guard heard.count < Self.limit else { return }
        }
        heard[name] = now
    }

    func have(_ name: DNSName, at now: Duration) -> Bool { heard[name].map { now - $0 < Self.memory } ?? false }
}
