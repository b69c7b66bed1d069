internal import CausewayTypes
internal import CausewayWire

extension RecordCache {
    /// A record, and how long it holds.
    struct Entry: Sendable {
        var record: DNSRecord
        /// Who said it first; `nil` for this host itself.
        var source: InternetAddress?
        var received: Duration
        /// When the record ceases to hold.
        private(set) var expires: Duration
        /// The moments at which to ask again are spread by this share of the lifetime (RFC 6762 §5.2).
        private let jitter: Double
        /// Whether somebody wants to know it: else nobody asks for it again.
        var isWatched: Bool
        /// How many of the moments have passed.
        var refreshes = 0
        /// Questions of others that went without an answer since the record was last seen (RFC 6762 §10.5).
        private var misses = 0
        private var firstMiss: Duration = .zero
        private var lastMiss: Duration = .zero
        /// When another host's record was last found to contradict it.
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

        /// About what the record takes in memory.
        var byteCount: Int { 128 + record.name.wire.count + record.data.byteCount }

        /// The next moment at which somebody who wants the record should ask again: at 80, 85, 90 and 95 per cent of its time.
        var nextRefresh: Duration? {
            guard refreshes < 4, expires == received + lifetime else { return nil }
            return received + lifetime * (0.80 + 0.05 * Double(refreshes) + jitter)
        }

        var nextEvent: Duration { isWatched ? nextRefresh ?? expires : expires }

        mutating func end(by time: Duration) { expires = min(expires, time) }

        /// Whole seconds that the record still holds, rounded down.
        func remaining(at now: Duration) -> UInt32 {
            UInt32(clamping: max(expires - now, .zero).components.seconds)
        }

        /// Two questions of others that got no answer within ten seconds end a record (RFC 6762 §10.5).
        ///
        /// Those that come within a second are one: they get one answer together (RFC 6762 §6), and that may be lost on its way here.
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
    fileprivate var byteCount: Int {
        switch self {
        case .ipv4, .ipv6: 16
        case .name(let name), .service(_, _, _, let name), .mail(_, let name): name.wire.count
        case .text(let bytes), .opaque(let bytes): bytes.count
        case .authority(let authority): authority.server.wire.count + authority.mailbox.wire.count
        case .next(let name, let types): name.wire.count + 2 * types.count
        case .binding(let binding): binding.parameters.reduce(256) { $0 + $1.value.count }
        }
    }

    /// Names that a reader of the record will want to know about.
    var targets: [DNSName] {
        switch self {
        case .name(let name): [name]
        case .service(_, _, _, let target): [target]
        default: []
        }
    }
}
