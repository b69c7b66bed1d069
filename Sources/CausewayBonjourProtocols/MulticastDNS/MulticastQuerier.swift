internal import CausewayMachines
internal import CausewayTypes
internal import CausewayWire

/// A link's querier: continuous queries and the record cache (RFC 6762 §5).
///
/// The querier does no I/O and reads no clock. Its owner reports messages and the time, and collects messages and changes.
struct MulticastQuerier: ReturningMachine, Sendable {
    typealias Action = MulticastAction

    /// The delay before the first query, so that hosts that start together do not send together (RFC 6762 §5.2).
    private static let firstDelay: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(120)
    /// New questions that become due within this time are sent early, in the same message (RFC 6762 §5.3).
    static let gathering: Duration = .milliseconds(100)
    static let shortestInterval: Duration = .seconds(1)
    static let longestInterval: Duration = .seconds(3_600)
    /// Minimum time between two refresh queries for one question. It is slightly less than a second: a record with a
    /// 20-second TTL is refreshed every second near its end, and timers are not exact.
    private static let refreshSpacing: Duration = .milliseconds(900)
    /// How long to expect a unicast response after asking for one (RFC 6762 §11).
    private static let unicastWindow: Duration = .seconds(2)
    /// How long a doubted record stays valid without confirmation (RFC 6762 §10.4).
    private static let reconfirmation: Duration = .seconds(10)

    var running: [DNSQuestion: Running] = [:]
    /// Each question's next query time.
    var schedule = DeadlineIndex<DNSQuestion>()
    private var byName: [DNSName: Set<DNSQuestion>] = [:]
    private var questions: [QuestionID: DNSQuestion] = [:]
    var cache = RecordCache()
    /// Other hosts' queries whose known answers have not all arrived yet.
    var long = MultipacketQueries()
    /// Whether unicast responses can arrive at this process's socket.
    var acceptsUnicast = true
    /// Whether queries are sent from another port than 5353. All responses then arrive by unicast (RFC 6762 §5.1).
    var isOneShot = false
    /// When a question that permits unicast responses was last sent.
    private var newestUnicast: Duration?
    /// Maximum size of a sent message in bytes.
    var messageByteLimit = MulticastDNS.messageByteLimit
    /// Random delays; their distribution depends on whether many hosts may send at once.
    var calm = ResponseDelays()
    var random: any RandomNumberGenerator & Sendable

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    // MARK: Questions

