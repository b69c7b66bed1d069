internal import CausewayTypes
internal import CausewayWire

/// Finds records of other hosts on a link (RFC 6762 §5). The querier repeats continuous queries and keeps the record
/// cache.
///
/// The querier does no I/O and reads no clock. ``MulticastLink`` passes received messages and the time to the querier.
/// The querier returns the messages to send, and the changed answers to report.
struct MulticastQuerier: ReturningMachine, Sendable {
    typealias Action = MulticastAction

    /// How long a cached record stays valid after a host has contradicted it, if no host confirms the record (RFC 6762
    /// §10.4).
    private static let reconfirmation: Duration = .seconds(10)

    private var queries = ContinuousQueries()
    private var cache = RecordCache()
    /// Queries of other hosts that list known answers in several packets, while further packets are still missing.
    private var long = MultipacketQueries()
    /// Whether this process's socket can receive unicast responses.
    private(set) var acceptsUnicast = true
    /// Whether queries are sent from another port than 5353. All responses then arrive by unicast (RFC 6762 §5.1).
    private(set) var isOneShot = false
    /// Maximum size of a sent message in bytes.
    private(set) var messageByteLimit = MulticastDNS.messageByteLimit
    /// Chooses random delays. Their distribution depends on whether many hosts may send at the same time.
    private var calm = ResponseDelays()
    private var random: any RandomNumberGenerator & Sendable

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    /// The approximate memory use of the cache in bytes.
    var cachedByteCount: Int { cache.byteCount }

    // MARK: The link

    /// The time of the latest event after which many hosts may send at once.
    var upheaval: Duration { calm.upheaval }

    mutating func manyHostsStarted(at time: Duration) { calm.manyHostsStarted(at: time) }

    mutating func socketsChanged(acceptsUnicast: Bool) { self.acceptsUnicast = acceptsUnicast }

    mutating func socketsChanged(isOneShot: Bool) { self.isOneShot = isOneShot }

    mutating func linkChanged(messageByteLimit: Int) { self.messageByteLimit = messageByteLimit }

    /// Restarts all questions because the link has changed. Each cached record expires unless a host confirms it within
    /// ten seconds (RFC 6762 §10.3).
    mutating func restart(at now: Duration) {
        calm.manyHostsStarted(at: now)
        cache.updateAll { entry in entry.end(by: now + Self.reconfirmation) }
        queries.restart(at: now, calm, using: &random)
    }

    /// Removes all records from the cache.
    mutating func clear() -> [MulticastAction] {
        let records = cache.records
        cache.removeAll()
        return changes(added: [], removed: records)
    }

    // MARK: Questions

    /// Starts a continuous query and reports cached answers.
    mutating func ask(_ question: DNSQuestion, _ id: QuestionID, at now: Duration) -> [MulticastAction] {
        if queries.ask(question, id, at: now, calm, using: &random) {
            cache.update(question) { $0.isWatched = true }
        }
        let known = cache.answers(to: question, at: now).map(\.record)
        // A unique record in the cache is the complete answer for its type. Records with other types may be missing, so
        // always send a question that asks for all types.
        if !known.isEmpty, question.type != .any, known.allSatisfy(\.flushesCache) {
            // The cache has all unique answers. No query is needed until shortly before they expire.
            queries.settle(question, for: ContinuousQueries.longestInterval, at: now)
        }
        // No query is sent while a denial is valid. The new listener gets the denial that earlier listeners got.
        guard !known.isEmpty else { return queries.isDenied(question, at: now) ? [.denied(id)] : [] }
        return [.changed(id, added: known, removed: [])]
    }

    mutating func stop(_ id: QuestionID) {
        guard let question = queries.stop(id) else { return }
        cache.update(question) { entry in entry.isWatched = false }
        for other in queries.questions(for: question.name) { cache.update(other) { $0.isWatched = true } }
    }

    /// Queries a record again because a program could not use it. The record expires in ten seconds unless a host
    /// confirms it (RFC 6762 §10.4).
    mutating func reconfirm(_ record: DNSRecord, at now: Duration) {
        cache.update(DNSQuestion(record.name, record.type)) { entry in
            if entry.record.data == record.data { entry.end(by: now + Self.reconfirmation) }
        }
        for question in queries.interested(in: record) { queries.begin(question, at: now) }
    }

    // MARK: Responses

