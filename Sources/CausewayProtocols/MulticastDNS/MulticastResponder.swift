internal import CausewayWire

/// The answering side of a link: what this host has, and how it is kept its own (RFC 6762 §6, §8, §9).
///
/// It reads no clock and owns no socket.
struct MulticastResponder: Sendable {
    /// Probing waits this long at first, so that hosts that start together do not probe together (RFC 6762 §8.1).
    private static let probeDelay: Range<Duration> = .zero..<MulticastRegistration.probeInterval
    /// So many conflicts in so short a time make the host wait (RFC 6762 §8.1).
    private static let conflictLimit = 15
    private static let conflictWindow: Duration = .seconds(10)
    private static let conflictPause: Duration = .seconds(5)

    private(set) var registrations: [RegistrationID: MulticastRegistration] = [:]
    /// Who has records of a name.
    private var owners: [DNSName: [RegistrationID]] = [:]
    var pending = PendingAnswers()
    /// Whether what comes by unicast arrives here.
    var acceptsUnicast = true
    private var conflicts: [Duration] = []
    private var urgent: [MulticastAction] = []
    private var random: any RandomNumberGenerator & Sendable

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    // MARK: Registrations

    /// Begins to answer for records, once their unique names turned out to be free.
    mutating func register(_ records: [DNSRecord], _ id: RegistrationID, at now: Duration) {
        conflicts.removeAll { now - $0 > Self.conflictWindow }
        let pause = conflicts.count >= Self.conflictLimit ? Self.conflictPause : .zero
        let isUnique = records.contains(where: \.flushesCache)
        let start = now + pause + Duration.random(in: Self.probeDelay, using: &random)
        registrations[id] = MulticastRegistration(
            records: records, phase: isUnique ? .probing(sent: 0, next: start) : .announcing(sent: 0, next: now))
        index(records, id)
    }

    /// Says goodbye to what was announced (RFC 6762 §10.1).
    mutating func unregister(_ id: RegistrationID, at now: Duration) -> [MulticastAction] {
        guard let registration = registrations.removeValue(forKey: id) else { return [] }
        forget(registration.records, id)
        return registration.isAnswering ? goodbye(registration.records) : []
    }

    /// Exchanges the records of a registration whose names stay (RFC 6762 §8.4).
    mutating func update(_ id: RegistrationID, _ records: [DNSRecord], at now: Duration) -> [MulticastAction] {
        guard let old = registrations[id] else { return [] }
        forget(old.records, id)
        index(records, id)
        registrations[id]?.records = records
        guard old.isAnswering else { return [] }
        let names = Set(old.uniqueNames)
        guard records.allSatisfy({ !$0.flushesCache || names.contains($0.name) }) else {
            registrations[id]?.phase = .probing(sent: 0, next: now)
            return goodbye(old.records)
        }
        registrations[id]?.phase = .announcing(sent: 0, next: now)
        // What replaces a unique record makes others forget the old one by itself.
        return goodbye(old.records.filter { !$0.flushesCache && !records.contains($0) })
    }

    /// The link was away, or the host asleep: everything is probed and announced anew (RFC 6762 §8).
    mutating func restart(at now: Duration) {
        for (id, registration) in registrations where registration.phase != .off {
            let start = now + Duration.random(in: Self.probeDelay, using: &random)
            registrations[id]?.phase =
                registration.uniqueNames.isEmpty
                ? .announcing(sent: 0, next: start) : .probing(sent: 0, next: start)
            registrations[id]?.wasForgiven = false
        }
        pending = PendingAnswers()
    }

    /// Goodbyes for everything, as before sleep.
    mutating func farewell() -> [MulticastAction] {
        goodbye(registrations.values.filter(\.isAnswering).flatMap(\.records), evenIfHeld: true)
    }

    private func goodbye(_ records: [DNSRecord], evenIfHeld: Bool = false) -> [MulticastAction] {
        let gone = records.filter { evenIfHeld || held($0) == nil }.map { record in
            var record = record
            record.timeToLive = 0
            return record
        }
        return ResponseMessages.make(gone, []).map { .send($0) }
    }

    private mutating func index(_ records: [DNSRecord], _ id: RegistrationID) {
        for name in Set(records.map(\.name)) { owners[name, default: []].append(id) }
    }

    private mutating func forget(_ records: [DNSRecord], _ id: RegistrationID) {
        for name in Set(records.map(\.name)) {
            owners[name]?.removeAll { $0 == id }
            if owners[name]?.isEmpty == true { owners[name] = nil }
        }
        for record in records { pending.forget(record) }
    }

    // MARK: What there is

