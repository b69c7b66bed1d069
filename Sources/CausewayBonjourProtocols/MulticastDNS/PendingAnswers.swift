internal import CausewayTypes
internal import CausewayWire

/// The answers that are not yet due. Also stores when each record was last sent by multicast.
struct PendingAnswers: Sendable {
    /// Minimum time before a record is multicast again (RFC 6762 §6).
    static let spacing: Duration = .seconds(1)
    /// Minimum time before a record is multicast again to defend its name against a probe (RFC 6762 §6).
    private static let defenceSpacing: Duration = .milliseconds(250)
    /// Answers that are due within this time are sent with earlier answers (RFC 6762 §6.4).
    static let gathering: Duration = .milliseconds(120)
    /// The maximum number of peers for which unicast answers are pending. Unicast answers to further peers are dropped,
    /// so these peers must ask again.
    private static let peerLimit = 256
    /// Maximum number of stored queriers per record. If more queriers ask for a record, the record is sent even if they
    /// list it as a known answer.
    private static let askerLimit = 16
    /// Limits for the repetition of a multicast answer, which is sent again for a querier that has missed it.
    ///
    /// `repeatLimit` is the maximum number of repetitions. An answer with more than `repeatedLimit` records is not
    /// repeated.
    private static let repeatLimit = 3
    private static let repeatedLimit = 256
    /// The delay before the second copy of a unicast answer. The second copy is needed if the first one is lost.
    ///
    /// A multicast message is sent over both address families, but a unicast answer only over one. A querier that
    /// misses the answer would ask again only after a second.
    static let directGap: Duration = .milliseconds(40)
    /// The maximum number of records in a unicast answer that is sent twice. A larger answer needs several packets, and
    /// is sent only once.
    private static let directRepeatedLimit = 8
    /// The limit of unicast answers per second. Above this limit, unicast answers are not repeated. At such a rate,
    /// many hosts are joining the network, and each of them asks all others.
    private static let crowd = 8

    private struct Waiting: Sendable {
        /// The earliest time at which the answer may be sent.
        var earliest: Duration
        /// The queriers that wait for this answer. A querier that lists the record as a known answer is removed from
        /// the set (RFC 6762 §7.2).
        var askers: Set<MulticastPeer> = []
        /// Whether to send the record by multicast even if all queriers already know it.
        var isForAll = false
        /// The number of times that the answer is still to be repeated, for queriers that seem to have missed it. The
        /// repeats follow after one, three and seven seconds.
        var repeats = 0
        /// The delay before the answer's next repeat. The delay doubles with each repeat.
        var gap = PendingAnswers.spacing
        /// Whether the answer was sent before.
        var isRepeat = false
    }

    /// A message to send.
    enum Action: Equatable, Sendable {
        /// - Parameter isRepeat: Whether the answer was sent before.
        case reply([DNSRecord], to: MulticastPeer, isRepeat: Bool)
        case multicast([DNSRecord])
    }

    /// A unicast answer.
    private struct Direct: Sendable {
        var records: [DNSRecord]
        /// Whether the answer was sent before.
        var isRepeat = false
    }

    private var waiting: [DNSRecord: Waiting] = [:]
    private var dues = DeadlineIndex<DNSRecord>()
    private var direct: [MulticastPeer: Direct] = [:]
    private var directDues = DeadlineIndex<MulticastPeer>()
    /// The sending times of the latest unicast answers, at most ``crowd`` times.
    private var directTimes: [Duration] = []
    /// Unicast answers that were sent again within the past second. They are stored, because the querier may turn out
    /// to be unreachable. Their records are then sent by multicast.
    ///
    /// Other messages may be processed before it is known whether the querier is reachable.
    private var unconfirmed: [MulticastPeer: (records: [DNSRecord], time: Duration)] = [:]
    /// Records that were removed while they waited in a unicast answer. Their goodbye was sent, so they must not be
    /// sent after it.
    private var dropped: Set<DNSRecord> = []
    private var sent = SendingTimes()
    /// The maximum capacity that the table `waiting` keeps while it is empty. If the capacity is larger and no
    /// multicast answer waits, the table is released.
    private static let keptCapacity = 512
    /// Peers whose query announced more known answers. The value is the time until which to wait for these answers.
    private var expected: [MulticastPeer: Duration] = [:]

    // MARK: Adding answers

    /// Adds records to send by multicast to all hosts. Each record is sent as soon as the rate limit permits.
    mutating func add(_ records: [DNSRecord], at now: Duration) {
        for record in records {
            let due = earliest(record, Self.spacing, at: now)
            waiting[record, default: Waiting(earliest: due)].isForAll = true
            dues[record] = min(dues[record] ?? due, due)
        }
    }

