internal import CausewayTypes
package import CausewayWire

/// Sends queries to DNS servers, with retries (RFC 1035 §7, RFC 5452).
///
/// The client owns no sockets and reads no clock. Its owner performs the ``Action``s that the event methods return,
/// passes on bytes from the queried servers, and calls ``advance(to:)`` at ``deadline``. Identical questions of one
/// cache partition share one query. ``ResolverCache`` does the caching.
package struct DNSClient: ~Copyable {
    package typealias QuestionID = UInt64
    package typealias ExchangeID = UInt64

    package enum Action: Equatable, Sendable {
        /// Send these bytes. Pass a response with the same message ID to ``received(_:for:at:)``. For TCP the bytes do not include the
        /// length prefix.
        case send(ExchangeID, [UInt8], id: UInt16, to: DNSServer, over: DNSCarrier)
        /// The client no longer waits for a response to this message. Ignore later responses.
        case forget(ExchangeID)
        case answer(QuestionID, DNSAnswer)
    }

    /// The maximum size in bytes of a UDP response. A response up to this size needs no fragmentation on any usual path
    /// (RFC 9715 §3).
    static let payloadByteCount: UInt16 = 1_232
    /// The maximum number of messages that may wait for a response. A message ID has only 16 bits, so with many IDs in
    /// use, a forged response is more likely to match one.
    static let exchangeLimit = 4_096
    /// The maximum number of messages sent before the first response. Socket buffers of the usual size, on servers and
    /// on this host, have room for only a few more messages. Further messages could be lost.
    package static let burst = 200
    /// If no query was completed for this time, the client sends the next burst of messages.
    ///
    /// By then, the servers have processed the earlier burst, or its messages are lost. So the socket buffers have room
    /// again.
    package static let pause: Duration = .milliseconds(100)

    package private(set) var settings: ResolverConfiguration.Options
    private var ranking: ServerRanking
    private var queries: [UInt64: DNSQuery] = [:]
    private var exchanges = ExchangeTable()
    private var questions = QuestionIndex()
    /// The timers, by query number. A query's number is never 0. The timer with the number 0 sends the next burst of
    /// waiting queries.
    private var timers = TimerHeap<UInt64>()
    private var lastID: UInt64 = 0
    private var backlog = Backlog()
    private var random: any RandomNumberGenerator & Sendable

    package init(
        _ servers: [DNSServer], _ settings: ResolverConfiguration.Options = .init(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        ranking = ServerRanking(servers)
        self.settings = settings
        self.random = random
    }

    package var servers: [DNSServer] { ranking.servers }
    package var isIdle: Bool { queries.isEmpty }

    package var deadline: Duration? {
        mutating get { timers.nextDeadline() }
    }

    /// Sets the DNS servers and options for new queries.
    ///
    /// Later questions start new queries, and do not join the pending ones. The reason is that the answer to a pending
    /// query may come from a server in another network.
    package mutating func use(_ servers: [DNSServer], _ settings: ResolverConfiguration.Options) {
        ranking.use(servers)
        questions.closeAll()
        self.settings = settings
    }

    // MARK: Events

    /// Starts a query. The returned actions may already contain the answer.
    ///
    /// - Parameter partition: The cache partition of the answer. Answers are not shared between partitions, because
    ///   programs must not see each other's queries, and networks can give different answers.
    package mutating func ask(
        _ name: DNSName, _ type: DNSRecordType, in partition: UInt64 = 0, at now: Duration
    ) -> (id: QuestionID, actions: [Action]) {
        lastID += 1
        let id = lastID
        let question = DNSQuestion(name, type)
        if let known = questions.add(id, question, in: partition) {
            queries[known]?.joined(id)
            return (id, [])
        }
        let plan = ranking.makePlan(settings, at: now)
        queries[id] = DNSQuery(question, in: partition, for: id, plan, at: now)
        guard backlog.isEmpty, exchanges.count < Self.burst else {
            backlog.append(id)
            if backlog.timer == nil { backlog.timer = timers.add(at: now + Self.pause, 0) }
            return (id, [])
        }
        return (id, askNext(id, at: now))
    }

    /// Cancels a question. No answer is reported for it.
    package mutating func cancel(_ question: QuestionID, at now: Duration) -> [Action] {
        guard let id = questions.remove(question), queries[id]?.left(question) == true else { return [] }
        return drop(id) + resumeBacklog(at: now)
    }

    /// Reports that a query could not be sent, or that the server's host refused it.
    package mutating func failed(_ exchange: ExchangeID, because failure: DNSFailure, at now: Duration) -> [Action] {
        guard let lost = exchanges[exchange] else { return [] }
        // Unless the settings require TCP, the client uses TCP only after the server has answered over UDP. So the
        // server has already answered, and a failed TCP connection does not mean that it is silent.
        let isStreamOnly = lost.carrier == .tcp && !settings.usesTCP
        if failure != .unreachable, !isStreamOnly { ranking.wasSilent(lost.server, at: now) }
        return giveUp(exchange, because: failure, at: now)
    }

    /// Processes a response from the server to which the query was sent.
    ///
    /// A message that does not match the query is ignored, because it may be forged (RFC 5452 §9).
    package mutating func received(_ bytes: [UInt8], for exchange: ExchangeID, at now: Duration) -> [Action] {
        guard let known = exchanges[exchange], let message = try? DNSMessage(parsing: bytes.span),
            message.id == known.id, message.flags.contains(.isResponse), message.operation == 0
        else { return [] }
        noteExtensions(known, at: now)
        if known.hasExtensions, message.rejectsExtensions {
            // The server does not support EDNS (RFC 6891 §7). Send the query again without EDNS.
            ranking.rejectedExtensions(known.server)
            forget(exchange)
            return [.forget(exchange)]
                + send(known.query, to: known.server, over: known.carrier, extended: false, at: now)
        }
        guard message.questions.count == 1, message.questions[0] == known.question else { return [] }
        // The response may contain the name with other letter case. Then either the server does not preserve the case,
        // or the response is forged. After such a response over UDP, repeat the query over TCP. Only a host on the
        // network path can forge a response over TCP.
        let isExact = message.questions[0].name.isIdentical(to: known.question.name)
        let isUnproven = known.hasRandomCase && !isExact
        if known.carrier == .udp, isUnproven || message.flags.contains(.isTruncated) {
            if isUnproven { noteChangedCase(known) } else { noteTruncated(message, known, at: now) }
            forget(exchange)
            return [.forget(exchange)] + send(known.query, to: known.server, over: .tcp, at: now)
        }
        ranking.answered(known.server, after: now - known.sentAt, over: known.carrier)
        return read(message, known, exchange, at: now)
    }

    /// Runs the timers that are due. Early, late and repeated calls are harmless.
    package mutating func advance(to now: Duration) -> [Action] {
        var actions: [Action] = []
        while let id = timers.popDue(at: now) {
            guard id != 0 else {
                backlog.timer = nil
                actions += resumeBacklog(upTo: min(exchanges.count + Self.burst, Self.exchangeLimit), at: now)
                continue
            }
            queries[id]?.timerFired()
            actions += askNext(id, at: now)
        }
        return actions
    }

    // MARK: Sending

    /// Sends the query to the next server in the query's plan. Ends the query if no server is left.
    private mutating func askNext(_ id: UInt64, at now: Duration) -> [Action] {
        guard let query = queries[id] else { return [] }
        guard let attempt = query.plan.next else { return finish(id, query.lastResort, at: now) }
        let (server, round) = (attempt.server, attempt.round)
        let patience = ranking.patience(for: server, atMost: settings.timeout, round: round)
        if let timer = query.timer { timers.cancel(timer) }
        let timer = timers.add(at: now + (query.plan.isAtLast ? settings.timeout : patience), id)
        queries[id]?.beganAttempt(until: timer)
        // If too many messages are pending, give up this query's earlier attempts, and no longer wait for their
        // responses.
        let isCrowded = exchanges.count >= Self.exchangeLimit
        let given = isCrowded ? query.exchanges : []
        for exchange in given { forget(exchange) }
        // Some servers and firewalls silently drop queries with EDNS. So, after the first round, use EDNS only if this
        // server has answered such a query before.
        let isExtended = round == 0 || ranking.answersExtensions(server)
        return given.map { .forget($0) }
            + send(id, to: server, over: settings.usesTCP ? .tcp : .udp, extended: isExtended, at: now)
    }

    private mutating func send(
        _ id: UInt64, to server: DNSServer, over carrier: DNSCarrier, extended: Bool = true, at now: Duration
    ) -> [Action] {
        guard let query = queries[id] else { return [] }
        var message = DNSMessage()
        message.id = exchanges.unusedID(using: &random)
        message.flags = settings.trustsAuthenticatedData ? [.recursionDesired, .isAuthentic] : .recursionDesired
        let hasRandomCase = !ranking.needsPlainCase(server)
        let name = hasRandomCase ? query.target.withRandomCase(using: &random) : query.target
        let question = DNSQuestion(name, query.question.type)
        message.questions = [question]
        let isExtended = extended && !ranking.refusesExtensions(server, at: now)
        if isExtended { message.extensions = DNSExtensions(payloadByteCount: Self.payloadByteCount) }
        lastID += 1
        exchanges.add(
            Exchange(
                query: id, server: server, carrier: carrier, id: message.id, question: question, sentAt: now,
                hasExtensions: isExtended, hasRandomCase: hasRandomCase), as: lastID)
        queries[id]?.sent(lastID)
        return [.send(lastID, message.encoded(), id: message.id, to: server, over: carrier)]
    }

    // MARK: Reading responses

    /// Records whether the server drops queries with EDNS. The client assumes this in one case: the server answers a
    /// query without EDNS, but has not answered the same query with EDNS.
    private mutating func noteExtensions(_ known: Exchange, at now: Duration) {
        if known.hasExtensions {
            ranking.answeredExtensions(known.server)
        } else if !ranking.answersExtensions(known.server),
            queries[known.query]?.exchanges.contains(where: {
                exchanges[$0]?.server == known.server && exchanges[$0]?.hasExtensions == true
            }) == true
        {
            ranking.droppedExtensions(known.server, at: now)
        }
    }

    /// Records that the server changes the case of letters in names. The client then repeats the query over TCP. If the
    /// server has never answered over TCP, this may fail. So an attempt without random case is added to the query's
    /// plan.
    private mutating func noteChangedCase(_ known: Exchange) {
        ranking.changedCase(known.server)
        if !ranking.answersStreams(known.server) { queries[known.query]?.addSpare(known.server) }
    }

    private mutating func noteTruncated(_ message: DNSMessage, _ known: Exchange, at now: Duration) {
        ranking.answered(known.server, after: now - known.sentAt, over: known.carrier)
        queries[known.query]?.keepPartial(message, to: known.question, from: known.server)
    }

    private mutating func read(
        _ message: DNSMessage, _ known: Exchange, _ exchange: ExchangeID, at now: Duration
    ) -> [Action] {
        guard [.noError, .nameError].contains(message.responseCode) else {
            return giveUp(exchange, because: .code(message.responseCode.rawValue), at: now)
        }
        guard let query = queries[known.query] else { return [] }
        switch query.interpretation(of: message, to: known.question) {
        case .answer(var answer):
            answer.server = known.server
            answer.carrier = known.carrier
            if !settings.trustsAuthenticatedData { answer.isAuthentic = false }
            forget(exchange)
            return [.forget(exchange)] + finish(known.query, answer, at: now)
        case .follow(let target, let aliases, let timeToLive):
            return follow(target, aliases, timeToLive, known.query, at: now)
        case .useless: return giveUp(exchange, because: .code(DNSResponseCode.refused.rawValue), at: now)
        case .aliasLoop:
            forget(exchange)
            return [.forget(exchange)]
                + finish(known.query, DNSAnswer(.failed(.aliasLoop), for: query.target), at: now)
        }
    }

    /// Queries the name at the end of an incomplete CNAME chain.
    private mutating func follow(
        _ target: DNSName, _ aliases: [DNSRecord], _ timeToLive: Duration, _ id: UInt64, at now: Duration
    ) -> [Action] {
        guard let others = queries[id]?.exchanges else { return [] }
        guard queries[id]?.follow(to: target, aliases, timeToLive) == true else {
            return finish(id, DNSAnswer(.failed(.aliasLoop), for: target), at: now)
        }
        // The other pending messages ask for the previous name in the chain of aliases. They are no longer needed, so
        // forget them.
        for other in others { forget(other) }
        return others.map { .forget($0) } + askNext(id, at: now)
    }

    // MARK: Ending

    /// Stops waiting for the response to one query message, because no usable response will come. Tries the next server
    /// immediately.
    private mutating func giveUp(_ exchange: ExchangeID, because failure: DNSFailure, at now: Duration) -> [Action] {
        guard let lost = forget(exchange) else { return [] }
        let dropsSpares = lost.carrier == .udp || settings.usesTCP
        queries[lost.query]?.failed(at: lost.server, because: failure, dropsSpares: dropsSpares)
        // All attempts may be used while a response from another server is still pending. In that case, wait for this
        // response until the query's timer fires.
        guard let query = queries[lost.query], !query.onlyAwaitsResponses else { return [.forget(exchange)] }
        return [.forget(exchange)] + askNext(lost.query, at: now)
    }

    @discardableResult
    private mutating func forget(_ exchange: ExchangeID) -> Exchange? {
        guard let known = exchanges.remove(exchange) else { return nil }
        queries[known.query]?.forgot(exchange)
        return known
    }

    private mutating func finish(_ id: UInt64, _ answer: DNSAnswer, at now: Duration) -> [Action] {
        guard let query = queries[id] else { return [] }
        let answer = query.complete(answer, at: now)
        noteSilence(query, at: now)
        let actions = drop(id) + query.askers.map { .answer($0, answer) }
        for asker in query.askers { questions.remove(asker) }
        return actions + resumeBacklog(at: now)
    }

    /// Records which servers did not answer in time. For some time, the client queries these servers last.
    private mutating func noteSilence(_ query: DNSQuery, at now: Duration) {
        for exchange in query.exchanges {
            guard let silent = exchanges[exchange] else { continue }
            ranking.leftUnanswered(silent.server, since: silent.sentAt, timeout: settings.timeout, at: now)
        }
    }

    private mutating func drop(_ id: UInt64) -> [Action] {
        guard let query = queries.removeValue(forKey: id) else { return [] }
        if let timer = query.timer { timers.cancel(timer) }
        questions.end(id, query.question, in: query.partition)
        for exchange in query.exchanges { forget(exchange) }
        return query.exchanges.map { .forget($0) }
    }

    private mutating func resumeBacklog(upTo limit: Int = burst, at now: Duration) -> [Action] {
        // A query can end at once in the loop below. Its end then calls this method again. Return from this inner call,
        // because the outer loop continues with the next query.
        guard !backlog.isResuming, !backlog.isEmpty else { return [] }
        backlog.isResuming = true
        defer { backlog.isResuming = false }
        var actions: [Action] = []
        while exchanges.count < limit, let id = backlog.popFirst() {
            guard queries[id] != nil else { continue }
            // Plan the query's attempts again, because some servers may have stopped answering while the query was
            // waiting.
            let plan = ranking.makePlan(settings, at: now)
            queries[id]?.replan(plan)
            actions += askNext(id, at: now)
        }
        if let timer = backlog.timer { timers.cancel(timer) }
        backlog.timer = backlog.isEmpty ? nil : timers.add(at: now + Self.pause, 0)
        return actions
    }
}

extension DNSMessage {
    fileprivate var rejectsExtensions: Bool {
        [.formatError, .notImplemented, .badVersion].contains(responseCode) && extensions == nil
            || responseCode == .badVersion
    }
}

extension DNSClient: ReturningMachine {
    package var hasEnded: Bool { false }
}
