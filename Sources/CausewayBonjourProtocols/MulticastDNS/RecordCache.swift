internal import CausewayTypes
internal import CausewayWire

/// Records received on a link, until they expire (RFC 6762 §5.2, §10).
///
/// The cache reads no clock. It holds at most ``recordLimit`` records and ``byteLimit`` bytes, and at most half of both
/// from one sender, so that one flooding sender cannot fill it. If many senders fill the cache together, each new
/// record replaces a random one, so that a flood cannot keep other records out.
struct RecordCache: Sendable {
    static let recordLimit = 131_072
    static let byteLimit = 32 << 20

    struct Key: Hashable, Sendable {
        var name: DNSName
        var type: DNSRecordType
        var recordClass: DNSRecordClass
    }

    enum Action: Equatable, Sendable {
        /// A cached record has expired and was removed.
        case expired(DNSRecord)
        /// Query for the record. One of its refresh times has passed, and a question still asks for it.
        case refresh(DNSRecord)
    }

    enum Insertion: Equatable, Sendable {
        case added
        /// The record was already in the cache. If the new record is a goodbye, the record expires after one second.
        /// Otherwise its lifetime starts again.
        case renewed
        /// The record was not stored. There are two possible reasons: it is a goodbye for an unknown record, or the
        /// sender's share of the cache is full.
        case refused
    }

    /// Cached records; `nil` at unused positions. Other tables refer to a cached record by its position in this array.
    private var slots: [Entry?] = []
    private var free: [Int] = []
    private var groups: [Key: [DNSRecordData: Int]] = [:]
    private var types: [DNSName: Set<DNSRecordType>] = [:]
    private var events = DeadlineIndex<Int>()
    private var shares: [InternetAddress: Share] = [:]
    private(set) var count = 0
    private(set) var byteCount = 0

    private struct Share: Sendable {
        var records = 0
        var bytes = 0
    }

    subscript(name: DNSName, type: DNSRecordType) -> [Entry] {
        entries(of: Key(name: name, type: type, recordClass: .internet))
    }

    private func entries(of key: Key) -> [Entry] {
        guard let group = groups[key] else { return [] }
        return group.count == 1
            ? group.values.compactMap { slots[$0] } : group.values.sorted().compactMap { slots[$0] }
    }

    func isEmpty(_ name: DNSName, _ type: DNSRecordType) -> Bool {
        groups[Key(name: name, type: type, recordClass: .internet)] == nil
    }

    /// Whether the cache contains an equal record that has not expired.
    func holds(_ record: DNSRecord, at now: Duration) -> Bool {
        guard let slot = groups[Key(record)]?[record.data] else { return false }
        return slots[slot].map { $0.expires > now } ?? false
    }

    /// Whether the cache has records with this name.
    func knows(_ name: DNSName) -> Bool { types[name] != nil }

    var records: [DNSRecord] { slots.compactMap { $0?.record } }

    private func keys(of question: DNSQuestion) -> [Key] {
        guard question.type == .any else {
            return [Key(name: question.name, type: question.type, recordClass: .internet)]
        }
        return (types[question.name] ?? []).map { Key(name: question.name, type: $0, recordClass: .internet) }
    }

    /// Returns the unexpired answers to a question.
    func answers(to question: DNSQuestion, at now: Duration) -> [Entry] {
        keys(of: question).flatMap { entries(of: $0) }.filter { $0.expires > now }
    }

    /// Whether there is an unexpired answer to a question. Unlike ``answers(to:at:)``, this method copies no entries.
    func hasAnswer(to question: DNSQuestion, at now: Duration) -> Bool {
        keys(of: question).contains { key in
            groups[key]?.values.contains { slot in slots[slot].map { $0.expires > now } ?? false } ?? false
        }
    }

    /// Returns the known answers for a query: records with more than half of their lifetime left (RFC 6762 §7.1).
    func knownAnswers(to questions: [DNSQuestion], at now: Duration) -> [DNSRecord] {
        questions.flatMap { question in
            answers(to: question, at: now).compactMap { entry in
                guard entry.expires - now > entry.lifetime / 2 else { return nil }
                var record = entry.record
                record.flushesCache = false
                record.timeToLive = entry.remaining(at: now)
                return record
            }
        }
    }

    // MARK: Adding and removing