    /// Adds a multicast answer for a querier.
    mutating func add(_ records: [DNSRecord], for peer: MulticastPeer, _ due: Due, now: Duration) {
        let repeats = records.count <= Self.repeatedLimit ? min(due.repeats, Self.repeatLimit) : 0
        for record in records {
            let earliest = earliest(record, due.isDefence ? Self.defenceSpacing : Self.spacing, at: now)
            var entry = waiting[record] ?? Waiting(earliest: earliest)
            let old = entry.isRepeat ? nil : dues[record]
            entry.earliest = min(entry.earliest, earliest)
            if entry.askers.count < Self.askerLimit { entry.askers.insert(peer) } else { entry.isForAll = true }
            // If a repeat of an earlier answer is pending, the new answer replaces it. The new answer is then repeated
            // `repeats` times.
            entry.repeats = entry.isRepeat ? repeats : max(entry.repeats, repeats)
            entry.gap = Self.spacing
            entry.isRepeat = false
            waiting[record] = entry
            dues[record] = max(due.time(after: old, at: now), earliest)
        }
    }

    /// Returns when the record may be multicast again.
    private func earliest(_ record: DNSRecord, _ spacing: Duration, at now: Duration) -> Duration {
        sent[record].map { max(now, $0 + spacing) } ?? now
    }

    /// Adds a unicast answer.
    mutating func add(_ records: [DNSRecord], to peer: MulticastPeer, _ due: Due, now: Duration) {
        guard !records.isEmpty, direct.count < Self.peerLimit || direct[peer] != nil else { return }
        if !dropped.isEmpty { dropped.subtract(records) }
        // An earlier unicast answer to this querier may still be pending, or the repetition of one. If so, send its
        // records together with the new ones.
        let old = direct[peer]?.records ?? []
        let oldDue = direct[peer]?.isRepeat == false ? directDues[peer] : nil
        let present = Set(old)
        direct[peer] = Direct(records: old + (old.isEmpty ? records : records.filter { !present.contains($0) }))
        directDues[peer] = due.time(after: oldDue, at: now)
    }

    /// Whether more than a quarter of the record's TTL has passed since its latest multicast. The record should then be
    /// multicast as well as unicast (RFC 6762 §5.4).
    func isStale(_ record: DNSRecord, at now: Duration) -> Bool {
        guard let age = sent.age(of: record, at: now) else { return true }
        return age > .seconds(Int64(record.timeToLive)) / 4
    }

    /// Returns whether the record was multicast within the past second. Such a record must not be multicast again yet
    /// (RFC 6762 §6).
    func isRecent(_ record: DNSRecord, at now: Duration) -> Bool {
        sent.age(of: record, at: now).map { $0 < Self.spacing } ?? false
    }

    // MARK: Removing answers

    /// Records that a peer's query announced more known answers (RFC 6762 §7.2).
    mutating func expectMore(of peer: MulticastPeer, until time: Duration, at now: Duration) {
        if expected.count >= Self.peerLimit { expected = expected.filter { $0.value > now } }
        if expected.count < Self.peerLimit { expected[peer] = time }
    }

    /// Whether more known answers from the peer may follow.
    func expectsMore(of peer: MulticastPeer) -> Bool { expected[peer] != nil }

    /// Removes answers that the querier lists as known (known-answer suppression, RFC 6762 §7.2).
    mutating func suppress(_ known: [DNSRecord], of peer: MulticastPeer) {
        guard expected[peer] != nil else { return }
        for record in known {
            guard waiting[record]?.askers.remove(peer) != nil else { continue }
            if waiting[record]?.askers.isEmpty == true, waiting[record]?.isForAll == false { forget(record) }
        }
        let known = Set(known)
        direct[peer]?.records.removeAll { known.contains($0) }
        if direct[peer]?.records.isEmpty == true {
            direct[peer] = nil
            directDues[peer] = nil
            if direct.isEmpty { dropped = [] }
        }
    }

    /// Cancels repeated answers to a querier. The querier lists these records as known answers, so it has received
    /// them.
    mutating func arrived(_ known: Set<DNSRecord>, at peer: MulticastPeer) {
        for record in known where waiting[record]?.isRepeat == true {
            waiting[record]?.askers.remove(peer)
            if waiting[record]?.askers.isEmpty == true, waiting[record]?.isForAll == false { forget(record) }
        }
    }

    /// Waits longer for a peer's known answers, because the peer announced more of them again (TC bit).
    mutating func postpone(_ peer: MulticastPeer, to time: Duration) {
        guard expected[peer] != nil else { return }
        // Do not change the due times of multicast answers here. An update of thousands of records for each message
        // would be slow. When a due time has come, ``takeMulticast(at:)`` corrects it.
        expected[peer] = time
        if let due = directDues[peer] { directDues[peer] = max(due, time) }
    }

    /// Removes a waiting multicast answer.
    mutating func forget(_ record: DNSRecord) {
        waiting[record] = nil
        dues[record] = nil
    }

