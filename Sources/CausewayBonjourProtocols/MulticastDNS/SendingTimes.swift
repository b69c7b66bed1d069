internal import CausewayWire

/// The time of each record's latest multicast.
///
/// The table stores hash values and nanoseconds instead of records and durations, and so uses a fifth of the memory; on
/// a host with thousands of services it is the largest table. A hash collision (64 bits, random seed) would only delay
/// an answer by one second.
struct SendingTimes: Sendable {
    private static let minimumLimit = 256

    private var times: [Int: Int64] = [:]
    /// When the table exceeds this size, entries are removed that can no longer affect an answer.
    private var limit = Self.minimumLimit

    /// The time of the record's latest multicast, rounded up to a nanosecond, so that no record is sent again too
    /// early.
    subscript(record: DNSRecord) -> Duration? { times[record.hashValue].map { .nanoseconds($0) } }

    /// Returns the time since the record's latest multicast. The stored times are rounded up to a nanosecond, so `now`
    /// is rounded up, too. Otherwise, an answer that is due after exactly one second could seem to be too early.
    func age(of record: DNSRecord, at now: Duration) -> Duration? {
        times[record.hashValue].map { .nanoseconds(Self.nanoseconds(now) - $0) }
    }

    mutating func note(_ record: DNSRecord, at now: Duration) {
        let time = Self.nanoseconds(now)
        times[record.hashValue] = time
        guard times.count > limit else { return }
        // An entry older than a quarter of the longest usual TTL has the same effect as no entry: the record is
        // multicast even if the querier asked for a unicast answer.
        let old = Self.nanoseconds(.seconds(Int64(MulticastDNS.otherTimeToLive)) / 4)
        if times.values.contains(where: { time - $0 >= old }) { times = times.filter { time - $0.value < old } }
        limit = max(Self.minimumLimit, 2 * times.count)
    }

    mutating func forget(_ record: DNSRecord) { times[record.hashValue] = nil }

    private static func nanoseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
    }
}
