internal import CausewayWire

/// One try of a question with one server.
struct DNSAttempt: Equatable {
    var server: DNSServer
    var round: Int
    /// Only for a server that has said nothing, or nothing usable, to this question.
    var isSpare = false
}

extension DNSClient {
    /// Living servers in their order, then those that were silent lately; all of them as often as they may be asked.
    mutating func makePlan(at now: Duration) -> [DNSAttempt] {
        var order = servers
        if settings.rotates, order.count > 1 {
            rotation = (rotation + 1) % order.count
            order = Array(order[rotation...] + order[..<rotation])
        }
        let isShunned = { (health: ServerHealth?) in health?.isShunned(at: now) ?? false }
        let (known, shunned) = (order.filter { !isShunned(health[$0]) }, order.filter { isShunned(health[$0]) })
        let (servers, rounds) = (known + shunned, max(1, settings.attempts))
        let plan = (0..<rounds).flatMap { round in servers.map { DNSAttempt(server: $0, round: round) } }
        // The second round has no EDNS where none was ever answered. A single round needs a second one for that.
        guard rounds == 1 else { return plan }
        let unknown = servers.filter { health[$0]?.mayDropExtensions(at: now) ?? true }
        return plan + unknown.map { DNSAttempt(server: $0, round: 1, isSpare: true) }
    }

    /// Sends to the next server; where there is none, waits for the last one, and then it is over.
    mutating func askNext(_ id: UInt64, at now: Duration) -> [Action] {
        guard let asking = askings[id] else { return [] }
        guard asking.next < asking.plan.count else {
            return finish(id, asking.lastResort, at: now)
        }
        let (server, round) = (asking.plan[asking.next].server, asking.plan[asking.next].round)
        askings[id]?.next += 1
        let isLast = asking.next + 1 == asking.plan.count
        let patience = health[server, default: ServerHealth()].patience(atMost: settings.timeout, round: round)
        setTimer(id, at: now + (isLast ? settings.timeout : patience))
        // With too many messages under way, only the latest try of a question is awaited.
        let isCrowded = exchanges.count >= Self.exchangeLimit
        let given = isCrowded ? asking.exchanges : []
        for exchange in given { forget(exchange) }
        // Some servers, and firewalls before them, drop a question with EDNS without a word.
        let isExtended = round == 0 || health[server]?.answersExtensions == true
        return given.map { .forget($0) }
            + send(id, to: server, over: settings.usesTCP ? .tcp : .udp, extended: isExtended, at: now)
    }

    mutating func send(
        _ id: UInt64, to server: DNSServer, over carrier: DNSCarrier, extended: Bool = true, at now: Duration
    ) -> [Action] {
        guard let asking = askings[id] else { return [] }
        var message = DNSMessage()
        message.id = freshID()
        message.flags = settings.trustsAuthenticatedData ? [.recursionDesired, .isAuthentic] : .recursionDesired
        let hasRandomCase = health[server]?.needsPlainCase != true
        let name = hasRandomCase ? asking.target.withRandomCase(using: &random) : asking.target
        let question = DNSQuestion(name, asking.question.type)
        message.questions = [question]
        let isExtended = extended && health[server]?.refusesExtensions(at: now) != true
        if isExtended { message.extensions = DNSExtensions(payloadByteCount: Self.payloadByteCount) }
        lastID += 1
        exchanges[lastID] = Exchange(
            asking: id, server: server, carrier: carrier, id: message.id, question: question, sentAt: now,
            hasExtensions: isExtended, hasRandomCase: hasRandomCase)
        askings[id]?.exchanges.append(lastID)
        return [.send(lastID, message.encoded(), id: message.id, to: server, over: carrier)]
    }
}

extension DNSClient.Asking {
    /// The answer where no server is left to ask.
    var lastResort: DNSAnswer {
        if let partial { return partial }
        var answer = DNSAnswer(.failed(exchanges.isEmpty ? failure ?? .unreachable : .timedOut), for: target)
        if exchanges.isEmpty { answer.server = failedServer }
        return answer
    }

    /// A server has answered, or cannot be reached: asking it in another form changes nothing.
    mutating func dropSpares(of server: DNSServer) {
        plan = plan.prefix(next) + plan.dropFirst(next).filter { !$0.isSpare || $0.server != server }
    }

    /// One more try with a server whose last answer cannot be used as it is.
    mutating func addSpare(_ server: DNSServer) {
        guard !plan.dropFirst(next).contains(where: { $0.server == server }) else { return }
        plan.append(DNSAttempt(server: server, round: (plan.last?.round ?? 0), isSpare: true))
    }
}
