internal import CausewayWire

/// The schedule of this host's answers: which querier gets which records, by unicast or multicast, and when
/// (RFC 6762 §6).
///
/// The type sends nothing and reads no clock.
struct ResponseSchedule: Sendable {
    /// The result of a query.
    enum Outcome: Sendable {
        case unanswered
        /// Answers were scheduled. Those without a delay are due at once.
        case scheduled
        /// Send these answers to a legacy resolver at once (RFC 6762 §6.7).
        case legacy([DNSRecord])
    }

    /// Random delay for answers with shared records, because other hosts may answer the same query (RFC 6762 §6).
    private static let sharedDelay: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(120)
    /// Delay after a query with TC bit, to wait for the querier's further known answers (RFC 6762 §7.2).
    private static let truncatedDelay: Range<Duration> = .milliseconds(400)..<Duration.milliseconds(500)

    private struct Answers {
        var unicast: [DNSRecord] = []
        var multicast: [DNSRecord] = []
        /// How many times the answers are sent again. The number is above 0 if the querier seems to have missed earlier
        /// answers.
        var repeats = 0
        var isEmpty: Bool { unicast.isEmpty && multicast.isEmpty }
    }

    private var pending = PendingAnswers()
    private var queriers = QuerierHistory()

    // MARK: Queries

    /// Processes another host's query or probe.
    ///
    /// - Parameter own: This host's records.
    mutating func asked(
        _ message: DNSMessage, _ arrival: MulticastArrival, _ own: OwnRecords, at now: Duration,
        using random: inout any RandomNumberGenerator & Sendable
    ) -> Outcome {
        let known = own.known(in: message.answers)
        pending.arrived(known, at: arrival.peer)
        let answers = collect(message, arrival, own, knowing: known, at: now)
        if !arrival.isFull {
            // An address beyond the link may be forged, to direct the reply at another host (RFC 6762 §11). So answer
            // only hosts on the link.
            guard !answers.isEmpty, arrival.isOnLink else { return .unanswered }
            return .legacy(answers.unicast + answers.multicast)
        }
        if message.questions.isEmpty {
            pending.suppress(Array(known), of: arrival.peer)
            if message.flags.contains(.isTruncated) {
                pending.postpone(arrival.peer, to: now + .random(in: Self.truncatedDelay, using: &random))
            }
            return .unanswered
        }
        guard !answers.isEmpty else { return .unanswered }
        give(answers, message, arrival, at: now, using: &random)
        return .scheduled
    }

