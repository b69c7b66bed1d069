package import CausewayWire

/// A cache of DNS answers. It also keeps expired answers for some time (RFC 1034 §5, RFC 2308, RFC 8767).
///
/// The number of entries is limited; entries not used for a long time are removed first. The cache does not record when
/// an entry was used. Instead it has two halves, and a used entry moves to the recent half. When the recent half is
/// full, it replaces the older half, whose entries are deleted.
package struct ResolverCache: Sendable {
    package struct Key: Hashable, Sendable {
        package var name: DNSName
        package var type: DNSRecordType
        /// Separates the answers for programs that must not see each other's queries.
        package var partition: UInt64
        /// Separates the answers to queries that are limited to certain interfaces; 0 for other queries.
        package var scope: UInt64

        package init(_ name: DNSName, _ type: DNSRecordType, partition: UInt64 = 0, scope: UInt64 = 0) {
            self.name = name
            self.type = type
            self.partition = partition
            self.scope = scope
        }
    }

    package struct Found: Equatable, Sendable {
        package var answer: DNSAnswer
        /// Whether the answer's time to live has expired.
        package var isExpired: Bool
    }

    private struct Entry: Sendable {
        var answer: DNSAnswer
        var expires: Duration
    }

    package static let usualLimit = 2_048
    /// How long an answer may still be used after it has expired (RFC 8767 §5 recommends one to three days).
    package static let staleLimit: Duration = .seconds(86_400)

    /// The maximum number of entries in each half.
    private let limit: Int
    private var recent: [Key: Entry] = [:]
    private var older: [Key: Entry] = [:]
    /// The number of calls of ``removeAll(partition:)``.
    package private(set) var clearCount = 0

    /// - Parameter limit: The maximum number of entries in the cache, at least 2.
    package init(limit: Int = usualLimit) { self.limit = max(1, limit / 2) }

    package var count: Int { recent.count + older.count }

    /// Returns the answer with its remaining time to live. Returns an expired answer only if `allowingExpired` is `true`.
    package mutating func find(_ key: Key, allowingExpired: Bool = false, at now: Duration) -> Found? {
        guard let entry = wanted(key) else { return nil }
        let isExpired = entry.expires <= now
        guard !isExpired || allowingExpired else { return nil }
        guard now - entry.expires <= Self.staleLimit else {
            remove(key)
            return nil
        }
        var answer = entry.answer
        answer.timeToLive = max(.zero, entry.expires - now)
        return Found(answer: answer, isExpired: isExpired)
    }

    /// Returns the entry and moves it to the recent half.
    private mutating func wanted(_ key: Key) -> Entry? {
        if let entry = recent[key] { return entry }
        guard !older.isEmpty, let entry = older.removeValue(forKey: key) else { return nil }
        keep(entry, for: key)
        return entry
    }

    /// Stores an answer for its time to live. A failure is not stored and does not remove an older answer.
    ///
    /// - Parameter count: The value of ``clearCount`` when the question was asked; `nil` if it does not matter. The answer to a question
    ///   from before a removal is not stored.
    package mutating func store(
        _ answer: DNSAnswer, for key: Key, unlessClearedSince count: Int? = nil, at now: Duration
    ) {
        guard count == nil || count == clearCount else { return }
        switch answer.finding {
        case .failed: return
        case .noSuchName, .noSuchRecord:
            // Remove the older answer even if the new answer must not be cached, because the older answer is no longer correct.
            guard answer.timeToLive > .zero else {
                remove(key)
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

    /// Removes an entry from either half: ``wanted(_:)`` may have just made the recent half the older half.
    private mutating func remove(_ key: Key) {
        recent[key] = nil
        older[key] = nil
    }

    /// Removes one partition's answers, or all answers if `partition` is `nil`.
    package mutating func removeAll(partition: UInt64? = nil) {
        clearCount += 1
        recent = recent.filter { partition != nil && $0.key.partition != partition }
        older = older.filter { partition != nil && $0.key.partition != partition }
    }
}
