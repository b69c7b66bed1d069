internal import CausewayWire

/// The questions that a querier is asking continuously. Stores who listens to each question, and when its next query is
/// due (RFC 6762 §5.2).
///
/// The type sends nothing and reads no clock.
struct ContinuousQueries: Sendable {
    /// Says which of this host's queries other hosts may answer by unicast.
    enum UnicastResponses: Sendable {
        /// No query, because unicast responses cannot arrive at this process's socket.
        case refused
        /// The first query in a series requests a unicast response (RFC 6762 §5.4). The later queries request multicast
        /// responses.
        case permitted
        /// All queries ask for a unicast response, because they are sent from another port than 5353 (RFC 6762 §5.1).
        case always
    }

    /// The delay before the first query, so that hosts that start together do not send together (RFC 6762 §5.2).
    private static let firstDelay: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(120)
    /// How far ahead a query looks for new questions (RFC 6762 §5.3). A new question that becomes due within this time
    /// is sent now, in the same query as the questions that are already due.
    private static let gathering: Duration = .milliseconds(100)
    private static let shortestInterval: Duration = .seconds(1)
    static let longestInterval: Duration = .seconds(3_600)
    /// Minimum time between two refresh queries for one question. Near its end, a record with a TTL of 20 seconds is
    /// refreshed once per second. The minimum is shorter than one second. Otherwise a timer that fires early would
    /// suppress a query.
    private static let refreshSpacing: Duration = .milliseconds(900)
    /// How long to expect a unicast response after asking for one (RFC 6762 §11).
    private static let unicastWindow: Duration = .seconds(2)
    /// This host need not ask a question that is due within this time if another host asks the same question (RFC 6762
    /// §7.3).
    private static let duplicateWindow: Duration = .seconds(1)
    /// Additional random delay for a question that this host did not send because another host asked it.
    ///
    /// Without this delay, all hosts would ask again at the same time. With the delay, the host that asked last asks
    /// first again. Its question then replaces the other hosts' questions.
    private static let deference: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(520)

    /// The state of a continuous question.
    private struct Running: Sendable {
        var listeners: Set<QuestionID>
        var interval: Duration = ContinuousQueries.shortestInterval
        var sent = 0
        var lastSent: Duration?
        /// The time when this host or another host last asked this question in its series.
        var lastCounted: Duration?
        /// When a unicast response was last requested.
        var lastUnicast: Duration?
        var series = Series.running
    }

    /// The state of a question's query series.
    private enum Series: Sendable {
        case running
        /// The answer is known and no other answers are expected. The next query is sent when the known answer is about
        /// to expire.
        case answered
        /// The name's owner has stated that no answer exists. The NSEC record is valid until the given time.
        case denied(by: DNSRecordData, until: Duration)
    }

    private var running: [DNSQuestion: Running] = [:]
    /// For each question, the time of its next query.
    private var schedule = DeadlineIndex<DNSQuestion>()
    private var byName: [DNSName: Set<DNSQuestion>] = [:]
    private var byListener: [QuestionID: DNSQuestion] = [:]
    /// When a question that permits unicast responses was last sent.
    private var newestUnicast: Duration?

    // MARK: Listeners

    /// Adds a listener to a question. Returns whether the question is new. For a new question, the first query is
    /// scheduled.
    mutating func ask(
        _ question: DNSQuestion, _ id: QuestionID, at now: Duration, _ calm: ResponseDelays,
        using random: inout any RandomNumberGenerator & Sendable
    ) -> Bool {
        byListener[id] = question
        guard running[question]?.listeners.insert(id) == nil else { return false }
        running[question] = Running(listeners: [id])
        byName[question.name, default: []].insert(question)
        schedule[question] = now + calm.wait(in: Self.firstDelay, leastOf: 4, at: now, using: &random)
        return true
    }

    /// Removes a listener. If its question has no other listener, the question ends and is returned.
    mutating func stop(_ id: QuestionID) -> DNSQuestion? {
        guard let question = byListener.removeValue(forKey: id) else { return nil }
        running[question]?.listeners.remove(id)
        guard running[question]?.listeners.isEmpty == true else { return nil }
        running[question] = nil
        schedule[question] = nil
        byName[question.name]?.remove(question)
        if byName[question.name]?.isEmpty == true { byName[question.name] = nil }
        return question
    }

