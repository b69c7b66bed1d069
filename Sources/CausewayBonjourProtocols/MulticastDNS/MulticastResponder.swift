internal import CausewayMachines
internal import CausewayWire

/// A link's responder: registers and defends this host's records, and answers queries from them (RFC 6762 §6, §8, §9).
///
/// The responder does no I/O and reads no clock.
struct MulticastResponder: Sendable {
    var registrations = RegistrationTable()
    /// The records in registrations that answer queries: announced or established.
    private(set) var own = OwnRecords()
    var pending = PendingAnswers()
    var queriers = QuerierHistory()
    /// Whether unicast responses can arrive at this process's socket.
    var acceptsUnicast = true
    /// Maximum size of a sent message in bytes. Only a message with a single large record exceeds it.
    var messageByteLimit = MulticastDNS.messageByteLimit
    /// The owner option for probes and announcements. It tells a sleep proxy that this host is awake.
    var owner: DNSOwner?
    /// Random delays; their distribution depends on whether many hosts may send at once.
    var calm = ResponseDelays()
    var starts = ProbeStarts()
    /// Actions for the next ``advance(to:)``, which is then due at once.
    var urgent: [MulticastAction] = []
    private var goodbyes = Goodbyes()
    var random: any RandomNumberGenerator & Sendable

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    /// Whether this host has registered the name.
    func concerns(_ name: DNSName) -> Bool { own.holds(name) || registrations.holds(name) }

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
        if registration.isAnswering { own.add(content) }
    }

    /// Refuses a registration because another registration on this host has the name.
    private mutating func refuse(_ content: RecordSet, _ id: RegistrationID, over name: DNSName) {
        registrations[id] = MulticastRegistration(content, phase: .off)
        urgent.append(.conflicted(id, name))
    }

    private mutating func probeStart(at now: Duration) -> Duration {
        starts.next(at: now, calm, using: &random)
    }

    /// Removes a registration. Its goodbyes (RFC 6762 §10.1) share messages with other goodbyes at the next ``advance(to:)``.
    mutating func unregister(_ id: RegistrationID) {
        guard let registration = registrations[id] else { return }
        registrations[id] = nil
        pending.drop(registration.records)
        guard registration.isAnswering else { return }
        own.remove(registration.content)
        goodbyes.add(registration.records)
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
        if old.isAnswering { own.remove(old.content) }
        let records = content.records
        let gone = old.records.filter { !records.contains($0) }
        pending.drop(gone)
        var new = old
        let isRenamed = new.recordsChanged(to: content, at: now)
        // In caches, a new unique record replaces the old ones with its name and type, so these need no goodbyes.
        let replaced = Set(records.filter(\.flushesCache).map { RecordCache.Key($0) })
        if old.isAnswering {
            let left = gone.filter { !$0.flushesCache || !replaced.contains(RecordCache.Key($0)) }
            goodbyes.add(isRenamed ? old.records : left)
        }
        registrations[id] = new
        if new.isAnswering { own.add(content) }
    }

    /// Probes and announces everything again after the link or the host was down (RFC 6762 §8).
    mutating func restart(at now: Duration) {
        calm.manyHostsStarted(at: now)
        for id in registrations.ids where registrations[id]?.phase != .off {
            let start = probeStart(at: now)
            change(id) { $0.restarted(start: start) }
        }
        pending = PendingAnswers()
        queriers.restarted()
        goodbyes.cancelRepeats()
    }

    /// Changes a registration's state, and updates ``own``.
    mutating func change(_ id: RegistrationID, _ body: (inout MulticastRegistration) -> Void) {
        let wasAnswering = registrations[id]?.isAnswering
        registrations.change(id, body)
        guard let wasAnswering, let registration = registrations[id], wasAnswering != registration.isAnswering else {
            return
        }
        if wasAnswering {
            own.remove(registration.content)
            pending.drop(registration.records)
        } else {
            own.add(registration.content)
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
    mutating func farewell() -> [MulticastAction] { goodbye(goodbyes.takeUnsent(besides: own) + records) }

    /// All records that this host answers with, each once.
    var records: [DNSRecord] {
        var seen: Set<DNSRecord> = []
        return registrations.ids.compactMap { registrations[$0] }.filter(\.isAnswering).flatMap(\.records)
            .filter { seen.insert($0).inserted }
    }

    /// Stops answering until the next restart. Sends goodbyes for removed records, and for all other records unless a sleep proxy answers in
    /// the meantime.
    mutating func sleep(isRepresented: Bool) -> [MulticastAction] {
        let said = isRepresented ? goodbye(goodbyes.takeUnsent(besides: own)) : farewell()
        for id in registrations.ids { change(id) { $0.fellAsleep() } }
        pending = PendingAnswers()
        queriers.fellAsleep()
        goodbyes.cancelRepeats()
        return said
    }

    /// Whether goodbyes are due at once.
    var hasUnsentGoodbyes: Bool { goodbyes.hasUnsent }

    /// Whether goodbyes must still be sent or repeated.
    var isDeparting: Bool { !goodbyes.isEmpty }

    private mutating func repeatGoodbyes(at now: Duration) -> [MulticastAction] {
        // A record or name may have been registered again.
        goodbye(goodbyes.takeRepeated(at: now).filter { own.held($0) == nil && !registrations.holds($0.name) })
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
        if !urgent.isEmpty { return .zero }
        return [registrations.earliestDue, pending.deadline, goodbyes.earliestDue].compactMap { $0 }.min()
    }

    mutating func advance(to now: Duration) -> [MulticastAction] {
        var actions = urgent
        urgent = []
        // The goodbye for a replaced record precedes the announcement of the new one.
        actions += goodbye(goodbyes.takeFirst(besides: own, at: now))
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