    /// Returns the answers to all questions of a query.
    private mutating func collect(
        _ message: DNSMessage, _ arrival: MulticastArrival, _ own: OwnRecords, knowing known: Set<DNSRecord>,
        at now: Duration
    ) -> Answers {
        var answers = Answers()
        for question in message.questions {
            let found = own.answers(to: question, knowing: known)
            if !found.isEmpty, arrival.isFull, message.authorities.isEmpty {
                let repeats = queriers.noteQuestion(question, from: arrival, at: now)
                // If the link lost packets within the last minute, send the answer once more. Do this only for a
                // multicast query that lists no known answers.
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
        return answers
    }

    /// Schedules the answers. Answers with unique records are sent at once. So are answers that defend a name against a
    /// probe. Other answers get a random delay.
    private mutating func give(
        _ answers: Answers, _ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration,
        using random: inout any RandomNumberGenerator & Sendable
    ) {
        let isProbe = !message.authorities.isEmpty
        let isTruncated = message.flags.contains(.isTruncated)
        let isUnique = answers.unicast.allSatisfy(\.flushesCache) && answers.multicast.allSatisfy(\.flushesCache)
        var delay: Duration = .zero
        if isTruncated, !isProbe {
            delay = .random(in: Self.truncatedDelay, using: &random)
            pending.expectMore(of: arrival.peer, until: now + delay, at: now)
        } else if !isProbe, !isUnique || message.questions.count > 1 {
            // Only this host answers for its unique names. So these answers need no random delay (RFC 6762 §6).
            delay = .random(in: Self.sharedDelay, using: &random)
        }
        let due = PendingAnswers.Due(
            now + delay, isRandom: delay > .zero && !isTruncated, isDefence: isProbe, repeats: answers.repeats)
        let isNew = !isProbe && queriers.noteAnswer(to: message.questions, from: arrival, at: now)
        if arrival.isOnLink { pending.add(answers.unicast, to: arrival.peer, due, now: now) }
        let (stale, unheard) = multicastToo(answers, arrival, isProbe: isProbe, isNew: isNew, at: now)
        pending.add(answers.multicast + stale, for: arrival.peer, due, now: now)
        pending.add(unheard, for: arrival.peer, due.later(by: PendingAnswers.directGap), now: now)
    }

    /// Selects records of a unicast answer that are also sent by multicast. Records in `stale` were not multicast
    /// recently (RFC 6762 §5.4); they are sent at the same time as the unicast answer. Records in `unheard` are sent
    /// shortly after the unicast answer. There are three special cases:
    ///
    /// - A querier beyond the link gets multicast responses only (RFC 6762 §11).
    /// - If the querier seems to have missed answers, all records are also multicast, because multicast uses both
    ///   address families.
    /// - For a new querier, `unheard` contains the records that are not in `stale`. After a link partition has healed,
    ///   a new querier may be the first host to reach two hosts with the same names. The two hosts can detect their
    ///   conflict only from multicast responses.
    private func multicastToo(
        _ answers: Answers, _ arrival: MulticastArrival, isProbe: Bool, isNew: Bool, at now: Duration
    ) -> (stale: [DNSRecord], unheard: [DNSRecord]) {
        guard arrival.isOnLink else { return (answers.unicast, []) }
        guard !isProbe else { return ([], []) }
        let stale = answers.unicast.filter { answers.repeats > 0 || pending.isStale($0, at: now) }
        // A larger response is not sent by multicast in addition, because it would burden the link. It contains no
        // additional records, so it would not show a conflict either.
        guard isNew, stale.count < answers.unicast.count, answers.unicast.count <= OwnRecords.explainedAnswerLimit
        else { return (stale, []) }
        let known = Set(stale)
        return (stale, answers.unicast.filter { !known.contains($0) })
    }

    /// Sends the records of a unicast answer by multicast, because the querier's link-layer address could not be
    /// resolved. Resolving the address needs two more packets, and the kernel tries this again only after a second.
    mutating func neighbourUnresolved(_ peer: MulticastPeer, _ own: OwnRecords, at now: Duration) {
        queriers.neighbourUnresolved(at: now)
        let records = pending.takeUnconfirmed(of: peer).filter { own.isAnswer($0) && !pending.isRecent($0, at: now) }
        pending.add(records, for: peer, PendingAnswers.Due(now), now: now)
    }

    /// Returns whether the peer may send more known answers for its query.
    func expectsMore(of peer: MulticastPeer) -> Bool { pending.expectsMore(of: peer) }

    // MARK: Own records

    /// Processes a multicast record of another host. It equals this host's record `own`, but its TTL may differ.
    mutating func heard(_ record: DNSRecord, equalTo own: DNSRecord, at now: Duration) {
        // Another host has given this answer, so this host need not send it (RFC 6762 §7.4).
        if record.timeToLive >= own.timeToLive { pending.forget(own) }
        // The other host's TTL is less than half the correct one: announce the correct one (RFC 6762 §6.6).
        if record.timeToLive < own.timeToLive / 2 { pending.add([own], at: now) }
    }

    /// Processes another host's multicast NSEC record that equals this host's record `own`, or differs from it only in
    /// the TTL. A short TTL is not corrected, because it can be right for another missing type.
    mutating func heard(_ record: DNSRecord, equalToNegative own: DNSRecord) {
        // Another host has already sent this answer. So this host must not send it (RFC 6762 §7.4).
        if record.timeToLive >= own.timeToLive { pending.forget(own) }
    }

    /// Removes the waiting answers that contain records which this host no longer has.
    mutating func drop(_ records: [DNSRecord]) { pending.drop(records) }

    /// Returns those of the given records that may now be sent by multicast (RFC 6762 §6). Marks them as sent.
    mutating func multicast(_ records: [DNSRecord], at now: Duration) -> [DNSRecord] {
        let permitted = records.filter { !pending.isRecent($0, at: now) }
        for record in permitted { pending.wasSent(record, at: now) }
        return permitted
    }

    /// Postpones the announcement of records that were multicast less than a second ago. At least a second must pass
    /// between two multicasts of a record (RFC 6762 §6).
    mutating func postponeRecent(_ records: [DNSRecord], at now: Duration) {
        pending.add(records.filter { pending.isRecent($0, at: now) }, at: now)
    }

    /// Records that a registration has finished probing.
    mutating func registrationEstablished(at now: Duration) { queriers.registrationEstablished(at: now) }

    /// Discards the pending answers and the history of queriers. The interface may now be attached to another link.
    mutating func restarted() {
        pending = PendingAnswers()
        queriers.restarted()
    }

    /// Forgets the pending answers and the recorded series of repeated questions.
    ///
    /// Queriers continue their series while this host sleeps. If this host kept the old records, it would later
    /// conclude that its answers had been lost.
    mutating func fellAsleep() {
        pending = PendingAnswers()
        queriers.fellAsleep()
    }

    // MARK: Time

    /// When the next answer is due.
    var earliestDue: Duration? { pending.deadline }

    /// Removes and returns the answers that are due.
    mutating func takeDue(at now: Duration) -> [PendingAnswers.Action] { pending.takeActions(dueAt: now) }
}
