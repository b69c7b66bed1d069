internal import CausewayMachines
internal import CausewayWire

/// A link's responder: registers and defends this host's records, and answers queries from them (RFC 6762 §6, §8, §9).
///
/// The responder does no I/O and reads no clock.
struct MulticastResponder: Sendable {
    /// Maximum number of records whose goodbyes are repeated.
    private static let repeatedGoodbyeLimit = 256
    /// Goodbyes per record, and their spacing. Caches delete a record one second after a goodbye (RFC 6762 §10.1). Some
    /// implementations restart this second at each goodbye, so the spacing is longer.
    private static let goodbyeCount = 3
    private static let goodbyeSpacing: Duration = .milliseconds(1_300)

    private(set) var registrations: [RegistrationID: MulticastRegistration] = [:]
    /// Each registration's next probe or announcement time.
    var deadlines = DeadlineIndex<RegistrationID>()
    /// The registrations per unique name, in any phase.
    private var owners: [DNSName: Owners] = [:]
    /// The records in registrations that answer queries: announced or established.
    private(set) var own = OwnRecords()
    var pending = PendingAnswers()
    var repeated = RepeatedQuestions()
    /// Whether unicast responses can arrive at this process's socket.
    var acceptsUnicast = true
    /// Maximum size of a sent message in bytes. Only a message with a single large record exceeds it.
    var messageByteLimit = MulticastDNS.messageByteLimit
    /// The owner option for probes and announcements. It tells a sleep proxy that this host is awake.
    var owner: DNSOwner?
    /// Random delays; their distribution depends on whether many hosts may send at once.
    var calm = ResponseDelays()
    var answered = AnsweredQueriers()
    /// When the newest registration passed probing.
    var lastEstablished: Duration = .zero
    /// Until when the link counts as lossy.
    var lossEnd: Duration = .zero
    var starts = ProbeStarts()
    /// Actions for the next ``advance(to:)``, which is then due at once.
    var urgent: [MulticastAction] = []
    /// Removed records that need a first goodbye; see ``takeGoodbyes(at:)``.
    private var departing: [DNSRecord] = []
    /// Records whose goodbye is repeated, with the number of repeats left.
    private var farewells: [(due: Duration, left: Int, records: [DNSRecord])] = []
    var random: any RandomNumberGenerator & Sendable

    /// One name's registrations. Usually there is only one, which needs no array.
    private struct Owners: Sendable {
        var first: RegistrationID
        var others: [RegistrationID] = []
    }

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    /// Returns the registrations with this unique name, in any phase.
    func owners(of name: DNSName) -> [RegistrationID] { owners[name].map { [$0.first] + $0.others } ?? [] }

    /// Whether this host has registered the name.
    func concerns(_ name: DNSName) -> Bool { own.holds(name) || owners[name] != nil }

    // MARK: Registrations

    /// Registers records: probes their unique names, then answers. An earlier registration with the identifier is removed.
    ///
    /// - Parameter isKnownUnique: Whether no other host can have the names. They are then not probed (RFC 6762 §8.1).
    mutating func register(_ content: RecordSet, _ id: RegistrationID, isKnownUnique: Bool, at now: Duration) {
        unregister(id)
        if let name = nameTaken(from: content) { return refuse(content, id, over: name) }
        let isProbed = !isKnownUnique && content.records.contains(where: \.flushesCache)
        let start = isProbed ? probeStart(at: now) : now
        let registration = MulticastRegistration(
            content, phase: isProbed ? .probing(sent: 0, next: start) : .announcing(sent: 0, next: start),
            isKnownUnique: isKnownUnique)
        registrations[id] = registration
        deadlines[id] = registration.deadline
        index(registration, id)
        if registration.isAnswering { own.add(content) }
    }

    /// Refuses a registration because another registration on this host has the name.
    private mutating func refuse(_ content: RecordSet, _ id: RegistrationID, over name: DNSName) {
        let registration = MulticastRegistration(content, phase: .off)
        registrations[id] = registration
        index(registration, id)
        urgent.append(.conflicted(id, name))
    }

