internal import CausewayTypes
internal import CausewayWire

/// The asking side of a link: running questions, and what is known (RFC 6762 §5).
///
/// It reads no clock and owns no socket. Its owner reports messages and time, and collects messages and changes.
struct MulticastQuerier: Sendable {
    /// The first question waits this long, so that hosts that start together do not ask together (RFC 6762 §5.2).
    private static let firstDelay: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(120)
    /// Questions whose first time is this near share a message.
    static let gathering: Duration = .milliseconds(100)
    static let shortestInterval: Duration = .seconds(1)
    static let longestInterval: Duration = .seconds(3_600)
    /// A record of 20 seconds is asked for each second near its end, by timers that are not exact.
    private static let refreshSpacing: Duration = .milliseconds(900)
    /// How long an answer by unicast is expected after asking for one (RFC 6762 §11).
    private static let unicastWindow: Duration = .seconds(2)
    private static let reconfirmation: Duration = .seconds(10)

    struct Running: Sendable {
        var listeners: Set<QuestionID>
        var interval: Duration = MulticastQuerier.shortestInterval
        var sent = 0
        var lastSent: Duration?
        /// When it was put in this series, by this host or by another for it.
        var lastCounted: Duration?
        /// When an answer by unicast was asked for.
        var lastUnicast: Duration?
        /// Whether it has its one answer, and waits for that to grow old.
        var isSettled = false
    }

    var running: [DNSQuestion: Running] = [:]
    /// When each question is asked next.
    var schedule = DeadlineIndex<DNSQuestion>()
    private var byName: [DNSName: Set<DNSQuestion>] = [:]
    private var questions: [QuestionID: DNSQuestion] = [:]
    var cache = RecordCache()
    /// Questions of others that are not over.
    var long = MultipacketQueries()
    /// Whether what comes by unicast arrives here.
    var acceptsUnicast = true
    /// Whether questions leave from another port than 5353: then all answers come by unicast (RFC 6762 §5.1).
    var isOneShot = false
    private var newestUnicast: Duration?
    /// Bytes of the largest message that is sent.
    var messageByteLimit = MulticastDNS.messageByteLimit
    /// Whether many hosts may ask at one moment.
    var calm = ResponseDelays()
    var random: any RandomNumberGenerator & Sendable

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    // MARK: Questions

    /// Begins to ask. What is known already is told at once.
    mutating func ask(_ question: DNSQuestion, _ id: QuestionID, at now: Duration) -> [MulticastAction] {
        questions[id] = question
        if running[question]?.listeners.insert(id) == nil {
            running[question] = Running(listeners: [id])
            byName[question.name, default: []].insert(question)
            schedule[question] = now + calm.wait(in: Self.firstDelay, leastOf: 4, at: now, using: &random)
            cache.update(question) { $0.isWatched = true }
        }
        let known = cache.answers(to: question, at: now).map(\.record)
        if !known.isEmpty, known.allSatisfy(\.flushesCache) {
            // Unique and here: there is nothing to ask before it grows old.
            settle(question, for: Self.longestInterval, at: now)
        }
        return known.isEmpty ? [] : [.changed(id, added: known, removed: [])]
    }

    mutating func stop(_ id: QuestionID) {
        guard let question = questions.removeValue(forKey: id) else { return }
        running[question]?.listeners.remove(id)
        guard running[question]?.listeners.isEmpty == true else { return }
        running[question] = nil
        schedule[question] = nil
        byName[question.name]?.remove(question)
        if byName[question.name]?.isEmpty == true { byName[question.name] = nil }
        cache.update(question) { entry in entry.isWatched = false }
        for other in byName[question.name] ?? [] { cache.update(other) { $0.isWatched = true } }
    }

    /// Somebody found that a record does not hold: it is asked for, and goes unless it is seen again (RFC 6762 §10.4).
    mutating func reconfirm(_ record: DNSRecord, at now: Duration) {
        cache.update(DNSQuestion(record.name, record.type)) { entry in
            if entry.record.data == record.data { entry.end(by: now + Self.reconfirmation) }
        }
        for question in interested(in: record) { begin(question, at: now) }
    }

