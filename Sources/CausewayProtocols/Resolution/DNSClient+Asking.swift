internal import CausewayWire

/// One attempt to get an answer from one server.
struct DNSAttempt: Equatable {
    var server: DNSServer
    var round: Int
    /// Whether the attempt only tries another form of the query. Such an attempt is skipped if the server has answered
    /// or cannot be reached.
    var isSpare = false
}

extension DNSClient {
    /// Plans the attempts: first the servers that respond, in their order, then the servers that recently did not respond. Each round
    /// repeats this order.
    mutating func makePlan(at now: Duration) -> DNSAttemptPlan {
        var order = servers
        if settings.rotates, order.count > 1 {
            rotation = (rotation + 1) % order.count
            order = Array(order[rotation...] + order[..<rotation])
        }
        let isShunned = { (health: ServerHealth?) in health?.isShunned(at: now) ?? false }
        let (known, shunned) = (order.filter { !isShunned(health[$0]) }, order.filter { isShunned(health[$0]) })
        let (servers, rounds) = (known + shunned, max(1, settings.attempts))
        let plan = (0..<rounds).flatMap { round in servers.map { DNSAttempt(server: $0, round: round) } }
        // In the second round, queries to servers that never answered with EDNS are sent without EDNS. If only one round is configured, add
        // a second round for these servers.
        guard rounds == 1 else { return DNSAttemptPlan(plan) }
        let unknown = servers.filter { health[$0]?.mayDropExtensions(at: now) ?? true }
        return DNSAttemptPlan(plan + unknown.map { DNSAttempt(server: $0, round: 1, isSpare: true) })
    }

    /// Sends the query to the next planned server. If no server is left, ends the query.
    mutating func askNext(_ id: UInt64, at now: Duration) -> [Action] {
        guard let asking = askings[id] else { return [] }
        guard let attempt = asking.plan.next else { return finish(id, asking.lastResort, at: now) }
        let (server, round) = (attempt.server, attempt.round)
        askings[id]?.plan.advance()
        let patience = health[server, default: ServerHealth()].patience(atMost: settings.timeout, round: round)
        setTimer(id, at: now + (asking.plan.isAtLast ? settings.timeout : patience))
        // If there are too many pending messages, wait only for the response to the latest attempt of each query.
        let isCrowded = exchanges.count >= Self.exchangeLimit
        let given = isCrowded ? asking.exchanges : []
        for exchange in given { forget(exchange) }
        // Some servers and firewalls silently drop queries with EDNS.
        let isExtended = round == 0 || health[server]?.answersExtensions == true
        return given.map { .forget($0) }
            + send(id, to: server, over: settings.usesTCP ? .tcp : .udp, extended: isExtended, at: now)
    }

    mutating func send(
        _ id: UInt64, to server: DNSServer, over carrier: DNSCarrier, extended: Bool = true, at now: Duration
    ) -> [Action] {
        guard let asking = askings[id] else { return [] }
        var message = DNSMessage()
        message.id = exchanges.unusedID(using: &random)
        message.flags = settings.trustsAuthenticatedData ? [.recursionDesired, .isAuthentic] : .recursionDesired
        let hasRandomCase = health[server]?.needsPlainCase != true
        let name = hasRandomCase ? asking.chain.target.withRandomCase(using: &random) : asking.chain.target
        let question = DNSQuestion(name, asking.question.type)
        message.questions = [question]
        let isExtended = extended && health[server]?.refusesExtensions(at: now) != true
        if isExtended { message.extensions = DNSExtensions(payloadByteCount: Self.payloadByteCount) }
        lastID += 1
        exchanges.add(
            Exchange(
                asking: id, server: server, carrier: carrier, id: message.id, question: question, sentAt: now,
                hasExtensions: isExtended, hasRandomCase: hasRandomCase), as: lastID)
        askings[id]?.exchanges.append(lastID)
        return [.send(lastID, message.encoded(), id: message.id, to: server, over: carrier)]
    }
}

extension DNSClient.Asking {
    /// The answer to return when there are no attempts left.
    var lastResort: DNSAnswer {
        if let partial { return partial }
        guard exchanges.isEmpty else { return DNSAnswer(.failed(.timedOut), for: chain.target) }
        var answer = DNSAnswer(.failed(lost?.failure ?? .unreachable), for: chain.target)
        answer.server = lost?.server
        return answer
    }
}
