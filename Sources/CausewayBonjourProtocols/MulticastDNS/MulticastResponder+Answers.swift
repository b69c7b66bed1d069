internal import CausewayWire

extension MulticastResponder {
    /// Random delay for answers with shared records, because other hosts may answer the same query (RFC 6762 §6).
    private static let sharedDelay: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(120)
    /// Delay after a query with TC bit, to wait for the querier's further known answers (RFC 6762 §7.2).
    private static let truncatedDelay: Range<Duration> = .milliseconds(400)..<Duration.milliseconds(500)
    /// Maximum number of answers in a response with additional records. A querier with more answers needs few additional records.
    private static let explainedAnswerLimit = 64

    private struct Answers {
        var unicast: [DNSRecord] = []
        var multicast: [DNSRecord] = []
        /// How often to repeat the answers; greater than 0 if the querier seems to have missed earlier ones.
        var repeats = 0
        var isEmpty: Bool { unicast.isEmpty && multicast.isEmpty }
    }

    /// Processes another host's query or probe.
    mutating func asked(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> [MulticastAction] {
        if !message.authorities.isEmpty { compare(message, at: now) }
        // Ignore unicast queries from beyond the link (RFC 6762 §5.5).
        guard arrival.isMulticast || arrival.isOnLink else { return [] }
        let known = known(message.answers)
        pending.arrived(known, at: arrival.peer)
        var answers = Answers()
        for question in message.questions {
            let found = records(for: question, knowing: known)
            if !found.isEmpty, arrival.isFull, message.authorities.isEmpty {
                let repeats = queriers.noteQuestion(question, from: arrival, at: now)
                // If the link lost packets within the last minute, repeat the answer once to a querier without known answers.
                let isLossy = queriers.isLossy(at: now) && arrival.isMulticast && known.isEmpty
                answers.repeats = max(answers.repeats, repeats, isLossy ? 1 : 0)
            }
            // A unicast query gets a unicast response, like a query that asks for one (RFC 6762 §5.5).
            if question.acceptsUnicast || !arrival.isMulticast {
                answers.unicast += found
            } else {
                answers.multicast += found
            }
        }
        if !arrival.isFull { return legacyReply(message, answers, arrival.peer) }
        let isTruncated = message.flags.contains(.isTruncated)
        if message.questions.isEmpty {
            pending.suppress(Array(known), of: arrival.peer)
            if isTruncated {
                pending.postpone(arrival.peer, to: now + .random(in: Self.truncatedDelay, using: &random))
            }
            return []
        }
        return give(answers, message, arrival, at: now)
    }

    /// Returns this host's records that the querier lists as known answers with at least half the correct TTL (RFC 6762 §7.1).
    private func known(_ answers: [DNSRecord]) -> Set<DNSRecord> {
        Set(
            answers.compactMap { answer in
                guard let own = own.held(answer), answer.timeToLive >= own.timeToLive / 2 else { return nil }
                return own
            })
    }

    /// Returns this host's answers to a question, except those that the querier already knows. Returns an NSEC record
    /// if the name has only other record types.
    private func records(for question: DNSQuestion, knowing known: Set<DNSRecord>) -> [DNSRecord] {
        guard question.recordClass == .internet || question.recordClass == .any else { return [] }
        let all = own[question.name]
        var isThere = false
        let found = all.filter { record in
            guard question.matches(record) else { return false }
            isThere = true
            return known.isEmpty || !known.contains(record)
        }
        guard !isThere, let none = Self.negative(question.type, all), !known.contains(none) else { return found }
        return [none]
    }

    /// Returns an NSEC record for a name with only unique records, listing their types (RFC 6762 §6.1). Types from 256 do not fit.
    private static func negative(_ type: DNSRecordType, _ own: [DNSRecord]) -> DNSRecord? {
        guard let name = own.first?.name, own.allSatisfy({ $0.flushesCache && $0.type.rawValue < 256 }) else {
            return nil
        }
        let types = Set(own.map(\.type)).sorted { $0.rawValue < $1.rawValue }
        return DNSRecord(
            name, .nsec, flushesCache: true, timeToLive: MulticastDNS.timeToLive(of: type), .next(name, types: types))
    }

    /// Schedules the answers: at once for unique records and for defences, otherwise after a random delay.
    private mutating func give(
        _ answers: Answers, _ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration
    ) -> [MulticastAction] {
        guard !answers.isEmpty else { return [] }
        let isProbe = !message.authorities.isEmpty
        let isTruncated = message.flags.contains(.isTruncated)
        let isUnique = answers.unicast.allSatisfy(\.flushesCache) && answers.multicast.allSatisfy(\.flushesCache)
        var delay: Duration = .zero
        if isTruncated, !isProbe {
            delay = .random(in: Self.truncatedDelay, using: &random)
            pending.expectMore(of: arrival.peer, until: now + delay, at: now)
        } else if !isProbe, !isUnique || message.questions.count > 1 {
            // Only this host answers for unique names, so their answers need no random delay (RFC 6762 §6).
            delay = .random(in: Self.sharedDelay, using: &random)
        }
        let due = PendingAnswers.Due(
            now + delay, isRandom: delay > .zero && !isTruncated, isDefence: isProbe, repeats: answers.repeats)
        let isNew = !isProbe && queriers.noteAnswer(to: message.questions, from: arrival, at: now)
        if arrival.isOnLink { pending.add(answers.unicast, to: arrival.peer, due, now: now) }
        let (stale, unheard) = multicastToo(answers, arrival, isProbe: isProbe, isNew: isNew, at: now)
        pending.add(answers.multicast + stale, for: arrival.peer, due, now: now)
        pending.add(unheard, for: arrival.peer, due.later(by: PendingAnswers.directGap), now: now)
        return advance(to: now)
    }

    /// Selects unicast answers to multicast as well: `stale` records at the same time, because they were not multicast
    /// recently (RFC 6762 §5.4), and `unheard` records shortly after the unicast answer, because the querier is new.
    ///
    /// A querier beyond the link gets multicast responses only (RFC 6762 §11). If the querier seems to have missed
    /// answers, they are also multicast, because multicast uses both address families. After a link partition heals, a
    /// new querier may be the first to reach both this host and another host with the same names. The two hosts cannot
    /// detect their conflict from unicast responses.
    private func multicastToo(
        _ answers: Answers, _ arrival: MulticastArrival, isProbe: Bool, isNew: Bool, at now: Duration
    ) -> (stale: [DNSRecord], unheard: [DNSRecord]) {
        guard arrival.isOnLink else { return (answers.unicast, []) }
        guard !isProbe else { return ([], []) }
        let stale = answers.unicast.filter { answers.repeats > 0 || pending.isStale($0, at: now) }
        // Larger responses have no additional records, in which a conflict would show, and would burden the link.
        guard isNew, stale.count < answers.unicast.count, answers.unicast.count <= Self.explainedAnswerLimit else {
            return (stale, [])
        }
        let known = Set(stale)
        return (stale, answers.unicast.filter { !known.contains($0) })
    }

    /// Multicasts a unicast answer's records because the querier's link-layer address could not be resolved. Address
    /// resolution needs two more packets, and the kernel retries it only after a second.
    mutating func neighbourUnresolved(_ peer: MulticastPeer, at now: Duration) -> [MulticastAction] {
        queriers.neighbourUnresolved(at: now)
        let records = pending.takeUnconfirmed(of: peer).filter { own.held($0) != nil && !pending.isRecent($0, at: now) }
        pending.add(records, for: peer, PendingAnswers.Due(now), now: now)
        return advance(to: now)
    }

    /// Returns a conventional unicast DNS response for a legacy resolver: same ID, question section, no cache-flush
    /// bit, TTL at most 10 seconds (RFC 6762 §6.7).
    private func legacyReply(_ message: DNSMessage, _ answers: Answers, _ peer: MulticastPeer) -> [MulticastAction] {
        guard !answers.isEmpty else { return [] }
        let records = answers.unicast + answers.multicast
        var reply = DNSMessage()
        reply.id = message.id
        reply.flags = [.isResponse, .isAuthoritative]
        reply.questions = message.questions
        reply.answers = records.map(Self.legacy)
        reply.additionals = additionals(for: records).map(Self.legacy)
        return [.reply(reply.encoded(limit: messageByteLimit), to: peer)]
    }

    private static func legacy(_ record: DNSRecord) -> DNSRecord {
        var record = record
        record.flushesCache = false
        record.timeToLive = min(record.timeToLive, 10)
        return record
    }

    /// Returns additional records: those the querier will need next (RFC 6763 §12), and an NSEC record if a host has
    /// addresses in one family only (RFC 6762 §6.2).
    func additionals(for answers: [DNSRecord]) -> [DNSRecord] {
        guard answers.count <= Self.explainedAnswerLimit else { return [] }
        var result: [DNSRecord] = []
        var present = Set(answers)
        var names = answers.flatMap(\.data.targets)
        names += answers.filter { $0.type == .a || $0.type == .aaaa }.map(\.name)
        var seen: Set<DNSName> = []
        while let name = names.popLast() {
            guard seen.insert(name).inserted else { continue }
            let all = own[name]
            for record in all where present.insert(record).inserted {
                result.append(record)
                names += record.data.targets
            }
            let hasIPv4 = all.contains { $0.type == .a }
            let hasIPv6 = all.contains { $0.type == .aaaa }
            guard hasIPv4 != hasIPv6, let none = Self.negative(hasIPv4 ? .aaaa : .a, all) else { continue }
            if present.insert(none).inserted { result.append(none) }
        }
        return result
    }
}

extension MulticastDNS {
    /// Returns a record type's usual TTL in seconds (RFC 6762 §10).
    static func timeToLive(of type: DNSRecordType) -> UInt32 {
        [.a, .aaaa, .srv].contains(type) ? hostTimeToLive : otherTimeToLive
    }
}