    /// Processes a response. Discards a unicast response unless it answers a question that was sent within the last two
    /// seconds (RFC 6762 §11).
    mutating func received(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> [MulticastAction] {
        guard !arrival.isMulticast else { return heard(message, from: arrival.peer.address, at: now) }
        guard message.answers.contains(where: { queries.expectsUnicast($0, at: now) }) else { return [] }
        let doubted = cache.contradicted(by: message, from: arrival.peer.address, at: now)
        return heard(message, from: arrival.peer.address, at: now) + ask(doubted)
    }

    /// Returns queries for records that another host has contradicted.
    ///
    /// They ask for multicast responses and list no known answers, so that the two hosts detect their conflict (RFC
    /// 6762 §9).
    private func ask(_ doubted: [DNSQuestion]) -> [MulticastAction] {
        QueryMessages.make(doubted, knowing: [], limit: messageByteLimit).map { .send($0) }
    }

    /// Whether records with this name would be stored or would change stored records.
    func concerns(_ name: DNSName) -> Bool { queries.holds(name) || cache.knows(name) }

    /// Whether this host has recently sent a question that permits unicast responses.
    func expectsUnicast(at now: Duration) -> Bool { queries.expectsUnicast(at: now) }

    /// Processes the records of a multicast or unicast response.
    ///
    /// Keeps a record if it answers a question or updates a cached record. SRV and PTR records point to other names.
    /// For a kept record of these types, also keeps the records of that name.
    ///
    /// - Parameter source: The sender; `nil` for this host.
    mutating func heard(_ message: DNSMessage, from source: InternetAddress?, at now: Duration) -> [MulticastAction] {
        var added: [DNSRecord] = []
        var removed: [DNSRecord] = []
        var related: Set<DNSName> = []
        // The cached records for a name and type must be flushed only once. The next loop inserts the records of this
        // message, and a second flush would affect them.
        var flushed: Set<RecordCache.Key> = []
        for records in [message.answers, message.authorities, message.additionals] {
            for record in records where record.flushesCache && isWanted(record, related) {
                if flushed.insert(RecordCache.Key(record)).inserted { cache.flush(around: record, at: now) }
            }
        }
        for record in message.answers + message.additionals where record.recordClass == .internet {
            guard record.type != .nsec, isWanted(record, related) else { continue }
            related.formUnion(record.data.targets)
            let (result, evicted) = cache.insert(
                record, from: source, at: now, jitter: Double.random(in: 0..<0.02, using: &random),
                isWatched: !queries.interested(in: record).isEmpty, &random)
            if result == .added { added.append(record) }
            removed += evicted
            answered(by: record, at: now)
        }
        restartQueries(for: removed, at: now)
        return changes(added: added, removed: removed) + denials(in: message, at: now)
    }

    /// Notes an answer. A unique answer ends its question's series. Any other answer shows that an earlier denial is
    /// outdated, and more answers may exist.
    private mutating func answered(by record: DNSRecord, at now: Duration) {
        guard record.timeToLive > 0 else { return }
        if record.flushesCache, record.type != .cname {
            let question = DNSQuestion(record.name, record.type)
            return queries.settle(question, for: ContinuousQueries.longestInterval, at: now)
        }
        for question in queries.interested(in: record) { queries.resume(question, at: now, calm, using: &random) }
    }

    /// Restarts the query for a question whose unique answer has left the cache.
    ///
    /// Such a query had paused, because no other answer was expected.
    private mutating func restartQueries(for removed: [DNSRecord], at now: Duration) {
        for record in removed where record.flushesCache {
            for question in queries.interested(in: record) where queries.isSettled(question) {
                if !cache.hasAnswer(to: question, at: now) { queries.begin(question, at: now) }
            }
        }
    }

    private func isWanted(_ record: DNSRecord, _ related: Set<DNSName>) -> Bool {
        related.contains(record.name) || !queries.interested(in: record).isEmpty
            || !cache.isEmpty(record.name, record.type)
    }

    /// Processes NSEC records, which list a unique name's types (RFC 6762 §6.1). Questions for other types pause while
    /// the NSEC record is valid, for at most ``ContinuousQueries/longestInterval``.
    private mutating func denials(in message: DNSMessage, at now: Duration) -> [MulticastAction] {
        let records = (message.answers + message.additionals).filter { $0.type == .nsec && $0.flushesCache }
        // A message can withdraw an NSEC record and contain its successor. A goodbye takes effect after a second (RFC
        // 6762 §10.1).
        for record in records where record.timeToLive == 0 {
            for question in queries.questions(for: record.name) {
                queries.resume(
                    question, without: record.data, at: now + MulticastDNS.grace, calm, using: &random)
            }
        }
        return records.filter { $0.timeToLive > 0 }.flatMap { denials(by: $0, at: now) }
    }

    /// Processes an NSEC record, which replaces its name's earlier NSEC records (RFC 6762 §10.2). If an earlier record
    /// denied a type that this record lists, the question for the type is asked again.
    private mutating func denials(by record: DNSRecord, at now: Duration) -> [MulticastAction] {
        guard case .next(_, let types) = record.data else { return [] }
        var actions: [MulticastAction] = []
        for question in queries.questions(for: record.name) where question.type != .any {
            if types.contains(question.type) || types.contains(.cname) {
                queries.resume(question, at: now, calm, using: &random)
            } else if !cache.hasAnswer(to: question, at: now), queries.deny(question, record, at: now) {
                actions += queries.listeners(of: question).map { .denied($0) }
            }
        }
        return actions
    }

    // MARK: Other hosts' queries

    /// Processes another host's multicast query.
    ///
    /// A question in the query may make the same question of this host unnecessary (RFC 6762 §7.3). The query can also
    /// show that a cached record no longer exists: the query does not list the record as a known answer, and no host
    /// answers with the record (RFC 6762 §10.5).
    mutating func overheard(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) {
        // Process only queries whose responses this host can receive and use. A legacy resolver gets its responses by
        // unicast, so they do not arrive here. A probe asks only for conflicting records.
        guard arrival.isFull, arrival.isMulticast, arrival.isOnLink, message.authorities.isEmpty else { return }
        if message.questions.isEmpty {
            let cache = cache
            let whole = long.follow(message, of: arrival.peer, at: now) { cache.holds($0, at: now) }
            for question in whole ?? [] { queries.spare(question, at: now, using: &random) }
            return
        }
        let questions = message.questions.filter { !$0.acceptsUnicast && $0.recordClass == .internet }
        if message.flags.contains(.isTruncated) {
            // The TC bit announces further messages with known answers, so the list of known answers is not complete
            // yet. One of these messages may be lost. So if this query gets no response, this is no sign that a record
            // is gone.
            let ours = questions.filter { question in
                queries.isDueSoon(question, at: now)
                    && message.answers.allSatisfy { !question.matches($0) || cache.holds($0, at: now) }
            }
            return long.begin(ours, of: arrival.peer, at: now)
        }
        for question in questions {
            let known = Set(message.answers.lazy.filter { question.matches($0) }.map(\.data))
            let isKnown = message.answers.allSatisfy { !question.matches($0) || cache.holds($0, at: now) }
            if isKnown { queries.spare(question, at: now, using: &random) }
            cache.update(question) { entry in
                if !known.contains(entry.record.data) { entry.missed(at: now) }
            }
        }
    }

    /// Returns whether a stored query from this peer is incomplete. Further messages with known answers may then
    /// follow.
    func awaitsMore(of peer: MulticastPeer) -> Bool { long.awaitsMore(of: peer) }

    // MARK: Time

    var hasEnded: Bool { false }

    var deadline: Duration? {
        guard let question = queries.earliestDue else { return cache.deadline }
        return cache.deadline.map { min($0, question) } ?? question
    }

    /// Calls ``advance(to:knowing:)`` with `nil`, because the cache contains this host's own records.
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
        restartQueries(for: removed, at: now)
        let refreshed = queries.refreshing(aging, at: now)
        actions += dueMessages(refreshed, own, at: now).map { .send($0) }
        return actions
    }