    func listeners(of question: DNSQuestion) -> Set<QuestionID> { running[question]?.listeners ?? [] }

    /// Whether a question for the name is running.
    func holds(_ name: DNSName) -> Bool { byName[name] != nil }

    /// Returns the running questions for the name.
    func questions(for name: DNSName) -> Set<DNSQuestion> { byName[name] ?? [] }

    /// Returns the running questions that the record answers.
    func interested(in record: DNSRecord) -> [DNSQuestion] {
        byName[record.name]?.filter { $0.matches(record) } ?? []
    }

    // MARK: Query series

    /// Restarts all questions.
    mutating func restart(
        at now: Duration, _ calm: ResponseDelays, using random: inout any RandomNumberGenerator & Sendable
    ) {
        for question in running.keys {
            running[question]?.sent = 0
            begin(question, at: now + calm.wait(in: Self.firstDelay, leastOf: 1, at: now, using: &random))
        }
    }

    /// Restarts the series of queries for a question. The pauses are 1, 2, 4, ... seconds.
    mutating func begin(_ question: DNSQuestion, at time: Duration) {
        running[question]?.interval = Self.shortestInterval
        running[question]?.lastCounted = nil
        running[question]?.series = .running
        schedule[question] = time
    }

    /// Stops the repeated queries of a question for `time`, because its unique answer is known. The question is asked
    /// again when this answer is about to expire (RFC 6762 §5.2).
    mutating func settle(_ question: DNSQuestion, for time: Duration, at now: Duration) {
        pause(question, .answered, until: now + time)
    }

    private mutating func pause(_ question: DNSQuestion, _ series: Series, until time: Duration) {
        guard running[question] != nil else { return }
        running[question]?.interval = Self.longestInterval
        running[question]?.series = series
        schedule[question] = time
    }

    /// Whether the query series is paused because the answer is known.
    func isSettled(_ question: DNSQuestion) -> Bool {
        if case .answered? = running[question]?.series { true } else { false }
    }

    // MARK: Negative answers

    /// Stops a question's query series while an NSEC record is valid (RFC 6762 §6.1), for at most ``longestInterval``.
    ///
    /// - Returns: Whether the question was not denied before.
    mutating func deny(_ question: DNSQuestion, _ record: DNSRecord, at now: Duration) -> Bool {
        let isNew = !isDenied(question)
        let end = now + min(.seconds(Int64(record.timeToLive)), Self.longestInterval)
        pause(question, .denied(by: record.data, until: end), until: end)
        return isNew
    }

    private func isDenied(_ question: DNSQuestion) -> Bool {
        if case .denied? = running[question]?.series { true } else { false }
    }

    /// Whether a valid NSEC record denies the question's answer.
    func isDenied(_ question: DNSQuestion, at now: Duration) -> Bool {
        if case .denied(_, let end)? = running[question]?.series { end > now } else { false }
    }

    /// Restarts the query series of a denied question, because its NSEC record is outdated. Other hosts notice this at
    /// the same time, so the first query gets a random delay.
    ///
    /// - Parameter withdrawn: The content of an NSEC record that was withdrawn; a denial by another one stays valid.
    ///   `nil` if every earlier NSEC record is outdated.
    mutating func resume(
        _ question: DNSQuestion, without withdrawn: DNSRecordData? = nil, at time: Duration, _ calm: ResponseDelays,
        using random: inout any RandomNumberGenerator & Sendable
    ) {
        guard case .denied(let data, _)? = running[question]?.series, withdrawn.map({ $0 == data }) ?? true else {
            return
        }
        begin(question, at: time + calm.wait(in: Self.firstDelay, leastOf: 1, at: time, using: &random))
    }

    // MARK: Other hosts' queries

