internal import CausewayWire

/// The asking side of a link: running questions, and what is known (RFC 6762 §5).
///
/// It reads no clock and owns no socket. Its owner reports messages and time, and collects messages and changes.
struct MulticastQuerier: Sendable {
    /// The first question waits this long, so that hosts that start together do not ask together (RFC 6762 §5.2).
    private static let firstDelay: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(120)
    /// Questions whose first time is this near share a message.
    private static let gathering: Duration = .milliseconds(100)
    private static let longestInterval: Duration = .seconds(3_600)
    /// How long an answer by unicast is expected after asking for one (RFC 6762 §11).
    private static let unicastWindow: Duration = .seconds(2)
    /// A question of somebody else's stands for one of ours that would follow this soon (RFC 6762 §7.3).
    private static let duplicateWindow: Duration = .seconds(1)
    private static let reconfirmation: Duration = .seconds(10)

    struct Running: Sendable {
        var question: DNSQuestion
        var listeners: Set<QuestionID>
        var next: Duration
        var interval: Duration = .seconds(1)
        var sent = 0
    }

    private(set) var running: [DNSQuestion: Running] = [:]
    private var questions: [QuestionID: DNSQuestion] = [:]
    private(set) var cache = RecordCache()
    private var lastUnicastQuestion: Duration?
    /// Whether what comes by unicast arrives here.
    var acceptsUnicast = true
    private var random: any RandomNumberGenerator & Sendable

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    // MARK: Questions

    /// Begins to ask. What is known already is told at once.
    mutating func ask(_ question: DNSQuestion, _ id: QuestionID, at now: Duration) -> [MulticastAction] {
        questions[id] = question
        if running[question]?.listeners.insert(id) == nil {
            let delay = Duration.random(in: Self.firstDelay, using: &random)
            running[question] = Running(question: question, listeners: [id], next: now + delay)
        }
        let known = cache.answers(to: question, at: now).map(\.record)
        if !known.isEmpty, known.allSatisfy(\.flushesCache) {
            // Unique and here: there is nothing to ask before it grows old.
            settle(question, at: now)
        }
        return known.isEmpty ? [] : [.changed(id, added: known, removed: [])]
    }

    mutating func stop(_ id: QuestionID) {
        guard let question = questions.removeValue(forKey: id) else { return }
        running[question]?.listeners.remove(id)
        if running[question]?.listeners.isEmpty == true { running[question] = nil }
    }

    /// Somebody found that a record does not hold: it is asked for, and goes unless it is seen again (RFC 6762 §10.4).
    mutating func reconfirm(_ record: DNSRecord, at now: Duration) {
        cache.update(RecordCache.Key(record)) { entry in
            guard entry.record.data == record.data else { return }
            entry.end(by: now + Self.reconfirmation)
        }
        for question in running.keys where question.matches(record) {
            running[question]?.next = now
            running[question]?.interval = .seconds(1)
        }
    }

    /// The link has changed: everything is asked anew, and what is not confirmed goes (RFC 6762 §10.3).
    mutating func restart(at now: Duration) {
        for key in cache.entries.keys {
            cache.update(key) { entry in entry.end(by: now + Self.reconfirmation) }
        }
        for question in running.keys {
            running[question]?.next = now + Duration.random(in: Self.firstDelay, using: &random)
            running[question]?.interval = .seconds(1)
            running[question]?.sent = 0
        }
    }

    /// Forgets everything that came from the link.
    mutating func clear() -> [MulticastAction] {
        let records = cache.entries.values.joined().map(\.record)
        cache.removeAll()
        return changes(added: [], removed: Array(records))
    }

    // MARK: Messages

