package import CausewayWire

/// Answers that are still true, and those that were until lately (RFC 1034 §5, RFC 2308, RFC 8767).
///
/// Bounded in entries: where there is no room, what was not wanted for longest goes.
package struct ResolverCache: Sendable {
    package struct Key: Hashable, Sendable {
        package var name: DNSName
        package var type: DNSRecordType
        /// Programs that must not learn of each other's questions, and questions that leave by certain interfaces only, are kept apart.
        package var partition: UInt64

        package init(_ name: DNSName, _ type: DNSRecordType, partition: UInt64 = 0) {
            self.name = name
            self.type = type
            self.partition = partition
        }
    }

    package struct Found: Equatable, Sendable {
        package var answer: DNSAnswer
        /// Its time to live is over.
        package var isExpired: Bool
    }

    private struct Entry: Sendable {
        var answer: DNSAnswer
        var expires: Duration
        var lastUse: UInt64
    }

    package static let usualLimit = 2_048
    /// How long an expired answer may still be of use (RFC 8767 §5 recommends one to three days).
    package static let staleLimit: Duration = .seconds(86_400)

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0

    package init(limit: Int = usualLimit) { self.limit = max(1, limit) }

    package var count: Int { entries.count }

    /// The answer, with what is left of its time to live. Expired ones only if `allowingExpired`.
    package mutating func find(_ key: Key, allowingExpired: Bool = false, at now: Duration) -> Found? {
        guard let entry = entries[key] else { return nil }
        let isExpired = entry.expires <= now
        guard !isExpired || allowingExpired else { return nil }
        guard now - entry.expires <= Self.staleLimit else {
            entries[key] = nil
            return nil
        }
        uses += 1
        entries[key]?.lastUse = uses
        var answer = entry.answer
        answer.timeToLive = max(.zero, entry.expires - now)
        return Found(answer: answer, isExpired: isExpired)
    }

    /// Remembers an answer for as long as it says. Failures are not remembered, and take nothing away.
    package mutating func store(_ answer: DNSAnswer, for key: Key, at now: Duration) {
        switch answer.finding {
        case .failed: return
        case .noSuchName, .noSuchRecord:
            // What was known is not true any more, even if the news itself may not be remembered.
            guard answer.timeToLive > .zero else { return entries[key] = nil }
        case .records: break
        }
        if entries[key] == nil, entries.count >= limit { makeRoom() }
        uses += 1
        entries[key] = Entry(answer: answer, expires: now + answer.timeToLive, lastUse: uses)
    }

    /// Forgets a partition's answers, or everything.
    package mutating func removeAll(partition: UInt64? = nil) {
        guard let partition else { return entries = [:] }
        entries = entries.filter { $0.key.partition != partition }
    }

    /// An eighth goes at once, so that the search is paid for seldom.
    private mutating func makeRoom() {
        let uses = entries.values.map(\.lastUse).sorted()
        let bound = uses[min(uses.count - 1, limit / 8)]
        entries = entries.filter { $0.value.lastUse > bound }
    }
}
