internal import CausewayWire

extension DNSClient {
    /// Processes bytes from an exchange's server.
    ///
    /// A message that does not match the query is ignored, because it may be forged (RFC 5452 §9).
    package mutating func received(_ bytes: [UInt8], for exchange: ExchangeID, at now: Duration) -> [Action] {
        guard let known = exchanges[exchange], let message = try? DNSMessage(parsing: bytes.span),
            message.id == known.id, message.flags.contains(.isResponse), message.operation == 0
        else { return [] }
        noteExtensions(known, at: now)
        if known.hasExtensions, message.rejectsExtensions {
            // The server does not support EDNS (RFC 6891 §7). Send the query again without EDNS.
            health[known.server, default: ServerHealth()].lacksExtensions = true
            forget(exchange)
            return [.forget(exchange)]
                + send(known.asking, to: known.server, over: known.carrier, extended: false, at: now)
        }
        guard message.questions.count == 1, message.questions[0] == known.question else { return [] }
        // Either the server does not preserve the name's case, or the response is forged. Over TCP only a host on the
        // network path can forge a response.
        let isExact = message.questions[0].name.isIdentical(to: known.question.name)
        let isUnproven = known.hasRandomCase && !isExact
        if known.carrier == .udp, isUnproven || message.flags.contains(.isTruncated) {
            if isUnproven { noteChangedCase(known) } else { noteTruncated(message, known, at: now) }
            forget(exchange)
            return [.forget(exchange)] + send(known.asking, to: known.server, over: .tcp, at: now)
        }
        noteAnswer(known, at: now)
        return read(message, known, exchange, at: now)
    }

    private mutating func noteAnswer(_ exchange: Exchange, at now: Duration) {
        // Over TCP the measured time would include the connection setup.
        let time = exchange.carrier == .udp ? now - exchange.sentAt : nil
        health[exchange.server, default: ServerHealth()].answered(after: time)
        if exchange.carrier == .tcp { health[exchange.server]?.answersStreams = true }
    }

    /// Records whether the server drops queries with EDNS. The client assumes this if the server answers a query without EDNS while a query
    /// with EDNS is still unanswered.
    private mutating func noteExtensions(_ known: Exchange, at now: Duration) {
        if known.hasExtensions {
            health[known.server, default: ServerHealth()].answersExtensions = true
        } else if health[known.server]?.answersExtensions != true,
            askings[known.asking]?.exchanges.contains(where: {
                exchanges[$0]?.server == known.server && exchanges[$0]?.hasExtensions == true
            }) == true
        {
            health[known.server, default: ServerHealth()].droppedExtensions(at: now)
        }
    }

    /// Records that the server changes the case in names. If the server has not answered over TCP, adds an attempt
    /// without random case.
    private mutating func noteChangedCase(_ known: Exchange) {
        health[known.server, default: ServerHealth()].changesCase = true
        if health[known.server]?.answersStreams != true { askings[known.asking]?.plan.addSpare(known.server) }
    }

    /// Stores a truncated response's addresses, in case the complete response does not arrive. They are not cached.
    /// Other record types are not stored, because an incomplete record set is not an answer (RFC 2181 §9).
    private mutating func noteTruncated(_ message: DNSMessage, _ known: Exchange, at now: Duration) {
        noteAnswer(known, at: now)
        guard let asking = askings[known.asking] else { return }
        let question = DNSQuestion(asking.chain.target, asking.question.type)
        var partial = DNSAnswer(.failed(.truncated), for: asking.chain.target)
        if [.a, .aaaa].contains(question.type),
            case .answer(let found) = DNSInterpretation(
                message.respelled(as: question.name, whereLike: known.question.name), to: question),
            !found.records.isEmpty
        {
            partial = found
        }
        (partial.server, partial.carrier) = (known.server, .udp)
        (partial.timeToLive, partial.isAuthentic) = (.zero, false)
        askings[known.asking]?.partial = partial
    }

    private mutating func read(
        _ message: DNSMessage, _ known: Exchange, _ exchange: ExchangeID, at now: Duration
    ) -> [Action] {
        guard [.noError, .nameError].contains(message.responseCode) else {
            return giveUp(exchange, because: .code(message.responseCode.rawValue), at: now)
        }
        guard let asking = askings[known.asking] else { return [] }
        // CNAME records are followed from the last queried name.
        let question = DNSQuestion(asking.chain.target, asking.question.type)
        switch DNSInterpretation(message.respelled(as: question.name, whereLike: known.question.name), to: question) {
        case .answer(var answer):
            answer.server = known.server
            answer.carrier = known.carrier
            if !settings.trustsAuthenticatedData { answer.isAuthentic = false }
            forget(exchange)
            return [.forget(exchange)] + finish(known.asking, answer, at: now)
        case .follow(let target, let aliases, let timeToLive):
            return follow(target, aliases, timeToLive, known, exchange, at: now)
        case .useless: return giveUp(exchange, because: .code(DNSResponseCode.refused.rawValue), at: now)
        case .aliasLoop:
            forget(exchange)
            return [.forget(exchange)]
                + finish(known.asking, DNSAnswer(.failed(.aliasLoop), for: asking.chain.target), at: now)
        }
    }

    /// Queries the name at the end of an incomplete CNAME chain.
    private mutating func follow(
        _ target: DNSName, _ aliases: [DNSRecord], _ timeToLive: Duration, _ known: Exchange, _ exchange: ExchangeID,
        at now: Duration
    ) -> [Action] {
        let id = known.asking
        guard var asking = askings[id] else { return [] }
        guard asking.chain.follow(to: target, aliases, timeToLive) else {
            return finish(id, DNSAnswer(.failed(.aliasLoop), for: target), at: now)
        }
        // The partial answer is for the previous name.
        asking.partial = nil
        let others = asking.exchanges
        asking.plan.stepBack()
        askings[id] = asking
        // The pending messages still query the previous name.
        for other in others { forget(other) }
        return others.map { .forget($0) } + askNext(id, at: now)
    }
}

extension DNSMessage {
    /// Returns the message with the queried name in its original case instead of the random case.
    fileprivate func respelled(as original: DNSName, whereLike sent: DNSName) -> DNSMessage {
        var message = self
        for index in answers.indices {
            message.answers[index] = answers[index].respelled(as: original, whereLike: sent)
        }
        return message
    }

    fileprivate var rejectsExtensions: Bool {
        [.formatError, .notImplemented, .badVersion].contains(responseCode) && extensions == nil
            || responseCode == .badVersion
    }
}
