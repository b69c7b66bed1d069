internal import CausewayMachines
package import CausewayWire

/// Sends queries to DNS servers, with retries (RFC 1035 §7, RFC 5452).
///
/// The client owns no sockets and reads no clock. Its owner performs the ``Action``s that the event methods return,
/// passes on bytes from the queried servers, and calls ``advance(to:)`` at ``deadline``. Identical questions share one
/// query. ``ResolverCache`` does the caching.
package struct DNSClient: ~Copyable {
    package typealias QuestionID = UInt64
    package typealias ExchangeID = UInt64

    package enum Action: Equatable, Sendable {
        /// Send these bytes. Pass a response with the same message ID to ``received(_:for:at:)``. For TCP the bytes do not include the
        /// length prefix.
        case send(ExchangeID, [UInt8], id: UInt16, to: DNSServer, over: DNSCarrier)
        /// The exchange is over. Ignore later responses to its message.
        case forget(ExchangeID)
        case answer(QuestionID, DNSAnswer)
    }

    /// A message sent to a server, with its response pending.
    struct Exchange {
        var asking: UInt64
        var server: DNSServer
        var carrier: DNSCarrier
        var id: UInt16
        var question: DNSQuestion
        var sentAt: Duration
        var hasExtensions: Bool
        /// Whether the name was sent with random case. The response must then repeat the name with the same case.
        var hasRandomCase: Bool
    }

    /// A query and its state.
    struct Asking {
        let question: DNSQuestion
        var chain: DNSAliasChain
        var askers: [QuestionID]
        let startedAt: Duration
        var plan: DNSAttemptPlan
        var exchanges: [ExchangeID] = []
        /// The latest failed attempt.
        var lost: (server: DNSServer, failure: DNSFailure)?
        /// The answer from a truncated response, until the complete response arrives over TCP.
        var partial: DNSAnswer?
        var timer: TimerHeap<UInt64>.ID?
    }

    /// The maximum UDP response size in bytes that needs no fragmentation on any usual path (RFC 9715 §3).
    static let payloadByteCount: UInt16 = 1_232
    /// The maximum number of pending messages. Message IDs have only 16 bits; if many are in use, a forged response is more likely to
    /// match.
    static let exchangeLimit = 4_096
    /// The maximum number of messages sent before the first response. The usual socket buffers on servers and on this
    /// host hold little more; further messages would be lost.
    package static let burst = 200
    /// If no response arrives during this time, the next burst is sent. By then the earlier messages have been processed or lost.
    package static let pause: Duration = .milliseconds(100)

    package var settings: ResolverConfiguration.Options
    package private(set) var servers: [DNSServer]
    var health: [DNSServer: ServerHealth] = [:]
    var askings: [UInt64: Asking] = [:]
    var exchanges = ExchangeTable()
    private var questions = QuestionIndex()
    /// Each timer has its query's number. The backlog's timer, which sends the next burst, has the number 0, which no query has.
    private var timers = TimerHeap<UInt64>()
    var lastID: UInt64 = 0
    var rotation = 0
    private var backlog = Backlog()
    var random: any RandomNumberGenerator & Sendable

    package init(
        _ servers: [DNSServer], _ settings: ResolverConfiguration.Options = .init(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.servers = servers
        self.settings = settings
        self.random = random
    }

    package var isIdle: Bool { askings.isEmpty }

    package var deadline: Duration? {
        mutating get { timers.nextDeadline() }
    }

    /// Sets the servers and options for new queries.
    package mutating func use(_ servers: [DNSServer], _ settings: ResolverConfiguration.Options) {
        self.servers = servers
        self.settings = settings
        health = health.filter { servers.contains($0.key) }
    }

    // MARK: Events

    /// Starts a query. The returned actions may already contain the answer.
    package mutating func ask(
        _ name: DNSName, _ type: DNSRecordType, at now: Duration
    ) -> (id: QuestionID, actions: [Action]) {
        lastID += 1
        let id = lastID
        let question = DNSQuestion(name, type)
        if let known = questions.add(id, question) {
            askings[known]?.askers.append(id)
            return (id, [])
        }
        askings[id] = Asking(
            question: question, chain: DNSAliasChain(name), askers: [id], startedAt: now, plan: makePlan(at: now))
        guard backlog.isEmpty, exchanges.count < Self.burst else {
            backlog.append(id)
            if backlog.timer == nil { backlog.timer = timers.add(at: now + Self.pause, 0) }
            return (id, [])
        }
        return (id, askNext(id, at: now))
    }

    /// Cancels a question. No answer is reported for it.
    package mutating func cancel(_ question: QuestionID, at now: Duration) -> [Action] {
        guard let id = questions.remove(question) else { return [] }
        askings[id]?.askers.removeAll { $0 == question }
        guard askings[id]?.askers.isEmpty == true else { return [] }
        return drop(id) + resumeBacklog(at: now)
    }

    /// Reports that the message could not be sent, or that the server's host refused it.
    package mutating func failed(_ exchange: ExchangeID, because failure: DNSFailure, at now: Duration) -> [Action] {
        guard let lost = exchanges[exchange] else { return [] }
        // If only the TCP connection failed, the server has responded over UDP.
        let isStreamOnly = lost.carrier == .tcp && !settings.usesTCP
        if failure != .unreachable, !isStreamOnly { health[lost.server, default: ServerHealth()].wasSilent(at: now) }
        return giveUp(exchange, because: failure, at: now)
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
            askings[id]?.timer = nil
            actions += askNext(id, at: now)
        }
        return actions
    }

    // MARK: Sending

    mutating func setTimer(_ id: UInt64, at time: Duration) {
        if let timer = askings[id]?.timer { timers.cancel(timer) }
        askings[id]?.timer = timers.add(at: time, id)
    }

    // MARK: Ending

    /// Ends an exchange without an answer and tries the next server immediately.
    mutating func giveUp(_ exchange: ExchangeID, because failure: DNSFailure, at now: Duration) -> [Action] {
        guard let lost = forget(exchange) else { return [] }
        askings[lost.asking]?.lost = (lost.server, failure)
        if lost.carrier == .udp || settings.usesTCP { askings[lost.asking]?.plan.dropSpares(of: lost.server) }
        guard let asking = askings[lost.asking] else { return [.forget(exchange)] }
        // If there are no attempts left but a response from another server is pending, wait for that response until its
        // timeout.
        guard asking.plan.next != nil || asking.exchanges.isEmpty else { return [.forget(exchange)] }
        return [.forget(exchange)] + askNext(lost.asking, at: now)
    }

    @discardableResult
    mutating func forget(_ exchange: ExchangeID) -> Exchange? {
        guard let known = exchanges.remove(exchange) else { return nil }
        askings[known.asking]?.exchanges.removeAll { $0 == exchange }
        return known
    }

    mutating func finish(_ id: UInt64, _ answer: DNSAnswer, at now: Duration) -> [Action] {
        guard let asking = askings[id] else { return [] }
        var answer = answer
        answer.aliases = asking.chain.records + answer.aliases
        if let limit = asking.chain.lifetime { answer.timeToLive = min(answer.timeToLive, limit) }
        answer.duration = now - asking.startedAt
        noteSilence(asking, at: now)
        let actions = drop(id) + asking.askers.map { .answer($0, answer) }
        for asker in asking.askers { questions.remove(asker) }
        return actions + resumeBacklog(at: now)
    }

    /// Records which servers did not answer in time. For some time, the client queries these servers last.
    private mutating func noteSilence(_ asking: Asking, at now: Duration) {
        for exchange in asking.exchanges {
            guard let silent = exchanges[exchange] else { continue }
            let patience = health[silent.server, default: ServerHealth()].patience(atMost: settings.timeout, round: 0)
            if now - silent.sentAt >= patience { health[silent.server, default: ServerHealth()].wasSilent(at: now) }
        }
    }

    private mutating func drop(_ id: UInt64) -> [Action] {
        guard let asking = askings.removeValue(forKey: id) else { return [] }
        if let timer = asking.timer { timers.cancel(timer) }
        questions.end(id, asking.question)
        for exchange in asking.exchanges { forget(exchange) }
        return asking.exchanges.map { .forget($0) }
    }

    private mutating func resumeBacklog(upTo limit: Int = burst, at now: Duration) -> [Action] {
        // If a query ends immediately, this method is called again. Return in this case, because the loop below
        // continues with the next query.
        guard !backlog.isResuming, !backlog.isEmpty else { return [] }
        backlog.isResuming = true
        defer { backlog.isResuming = false }
        var actions: [Action] = []
        while exchanges.count < limit, let id = backlog.popFirst() {
            guard askings[id] != nil else { continue }
            // Make a new plan, because some servers may have stopped answering while the query was waiting.
            let plan = makePlan(at: now)
            askings[id]?.plan = plan
            actions += askNext(id, at: now)
        }
        if let timer = backlog.timer { timers.cancel(timer) }
        backlog.timer = backlog.isEmpty ? nil : timers.add(at: now + Self.pause, 0)
        return actions
    }
}

extension DNSClient: ReturningMachine {
    package var hasEnded: Bool { false }
}