    /// Adds a record, renews its lifetime, or ends it if the TTL is 0 (goodbye packet).
    ///
    /// - Parameters:
    ///   - jitter: The delay for refresh queries, as a fraction of the lifetime, 0 to 0.02.
    ///   - source: The sender; `nil` for this host.
    /// - Returns: The result, and the records removed to make space.
    mutating func insert(
        _ record: DNSRecord, from source: InternetAddress?, at now: Duration, jitter: Double, isWatched: Bool,
        _ random: inout any RandomNumberGenerator & Sendable
    ) -> (Insertion, evicted: [DNSRecord]) {
        let key = Key(record)
        var entry = Entry(record: record, source: source, received: now, jitter: jitter, isWatched: isWatched)
        if let slot = groups[key]?[record.data] {
            if record.timeToLive == 0 {
                change(slot) { $0.end(by: now + MulticastDNS.grace) }
            } else {
                change(slot) { old in
                    entry.source = old.source
                    entry.lastDoubt = old.lastDoubt
                    old = entry
                }
            }
            return (.renewed, [])
        }
        guard record.timeToLive > 0, hasRoom(for: entry) else { return (.refused, []) }
        var evicted: [DNSRecord] = []
        while count >= Self.recordLimit || byteCount + entry.byteCount > Self.byteLimit {
            if let record = evict(&random) { evicted.append(record) }
        }
        place(entry, key)
        return (.added, evicted)
    }

    private func hasRoom(for entry: Entry) -> Bool {
        guard let source = entry.source, let share = shares[source] else { return true }
        return share.records < Self.recordLimit / 2 && share.bytes + entry.byteCount <= Self.byteLimit / 2
    }

    private mutating func place(_ entry: Entry, _ key: Key) {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(entry) } else { slots[slot] = entry }
        groups[key, default: [:]][entry.record.data] = slot
        types[key.name, default: []].insert(key.type)
        count += 1
        byteCount += entry.byteCount
        if let source = entry.source {
            shares[source, default: Share()].records += 1
            shares[source]?.bytes += entry.byteCount
        }
        events[slot] = entry.nextEvent
    }

    private mutating func evict(_ random: inout any RandomNumberGenerator & Sendable) -> DNSRecord? {
        var slot = Int.random(in: slots.indices, using: &random)
        while slots[slot] == nil { slot = (slot + 1) % slots.count }
        return remove(slot)
    }

    private mutating func remove(_ slot: Int) -> DNSRecord? {
        guard let entry = slots[slot] else { return nil }
        let key = Key(entry.record)
        groups[key]?[entry.record.data] = nil
        if groups[key]?.isEmpty == true {
            groups[key] = nil
            types[key.name]?.remove(key.type)
            if types[key.name]?.isEmpty == true { types[key.name] = nil }
        }
        slots[slot] = nil
        free.append(slot)
        events[slot] = nil
        count -= 1
        byteCount -= entry.byteCount
        if let source = entry.source {
            shares[source]?.records -= 1
            shares[source]?.bytes -= entry.byteCount
            if shares[source]?.records == 0 { shares[source] = nil }
        }
        return entry.record
    }

    private mutating func change(_ slot: Int, _ body: (inout Entry) -> Void) {
        guard var entry = slots[slot] else { return }
        byteCount -= entry.byteCount
        body(&entry)
        byteCount += entry.byteCount
        slots[slot] = entry
        events[slot] = entry.nextEvent
    }

    mutating func removeAll() { self = RecordCache() }

    // MARK: Changes

    /// Flushes the cache around a record (RFC 6762 §10.2). Other records with the same name, type and class expire
    /// after one second. Records received within the past second stay.
    mutating func flush(around record: DNSRecord, at now: Duration) {
        guard let group = groups[Key(record)] else { return }
        for (data, slot) in group where data != record.data {
            guard let entry = slots[slot], now - entry.received > MulticastDNS.grace else { continue }
            change(slot) { $0.end(by: now + MulticastDNS.grace) }
        }
    }

    /// Applies `body` to the cached answers to a question.
    mutating func update(_ question: DNSQuestion, _ body: (inout Entry) -> Void) {
        for slot in keys(of: question).flatMap({ groups[$0].map { Array($0.values) } ?? [] }) { change(slot, body) }
    }

    mutating func updateAll(_ body: (inout Entry) -> Void) {
        for slot in slots.indices { change(slot, body) }
    }

    // MARK: Time

    /// The next time at which a record expires or should be refreshed.
    var deadline: Duration? { events.next }

    /// Removes and returns expired records. Also returns records that answer a running query, if their refresh time has
    /// passed.
    mutating func advance(to now: Duration) -> [Action] {
        var actions: [Action] = []
        while let slot = events.popDue(at: now) {
            guard let entry = slots[slot] else { continue }
            if entry.expires <= now {
                if let record = remove(slot) { actions.append(.expired(record)) }
                continue
            }
            change(slot) { entry in
                while let moment = entry.nextRefresh, moment <= now { entry.refreshes += 1 }
            }
            actions.append(.refresh(entry.record))
        }
        return actions
    }
}

extension RecordCache: ReturningMachine {
    var hasEnded: Bool { false }
}

extension RecordCache.Key {
    init(_ record: DNSRecord) { self.init(name: record.name, type: record.type, recordClass: record.recordClass) }
}
