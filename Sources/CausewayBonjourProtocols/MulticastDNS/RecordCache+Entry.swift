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
        /// Random delay for refresh times, as a fraction of the lifetime: 0 to 0.02 (RFC 6762 §5.2).
        private let jitter: Double
        /// Whether a running question asks for the record. Other records are not refreshed.
        var isWatched: Bool
        /// The number of refresh times already passed.
        var refreshes = 0
        /// The number of other hosts' queries that got no response since the record's latest arrival (RFC 6762 §10.5).
        private var misses = 0
        private var firstMiss: Duration = .zero
        private var lastMiss: Duration = .zero
        /// When the latest unicast response that contradicted the record arrived from another host.
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

        /// The next refresh time, at 80, 85, 90 or 95 % of the lifetime plus jitter (RFC 6762 §5.2). `nil` after the
        /// fourth refresh time, and if the record's end was brought forward.
        var nextRefresh: Duration? {
            guard refreshes < 4, expires == received + lifetime else { return nil }
            return received + lifetime * (0.80 + 0.05 * Double(refreshes) + jitter)
        }

        /// When to refresh the record or, if no refresh is left, when the record expires.
        var nextEvent: Duration { isWatched ? nextRefresh ?? expires : expires }

        /// Lets the record expire at `time`, unless it expires earlier.
        mutating func end(by time: Duration) { expires = min(expires, time) }

        /// Returns the remaining lifetime in seconds, rounded down.
        func remaining(at now: Duration) -> UInt32 {
            UInt32(clamping: max(expires - now, .zero).components.seconds)
        }

        /// Counts another host's query. After two queries within ten seconds and no response, the record expires in a
        /// second (passive observation of failures, RFC 6762 §10.5).
        ///
        /// Queries within one second count once: the queries get one common response (RFC 6762 §6), which this host may
        /// have missed.
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
    /// Names to which the data refers, such as the target of a PTR or SRV record. A client usually looks up these names
    /// next.
    var targets: [DNSName] {
        switch self {
        case .name(let name): [name]
        case .service(_, _, _, let target): [target]
        default: []
        }
    }
}
