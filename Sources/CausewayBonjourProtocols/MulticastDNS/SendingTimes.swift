internal import CausewayWire

/// The time when each record was last sent by multicast.
///
/// The table stores hash values and nanoseconds instead of records and durations. So it uses only a fifth of the
/// memory. On a host with thousands of services, this is the largest table.
///
/// Two records with the same hash value (64 bits, random seed) share an entry. This can delay an answer by only one
/// second.
struct SendingTimes: Sendable {
    private static let minimumLimit = 256

    private var times: [Int: Int64] = [:]
    /// The maximum table size. A larger table loses the entries that can no longer affect an answer.
    private var limit = Self.minimumLimit

    /// The time of the record's latest multicast. It is rounded up to a nanosecond, so that the record is never sent
    /// again too early.
    subscript(record: DNSRecord) -> Duration? { times[record.hashValue].map { .nanoseconds($0) } }

    /// Returns the time since the record's latest multicast. Stored times are rounded up to a nanosecond, and this
    /// method rounds `now` up in the same way. Otherwise an answer that is due after exactly one second could seem to
    /// be too early.
    func age(of record: DNSRecord, at now: Duration) -> Duration? {
        times[record.hashValue].map { .nanoseconds(Self.nanoseconds(now) - $0) }
    }

    mutating func note(_ record: DNSRecord, at now: Duration) {
        let time = Self.nanoseconds(now)
        times[record.hashValue] = time
        guard times.count > limit else { return }
        // Remove entries that are older than a quarter of the longest usual TTL. Such an entry works like a missing
        // entry: this host sends the record by multicast, even to a querier that asked for a unicast answer.
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
