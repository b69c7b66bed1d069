internal import CausewayWire

/// This host's registrations, with the records for answers to queries and the goodbye records for removed records.
///
/// When a method changes registrations, it returns the records that are no longer valid answers. The caller then
/// removes these records from waiting answers.
struct RegisteredRecords: Sendable {
    /// The probes and announcements that are due.
    struct Due: Sendable {
        let probes: [ProbeMessages.Probe]
        /// The registrations that have just passed probing and now answer queries.
        let established: [RegistrationID]
        /// The records to announce now. The list contains each record only once.
        let announced: [DNSRecord]
        /// The records in ``announced`` that may have to wait. If a record was multicast within the past second, its
        /// announcement is postponed.
        let repeated: [DNSRecord]
    }

    /// The number of announcements per registration: four, or two if there are many registrations.
    ///
    /// RFC 6762 §8.3 requires two. The third and the fourth announcement are for hosts that missed the first two. Four
    /// announcements are sent 0, 1, 3 and 7 seconds after the probes, which take at most one second.
    ///
    /// `MulticastLossTests` tests this over IPv4 and IPv6, with half of all packets lost. Two seconds after its
    /// registration, 90 % of the hosts must know a service. After nine seconds, 98 % of the hosts must know it.
    private static let announcementCount: (few: UInt8, many: UInt8) = (few: 4, many: 2)
    private static let fewRegistrations = 100
    /// Maximum number of registrations per ``takeDue(at:acceptsUnicast:)`` call, to limit memory for their messages.
    private static let speakerLimit = 512

    private var registrations = RegistrationTable()
    /// The records with which this host answers queries. They belong to registrations in the state announced or
    /// established.
    private(set) var own = OwnRecords()
    private var goodbyes = Goodbyes()

    // MARK: Reading

    /// Whether this host has registered the name.
    func holds(_ name: DNSName) -> Bool { own.holds(name) || registrations.holds(name) }

    subscript(id: RegistrationID) -> MulticastRegistration? { registrations[id] }

    /// The registrations' identifiers, sorted.
    var ids: [RegistrationID] { registrations.ids }

    /// Returns the registrations with this unique name, in any phase.
    func owners(of name: DNSName) -> [RegistrationID] { registrations.owners(of: name) }

    /// All records that this host answers with, each once.
    var records: [DNSRecord] {
        var seen: Set<DNSRecord> = []
        return registrations.ids.compactMap { registrations[$0] }.filter(\.isAnswering).flatMap(\.records)
            .filter { seen.insert($0).inserted }
    }

    /// Returns the first unique name in `content` that another registration on this host already uses with different
    /// data; `nil` if there is none.
    ///
    /// Registrations are updated one after another. For a moment, two of them may differ without a conflict:
    ///
    /// - After an address change, the address records may differ. Address records are therefore ignored.
    /// - After a change of the host's name, another registration may still have the record that `content` replaces.
    ///   This is no conflict.
    ///
    /// A record that `content` does not change causes no conflict either.
    ///
    /// - Parameter old: The registration that `content` replaces.
    func nameTaken(from content: RecordSet, replacing old: RegistrationID? = nil) -> DNSName? {
        let replaced = old.flatMap { registrations[$0]?.records } ?? []
        return content.records.first { record in
            guard record.flushesCache, record.type != .a, record.type != .aaaa else { return false }
            return registrations.owners(of: record.name).contains { id in
                guard id != old, let other = registrations[id], other.phase != .off else { return false }
                let rivals = Set(other.records.filter { $0.flushesCache && $0.isAlternative(to: record) }.map(\.data))
                return !rivals.isEmpty && !rivals.contains(record.data)
                    && !replaced.contains {
                        $0.flushesCache && $0.isAlternative(to: record)
                            && ($0.data == record.data || rivals.contains($0.data))
                    }
            }
        }?.name
    }

    // MARK: Changes

    mutating func add(_ registration: MulticastRegistration, _ id: RegistrationID) {
        registrations[id] = registration
        if registration.isAnswering { own.add(registration.content) }
    }

    /// Removes a registration. Its goodbye records (RFC 6762 §10.1) are sent together with other goodbye records.
    mutating func remove(_ id: RegistrationID) -> [DNSRecord] {
        guard let registration = registrations[id] else { return [] }
        registrations[id] = nil
        let records = registration.records
        if registration.isAnswering {
            own.remove(registration.content)
            goodbyes.add(records)
        }
        return unanswered(records)
    }