    /// Returns messages with the queries that are due.
    private mutating func dueMessages(
        _ refreshed: Set<DNSQuestion>, _ own: OwnRecords?, at now: Duration
    ) -> [[UInt8]] {
        let unicast: ContinuousQueries.UnicastResponses = isOneShot ? .always : acceptsUnicast ? .permitted : .refused
        let asked = queries.takeDue(with: refreshed, unicast, at: now)
        guard !asked.isEmpty else { return [] }
        var known = cache.knownAnswers(to: asked, at: now)
        if let own { known += own.knownAnswers(to: asked) }
        return QueryMessages.make(asked, knowing: known, limit: messageByteLimit)
    }

    private func changes(added: [DNSRecord], removed: [DNSRecord]) -> [MulticastAction] {
        guard !added.isEmpty || !removed.isEmpty else { return [] }
        var order: [DNSQuestion] = []
        var byQuestion: [DNSQuestion: (added: [DNSRecord], removed: [DNSRecord])] = [:]
        for (records, isAdded) in [(removed, false), (added, true)] {
            for record in records {
                for question in queries.interested(in: record) {
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
            queries.listeners(of: question).map {
                .changed($0, added: byQuestion[question]?.added ?? [], removed: byQuestion[question]?.removed ?? [])
            }
        }
    }
}
