internal import CausewayTypes
internal import CausewayWire

/// Registers and defends this host's records on one link, and answers queries for them (RFC 6762 §6, §8, §9).
///
/// The responder does no I/O and reads no clock.
struct MulticastResponder: Sendable {
    private var registered = RegisteredRecords()
    private var responses = ResponseSchedule()
    private var starts = ProbeStarts()
    /// Actions that the next ``advance(to:)`` call returns. While there are such actions, this call is due at once.
    private var urgent: [MulticastAction] = []
    /// Whether this process's socket can receive unicast responses.
    private var acceptsUnicast = true
    /// Maximum size of a sent message in bytes. Only a message with a single large record exceeds it.
    private var messageByteLimit = MulticastDNS.messageByteLimit
    /// The owner option that probes and announcements carry. It shows a sleep proxy that this host is awake.
    private(set) var owner: DNSOwner?
    /// Chooses random delays. Their distribution depends on whether many hosts may send at once.
    private var calm = ResponseDelays()
    private var random: any RandomNumberGenerator & Sendable

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    /// Whether this host has registered the name.
    func concerns(_ name: DNSName) -> Bool { registered.holds(name) }

    /// The records with which this host answers queries. They come only from announced and established registrations.
    var own: OwnRecords { registered.own }

    /// All records that this host returns in answers. The list contains each record only once.
    var records: [DNSRecord] { registered.records }

    // MARK: The link

    mutating func manyHostsStarted(at time: Duration) { calm.manyHostsStarted(at: time) }

    mutating func socketsChanged(acceptsUnicast: Bool) { self.acceptsUnicast = acceptsUnicast }

    mutating func linkChanged(messageByteLimit: Int) { self.messageByteLimit = messageByteLimit }

    mutating func ownerChanged(to owner: DNSOwner?) { self.owner = owner }

    /// Probes and announces everything again after the link or the host was down (RFC 6762 §8).
    mutating func restart(at now: Duration) {
        calm.manyHostsStarted(at: now)
        for id in registered.ids where registered[id]?.phase != .off {
            let start = probeStart(at: now)
            change(id) { $0.restarted(start: start) }
        }
        responses.restarted()
        registered.cancelRepeatedGoodbyes()
    }

    /// Stops answering until the next restart, and sends goodbyes for removed records.
    ///
    /// A sleep proxy may answer for this host while it sleeps. If none does, this method also sends goodbyes for all
    /// other records.
    mutating func sleep(isRepresented: Bool) -> [MulticastAction] {
        let said = isRepresented ? goodbye(registered.takeUnsentGoodbyes()) : farewell()
        for id in registered.ids { change(id) { $0.fellAsleep() } }
        responses.fellAsleep()
        registered.cancelRepeatedGoodbyes()
        return said
    }

    // MARK: Registrations

    /// Registers records: probes their unique names, then answers. An earlier registration with the identifier is
    /// removed.
    ///
    /// - Parameter isKnownUnique: Whether no other host can have the names. They are then not probed (RFC 6762 §8.1).
    mutating func register(_ content: RecordSet, _ id: RegistrationID, isKnownUnique: Bool, at now: Duration) {
        unregister(id)
        if let name = registered.nameTaken(from: content) { return refuse(content, id, over: name) }
        let isProbed = !isKnownUnique && content.records.contains(where: \.flushesCache)
        let start = isProbed ? probeStart(at: now) : now
        let registration = MulticastRegistration(
            content, phase: isProbed ? .probing(sent: 0, next: start) : .announcing(sent: 0, next: start),
            isKnownUnique: isKnownUnique)
        registered.add(registration, id)
    }

    /// Refuses a registration because another registration on this host has the name.
    private mutating func refuse(_ content: RecordSet, _ id: RegistrationID, over name: DNSName) {
        registered.add(MulticastRegistration(content, phase: .off), id)
        urgent.append(.conflicted(id, name))
    }

    private mutating func probeStart(at now: Duration) -> Duration {
        starts.next(at: now, calm, using: &random)
    }

    /// Removes a registration. The next ``advance(to:)`` sends the goodbye records (RFC 6762 §10.1), together with the
    /// goodbye records of other registrations.
    mutating func unregister(_ id: RegistrationID) { responses.drop(registered.remove(id)) }