    private mutating func probeStart(at now: Duration) -> Duration {
        starts.next(at: now, calm, using: &random)
    }

    /// Removes a registration. Its goodbyes (RFC 6762 §10.1) share messages with other goodbyes at the next ``advance(to:)``.
    mutating func unregister(_ id: RegistrationID) {
        guard let registration = registrations.removeValue(forKey: id) else { return }
        deadlines[id] = nil
        unindex(registration, id)
        pending.drop(registration.records)
        guard registration.isAnswering else { return }
        own.remove(registration.content)
        departing += registration.records
    }

    /// Replaces a registration's records and announces them (RFC 6762 §8.4). New unique names are probed first.
    ///
    /// The registration ends with a conflict if another registration on this host has one of the new names.
    mutating func update(_ id: RegistrationID, _ content: RecordSet, at now: Duration) {
        guard let old = registrations[id] else { return }
        if old.phase != .off, let name = nameTaken(from: content, replacing: (id, old)) {
            unregister(id)
            return refuse(content, id, over: name)
        }
        unindex(old, id)
        if old.isAnswering { own.remove(old.content) }
        let records = content.records
        let gone = old.records.filter { !records.contains($0) }
        pending.drop(gone)
        var new = old
        let isRenamed = new.recordsChanged(to: content, at: now)
        // A new unique record replaces the old ones of its name and type in caches: these need no goodbyes.
        let replaced = Set(records.filter(\.flushesCache).map { RecordCache.Key($0) })
        if old.isAnswering {
            departing +=
                isRenamed ? old.records : gone.filter { !$0.flushesCache || !replaced.contains(RecordCache.Key($0)) }
        }
        registrations[id] = new
        deadlines[id] = new.deadline
        index(new, id)
        if new.isAnswering { own.add(content) }
    }

    /// Probes and announces everything again after the link or the host was down (RFC 6762 §8).
    mutating func restart(at now: Duration) {
        calm.upheaval = now
        // In the order of the identifiers, so that equal seeds give equal delays and messages.
        for id in registrations.keys.sorted(by: { $0.rawValue < $1.rawValue }) where registrations[id]?.phase != .off {
            let start = probeStart(at: now)
            change(id) { $0.restarted(start: start) }
        }
        pending = PendingAnswers()
        repeated = RepeatedQuestions()
        answered = AnsweredQueriers()
        lossEnd = .zero
        farewells = []
    }

    /// Changes a registration, and updates its deadline and ``own``.
    mutating func change(_ id: RegistrationID, _ body: (inout MulticastRegistration) -> Void) {
        guard var registration = registrations[id] else { return }
        let wasAnswering = registration.isAnswering
        body(&registration)
        registrations[id] = registration
        deadlines[id] = registration.deadline
        guard wasAnswering != registration.isAnswering else { return }
        if wasAnswering {
            own.remove(registration.content)
            pending.drop(registration.records)
        } else {
            own.add(registration.content)
        }
    }

    private mutating func index(_ registration: MulticastRegistration, _ id: RegistrationID) {
        for name in registration.uniqueNames {
            if owners[name] == nil { owners[name] = Owners(first: id) } else { owners[name]?.others.append(id) }
        }
    }

    private mutating func unindex(_ registration: MulticastRegistration, _ id: RegistrationID) {
        for name in registration.uniqueNames {
            let left = owners(of: name).filter { $0 != id }
            owners[name] = left.first.map { Owners(first: $0, others: Array(left.dropFirst())) }
        }
    }

    /// Ends a registration because another host owns `name`.
    mutating func lose(_ id: RegistrationID, _ name: DNSName, at now: Duration) {
        starts.conflicted(at: now)
        change(id) { $0.nameLost() }
        urgent.append(.conflicted(id, name))
    }

    // MARK: Goodbyes

    /// Returns goodbyes for all records, including those removed since the last ``advance(to:)``.
    mutating func farewell() -> [MulticastAction] { goodbye(takeDeparted() + records) }