    /// Starts a continuous query and reports cached answers.
    mutating func ask(_ question: DNSQuestion, _ id: QuestionID, at now: Duration) -> [MulticastAction] {
        questions[id] = question
        if running[question]?.listeners.insert(id) == nil {
            running[question] = Running(listeners: [id])
            byName[question.name, default: []].insert(question)
            schedule[question] = now + calm.wait(in: Self.firstDelay, leastOf: 4, at: now, using: &random)
            cache.update(question) { $0.isWatched = true }
        }
        let known = cache.answers(to: question, at: now).map(\.record)
        // A unique record completes the answer for its type only, so a question for all types is always sent.
        if !known.isEmpty, question.type != .any, known.allSatisfy(\.flushesCache) {
            // All unique answers are in the cache: no query is needed until they are about to expire.
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

    /// Queries a record again because a program could not use it. The record expires in ten seconds unless a host
    /// confirms it (RFC 6762 §10.4).
    mutating func reconfirm(_ record: DNSRecord, at now: Duration) {
        cache.update(DNSQuestion(record.name, record.type)) { entry in
            if entry.record.data == record.data { entry.end(by: now + Self.reconfirmation) }
        }
        for question in interested(in: record) { begin(question, at: now) }
    }

    /// Restarts all questions because the link has changed. Records that no host confirms within ten seconds expire (RFC 6762 §10.3).
    mutating func restart(at now: Duration) {
        calm.upheaval = now
        cache.updateAll { entry in entry.end(by: now + Self.reconfirmation) }
        for question in running.keys {
            running[question]?.sent = 0
            begin(question, at: now + calm.wait(in: Self.firstDelay, leastOf: 1, at: now, using: &random))
        }
    }

    /// Removes all records from the cache.
    mutating func clear() -> [MulticastAction] {
        let records = cache.records
        cache.removeAll()
        return changes(added: [], removed: records)
    }

    /// Restarts a question's query series: 1, 2, 4, ... seconds.
    private mutating func begin(_ question: DNSQuestion, at time: Duration) {
        running[question]?.interval = Self.shortestInterval
        running[question]?.lastCounted = nil
        running[question]?.isSettled = false
        schedule[question] = time
    }

    /// Returns the running questions that the record answers.
    private func interested(in record: DNSRecord) -> [DNSQuestion] {
        byName[record.name]?.filter { $0.matches(record) } ?? []
    }

    // MARK: Messages

    /// Processes a response. A unicast response counts only if it answers a question sent within the last two seconds (RFC 6762 §11).
    mutating func received(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> [MulticastAction] {
        guard !arrival.isMulticast else { return heard(message, from: arrival.peer.address, at: now) }
        guard message.answers.contains(where: { expectsUnicast($0, at: now) }) else { return [] }
        let doubted = contradicted(by: message, from: arrival.peer.address, at: now)
        return heard(message, from: arrival.peer.address, at: now) + ask(doubted)
    }

    /// Whether records with this name would be stored or would change stored records.
    func concerns(_ name: DNSName) -> Bool { byName[name] != nil || cache.knows(name) }

    /// Whether a question that permits unicast responses was sent recently.
    func expectsUnicast(at now: Duration) -> Bool { newestUnicast.map { now - $0 <= Self.unicastWindow } ?? false }

    private func expectsUnicast(_ record: DNSRecord, at now: Duration) -> Bool {
        byName[record.name]?.contains { question in
            guard let last = running[question]?.lastUnicast, now - last <= Self.unicastWindow else { return false }
            return question.matches(record) || record.type == .nsec
        } ?? false
    }

    /// Processes a response's records, multicast or unicast. Keeps records that answer a question or update a cached
    /// record, and the records that these point to (SRV targets, PTR targets).
    ///
    /// - Parameter source: The sender; `nil` for this host.
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

    /// Stops a question's query series for `time`, because its unique answer is known. A refresh query is sent when
    /// this answer is about to expire (RFC 6762 §5.2).
    private mutating func settle(_ question: DNSQuestion, for time: Duration, at now: Duration) {
        guard running[question] != nil else { return }
        running[question]?.interval = Self.longestInterval
        running[question]?.isSettled = true
        schedule[question] = now + time
    }

    /// Processes NSEC records, which list a name's types (RFC 6762 §6.1). Questions for other types pause while the NSEC record is valid.
    private mutating func denials(in message: DNSMessage, at now: Duration) -> [MulticastAction] {
        var actions: [MulticastAction] = []
        for record in message.answers + message.additionals where record.timeToLive > 0 && record.flushesCache {
            guard case .next(_, let types) = record.data else { continue }
            for question in byName[record.name] ?? [] where question.type != .any && !types.contains(question.type) {
                guard !types.contains(.cname), cache.answers(to: question, at: now).isEmpty else { continue }
                let wasUnsettled = running[question]?.isSettled == false
                settle(question, for: .seconds(Int64(record.timeToLive)), at: now)
                if wasUnsettled { actions += (running[question]?.listeners ?? []).map { .denied($0) } }
            }
        }
        return actions
    }

    // MARK: Time

    var hasEnded: Bool { false }

    var deadline: Duration? {
        guard let question = schedule.next else { return cache.deadline }
        return cache.deadline.map { min($0, question) } ?? question
    }

    /// Advances the time for a host whose own records are in the cache.
    mutating func advance(to now: Duration) -> [MulticastAction] { advance(to: now, knowing: nil) }

    /// Sends queries that are due and removes expired records.
    ///
    /// - Parameter own: This host's own records, if they are not in the cache.
    mutating func advance(to now: Duration, knowing own: OwnRecords?) -> [MulticastAction] {
        var (removed, aging): ([DNSRecord], [DNSRecord]) = ([], [])
        for action in cache.advance(to: now) {
            switch action {
            case .expired(let record): removed.append(record)
            case .refresh(let record): aging.append(record)
            }
        }
        var actions = changes(added: [], removed: removed)
        for record in removed where record.flushesCache {
            // The unique answer has expired: restart the query series.
            for question in interested(in: record) where running[question]?.isSettled == true {
                if cache.answers(to: question, at: now).isEmpty { begin(question, at: now) }
            }
        }
        let refreshed = Set(aging.flatMap { interested(in: $0) }).filter { question in
            // One query refreshes all answers to a question that expire together.
            guard let last = running[question]?.lastSent else { return true }
            return now - last >= Self.refreshSpacing
        }
        actions += dueMessages(refreshed, own, at: now).map { .send($0) }
        return actions
    }

    /// Builds the due queries. Repeated questions keep their time; only questions not sent before are sent early.
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
        var known = cache.knownAnswers(to: asked, at: now)
        if let own { known += own.knownAnswers(to: asked) }
        return QueryMessages.make(asked, knowing: known, limit: messageByteLimit)
    }

    /// Returns the question to send now. Only the first question in a series permits a unicast response (RFC 6762 §5.4).
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

    private func changes(added: [DNSRecord], removed: [DNSRecord]) -> [MulticastAction] {
        guard !added.isEmpty || !removed.isEmpty else { return [] }
        var order: [DNSQuestion] = []
        var byQuestion: [DNSQuestion: (added: [DNSRecord], removed: [DNSRecord])] = [:]
        for (records, isAdded) in [(removed, false), (added, true)] {
            for record in records {
                for question in interested(in: record) {
                    if byQuestion[question] == nil { order.append(question) }
                    if isAdded {
                        byQuestion[question, default: ([], [])].added.append(record)
                    } else {
                        byQuestion[question, default: ([], [])].removed.append(record)
                    }
                }
            }
        }
        return order.flatMap { question in
            (running[question]?.listeners ?? []).map {
                .changed($0, added: byQuestion[question]?.added ?? [], removed: byQuestion[question]?.removed ?? [])
            }
        }
    }
}