    /// Replaces a registration's records and announces them (RFC 6762 §8.4). New unique names are probed first.
    ///
    /// The registration ends with a conflict if another registration on this host has one of the new names.
    mutating func update(_ id: RegistrationID, _ content: RecordSet, at now: Duration) {
        guard let old = registered[id] else { return }
        if old.phase != .off, let name = registered.nameTaken(from: content, replacing: id) {
            unregister(id)
            return refuse(content, id, over: name)
        }
        responses.drop(registered.update(id, content, at: now))
    }

    /// Changes a registration's state.
    private mutating func change(_ id: RegistrationID, _ body: (inout MulticastRegistration) -> Void) {
        responses.drop(registered.change(id, body))
    }

    // MARK: Queries

    /// Processes another host's query or probe.
    mutating func asked(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> [MulticastAction] {
        if !message.authorities.isEmpty { compare(message, at: now) }
        // Ignore unicast queries that come from outside the link (RFC 6762 §5.5).
        guard arrival.isMulticast || arrival.isOnLink else { return [] }
        switch responses.asked(message, arrival, registered.own, at: now, using: &random) {
        case .unanswered: return []
        case .scheduled: return advance(to: now)
        case .legacy(let records): return [.reply(legacyReply(message, records), to: arrival.peer)]
        }
    }

    /// Returns a conventional unicast DNS response for a legacy resolver (RFC 6762 §6.7). The response repeats the
    /// query's ID and questions. Its records have no cache-flush bit, and a TTL of at most 10 seconds.
    private func legacyReply(_ message: DNSMessage, _ records: [DNSRecord]) -> [UInt8] {
        var reply = DNSMessage()
        reply.id = message.id
        reply.flags = [.isResponse, .isAuthoritative]
        reply.questions = message.questions
        reply.answers = records.map(Self.legacy)
        reply.additionals = registered.own.additionals(for: records).map(Self.legacy)
        return reply.encoded(limit: messageByteLimit)
    }

    private static func legacy(_ record: DNSRecord) -> DNSRecord {
        var record = record
        record.flushesCache = false
        record.timeToLive = min(record.timeToLive, 10)
        return record
    }

    /// Multicasts the records of a unicast answer, because the querier's link-layer address could not be resolved.
    mutating func neighbourUnresolved(_ peer: MulticastPeer, at now: Duration) -> [MulticastAction] {
        responses.neighbourUnresolved(peer, registered.own, at: now)
        return advance(to: now)
    }

    /// Whether this peer may send more known answers for its query.
    func expectsMore(of peer: MulticastPeer) -> Bool { responses.expectsMore(of: peer) }

    // MARK: Conflicts

    /// Checks a received response for conflicts with this host's records. If the response was multicast, also cancels
    /// pending answers that it already contains.
    mutating func received(_ message: DNSMessage, _ arrival: MulticastArrival, isSelf: Bool, at now: Duration) {
        for records in [message.answers, message.authorities, message.additionals] {
            for record in records {
                if arrival.isMulticast { heard(record, at: now) }
                // This host may have sent these addresses itself, on another link or from another process. They can
                // then differ from the registered addresses. This is no conflict, so skip them.
                if isSelf, record.type == .a || record.type == .aaaa { continue }
                for id in registered.owners(of: record.name) { examine(record, id, arrival, at: now) }
            }
        }
    }

    /// Checks another host's multicast record for an answer that this host need not send any more.
    private mutating func heard(_ record: DNSRecord, at now: Duration) {
        if let own = registered.own.held(record) { responses.heard(record, equalTo: own, at: now) }
        for none in registered.own.negatives(equalTo: record) { responses.heard(record, equalToNegative: none) }
    }

    /// Checks whether a received record conflicts with a registration, and handles the conflict.
    private mutating func examine(
        _ record: DNSRecord, _ id: RegistrationID, _ arrival: MulticastArrival, at now: Duration
    ) {
        guard let conflict = registered[id]?.conflict(with: record, isMulticast: arrival.isMulticast),
            !starts.copies.isCopy(record, arrival, at: now)
        else { return }
        switch conflict {
        case .harmless: break
        case .renewed(let delay):
            starts.conflicted(at: now)
            let next = starts.retry(at: now, after: delay)
            change(id) { $0.conflicted(retry: next) }
        case .lost:
            starts.conflicted(at: now)
            change(id) { $0.nameLost() }
            urgent.append(.conflicted(id, record.name))
        }
    }

    /// Compares another host's probe with this host's simultaneous probes for the same name. If this host loses the
    /// tie-break, it probes again one second later (RFC 6762 §8.2).
    private mutating func compare(_ message: DNSMessage, at now: Duration) {
        for question in message.questions {
            for id in registered.owners(of: question.name) {
                guard let registration = registered[id], case .probing = registration.phase,
                    registration.loses(question.name, to: message.authorities)
                else { continue }
                let next = starts.retry(at: now, after: MulticastRegistration.deferral)
                change(id) { $0.tieBreakLost(retry: next) }
            }
        }
    }

    // MARK: Goodbyes

    /// Returns goodbyes for all records, including those removed since the last ``advance(to:)``.
    mutating func farewell() -> [MulticastAction] { goodbye(registered.takeUnsentGoodbyes() + records) }

    /// Whether goodbyes must be sent at once.
    var hasUnsentGoodbyes: Bool { registered.hasUnsentGoodbyes }

    /// Whether goodbyes must still be sent or repeated.
    var isDeparting: Bool { registered.isDeparting }

    private func goodbye(_ records: [DNSRecord]) -> [MulticastAction] {
        // Remove duplicates by hash value, which is fast even for thousands of records. If two records have the same
        // hash value, one of them gets no goodbye. That record stays in caches until its TTL ends.
        var seen: Set<Int> = []
        var gone = records
        gone.removeAll { !seen.insert($0.hashValue).inserted }
        for index in gone.indices { gone[index].timeToLive = 0 }
        return ResponseMessages.make(gone, [], limit: messageByteLimit).map { .send($0) }
    }

    // MARK: Time

    var deadline: Duration? {
        if !urgent.isEmpty { return .zero }
        guard let answer = responses.earliestDue else { return registered.earliestDue }
        return registered.earliestDue.map { min($0, answer) } ?? answer
    }

    mutating func advance(to now: Duration) -> [MulticastAction] {
        var actions = urgent
        urgent = []
        // When a record is replaced, send its goodbye before the announcement of the new record.
        actions += goodbye(registered.takeFirstGoodbyes(at: now))
        actions += speak(at: now)
        actions += goodbye(registered.takeRepeatedGoodbyes(at: now))
        for answer in responses.takeDue(at: now) { actions += messages(of: answer, at: now) }
        return actions
    }

    /// Sends the probes and announcements that are due (RFC 6762 §8).
    private mutating func speak(at now: Duration) -> [MulticastAction] {
        let due = registered.takeDue(at: now, acceptsUnicast: acceptsUnicast)
        if !due.established.isEmpty { responses.registrationEstablished(at: now) }
        responses.postponeRecent(due.repeated, at: now)
        let announced = responses.multicast(due.announced, at: now)
        return ProbeMessages.make(due.probes, limit: messageByteLimit, extensions).map { .send($0) }
            + due.established.map { .established($0) }
            + ResponseMessages.make(announced, [], limit: messageByteLimit, extensions).map { .send($0) }
    }

    /// The OPT record with the owner option; `nil` if there is no ``owner``.
    private var extensions: DNSExtensions? {
        owner.map { owner in
            var extensions = DNSExtensions(payloadByteCount: UInt16(clamping: messageByteLimit))
            extensions.options = [owner.option]
            return extensions
        }
    }

    private mutating func messages(of answer: PendingAnswers.Action, at now: Duration) -> [MulticastAction] {
        switch answer {
        case .reply(let chosen, let peer, let isRepeat):
            let records = registered.own.updatingNegatives(in: chosen)
            guard !records.isEmpty else { return [] }
            let additionals = registered.own.additionals(for: records)
            let replies = ResponseMessages.make(records, additionals, limit: messageByteLimit)
            return (isRepeat ? [.checkNeighbour(peer)] : []) + replies.map { .reply($0, to: peer) }
        case .multicast(let chosen):
            let records = registered.own.updatingNegatives(in: chosen)
            let additionals = responses.multicast(registered.own.additionals(for: records), at: now)
            return ResponseMessages.make(records, additionals, limit: messageByteLimit).map { .send($0) }
        }
    }
}

extension MulticastResponder: ReturningMachine {
    typealias Action = MulticastAction

    var hasEnded: Bool { false }
}
