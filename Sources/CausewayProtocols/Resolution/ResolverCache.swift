package import CausewayWire

/// A cache of DNS answers. It also keeps expired answers for some time (RFC 1034 §5, RFC 2308, RFC 8767).
///
/// The number of entries and their bytes are limited; entries not used for a long time are removed first. The cache
/// does not record when an entry was used. Instead it has two halves, and a used entry moves to the recent half. When
/// the recent half is full, it replaces the older half, whose entries are deleted.
package struct ResolverCache: Sendable {
    package struct Key: Hashable, Sendable {
        package var name: DNSName
        package var type: DNSRecordType
        /// Separates the cache entries of programs that must not see each other's queries.
        package var partition: UInt64
        /// Separates the answers to queries that are limited to certain interfaces. 0 for queries without such a limit.
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
        let answer: DNSAnswer
        let expires: Duration
        let byteCount: Int

        init(_ answer: DNSAnswer, for key: Key, expires: Duration) {
            self.answer = answer
            self.expires = expires
            byteCount = answer.byteCount + key.name.wire.count
        }
    }

    /// One half of the cache entries, with their total size.
    private struct Half: Sendable {
        private var entries: [Key: Entry] = [:]
        private(set) var byteCount = 0

        var count: Int { entries.count }
        var isEmpty: Bool { entries.isEmpty }

        subscript(_ key: Key) -> Entry? { entries[key] }

        mutating func add(_ entry: Entry, for key: Key) {
            let old = entries.updateValue(entry, forKey: key)
            byteCount += entry.byteCount - (old?.byteCount ?? 0)
        }

        @discardableResult
        mutating func remove(_ key: Key) -> Entry? {
            guard let entry = entries.removeValue(forKey: key) else { return nil }
            byteCount -= entry.byteCount
            return entry
        }

        mutating func removeAll() {
            entries.removeAll(keepingCapacity: true)
            byteCount = 0
        }

        mutating func removeAll(partition: UInt64) {
            entries = entries.filter { $0.key.partition != partition }
            byteCount = entries.values.reduce(0) { $0 + $1.byteCount }
        }
    }

    package static let usualLimit = 2_048
    /// The default maximum number of bytes. Usual answers need far less, but a message of 64 KiB can take megabytes if
    /// its names are compressed.
    package static let usualByteLimit = 8 << 20
    /// How long an answer may still be used after it has expired (RFC 8767 §5 recommends one to three days).
    package static let staleLimit: Duration = .seconds(86_400)

    /// The maximum number of entries in each half.
    private let limit: Int
    /// The maximum number of bytes in one half of the cache.
    private let byteLimit: Int
    private var recent = Half()
    private var older = Half()
    /// The number of calls of ``removeAll(partition:)``.
    package private(set) var clearCount = 0

    /// - Parameters:
    ///   - limit: The maximum number of entries in the cache, at least 2.
    ///   - byteLimit: The maximum number of bytes, approximately. An answer with more than an eighth of this number is
    ///     not stored.
    package init(limit: Int = usualLimit, byteLimit: Int = usualByteLimit) {
        self.limit = max(1, limit / 2)
        self.byteLimit = byteLimit / 2
    }

    package var count: Int { recent.count + older.count }
    /// The approximate memory use in bytes.
    package var byteCount: Int { recent.byteCount + older.byteCount }

    /// Returns the cached answer with the rest of its time to live. An expired answer is returned only if
    /// `allowingExpired` is `true`.
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

    /// Returns the entry for a key. If the entry is in the older half, moves it to the recent half.
    private mutating func wanted(_ key: Key) -> Entry? {
        if let entry = recent[key] { return entry }
        guard !older.isEmpty, let entry = older.remove(key) else { return nil }
        keep(entry, for: key)
        return entry
    }

    /// Stores an answer for its time to live. A failure is not stored, and it does not remove an older answer.
    ///
    /// - Parameter count: The value of ``clearCount`` when the question was asked. If the value has changed since then,
    ///   the answer is not stored. `nil` omits this check.
    package mutating func store(
        _ answer: DNSAnswer, for key: Key, unlessClearedSince count: Int? = nil, at now: Duration
    ) {
        guard count == nil || count == clearCount else { return }
        switch answer.finding {
        case .failed: return
        case .noSuchName, .noSuchRecord:
            // The older answer is now wrong. Remove it, even if the new answer must not be cached.
            guard answer.timeToLive > .zero else {
                remove(key)
                return
            }
        case .records: break
        }
        remove(key)
        let entry = Entry(answer, for: key, expires: now + answer.timeToLive)
        // Do not keep a large answer in the cache, because a few large answers would displace all others.
        if entry.byteCount <= byteLimit / 4 { keep(entry, for: key) }
    }

    private mutating func keep(_ entry: Entry, for key: Key) {
        if recent.byteCount + entry.byteCount > byteLimit { beginHalf() }
        recent.add(entry, for: key)
        if recent.count >= limit { beginHalf() }
    }

    /// Deletes the older half. The recent half becomes the older half, and an empty recent half begins.
    private mutating func beginHalf() {
        swap(&recent, &older)
        recent.removeAll()
    }

    /// Removes an entry from both halves of the cache. An entry can be in both: ``wanted(_:)`` has moved it to the
    /// recent half, but when the recent half is full, it becomes the older half.
    private mutating func remove(_ key: Key) {
        recent.remove(key)
        older.remove(key)
    }

    /// Removes one partition's answers, or all answers if `partition` is `nil`.
    package mutating func removeAll(partition: UInt64? = nil) {
        clearCount += 1
        guard let partition else { return (recent, older) = (Half(), Half()) }
        recent.removeAll(partition: partition)
        older.removeAll(partition: partition)
    }
}

extension DNSAnswer {
    /// The approximate memory use in bytes.
    fileprivate var byteCount: Int {
        let count = aliases.reduce(128 + canonicalName.wire.count) { $0 + $1.byteCount }
        return records.reduce(count) { $0 + $1.byteCount }
    }
}