    /// The link has changed: everything is asked anew, and what is not confirmed goes (RFC 6762 §10.3).
    mutating func restart(at now: Duration) {
        calm.upheaval = now
        cache.updateAll { entry in entry.end(by: now + Self.reconfirmation) }
        for question in running.keys {
            running[question]?.sent = 0
            begin(question, at: now + calm.wait(in: Self.firstDelay, leastOf: 1, at: now, using: &random))
        }
    }

    /// Forgets everything that came from the link.
    mutating func clear() -> [MulticastAction] {
        let records = cache.records
        cache.removeAll()
        return changes(added: [], removed: records)
    }

    /// Begins the series of a question anew.
    private mutating func begin(_ question: DNSQuestion, at time: Duration) {
        running[question]?.interval = Self.shortestInterval
        running[question]?.lastCounted = nil
        running[question]?.isSettled = false
        schedule[question] = time
    }

    /// Questions that a record answers.
    private func interested(in record: DNSRecord) -> [DNSQuestion] {
        byName[record.name]?.filter { $0.matches(record) } ?? []
    }

    // MARK: Messages

    /// Reads an answer. Only what somebody asks for is kept, and what explains it.
    mutating func received(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> [MulticastAction] {
        guard !arrival.isMulticast else { return heard(message, from: arrival.peer.address, at: now) }
        guard message.answers.contains(where: { expectsUnicast($0, at: now) }) else { return [] }
        let doubted = contradicted(by: message, from: arrival.peer.address, at: now)
        return heard(message, from: arrival.peer.address, at: now) + ask(doubted)
    }

    /// Whether a record of the name would be kept, or tell something of one that is.
    func concerns(_ name: DNSName) -> Bool { byName[name] != nil || cache.knows(name) }

    /// Whether some question that may be answered by unicast was put not long ago.
    func expectsUnicast(at now: Duration) -> Bool { newestUnicast.map { now - $0 <= Self.unicastWindow } ?? false }

    private func expectsUnicast(_ record: DNSRecord, at now: Duration) -> Bool {
        byName[record.name]?.contains { question in
            guard let last = running[question]?.lastUnicast, now - last <= Self.unicastWindow else { return false }
            return question.matches(record) || record.type == .nsec
        } ?? false
    }

    /// Takes what an answer says, wherever it comes from.
    ///
    /// - Parameter source: Who says it; `nil` for this host itself.
    mutating func heard(_ message: DNSMessage, from source: InternetAddress?, at now: Duration) -> [MulticastAction] {
        var added: [DNSRecord] = []
        var removed: [DNSRecord] = []
        var related: Set<DNSName> = []
        for records in [message.answers, message.authorities, message.additionals] {
            for record in records where record.flushesCache && isWanted(record, related) {
                cache.flush(around: record, at: now)
            }
        }
        for record in message.answers + message.additionals where record.recordClass == .internet {
            guard record.type != .nsec, isWanted(record, related) else { continue }
            related.formUnion(record.data.targets)
            let (result, evicted) = cache.insert(
                record, from: source, at: now, jitter: Double.random(in: 0..<0.02, using: &random),
                isWatched: !interested(in: record).isEmpty, &random)
            if result == .added { added.append(record) }
            removed += evicted
            if record.flushesCache, record.timeToLive > 0, record.type != .cname {
                settle(DNSQuestion(record.name, record.type), for: Self.longestInterval, at: now)
            }
        }
        return changes(added: added, removed: removed) + denials(in: message, at: now)
    }

    private func isWanted(_ record: DNSRecord, _ related: Set<DNSName>) -> Bool {
        related.contains(record.name) || !interested(in: record).isEmpty || !cache.isEmpty(record.name, record.type)
    }

    /// Stops the series of a question that has its one answer: the next time is when that grows old (RFC 6762 §5.2).
    private mutating func settle(_ question: DNSQuestion, for time: Duration, at now: Duration) {
        guard running[question] != nil else { return }
        running[question]?.interval = Self.longestInterval
        running[question]?.isSettled = true
        schedule[question] = now + time
    }

    /// Types that the owner of a name says it lacks (RFC 6762 §6.1). There is nothing to ask for while that holds.
    private mutating func denials(in message: DNSMessage, at now: Duration) -> [MulticastAction] {
        var actions: [MulticastAction] = []
        for record in message.answers + message.additionals where record.timeToLive > 0 && record.flushesCache {
            guard case .next(_, let types) = record.data else { continue }
            for question in byName[record.name] ?? [] where question.type != .any && !types.contains(question.type) {
                guard !types.contains(.cname), cache.answers(to: question, at: now).isEmpty else { continue }
                let isNews = running[question]?.isSettled == false
                settle(question, for: .seconds(Int64(record.timeToLive)), at: now)
                if isNews { actions += (running[question]?.listeners ?? []).map { .denied($0) } }
            }
        }
        return actions
    }

    // MARK: Time

    var nextDeadline: Duration? {
        guard let question = schedule.next else { return cache.nextEvent }
        return cache.nextEvent.map { min($0, question) } ?? question
    }

    /// Sends what is due and forgets what is over.
    ///
    /// - Parameter own: What this host answers itself, where it is not in the cache.
    mutating func advance(to now: Duration, knowing own: OwnRecords?) -> [MulticastAction] {
        let (removed, aging) = cache.advance(to: now)
        var actions = changes(added: [], removed: removed)
        for record in removed where record.flushesCache {
            // What was the one answer does not hold any more: the series begins anew.
            for question in interested(in: record) where running[question]?.isSettled == true {
                if cache.answers(to: question, at: now).isEmpty { begin(question, at: now) }
            }
        }
        let refreshed = Set(aging.flatMap { interested(in: $0) }).filter { question in
            // Records of one question that age together are asked for once.
            guard let last = running[question]?.lastSent else { return true }
            return now - last >= Self.refreshSpacing
        }
        actions += dueMessages(refreshed, own, at: now).map { .send($0) }
        return actions
    }

    private mutating func dueMessages(
        _ refreshed: Set<DNSQuestion>, _ own: OwnRecords?, at now: Duration
    ) -> [[UInt8]] {
        let isDue = schedule.next.map { $0 <= now } ?? false
        guard isDue || !refreshed.isEmpty else { return [] }
        var asked: [DNSQuestion] = []
        var early: [(DNSQuestion, Duration)] = []
        while let time = schedule.next, let question = schedule.popDue(at: now + Self.gathering) {
            guard time <= now || running[question]?.sent == 0 else {
                early.append((question, time))
                continue
            }
            asked.append(said(question, at: now))
            advance(question, at: now)
        }
        for (question, time) in early { schedule[question] = time }
        for question in refreshed where running[question]?.lastSent != now { asked.append(said(question, at: now)) }
        var known = knownAnswers(to: asked, at: now)
        if let own { known += own.knownAnswers(to: asked) }
        return QueryMessages.make(asked, knowing: known, limit: messageByteLimit)
    }

    /// A question as it is put now: only the first of a series accepts its answer by unicast (RFC 6762 §5.4).
    private mutating func said(_ question: DNSQuestion, at now: Duration) -> DNSQuestion {
        var asked = question
        asked.acceptsUnicast = acceptsUnicast && !isOneShot && running[question]?.sent == 0
        running[question]?.lastSent = now
        if asked.acceptsUnicast || isOneShot {
            running[question]?.lastUnicast = now
            newestUnicast = now
        }
        return asked
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
        var order: [DNSQuestion] = []
        var news: [DNSQuestion: (added: [DNSRecord], removed: [DNSRecord])] = [:]
        for (records, isAdded) in [(removed, false), (added, true)] {
            for record in records {
                for question in interested(in: record) {
                    if news[question] == nil { order.append(question) }
                    if isAdded {
                        news[question, default: ([], [])].added.append(record)
                    } else {
                        news[question, default: ([], [])].removed.append(record)
                    }
                }
            }
        }
        return order.flatMap { question in
            (running[question]?.listeners ?? []).map {
                .changed($0, added: news[question]?.added ?? [], removed: news[question]?.removed ?? [])
            }
        }
    }
}
