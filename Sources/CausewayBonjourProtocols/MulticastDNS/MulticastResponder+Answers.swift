internal import CausewayWire

extension MulticastResponder {
    /// The delay for answers with shared records, because other hosts answer the same query (RFC 6762 §6).
    private static let sharedDelay: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(120)
    /// The delay to wait for further known answers of a querier (RFC 6762 §7.2).
    private static let truncatedDelay: Range<Duration> = .milliseconds(400)..<Duration.milliseconds(500)
    /// How long a link counts as lossy after the link-layer address of a querier could not be resolved.
    private static let lossMemory: Duration = .seconds(60)
    /// The maximum number of answers for which additional records are sent. A querier that gets more answers needs few of the additional
    /// records.
    private static let explainedAnswerLimit = 64

    private struct Answers {
        var unicast: [DNSRecord] = []
        var multicast: [DNSRecord] = []
        /// The number of times to repeat the answers; greater than 0 if the querier seems to have missed earlier answers.
        var repeats = 0
        var isEmpty: Bool { unicast.isEmpty && multicast.isEmpty }
    }

    /// Processes a query, or a probe of another host.
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
                let repeats = repeated.note(question, from: arrival.peer.address, at: now)
                // On a link that has lost packets shortly before, repeat the answer to a querier without known answers once.
                let isLossy = now < lossEnd && arrival.isMulticast && known.isEmpty
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

    /// Returns the records of this host that the querier already has, with at least half of their lifetime left (RFC 6762 §7.1).
    private func known(_ answers: [DNSRecord]) -> Set<DNSRecord> {
        Set(
            answers.compactMap { answer in
                guard let own = own.held(answer), answer.timeToLive >= own.timeToLive / 2 else { return nil }
                return own
            })
    }

    /// Returns the records that answer a question, or an NSEC record if there is no record of this type.
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

    /// Returns an NSEC record with the types of a unique name that lacks the requested type (RFC 6762 §6.1).
    private static func negative(_ type: DNSRecordType, _ own: [DNSRecord]) -> DNSRecord? {
        guard let name = own.first?.name, own.allSatisfy({ $0.flushesCache && $0.type.rawValue < 256 }) else {
            return nil
        }
        let types = Set(own.map(\.type)).sorted { $0.rawValue < $1.rawValue }
        return DNSRecord(
            name, .nsec, flushesCache: true, timeToLive: MulticastDNS.timeToLive(of: type), .next(name, types: types))
    }

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
        let isNew = !isProbe && noteQuerier(message, arrival, at: now)
        if arrival.isOnLink { pending.add(answers.unicast, to: arrival.peer, due, now: now) }
        let (stale, unheard) = multicastToo(answers, arrival, isProbe: isProbe, isNew: isNew, at: now)
        pending.add(answers.multicast + stale, for: arrival.peer, due, now: now)
        pending.add(unheard, for: arrival.peer, due.later(by: PendingAnswers.directGap), now: now)
        return advance(to: now)
    }

    /// Records that the questions are answered. Returns whether one of them is new from this querier since the newest registration passed
    /// probing.
    private mutating func noteQuerier(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> Bool {
        guard arrival.isMulticast, arrival.isOnLink else { return false }
        return message.questions.reduce(false) { isNew, question in
            answered.note(question, from: arrival.peer.address, since: lastEstablished, at: now) || isNew
        }
    }

    /// Returns the unicast answers that are also multicast: at the same time those that were not multicast recently (RFC 6762 §5.4), and
    /// shortly after the unicast answer those for a new querier.
    ///
    /// A querier beyond the link gets multicast responses only (RFC 6762 §11). If the querier seems to have missed answers, they are also
    /// multicast, because multicast uses both address families. A new querier may be the first host that reaches this host and, after the
    /// link was partitioned, another host with the same names: those two cannot detect the conflict from unicast responses.
    private func multicastToo(
        _ answers: Answers, _ arrival: MulticastArrival, isProbe: Bool, isNew: Bool, at now: Duration
    ) -> (stale: [DNSRecord], unheard: [DNSRecord]) {
        guard arrival.isOnLink else { return (answers.unicast, []) }
        guard !isProbe else { return ([], []) }
        let stale = answers.unicast.filter { answers.repeats > 0 || pending.isStale($0, at: now) }
        // Larger responses have no additional records, which are what shows a conflict, and would burden the link.
        guard isNew, stale.count < answers.unicast.count, answers.unicast.count <= Self.explainedAnswerLimit else {
            return (stale, [])
        }
        let known = Set(stale)
        return (stale, answers.unicast.filter { !known.contains($0) })
    }

    /// Multicasts the records of a unicast answer because the querier's link-layer address could not be resolved: on a lossy link, address
    /// resolution needs two more packets, and the kernel repeats it only after a second.
    mutating func neighbourUnresolved(_ peer: MulticastPeer, at now: Duration) -> [MulticastAction] {
        lossEnd = now + Self.lossMemory
        let records = pending.takeUnconfirmed(of: peer).filter { own.held($0) != nil && !pending.isRecent($0, at: now) }
        pending.add(records, for: peer, PendingAnswers.Due(now), now: now)
        return advance(to: now)
    }

    /// Returns a unicast response to a simple resolver, in the form of a conventional DNS response (RFC 6762 §6.7).
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

    /// Returns the additional records that the querier will need next (RFC 6763 §12), or an NSEC record for an address family that the host
    /// does not have (RFC 6762 §6.2).
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
    /// Returns the usual time to live of a record type in seconds (RFC 6762 §10).
    static func timeToLive(of type: DNSRecordType) -> UInt32 {
        [.a, .aaaa, .srv].contains(type) ? hostTimeToLive : otherTimeToLive
    }
}
