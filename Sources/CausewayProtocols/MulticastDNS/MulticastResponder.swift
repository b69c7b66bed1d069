internal import CausewayWire

/// The answering side of a link: what this host has, and how it is kept its own (RFC 6762 §6, §8, §9).
///
/// It reads no clock and owns no socket.
struct MulticastResponder: Sendable {
    /// How often each registration is announced. RFC 6762 §8.3 asks for two; the third is for hosts that missed both, and would be a
    /// flood where there are many.
    private static let announcementCount = (few: 3, many: 2)
    private static let fewRegistrations = 100
    /// So many speak in one turn: what thousands say at once would take more memory, for a moment, than they do.
    private static let speakerLimit = 512
    /// Goodbyes of at most this many records are repeated for hosts that missed them. The records leave caches a second after a goodbye
    /// (RFC 6762 §10.1), and some stacks count that second from the last one: a repeat waits until it is over.
    private static let repeatedGoodbyeLimit = 256
    private static let goodbyeCount = 3
    private static let goodbyeSpacing: Duration = .milliseconds(1_300)

    private(set) var registrations: [RegistrationID: MulticastRegistration] = [:]
    /// When each registration has something to say.
    var deadlines = DeadlineIndex<RegistrationID>()
    /// Who wants a name for itself.
    private var owners: [DNSName: Owners] = [:]
    /// What is answered with: the records of registrations whose names are settled.
    private(set) var own = OwnRecords()
    var pending = PendingAnswers()
    var repeated = RepeatedQuestions()
    /// Whether what comes by unicast arrives here.
    var acceptsUnicast = true
    /// Bytes of the largest message that is sent, but for records that are larger themselves.
    var messageByteLimit = MulticastDNS.messageByteLimit
    /// Who this host is, for those who may have answered for it while it slept: probes and announcements say so.
    var owner: DNSOwner?
    /// Whether many hosts may probe or answer at one moment.
    var calm = ResponseDelays()
    var sharedRecordNames = SharedRecordNames()
    var starts = ProbeStarts()
    var urgent: [MulticastAction] = []
    private var departing: [DNSRecord] = []
    private var farewells: [(due: Duration, left: Int, records: [DNSRecord])] = []
    var random: any RandomNumberGenerator & Sendable

    /// Most names have one.
    private struct Owners: Sendable {
        var first: RegistrationID
        var others: [RegistrationID] = []
    }

    init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    /// Registrations that want the name for themselves.
    func owners(of name: DNSName) -> [RegistrationID] { owners[name].map { [$0.first] + $0.others } ?? [] }

    /// Whether the name is one of this host's, or about to be.
    func concerns(_ name: DNSName) -> Bool { own.holds(name) || owners[name] != nil }

    // MARK: Registrations

    /// Begins to answer for records, once their unique names turned out to be free.
    ///
    /// - Parameter isKnownUnique: Whether nobody else can have the names, so that nobody is asked (RFC 6762 §8.1).
    mutating func register(_ content: RecordSet, _ id: RegistrationID, isKnownUnique: Bool, at now: Duration) {
        if registrations[id] != nil { remove(id) }
        if let name = nameTaken(from: content) { return refuse(content, id, over: name) }
        let isProbed = !isKnownUnique && content.records.contains(where: \.flushesCache)
        let start = isProbed ? probeStart(at: now) : now
        let registration = MulticastRegistration(
            content, phase: isProbed ? .probing(sent: 0, next: start) : .announcing(sent: 0, next: start))
        registrations[id] = registration
        deadlines[id] = registration.deadline
        index(registration, id)
        if registration.isAnswering { own.add(content) }
    }

    /// Another registration of this host has the name: the new one never begins.
    private mutating func refuse(_ content: RecordSet, _ id: RegistrationID, over name: DNSName) {
        let registration = MulticastRegistration(content, phase: .off)
        registrations[id] = registration
        index(registration, id)
        urgent.append(.conflicted(id, name))
    }

