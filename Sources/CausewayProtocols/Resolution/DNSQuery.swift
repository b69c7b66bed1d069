internal import CausewayWire

/// A query to DNS servers: the questions that wait for its answer, the plan of its attempts, and their results so far.
struct DNSQuery {
    let question: DNSQuestion
    let partition: UInt64
    private let startedAt: Duration
    private var chain: DNSAliasChain
    private(set) var askers: [DNSClient.QuestionID]
    private(set) var plan: DNSAttemptPlan
    /// The sent messages for which no response has arrived.
    private(set) var exchanges: [DNSClient.ExchangeID] = []
    /// The timer that starts the next attempt.
    private(set) var timer: TimerHeap<UInt64>.ID?
    /// The latest failed attempt: its server and its failure.
    private var lost: (server: DNSServer, failure: DNSFailure)?
    /// The answer in a truncated response. It is kept until the complete response arrives over TCP.
    private var partial: DNSAnswer?

    init(
        _ question: DNSQuestion, in partition: UInt64 = 0, for asker: DNSClient.QuestionID, _ plan: DNSAttemptPlan,
        at now: Duration
    ) {
        self.question = question
        self.partition = partition
        self.plan = plan
        startedAt = now
        chain = DNSAliasChain(question.name)
        askers = [asker]
    }

    /// The name that must be queried now. It is the end of the CNAME chain found so far.
    var target: DNSName { chain.target }

    /// Whether no attempt is left to send, but an earlier attempt may still get a response.
    var onlyAwaitsResponses: Bool { plan.next == nil && !exchanges.isEmpty }

    // MARK: Askers

    mutating func joined(_ asker: DNSClient.QuestionID) { askers.append(asker) }

    /// Removes a caller's question from this query. Returns whether no questions are left.
    mutating func left(_ asker: DNSClient.QuestionID) -> Bool {
        askers.removeAll { $0 == asker }
        return askers.isEmpty
    }

    // MARK: Attempts

    mutating func replan(_ plan: DNSAttemptPlan) { self.plan = plan }

    /// Records that the plan's next attempt has begun. If `timer` fires before a response arrives, the following
    /// attempt begins.
    mutating func beganAttempt(until timer: TimerHeap<UInt64>.ID) {
        plan.advance()
        self.timer = timer
    }

    mutating func timerFired() { timer = nil }

    mutating func sent(_ exchange: DNSClient.ExchangeID) { exchanges.append(exchange) }

    mutating func forgot(_ exchange: DNSClient.ExchangeID) { exchanges.removeAll { $0 == exchange } }

    /// Records a failed attempt.
    ///
    /// - Parameter dropsSpares: Whether to skip the attempts that only repeat the query to this server in another form,
    ///   for example without EDNS, because they would fail too.
    mutating func failed(at server: DNSServer, because failure: DNSFailure, dropsSpares: Bool) {
        lost = (server, failure)
        if dropsSpares { plan.dropSpares(of: server) }
    }

    /// Adds another attempt for a server that changes the case of letters in names.
    mutating func addSpare(_ server: DNSServer) { plan.addSpare(server) }

    // MARK: Responses

    /// Interprets a response for the name that is queried now. CNAME records are followed from that name.
    ///
    /// - Parameter sent: The question as it was sent, with random case.
    func interpretation(of message: DNSMessage, to sent: DNSQuestion) -> DNSInterpretation {
        DNSInterpretation(message.respelled(as: target, whereLike: sent.name), to: DNSQuestion(target, question.type))
    }

    /// Stores a truncated response's addresses, in case the complete response does not arrive. They are not cached.
    /// Other record types are not stored, because an incomplete record set is not an answer (RFC 2181 §9).
    mutating func keepPartial(_ message: DNSMessage, to sent: DNSQuestion, from server: DNSServer) {
        var partial = DNSAnswer(.failed(.truncated), for: target)
        if [.a, .aaaa].contains(question.type), case .answer(let found) = interpretation(of: message, to: sent),
            !found.records.isEmpty
        {
            partial = found
        }
        (partial.server, partial.carrier) = (server, .udp)
        (partial.timeToLive, partial.isAuthentic) = (.zero, false)
        self.partial = partial
    }

    /// Continues the query with the name at the end of an incomplete CNAME chain. Repeats the latest attempt with this
    /// name.
    ///
    /// - Returns: `false` if the chain is too long or leads back to itself. The query is then unchanged.
    mutating func follow(to target: DNSName, _ aliases: [DNSRecord], _ timeToLive: Duration) -> Bool {
        var longer = chain
        guard longer.follow(to: target, aliases, timeToLive) else { return false }
        chain = longer
        // Discard the addresses from the truncated response, because they belong to the name that was queried before.
        partial = nil
        plan.stepBack()
        return true
    }

    // MARK: The answer

    /// Returns the answer with the CNAME records that led to it.
    func complete(_ answer: DNSAnswer, at now: Duration) -> DNSAnswer {
        var answer = answer
        answer.aliases = chain.records + answer.aliases
        if let limit = chain.lifetime { answer.timeToLive = min(answer.timeToLive, limit) }
        answer.duration = now - startedAt
        return answer
    }

    /// The answer to return when there are no attempts left.
    var lastResort: DNSAnswer {
        if let partial { return partial }
        guard exchanges.isEmpty else { return DNSAnswer(.failed(.timedOut), for: target) }
        var answer = DNSAnswer(.failed(lost?.failure ?? .unreachable), for: target)
        answer.server = lost?.server
        return answer
    }
}

/// The CNAME records from a question's name to the name that is queried now.
struct DNSAliasChain {
    /// The maximum number of additional queries that follow the aliases in the chain.
    private static let queryLimit = 8

    /// The last name in the chain of aliases so far. The next query asks for this name.
    private(set) var target: DNSName
    private(set) var records: [DNSRecord] = []
    /// The smallest time to live of the records; `nil` without records.
    private(set) var lifetime: Duration?
    private var queryCount = 0

    init(_ name: DNSName) { target = name }

    /// Adds CNAME records that lead to another name. Returns `false` if the chain is too long or leads back to itself.
    mutating func follow(to target: DNSName, _ records: [DNSRecord], _ timeToLive: Duration) -> Bool {
        queryCount += 1
        self.records += records
        lifetime = min(lifetime ?? timeToLive, timeToLive)
        self.target = target
        let isCircle = self.records.contains { $0.name == target }
        return queryCount <= Self.queryLimit && self.records.count <= DNSInterpretation.aliasLimit && !isCircle
    }
}

extension DNSMessage {
    /// Returns the message with the queried name in its original case. The query used a random case.
    fileprivate func respelled(as original: DNSName, whereLike sent: DNSName) -> DNSMessage {
        var message = self
        for index in answers.indices {
            message.answers[index] = answers[index].respelled(as: original, whereLike: sent)
        }
        return message
    }
}