    /// Removes answers with records that this host no longer has.
    mutating func drop(_ records: [DNSRecord]) {
        for record in records {
            forget(record)
            sent.forget(record)
        }
        if !direct.isEmpty { dropped.formUnion(records) }
    }

    /// Notes that a DNS record was sent by multicast, and removes the waiting answer with this record.
    mutating func wasSent(_ record: DNSRecord, at now: Duration) {
        sent.note(record, at: now)
        forget(record)
    }

    // MARK: Time

    var deadline: Duration? {
        guard let one = dues.next else { return directDues.next }
        return directDues.next.map { min($0, one) } ?? one
    }

    /// Removes and returns the answers that are due: the unicast answers, then all multicast answers in one action.
    mutating func takeActions(dueAt now: Duration) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        var actions = takeReplies(at: now)
        let records = takeMulticast(at: now)
        if !records.isEmpty { actions.append(.multicast(records)) }
        return actions
    }

    /// Removes and returns the answers that are due. Also returns further answers that may be sent in the same message
    /// (RFC 6762 §6.4).
    private mutating func takeMulticast(at now: Duration) -> [DNSRecord] {
        guard let next = dues.next, next <= now else { return [] }
        var taken: [DNSRecord] = []
        var kept: [(DNSRecord, Duration)] = []
        while let due = dues.next, let record = dues.popDue(at: now + Self.gathering) {
            if due <= now, let later = waiting[record].flatMap({ patience(for: $0, at: now) }) {
                kept.append((record, later))
                continue
            }
            let mayGo = due <= now || waiting[record].map { mayHurry($0, at: now) } ?? true
            if mayGo { taken.append(record) } else { kept.append((record, due)) }
        }
        for (record, due) in kept { dues[record] = due }
        for record in taken {
            let entry = waiting[record]
            wasSent(record, at: now)
            if let entry, entry.repeats > 0 { sayAgain(record, entry, at: now) }
        }
        if waiting.isEmpty, waiting.capacity > Self.keptCapacity { waiting = [:] }
        return taken
    }

    /// Schedules the next repeat of an answer that was just sent.
    private mutating func sayAgain(_ record: DNSRecord, _ said: Waiting, at now: Duration) {
        var entry = said
        entry.earliest = now + said.gap
        entry.repeats -= 1
        entry.gap *= 2
        entry.isRepeat = true
        waiting[record] = entry
        dues[record] = entry.earliest
    }

    /// Returns the time at which the wait for a querier's known answers ends. Returns `nil` if several queriers or all
    /// hosts need the record. Also returns `nil` if the only querier will send no more known answers.
    private func patience(for entry: Waiting, at now: Duration) -> Duration? {
        guard !entry.isForAll, entry.askers.count == 1, let peer = entry.askers.first, let time = expected[peer],
            time > now
        else { return nil }
        return time
    }

    private func mayHurry(_ entry: Waiting, at now: Duration) -> Bool {
        // Answer early only if no querier of this answer still has known answers to send.
        entry.earliest <= now && !entry.askers.contains { peer in expected[peer].map { $0 > now } ?? false }
    }

    private mutating func takeReplies(at now: Duration) -> [Action] {
        defer { if direct.isEmpty { dropped = [] } }
        if !unconfirmed.isEmpty { unconfirmed = unconfirmed.filter { now - $0.value.time < Self.spacing } }
        return directDues.takeDue(at: now).compactMap { peer in
            guard var said = direct.removeValue(forKey: peer) else { return nil }
            if !dropped.isEmpty { said.records.removeAll { dropped.contains($0) } }
            guard !said.records.isEmpty else { return nil }
            if said.isRepeat {
                unconfirmed[peer] = (said.records, now)
            } else {
                noteDirect(at: now)
                if !isCrowded(at: now), said.records.count <= Self.directRepeatedLimit {
                    direct[peer] = Direct(records: said.records, isRepeat: true)
                    directDues[peer] = now + Self.directGap
                }
            }
            return .reply(said.records, to: peer, isRepeat: said.isRepeat)
        }
    }

    /// Removes and returns the records of the unicast answer that was just repeated to the peer.
    mutating func takeUnconfirmed(of peer: MulticastPeer) -> [DNSRecord] {
        unconfirmed.removeValue(forKey: peer)?.records ?? []
    }

    private mutating func noteDirect(at now: Duration) {
        directTimes.append(now)
        if directTimes.count > Self.crowd { directTimes.removeFirst() }
    }

    private func isCrowded(at now: Duration) -> Bool {
        guard directTimes.count == Self.crowd, let oldest = directTimes.first else { return false }
        return now - oldest < Self.spacing
    }
}

extension PendingAnswers: StateMachine {
    var hasEnded: Bool { false }
}