    private mutating func probeStart(at now: Duration) -> Duration {
        starts.next(at: now, calm, using: &random)
    }

    /// Says goodbye to what was announced (RFC 6762 §10.1), with everything that goes before actions are taken next.
    mutating func unregister(_ id: RegistrationID) {
        guard let registration = remove(id), registration.isAnswering else { return }
        departing += registration.records
    }

    @discardableResult
    private mutating func remove(_ id: RegistrationID) -> MulticastRegistration? {
        guard let registration = registrations.removeValue(forKey: id) else { return nil }
        deadlines[id] = nil
        unindex(registration, id)
        if registration.isAnswering { own.remove(registration.content) }
        pending.drop(registration.records)
        return registration
    }

    /// Exchanges the records of a registration whose names stay (RFC 6762 §8.4).
    mutating func update(_ id: RegistrationID, _ content: RecordSet, at now: Duration) {
        guard let old = registrations[id] else { return }
        unindex(old, id)
        if old.isAnswering { own.remove(old.content) }
        let records = content.records
        let gone = old.records.filter { !records.contains($0) }
        pending.drop(gone)
        var new = old
        let time = new.exchange(content, at: now)
        let isRenamed = !Set(new.uniqueNames).isSubset(of: old.uniqueNames)
        if old.isAnswering {
            new.phase = isRenamed ? .probing(sent: 0, next: now) : .announcing(sent: 0, next: time)
            // What replaces a unique record makes others forget the old one by itself.
            departing += isRenamed ? old.records : gone.filter { !$0.flushesCache }
        } else if isRenamed, case .probing = old.phase {
            new.phase = .probing(sent: 0, next: now)
        }
        registrations[id] = new
        deadlines[id] = new.deadline
        index(new, id)
        if new.isAnswering { own.add(content) }
    }

    /// The link was away, or the host asleep: everything is probed and announced anew (RFC 6762 §8).
    mutating func restart(at now: Duration) {
        calm.upheaval = now
        for (id, registration) in registrations where registration.phase != .off {
            let start = probeStart(at: now)
            change(id) { registration in
                registration.phase =
                    registration.uniqueNames.isEmpty
                    ? .announcing(sent: 0, next: start) : .probing(sent: 0, next: start)
                registration.wasForgiven = false
                registration.isDeferred = false
            }
        }
        pending = PendingAnswers()
        repeated = RepeatedQuestions()
        farewells = []
    }

    /// Changes a registration, and with it when it is due and whether it answers.
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

    mutating func lose(_ id: RegistrationID, _ name: DNSName, at now: Duration) {
        starts.conflicted(at: now)
        change(id) { $0.phase = .off }
        urgent.append(.conflicted(id, name))
    }

    // MARK: Goodbyes

    /// Goodbyes for everything.
    func farewell() -> [MulticastAction] {
        goodbye(registrations.values.filter(\.isAnswering).flatMap(\.records))
    }

    /// What is answered with, each record once.
    var records: [DNSRecord] {
        var seen: Set<DNSRecord> = []
        return registrations.sorted { $0.key.rawValue < $1.key.rawValue }.filter(\.value.isAnswering)
            .flatMap(\.value.records).filter { seen.insert($0).inserted }
    }

    /// Goodbyes for everything, unless somebody else answers for it meanwhile; nothing is answered until it is probed for anew.
    mutating func sleep(isRepresented: Bool) -> [MulticastAction] {
        let said = isRepresented ? [] : farewell()
        for id in registrations.keys { change(id) { if $0.phase != .off { $0.phase = .asleep } } }
        (pending, repeated, farewells, departing) = (PendingAnswers(), RepeatedQuestions(), [], [])
        return said
    }

    /// Goodbyes for what was taken back since the last time.
    mutating func takeGoodbyes(at now: Duration) -> [MulticastAction] {
        guard !departing.isEmpty else { return [] }
        departing.removeAll { own.held($0) != nil }
        let records = departing
        departing = []
        if records.count <= Self.repeatedGoodbyeLimit, !records.isEmpty {
            farewells.append((now + Self.goodbyeSpacing, Self.goodbyeCount - 1, records))
        }
        return goodbye(records)
    }