    /// Replaces a registration's records. New unique names are probed first.
    mutating func update(_ id: RegistrationID, _ content: RecordSet, at now: Duration) -> [DNSRecord] {
        guard let old = registrations[id] else { return [] }
        if old.isAnswering { own.remove(old.content) }
        let records = content.records
        let gone = old.records.filter { !records.contains($0) }
        var new = old
        let isRenamed = new.recordsChanged(to: content, at: now)
        // When a new unique record arrives, caches replace the old records with the same name and type. So the old
        // records need no goodbyes.
        let replaced = Set(records.filter(\.flushesCache).map { RecordCache.Key($0) })
        if old.isAnswering {
            let left = gone.filter { !$0.flushesCache || !replaced.contains(RecordCache.Key($0)) }
            goodbyes.add(isRenamed ? old.records : left)
        }
        add(new, id)
        return unanswered(old.records)
    }

    /// Changes the state of a registration. Also updates ``own``, which contains the records for this host's answers.
    mutating func change(_ id: RegistrationID, _ body: (inout MulticastRegistration) -> Void) -> [DNSRecord] {
        let wasAnswering = registrations[id]?.isAnswering
        registrations.change(id, body)
        guard let wasAnswering, let registration = registrations[id], wasAnswering != registration.isAnswering else {
            return []
        }
        guard wasAnswering else {
            own.add(registration.content)
            return []
        }
        own.remove(registration.content)
        return unanswered(registration.records)
    }

    /// Returns the records that this host no longer answers. Leaves out records that another registration still has.
    private func unanswered(_ records: [DNSRecord]) -> [DNSRecord] { records.filter { own.held($0) != $0 } }

    // MARK: Goodbyes

    /// Whether goodbyes must be sent immediately.
    var hasUnsentGoodbyes: Bool { goodbyes.hasUnsent }

    /// Whether goodbyes must still be sent or repeated.
    var isDeparting: Bool { !goodbyes.isEmpty }

    /// Removes and returns the records that need a first goodbye. Schedules no repeats.
    mutating func takeUnsentGoodbyes() -> [DNSRecord] { goodbyes.takeUnsent(besides: own) }

    /// Removes and returns the records that need a first goodbye, and schedules the repeats.
    mutating func takeFirstGoodbyes(at now: Duration) -> [DNSRecord] { goodbyes.takeFirst(besides: own, at: now) }

    /// Returns the records for which a repeated goodbye is due.
    mutating func takeRepeatedGoodbyes(at now: Duration) -> [DNSRecord] {
        // Send no repeated goodbye for a record if the record or its name was registered again.
        goodbyes.takeRepeated(at: now).filter { own.held($0) == nil && !registrations.holds($0.name) }
    }

    mutating func cancelRepeatedGoodbyes() { goodbyes.cancelRepeats() }

    // MARK: Time

    /// When the next probe, announcement or goodbye is due.
    var earliestDue: Duration? {
        guard let goodbye = goodbyes.earliestDue else { return registrations.earliestDue }
        return registrations.earliestDue.map { min($0, goodbye) } ?? goodbye
    }

    /// Advances the due registrations, and returns their probes and announcements.
    ///
    /// The records in ``Due/repeated`` belong to only one registration. A record that several registrations share is
    /// left out, because another registration's announcement may have included it.
    ///
    /// - Parameter acceptsUnicast: Whether unicast responses can arrive.
    mutating func takeDue(at now: Duration, acceptsUnicast: Bool) -> Due {
        let isFew = registrations.count <= Self.fewRegistrations
        let announcements = isFew ? Self.announcementCount.few : Self.announcementCount.many
        var probes: [ProbeMessages.Probe] = []
        var (announced, repeated): ([DNSRecord], [DNSRecord]) = ([], [])
        var seen: Set<DNSRecord> = []
        var established: [RegistrationID] = []
        for _ in 0..<Self.speakerLimit {
            guard let id = registrations.popDue(at: now) else { break }
            var actions: [MulticastRegistration.Action] = []
            // The result lists the records that this host no longer answers. Ignore the list, because it is empty here:
            // a registration that answers queries continues to answer them.
            _ = change(id) { registration in
                registration.announcementCount = announcements
                actions = registration.advance(to: now)
            }
            guard let registration = registrations[id] else { continue }
            for action in actions {
                switch action {
                // Only the first probe asks for unicast responses. If other programs share the port, this process may
                // miss a unicast response. It still receives the multicast responses to later probes.
                case .probe(let isFirst): probes.append((registration, acceptsUnicast && isFirst))
                case .established: established.append(id)
                case .announce(let isFirst):
                    let records = registration.records.filter { seen.insert($0).inserted }
                    announced += records
                    if isFew, !isFirst { repeated += records.filter { !own.isShared($0) } }
                }
            }
        }
        return Due(probes: probes, established: established, announced: announced, repeated: repeated)
    }
}

extension DNSRecord {
    /// Whether both records have the same name and type. If they are unique records, only one of them can be right.
    fileprivate func isAlternative(to other: DNSRecord) -> Bool { name == other.name && type == other.type }
}