    /// Own records of a name that are given as answers.
    func records(of name: DNSName) -> [DNSRecord] {
        (owners[name] ?? []).compactMap { registrations[$0] }.filter(\.isAnswering)
            .flatMap { $0.records.filter { $0.name == name } }
    }

    /// The own record that says the same, if there is one.
    private func held(_ record: DNSRecord) -> DNSRecord? {
        records(of: record.name).first { $0.type == record.type && $0.data == record.data }
    }

    // MARK: Others' answers

    /// Looks for conflicts, and for answers that need not be given any more.
    mutating func received(_ message: DNSMessage, _ arrival: MulticastArrival, isSelf: Bool, at now: Duration) {
        for record in message.answers + message.authorities + message.additionals {
            if let own = held(record) {
                if record.timeToLive >= own.timeToLive { pending.forget(own) }
                // Somebody lets others forget what still holds (RFC 6762 §6.6).
                if record.timeToLive < own.timeToLive / 2 { pending.add([own], at: now) }
            }
            // This host's other links may say other addresses of it.
            if isSelf, record.type == .a || record.type == .aaaa { continue }
            for id in owners[record.name] ?? [] { examine(record, id, arrival, at: now) }
        }
    }

    private mutating func examine(
        _ record: DNSRecord, _ id: RegistrationID, _ arrival: MulticastArrival, at now: Duration
    ) {
        guard let registration = registrations[id], record.timeToLive > 0 else { return }
        let own = registration.records.filter { $0.name == record.name && $0.flushesCache }
        guard !own.isEmpty, !own.contains(where: { $0.type == record.type && $0.data == record.data }) else { return }
        switch registration.phase {
        case .probing(let sent, _):
            // The name is somebody else's, whatever it stands for. What was said before the first probe is no answer to it.
            guard sent > 0, record.type != .nsec else { return }
            if arrival.isMulticast, !registration.wasForgiven {
                registrations[id]?.wasForgiven = true
                registrations[id]?.phase = .probing(sent: 0, next: now + MulticastRegistration.deferral)
            } else {
                lose(id, record.name, at: now)
            }
        case .announcing, .established:
            guard own.contains(where: { $0.type == record.type }) else { return }
            // Whoever is right will defend it (RFC 6762 §9).
            registrations[id]?.phase = .probing(sent: 0, next: now)
            registrations[id]?.wasForgiven = true
        case .off: break
        }
    }

    private mutating func lose(_ id: RegistrationID, _ name: DNSName, at now: Duration) {
        conflicts.append(now)
        registrations[id]?.phase = .off
        urgent.append(.conflicted(id, name))
    }

    // MARK: Others' questions

    mutating func asked(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) -> [MulticastAction] {
        if !message.authorities.isEmpty { compare(message, at: now) }
        // A question to this host alone from beyond the link is none of its business (RFC 6762 §5.5).
        guard arrival.isMulticast || arrival.isOnLink else { return [] }
        var answers = Answers()
        for question in message.questions { collect(question, message, &answers) }
        if !arrival.isFull { return legacyReply(message, answers, arrival.peer) }
        if message.questions.isEmpty {
            pending.suppress(
                message.answers, of: arrival.peer, hasMore: message.flags.contains(.isTruncated), at: now, &random)
            return []
        }
        return give(answers, message, arrival, at: now)
    }

    private struct Answers {
        var unicast: [DNSRecord] = []
        var multicast: [DNSRecord] = []
        var isEmpty: Bool { unicast.isEmpty && multicast.isEmpty }
    }

    private func collect(_ question: DNSQuestion, _ message: DNSMessage, _ answers: inout Answers) {
        guard question.recordClass == .internet || question.recordClass == .any else { return }
        let own = records(of: question.name)
        var found = own.filter { question.matches($0) }
        if found.isEmpty, let negative = Self.negative(question, own) { found = [negative] }
        for record in found where !Self.isKnown(record, message.answers) {
            if question.acceptsUnicast { answers.unicast.append(record) } else { answers.multicast.append(record) }
        }
    }

    /// Says which types a unique name has, when it lacks the one that is asked for (RFC 6762 §6.1).
    static func negative(_ question: DNSQuestion, _ own: [DNSRecord]) -> DNSRecord? {
        guard let first = own.first, own.allSatisfy(\.flushesCache), own.allSatisfy({ $0.type.rawValue < 256 }) else {
            return nil
        }
        let types = Set(own.map(\.type)).sorted { $0.rawValue < $1.rawValue }
        return DNSRecord(
            first.name, .nsec, flushesCache: true, timeToLive: first.timeToLive, .next(first.name, types: types))
    }

    /// The asker knows it for half of its time at least (RFC 6762 §7.1).
    static func isKnown(_ record: DNSRecord, _ known: [DNSRecord]) -> Bool {
        known.contains {
            $0.type == record.type && $0.data == record.data && $0.name == record.name
                && $0.timeToLive >= record.timeToLive / 2
        }
    }

