internal import CausewayWire

extension MulticastResponder {
    /// Time for others who answer the same question as well (RFC 6762 §6).
    private static let sharedDelay: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(120)
    /// Time for the rest of somebody's known answers (RFC 6762 §7.2).
    private static let truncatedDelay: Range<Duration> = .milliseconds(400)..<Duration.milliseconds(500)
    /// Who gets more answers than this asks for few of them again: nothing is sent beside them.
    private static let explainedAnswerLimit = 64

    private struct Answers {
        var unicast: [DNSRecord] = []
        var multicast: [DNSRecord] = []
        /// How often they are repeated, because the asker missed earlier ones.
        var repeats = 0
        var isEmpty: Bool { unicast.isEmpty && multicast.isEmpty }
    }

    /// Reads a question, and another host's probe.
    mutating func asked(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> [MulticastAction] {
        if !message.authorities.isEmpty { compare(message, at: now) }
        // A question to this host alone from beyond the link is none of its business (RFC 6762 §5.5).
        guard arrival.isMulticast || arrival.isOnLink else { return [] }
        let known = known(message.answers)
        pending.arrived(known, at: arrival.peer)
        var answers = Answers()
        for question in message.questions {
            let found = records(for: question, knowing: known)
            if !found.isEmpty, arrival.isFull, message.authorities.isEmpty {
                let repeats = repeated.note(question, from: arrival.peer.address, at: now)
                answers.repeats = max(answers.repeats, repeats)
            }
            // A question to this host alone is answered to the asker alone, like one that wishes so (RFC 6762 §5.5).
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

    /// Own records that an asker knows for half of their time at least (RFC 6762 §7.1).
    private func known(_ answers: [DNSRecord]) -> Set<DNSRecord> {
        Set(
            answers.compactMap { answer in
                guard let own = own.held(answer), answer.timeToLive >= own.timeToLive / 2 else { return nil }
                return own
            })
    }

    /// What answers a question: own records, or that there is none of this type.
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

    /// Says which types a unique name has, when it lacks the one that is asked for (RFC 6762 §6.1).
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
            // Nobody else will answer for a unique name: only there no crowd is to be spread (RFC 6762 §6). Where nobody else was heard to
            // answer, the crowd is small if there is one.
            let isAlone = (answers.unicast + answers.multicast).allSatisfy {
                $0.flushesCache || !sharedRecordNames.have($0.name, at: now)
            }
            delay = calm.wait(in: Self.sharedDelay, leastOf: isAlone ? 3 : 1, at: now, using: &random)
        }
        // An asker from beyond the link gets its answer by multicast (RFC 6762 §11). A probe always gets it by unicast as well.
        // What an asker missed before it gets that way as well: it comes over both families.
        let stale = answers.unicast.filter {
            !arrival.isOnLink || (!isProbe && (answers.repeats > 0 || pending.isStale($0, at: now)))
        }
        let late = Set(stale)
        let direct = stale.isEmpty ? answers.unicast : answers.unicast.filter { !late.contains($0) }
        pending.add(
            answers.multicast + stale, for: arrival.peer, at: now + delay, isDefence: isProbe, repeats: answers.repeats,
            now: now)
        pending.add(direct, to: arrival.peer, at: now + delay)
        return advance(to: now)
    }

    /// An answer for a simple resolver: as a name server would give it (RFC 6762 §6.7).
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

    /// What a reader of the answers will ask for next (RFC 6763 §12), and which family of addresses there is none of (RFC 6762 §6.2).
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
    /// The usual time of a type's records (RFC 6762 §10), in seconds.
    static func timeToLive(of type: DNSRecordType) -> UInt32 {
        [.a, .aaaa, .srv].contains(type) ? hostTimeToLive : otherTimeToLive
    }
}
