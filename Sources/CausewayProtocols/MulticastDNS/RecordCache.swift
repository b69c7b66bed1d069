internal import CausewayWire

/// What others on a link have said, for as long as they said it holds (RFC 6762 §5.2, §10).
///
/// It reads no clock. It holds at most ``limit`` records, and only what its owner puts in: whoever stuffs the link with
/// records that nobody asked for fills nothing.
struct RecordCache: Sendable {
    static let limit = 65_536

    struct Key: Hashable, Sendable {
        var name: DNSName
        var type: DNSRecordType
        var recordClass: DNSRecordClass
    }

    struct Entry: Sendable {
        var record: DNSRecord
        var received: Duration
        /// When the record ceases to hold.
        var expires: Duration
        /// The moments at which to ask again are spread by this share of the lifetime (RFC 6762 §5.2).
        var jitter: Double
        /// How many of the moments have passed.
        var refreshes = 0
        /// Questions of others that went without an answer since the record was last seen (RFC 6762 §10.5).
        var misses = 0
        var firstMiss: Duration = .zero

        var lifetime: Duration { .seconds(Int64(record.timeToLive)) }

        /// The next moment at which somebody who wants the record should ask again.
        var nextRefresh: Duration? {
            guard refreshes < 4, expires == received + lifetime else { return nil }
            return received + lifetime * (0.80 + 0.05 * Double(refreshes) + jitter)
        }

        mutating func end(by time: Duration) { expires = min(expires, time) }

        /// Whole seconds that the record still holds, rounded down.
        func remaining(at now: Duration) -> UInt32 {
            UInt32(clamping: max(expires - now, .zero).components.seconds)
        }
    }

    private(set) var entries: [Key: [Entry]] = [:]
    private(set) var count = 0

    subscript(name: DNSName, type: DNSRecordType) -> [Entry] {
        entries[Key(name: name, type: type, recordClass: .internet)] ?? []
    }

    /// What answers a question now.
    func answers(to question: DNSQuestion, at now: Duration) -> [Entry] {
        guard question.type != .any else {
            return entries.filter { $0.key.name == question.name }.values.joined().filter { $0.expires > now }
        }
        return self[question.name, question.type].filter { $0.expires > now }
    }

    /// Adds a record or makes it young again. Returns whether it is new; `nil` where it was not kept.
    ///
    /// - Parameter jitter: A share of the lifetime, 0 to 0.02.
    mutating func insert(_ record: DNSRecord, at now: Duration, jitter: Double) -> Bool? {
        let key = Key(record)
        var entry = Entry(record: record, received: now, expires: now, jitter: jitter)
        entry.expires = now + entry.lifetime
        if let index = entries[key]?.firstIndex(where: { $0.record.data == record.data }) {
            if record.timeToLive == 0 {
                entries[key]?[index].end(by: now + MulticastDNS.grace)
            } else {
                entries[key]?[index] = entry
            }
            return false
        }
        guard record.timeToLive > 0, count < Self.limit else { return nil }
        entries[key, default: []].append(entry)
        count += 1
        return true
    }

    /// Lets what else is known under a unique record's name end soon, unless it is as young (RFC 6762 §10.2).
    mutating func flush(around record: DNSRecord, at now: Duration) {
        guard let group = entries[Key(record)] else { return }
        for index in group.indices where now - group[index].received > MulticastDNS.grace {
            if group[index].record.data == record.data { continue }
            entries[Key(record)]?[index].end(by: now + MulticastDNS.grace)
        }
    }

    /// Changes the entries under a key.
    mutating func update(_ key: Key, _ body: (inout Entry) -> Void) {
        guard let group = entries[key] else { return }
        for index in group.indices { body(&entries[key]![index]) }
    }

    /// Removes what has ceased to hold.
    mutating func removeExpired(at now: Duration) -> [DNSRecord] {
        var removed: [DNSRecord] = []
        for (key, group) in entries where group.contains(where: { $0.expires <= now }) {
            removed += group.filter { $0.expires <= now }.map(\.record)
            let rest = group.filter { $0.expires > now }
            count -= group.count - rest.count
            entries[key] = rest.isEmpty ? nil : rest
        }
        return removed
    }

    var nextExpiry: Duration? { entries.values.joined().map(\.expires).min() }

    mutating func removeAll() { self = RecordCache() }
}

extension RecordCache.Key {
    init(_ record: DNSRecord) { self.init(name: record.name, type: record.type, recordClass: record.recordClass) }
}