    private mutating func give(
        _ answers: Answers, _ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration
    ) -> [MulticastAction] {
        guard !answers.isEmpty else { return [] }
        let isProbe = !message.authorities.isEmpty
        let isTruncated = message.flags.contains(.isTruncated)
        let isUnique = (answers.unicast + answers.multicast).allSatisfy(\.flushesCache)
        // Nobody else will answer for a unique name: there is no crowd to spread (RFC 6762 §6).
        let delay: Duration =
            isProbe
            ? .zero
            : isTruncated
                ? .random(in: .milliseconds(400)..<Duration.milliseconds(500), using: &random)
                : isUnique && message.questions.count == 1
                    ? .zero : .random(in: .milliseconds(20)..<Duration.milliseconds(120), using: &random)
        // An asker from beyond the link gets its answer by multicast (RFC 6762 §11).
        let mayUnicast = arrival.isOnLink
        let stale = answers.unicast.filter { !mayUnicast || (!isProbe && pending.isStale($0, at: now)) }
        let direct = answers.unicast.filter { !stale.contains($0) }
        pending.add(answers.multicast + stale, for: arrival.peer, at: now + delay, isDefence: isProbe)
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
        return [.reply(reply.encoded(limit: MulticastDNS.messageByteLimit), to: peer)]
    }

    private static func legacy(_ record: DNSRecord) -> DNSRecord {
        var record = record
        record.flushesCache = false
        record.timeToLive = min(record.timeToLive, 10)
        return record
    }

    /// Somebody probes for a name of ours that is not settled yet (RFC 6762 §8.2).
    private mutating func compare(_ message: DNSMessage, at now: Duration) {
        for question in message.questions {
            for id in owners[question.name] ?? [] {
                guard let registration = registrations[id], case .probing = registration.phase,
                    registration.loses(question.name, to: message.authorities)
                else { continue }
                registrations[id]?.phase = .probing(sent: 0, next: now + MulticastRegistration.deferral)
            }
        }
    }

    /// What a reader of the answers will ask for next (RFC 6763 §12).
    private func additionals(for answers: [DNSRecord]) -> [DNSRecord] {
        var result: [DNSRecord] = []
        var names = answers.flatMap(\.data.targets)
        // The other family's addresses, or that there are none.
        names += answers.filter { $0.type == .a || $0.type == .aaaa }.map(\.name)
        var seen: Set<DNSName> = []
        while let name = names.popLast() {
            guard seen.insert(name).inserted else { continue }
            for record in records(of: name) where !answers.contains(record) && !result.contains(record) {
                result.append(record)
                names += record.data.targets
            }
        }
        return result
    }

    // MARK: Time

    var nextDeadline: Duration? {
        if !urgent.isEmpty { return .zero }
        return (registrations.values.compactMap(\.deadline) + [pending.deadline].compactMap { $0 }).min()
    }

    mutating func advance(to now: Duration) -> [MulticastAction] {
        var actions = urgent
        urgent = []
        actions += probe(at: now)
        actions += announce(at: now)
        for (peer, records) in pending.takeDirect(at: now) {
            actions += ResponseMessages.make(records, additionals(for: records)).map { .reply($0, to: peer) }
        }
        let records = pending.take(at: now)
        return actions + ResponseMessages.make(records, additionals(for: records)).map { .send($0) }
    }

    private mutating func probe(at now: Duration) -> [MulticastAction] {
        var actions: [MulticastAction] = []
        var probed: [(MulticastRegistration, acceptsUnicast: Bool)] = []
        for (id, registration) in registrations {
            guard case .probing(let sent, let next) = registration.phase, next <= now else { continue }
            // Who shares the port with others may never see what comes by unicast: the first probe asks for it, the others for all to hear.
            if sent < MulticastRegistration.probeCount { probed.append((registration, acceptsUnicast && sent == 0)) }
            if registrations[id]?.advance(at: now) == true { actions.append(.established(id)) }
        }
        return ProbeMessages.make(probed).map { .send($0) } + actions
    }

    private mutating func announce(at now: Duration) -> [MulticastAction] {
        var announced: [DNSRecord] = []
        for (id, registration) in registrations {
            guard case .announcing(let sent, let next) = registration.phase, next <= now else { continue }
            announced += registration.records.filter { !announced.contains($0) }
            if sent == 0, registration.uniqueNames.isEmpty { urgent.append(.established(id)) }
            _ = registrations[id]?.advance(at: now)
        }
        for record in announced { pending.wasSent(record, at: now) }
        defer { urgent = [] }
        return ResponseMessages.make(announced, []).map { .send($0) } + urgent
    }
}