    /// Whether goodbyes are still to be said again.
    var isDeparting: Bool { !farewells.isEmpty || !departing.isEmpty }

    private mutating func repeatGoodbyes(at now: Duration) -> [MulticastAction] {
        var due: [DNSRecord] = []
        for index in farewells.indices where farewells[index].due <= now {
            due += farewells[index].records
            farewells[index].left -= 1
            farewells[index].due = now + Self.goodbyeSpacing
        }
        farewells.removeAll { $0.left == 0 }
        // What is held again, or about to be, did not go.
        return goodbye(due.filter { own.held($0) == nil && owners[$0.name] == nil })
    }

    private func goodbye(_ records: [DNSRecord]) -> [MulticastAction] {
        // By hash, as the times of sending: there are thousands, and one that met another's hash would last as long as it said.
        var seen: Set<Int> = []
        var gone = records
        gone.removeAll { !seen.insert($0.hashValue).inserted }
        for index in gone.indices { gone[index].timeToLive = 0 }
        return ResponseMessages.make(gone, [], limit: messageByteLimit).map { .send($0) }
    }

    // MARK: Time

    var nextDeadline: Duration? {
        if !urgent.isEmpty { return .zero }
        return [deadlines.next, pending.deadline, farewells.lazy.map(\.due).min()].compactMap { $0 }.min()
    }

    mutating func advance(to now: Duration) -> [MulticastAction] {
        var actions = urgent
        urgent = []
        actions += speak(at: now)
        actions += repeatGoodbyes(at: now)
        for (peer, records) in pending.takeDirect(at: now) {
            actions += ResponseMessages.make(records, additionals(for: records), limit: messageByteLimit)
                .map { .reply($0, to: peer) }
        }
        let records = pending.take(at: now)
        let additionals = additionals(for: records).filter { !pending.isRecent($0, at: now) }
        if !records.isEmpty { for record in additionals { pending.wasSent(record, at: now) } }
        return actions + ResponseMessages.make(records, additionals, limit: messageByteLimit).map { .send($0) }
    }

    /// Probes and announces what is due.
    private mutating func speak(at now: Duration) -> [MulticastAction] {
        var probes: [ProbeMessages.Probe] = []
        var announced: [DNSRecord] = []
        var seen: Set<DNSRecord> = []
        var established: [RegistrationID] = []
        let announcements =
            registrations.count > Self.fewRegistrations ? Self.announcementCount.many : Self.announcementCount.few
        for _ in 0..<Self.speakerLimit {
            guard let id = deadlines.popDue(at: now) else { break }
            guard let registration = registrations[id] else { continue }
            switch registration.phase {
            case .probing(let sent, _) where sent < MulticastRegistration.probeCount:
                // Who shares the port with others may never see what comes by unicast: the first probe asks for it, the others for all to hear.
                probes.append((registration, acceptsUnicast && sent == 0))
            case .announcing(let sent, _):
                announced += registration.records.filter {
                    !pending.isRecent($0, at: now) && seen.insert($0).inserted
                }
                if sent == 0, !registration.isTold { established.append(id) }
            case .probing, .established, .asleep, .off: break
            }
            var isSettled = false
            change(id) { registration in
                isSettled = registration.advance(announcements: announcements, at: now)
                registration.isTold = registration.isAnswering
            }
            if isSettled { established.append(id) }
        }
        for record in announced { pending.wasSent(record, at: now) }
        let extensions = owner.map { owner in
            var extensions = DNSExtensions(payloadByteCount: UInt16(clamping: messageByteLimit))
            extensions.options = [owner.option]
            return extensions
        }
        return ProbeMessages.make(probes, limit: messageByteLimit, extensions).map { .send($0) }
            + established.map { .established($0) }
            + ResponseMessages.make(announced, [], limit: messageByteLimit, extensions).map { .send($0) }
    }
}
