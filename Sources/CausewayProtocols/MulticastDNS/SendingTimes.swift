internal import CausewayWire

/// When each record was last multicast.
///
/// By the record's hash, and in nanoseconds: the largest table of a host with thousands of services is a fifth as large so. Who met
/// another's hash, of 2^64 and with a seed that nobody knows, would wait a second.
struct SendingTimes: Sendable {
    private static let minimumLimit = 256

    private var times: [Int: Int64] = [:]
    /// When there are more, those are sought that make no difference any more.
    private var limit = Self.minimumLimit

    /// Up to a nanosecond later than it was: nothing may be said again too early.
    subscript(record: DNSRecord) -> Duration? { times[record.hashValue].map { .nanoseconds($0) } }

    /// How long ago that is, `now` as much later: what is due a second afterwards is so after a second.
    func age(of record: DNSRecord, at now: Duration) -> Duration? {
        times[record.hashValue].map { .nanoseconds(Self.nanoseconds(now) - $0) }
    }

    mutating func note(_ record: DNSRecord, at now: Duration) {
        let time = Self.nanoseconds(now)
        times[record.hashValue] = time
        guard times.count > limit else { return }
        // A quarter of the longest usual time.
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
