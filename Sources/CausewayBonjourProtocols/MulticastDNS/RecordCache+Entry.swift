internal import CausewayTypes
internal import CausewayWire

extension RecordCache {
    /// A cached record and its lifetime.
    struct Entry: Sendable {
        var record: DNSRecord
        /// The record's first sender; `nil` for this host.
        var source: InternetAddress?
        var received: Duration
        /// When the record expires.
        private(set) var expires: Duration
        /// A random delay that is added to refresh times. It is a fraction of the record's lifetime, from 0 to 0.02
        /// (RFC 6762 §5.2).
        private let jitter: Double
        /// Whether a running query asks for this record. The cache refreshes a record only if this is `true`.
        var isWatched: Bool
        /// The number of refresh times already passed.
        var refreshes = 0
        /// The number of other hosts' queries that got no response since the record's latest arrival (RFC 6762 §10.5).
        private var misses = 0
        private var firstMiss: Duration = .zero
        private var lastMiss: Duration = .zero
        /// The time at which another host last contradicted this record with a unicast response.
        var lastDoubt: Duration?

        init(record: DNSRecord, source: InternetAddress?, received: Duration, jitter: Double, isWatched: Bool) {
            self.record = record
            self.source = source
            self.received = received
            self.jitter = jitter
            self.isWatched = isWatched
            expires = received + .seconds(Int64(record.timeToLive))
        }

        var lifetime: Duration { .seconds(Int64(record.timeToLive)) }

        /// The approximate memory use in bytes.
        var byteCount: Int { record.byteCount }

        /// The next refresh time: 80, 85, 90 or 95 % of the lifetime, plus jitter (RFC 6762 §5.2).
        ///
        /// `nil` after the fourth refresh, and if the record must expire early.
        var nextRefresh: Duration? {
            guard refreshes < 4, expires == received + lifetime else { return nil }
            return received + lifetime * (0.80 + 0.05 * Double(refreshes) + jitter)
        }

        /// The time at which to refresh the record. If no refresh is left, the time at which the record expires.
        var nextEvent: Duration { isWatched ? nextRefresh ?? expires : expires }

        /// Sets the record's expiry to `time`, unless the record expires earlier anyway.
        mutating func end(by time: Duration) { expires = min(expires, time) }

        /// Returns the remaining lifetime in seconds, rounded down.
        func remaining(at now: Duration) -> UInt32 {
            UInt32(clamping: max(expires - now, .zero).components.seconds)
        }

        /// Counts another host's query that got no response. After two such queries within ten seconds, the record
        /// expires in a second (passive observation of failures, RFC 6762 §10.5).
        ///
        /// Queries within one second count once, because they get one common response (RFC 6762 §6). This host may have
        /// missed that response.
        mutating func missed(at now: Duration) {
            guard misses == 0 || now - lastMiss >= PendingAnswers.spacing else { return }
            lastMiss = now
            if misses == 0 || now - firstMiss > .seconds(10) {
                misses = 0
                firstMiss = now
            }
            misses += 1
            if misses >= 2 { end(by: now + MulticastDNS.grace) }
        }
    }
}

extension DNSRecordData {
    /// The names to which the record data refers, such as the target of a PTR or SRV record. A client usually looks up
    /// these names next.
    var targets: [DNSName] {
        switch self {
        case .name(let name): [name]
        case .service(_, _, _, let target): [target]
        default: []
        }
    }
}
