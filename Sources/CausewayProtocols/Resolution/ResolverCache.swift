package import CausewayWire

/// Answers that are still true, and those that were until lately (RFC 1034 §5, RFC 2308, RFC 8767).
///
/// Bounded in entries: where there is no room, what was not wanted for longest goes. To keep no book of uses, entries live in two halves.
/// What is wanted moves to the recent one; when that is full the other one goes, and it takes its place.
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
    }

    package static let usualLimit = 2_048
    /// How long an expired answer may still be of use (RFC 8767 §5 recommends one to three days).
    package static let staleLimit: Duration = .seconds(86_400)

    /// Entries of one half.
    private let limit: Int
    private var recent: [Key: Entry] = [:]
    private var older: [Key: Entry] = [:]

    /// - Parameter limit: The most entries, at least 2.
    package init(limit: Int = usualLimit) { self.limit = max(1, limit / 2) }

    package var count: Int { recent.count + older.count }

    /// The answer, with what is left of its time to live. Expired ones only if `allowingExpired`.
    package mutating func find(_ key: Key, allowingExpired: Bool = false, at now: Duration) -> Found? {
        guard let entry = wanted(key) else { return nil }
        let isExpired = entry.expires <= now
        guard !isExpired || allowingExpired else { return nil }
        guard now - entry.expires <= Self.staleLimit else {
            recent[key] = nil
            return nil
        }
        var answer = entry.answer
        answer.timeToLive = max(.zero, entry.expires - now)
        return Found(answer: answer, isExpired: isExpired)
    }

    /// The entry, which is among the recent ones from now on.
    private mutating func wanted(_ key: Key) -> Entry? {
        if let entry = recent[key] { return entry }
        guard !older.isEmpty, let entry = older.removeValue(forKey: key) else { return nil }
        keep(entry, for: key)
        return entry
    }

    /// Remembers an answer for as long as it says. Failures are not remembered, and take nothing away.
    package mutating func store(_ answer: DNSAnswer, for key: Key, at now: Duration) {
        switch answer.finding {
        case .failed: return
        case .noSuchName, .noSuchRecord:
            // What was known is not true any more, even if the news itself may not be remembered.
            guard answer.timeToLive > .zero else {
                recent[key] = nil
                older[key] = nil
                return
            }
        case .records: break
        }
        if !older.isEmpty { older[key] = nil }
        keep(Entry(answer: answer, expires: now + answer.timeToLive), for: key)
    }

    private mutating func keep(_ entry: Entry, for key: Key) {
        recent[key] = entry
        guard recent.count >= limit else { return }
        swap(&recent, &older)
        recent.removeAll(keepingCapacity: true)
    }

    /// Forgets a partition's answers, or everything.
    package mutating func removeAll(partition: UInt64? = nil) {
        recent = recent.filter { partition != nil && $0.key.partition != partition }
        older = older.filter { partition != nil && $0.key.partition != partition }
    }
}