    /// Skips this host's own query for a question if the query is due soon. Call this method when another host has just
    /// sent the question.
    mutating func spare(
        _ question: DNSQuestion, at now: Duration, using random: inout any RandomNumberGenerator & Sendable
    ) {
        guard isDueSoon(question, at: now) else { return }
        count(question, at: now, later: .random(in: Self.deference, using: &random))
    }

    /// Returns whether this host's own query is due soon. If another host asks the same question before that, this
    /// host's query is not needed.
    func isDueSoon(_ question: DNSQuestion, at now: Duration) -> Bool {
        schedule[question].map { $0 <= now + Self.duplicateWindow } ?? false
    }

    /// Records that a query for the question was sent, and schedules the next query. The interval between queries
    /// doubles, up to one hour (RFC 6762 §5.2).
    private mutating func count(_ question: DNSQuestion, at now: Duration, later delay: Duration = .zero) {
        guard let entry = running[question] else { return }
        let last = entry.lastCounted.map { now - $0 } ?? .zero
        let wait = min(max(entry.interval, last * 2), Self.longestInterval)
        running[question]?.sent += 1
        running[question]?.lastCounted = now
        running[question]?.interval = min(wait * 2, Self.longestInterval)
        schedule[question] = now + wait + delay
    }

    // MARK: Queries

    /// The time at which the next query is due.
    var earliestDue: Duration? { schedule.next }

    /// Returns the questions that refresh these expiring records. Leaves out a question that was sent a moment ago,
    /// because its answers refresh the record too.
    func refreshing(_ aging: [DNSRecord], at now: Duration) -> Set<DNSQuestion> {
        Set(aging.flatMap { interested(in: $0) }).filter { question in
            // If the question was sent a moment ago, its answer also refreshes this record. So records that expire at
            // the same time need only one query per question.
            guard let last = running[question]?.lastSent else { return true }
            return now - last >= Self.refreshSpacing
        }
    }

    /// Returns the questions that must be sent now: all questions that are due, and the questions in `refreshed`. The
    /// known answers to the latter expire soon.
    ///
    /// A question that is due soon is sent early only if it was never sent before.
    mutating func takeDue(
        with refreshed: Set<DNSQuestion>, _ unicast: UnicastResponses, at now: Duration
    ) -> [DNSQuestion] {
        let isDue = schedule.next.map { $0 <= now } ?? false
        guard isDue || !refreshed.isEmpty else { return [] }
        var asked: [DNSQuestion] = []
        var early: [(DNSQuestion, Duration)] = []
        while let time = schedule.next, let question = schedule.popDue(at: now + Self.gathering) {
            guard time <= now || running[question]?.sent == 0 else {
                early.append((question, time))
                continue
            }
            asked.append(said(question, unicast, at: now))
            count(question, at: now)
        }
        for (question, time) in early { schedule[question] = time }
        for question in refreshed where running[question]?.lastSent != now {
            asked.append(said(question, unicast, at: now))
        }
        return asked
    }

    /// Returns the question as it must be sent now. Only the first query in a series permits a unicast response (RFC
    /// 6762 §5.4).
    private mutating func said(
        _ question: DNSQuestion, _ unicast: UnicastResponses, at now: Duration
    ) -> DNSQuestion {
        var asked = question
        asked.acceptsUnicast = unicast == .permitted && running[question]?.sent == 0
        running[question]?.lastSent = now
        if asked.acceptsUnicast || unicast == .always {
            running[question]?.lastUnicast = now
            newestUnicast = now
        }
        return asked
    }

    // MARK: Unicast responses

    /// Whether a question that permits unicast responses was sent recently.
    func expectsUnicast(at now: Duration) -> Bool { newestUnicast.map { now - $0 <= Self.unicastWindow } ?? false }

    /// Returns whether the record may arrive as a unicast response: it answers a question that this host sent recently
    /// and that permits unicast responses.
    func expectsUnicast(_ record: DNSRecord, at now: Duration) -> Bool {
        byName[record.name]?.contains { question in
            guard let last = running[question]?.lastUnicast, now - last <= Self.unicastWindow else { return false }
            return question.matches(record) || record.type == .nsec
        } ?? false
    }
}