    /// Reads an answer. Only what somebody asks for is kept, and what explains it.
    mutating func received(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> [MulticastAction] {
        if !arrival.isMulticast {
            guard let last = lastUnicastQuestion, now - last <= Self.unicastWindow else { return [] }
        }
        return heard(message, at: now)
    }

    /// Takes what an answer says, wherever it comes from.
    mutating func heard(_ message: DNSMessage, at now: Duration) -> [MulticastAction] {
        var added: [DNSRecord] = []
        var related: Set<DNSName> = []
        let records = message.answers + message.authorities + message.additionals
        for record in records where record.flushesCache && isWanted(record, related) {
            cache.flush(around: record, at: now)
        }
        for record in message.answers + message.additionals {
            guard record.recordClass == .internet, record.type != .nsec, isWanted(record, related) else { continue }
            related.formUnion(record.data.targets)
            if cache.insert(record, at: now, jitter: Double.random(in: 0..<0.02, using: &random)) == true {
                added.append(record)
            }
            if record.flushesCache, record.timeToLive > 0 { settle(DNSQuestion(record.name, record.type), at: now) }
        }
        return changes(added: added, removed: [])
    }

    private func isWanted(_ record: DNSRecord, _ related: Set<DNSName>) -> Bool {
        related.contains(record.name) || running[DNSQuestion(record.name, record.type)] != nil
            || running[DNSQuestion(record.name, .any)] != nil || !cache[record.name, record.type].isEmpty
    }

    /// Stops the series of a question that has its one answer: the next time is when that grows old (RFC 6762 §5.2).
    private mutating func settle(_ question: DNSQuestion, at now: Duration) {
        guard running[question] != nil else { return }
        running[question]?.interval = Self.longestInterval
        running[question]?.next = now + Self.longestInterval
    }

    /// Somebody else asks. Their question may stand for ours, and silence upon it tells as well.
    mutating func overheard(_ message: DNSMessage, at now: Duration) {
        for question in message.questions where !question.acceptsUnicast {
            let known = Set(message.answers.filter { question.matches($0) }.map(\.data))
            let ours = cache.answers(to: question, at: now)
            if let next = running[question]?.next, next <= now + Self.duplicateWindow,
                known.isSubset(of: ours.map(\.record.data))
            {
                advance(question, at: now)
            }
            cache.update(RecordCache.Key(name: question.name, type: question.type, recordClass: .internet)) { entry in
                if !known.contains(entry.record.data) { entry.missed(at: now) }
            }
        }
    }

    // MARK: Time

    var nextDeadline: Duration? {
        let refreshes = running.keys.flatMap { question in
            cache.entries.lazy.filter { question.matches($0.key) }.flatMap { $0.value.compactMap(\.nextRefresh) }
        }
        return [running.values.map(\.next).min(), cache.nextExpiry, refreshes.min()].compactMap { $0 }.min()
    }

    /// Sends what is due and forgets what is over.
    mutating func advance(to now: Duration) -> [MulticastAction] {
        let removed = cache.removeExpired(at: now)
        var actions = removed.isEmpty ? [] : changes(added: [], removed: removed)
        actions += dueMessages(at: now).map { .send($0) }
        return actions
    }

    private mutating func dueMessages(at now: Duration) -> [[UInt8]] {
        var due: [DNSQuestion] = []
        guard running.values.contains(where: { $0.next <= now }) || needsRefresh(at: now) else { return [] }
        for (question, entry) in running {
            let isNear = entry.sent == 0 && entry.next <= now + Self.gathering
            guard entry.next <= now || isNear || refresh(question, at: now) else { continue }
            var asked = question
            asked.acceptsUnicast = acceptsUnicast && entry.sent == 0
            if asked.acceptsUnicast { lastUnicastQuestion = now }
            due.append(asked)
            if entry.next <= now || isNear { advance(question, at: now) }
        }
        return QueryMessages.make(due, knowing: knownAnswers(to: due, at: now))
    }

    private func needsRefresh(at now: Duration) -> Bool {
        running.keys.contains { question in
            cache.answers(to: question, at: now).contains { entry in entry.nextRefresh.map { $0 <= now } ?? false }
        }
    }

    /// Counts the moments that have passed. Returns whether there were any.
    private mutating func refresh(_ question: DNSQuestion, at now: Duration) -> Bool {
        var isDue = false
        for entry in cache.answers(to: question, at: now) where entry.nextRefresh.map({ $0 <= now }) ?? false {
            isDue = true
            cache.update(RecordCache.Key(entry.record)) { entry in
                while let moment = entry.nextRefresh, moment <= now { entry.refreshes += 1 }
            }
        }
        return isDue
    }

    private mutating func advance(_ question: DNSQuestion, at now: Duration) {
        guard let entry = running[question] else { return }
        running[question]?.sent += 1
        running[question]?.next = now + entry.interval
        running[question]?.interval = min(entry.interval * 2, Self.longestInterval)
    }

    /// What others need not say again: what holds for more than half of its time (RFC 6762 §7.1).
    private func knownAnswers(to questions: [DNSQuestion], at now: Duration) -> [DNSRecord] {
        questions.flatMap { question in
            cache.answers(to: question, at: now).compactMap { entry in
                guard entry.expires - now > entry.lifetime / 2 else { return nil }
                var record = entry.record
                record.flushesCache = false
                record.timeToLive = entry.remaining(at: now)
                return record
            }
        }
    }

    private func changes(added: [DNSRecord], removed: [DNSRecord]) -> [MulticastAction] {
        guard !added.isEmpty || !removed.isEmpty else { return [] }
        return running.values.flatMap { entry -> [MulticastAction] in
            let added = added.filter { entry.question.matches($0) }
            let removed = removed.filter { entry.question.matches($0) }
            guard !added.isEmpty || !removed.isEmpty else { return [] }
            return entry.listeners.map { .changed($0, added: added, removed: removed) }
        }
    }
}

extension RecordCache.Entry {
    /// Two questions of others that got no answer within ten seconds end a record (RFC 6762 §10.5).
    fileprivate mutating func missed(at now: Duration) {
        if misses == 0 || now - firstMiss > .seconds(10) {
            misses = 0
            firstMiss = now
        }
        misses += 1
        if misses >= 2 { end(by: now + MulticastDNS.grace) }
    }
}

extension DNSQuestion {
    fileprivate func matches(_ key: RecordCache.Key) -> Bool {
        (type == .any || type == key.type) && name == key.name
    }
}

extension DNSRecordData {
    /// Names that a reader of the record will want to know about.
    var targets: [DNSName] {
        switch self {
        case .name(let name): [name]
        case .service(_, _, _, let target): [target]
        default: []
        }
    }
}