    /// All records that this host answers with, each once.
    var records: [DNSRecord] {
        var seen: Set<DNSRecord> = []
        return registrations.sorted { $0.key.rawValue < $1.key.rawValue }.filter(\.value.isAnswering)
            .flatMap(\.value.records).filter { seen.insert($0).inserted }
    }

    /// Stops answering until the next restart. Sends goodbyes for removed records, and for all other records unless a sleep proxy answers in
    /// the meantime.
    mutating func sleep(isRepresented: Bool) -> [MulticastAction] {
        let said = isRepresented ? goodbye(takeDeparted()) : farewell()
        for id in registrations.keys { change(id) { $0.fellAsleep() } }
        (pending, repeated, farewells) = (PendingAnswers(), RepeatedQuestions(), [])
        return said
    }

    /// Returns goodbyes for the records removed since the last call.
    private mutating func takeGoodbyes(at now: Duration) -> [MulticastAction] {
        guard !departing.isEmpty else { return [] }
        let records = takeDeparted()
        if records.count <= Self.repeatedGoodbyeLimit, !records.isEmpty {
            farewells.append((now + Self.goodbyeSpacing, Self.goodbyeCount - 1, records))
        }
        return goodbye(records)
    }

    /// Removes and returns the records that need goodbyes, unless they are registered again.
    private mutating func takeDeparted() -> [DNSRecord] {
        let records = departing.filter { own.held($0) == nil }
        departing = []
        return records
    }

    /// Whether goodbyes are due at once.
    var hasUnsentGoodbyes: Bool { !departing.isEmpty }

    /// Whether goodbyes must still be repeated.
    var isDeparting: Bool { !farewells.isEmpty || !departing.isEmpty }

    private mutating func repeatGoodbyes(at now: Duration) -> [MulticastAction] {
        var due: [DNSRecord] = []
        for index in farewells.indices where farewells[index].due <= now {
            due += farewells[index].records
            farewells[index].left -= 1
            farewells[index].due = now + Self.goodbyeSpacing
        }
        farewells.removeAll { $0.left == 0 }
        // A record or name may have been registered again.
        return goodbye(due.filter { own.held($0) == nil && owners[$0.name] == nil })
    }

    private func goodbye(_ records: [DNSRecord]) -> [MulticastAction] {
        // Remove duplicates by hash value, because there may be thousands of records. After a hash collision, one
        // record gets no goodbye and stays in caches until its TTL ends.
        var seen: Set<Int> = []
        var gone = records
        gone.removeAll { !seen.insert($0.hashValue).inserted }
        for index in gone.indices { gone[index].timeToLive = 0 }
        return ResponseMessages.make(gone, [], limit: messageByteLimit).map { .send($0) }
    }

    // MARK: Time

    var deadline: Duration? {
        if !urgent.isEmpty || !departing.isEmpty { return .zero }
        return [deadlines.next, pending.deadline, farewells.lazy.map(\.due).min()].compactMap { $0 }.min()
    }

    mutating func advance(to now: Duration) -> [MulticastAction] {
        var actions = urgent
        urgent = []
        // The goodbye for a replaced record precedes the announcement of the new one.
        actions += takeGoodbyes(at: now)
        actions += speak(at: now)
        actions += repeatGoodbyes(at: now)
        for answer in pending.takeActions(dueAt: now) { actions += messages(of: answer, at: now) }
        return actions
    }

    private mutating func messages(of answer: PendingAnswers.Action, at now: Duration) -> [MulticastAction] {
        switch answer {
        case .reply(let records, let peer, let isRepeat):
            let replies = ResponseMessages.make(records, additionals(for: records), limit: messageByteLimit)
            return (isRepeat ? [.checkNeighbour(peer)] : []) + replies.map { .reply($0, to: peer) }
        case .multicast(let records):
            let additionals = additionals(for: records).filter { !pending.isRecent($0, at: now) }
            for record in additionals { pending.wasSent(record, at: now) }
            return ResponseMessages.make(records, additionals, limit: messageByteLimit).map { .send($0) }
        }
    }
}

extension MulticastResponder: ReturningMachine {
    typealias Action = MulticastAction

    var hasEnded: Bool { false }
}
