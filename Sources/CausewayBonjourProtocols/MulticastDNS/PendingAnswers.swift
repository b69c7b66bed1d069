internal import CausewayTypes
internal import CausewayWire

/// Answers that are not yet due, and the time of each record's latest multicast.
struct PendingAnswers: Sendable {
    /// Minimum time before a record is multicast again (RFC 6762 §6).
    static let spacing: Duration = .seconds(1)
    /// Minimum time before a record is multicast again to defend its name against a probe (RFC 6762 §6).
    private static let defenceSpacing: Duration = .milliseconds(250)
    /// Answers that are due within this time are sent with earlier answers (RFC 6762 §6.4).
    static let gathering: Duration = .milliseconds(120)
    /// The maximum number of peers with pending unicast answers. While this number is reached, unicast answers to other
    /// peers are dropped, and these peers must ask again.
    private static let peerLimit = 256
    /// Maximum number of stored queriers per record. If more ask, the record is sent regardless of known answers.
    private static let askerLimit = 16
    /// Limits for repeating a multicast answer that a querier has missed: the maximum number of repeats
    /// (`repeatLimit`), and the maximum number of records in an answer that is repeated (`repeatedLimit`).
    private static let repeatLimit = 3
    private static let repeatedLimit = 256
    /// Delay before a unicast answer's second copy, which is sent in case the first copy is lost. Multicasts use both
    /// address families, but a unicast answer uses only one. A querier that misses the answer would ask again only
    /// after a second.
    static let directGap: Duration = .milliseconds(40)
    /// A unicast answer with more records than this is not repeated, because it needs several packets.
    private static let directRepeatedLimit = 8
    /// After this number of unicast answers within a second, unicast answers are not repeated: many hosts are joining,
    /// and each asks all others.
    private static let crowd = 8

    private struct Waiting: Sendable {
        /// The earliest time at which the answer may be sent.
        var earliest: Duration
        /// The queriers to answer. A querier that lists the record as a known answer is removed (RFC 6762 §7.2).
        var askers: Set<MulticastPeer> = []
        /// Whether the record is sent regardless of known answers.
        var isForAll = false
        /// The number of repeats left, for queriers that seem to have missed the answer. The repeats follow after one,
        /// three and seven seconds.
        var repeats = 0
        /// The delay before the next repeat; doubles each time.
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
    /// Unicast answers that were repeated within the past second. The querier may be unreachable, and the records are
    /// then multicast. The records are stored here, because other messages may be processed before it is known whether
    /// the querier is reachable.
    private var unconfirmed: [MulticastPeer: (records: [DNSRecord], time: Duration)] = [:]
    /// Removed records that are part of waiting unicast answers. A record must not be sent after its goodbye.
    private var dropped: Set<DNSRecord> = []
    private var sent = SendingTimes()
    /// Maximum capacity of the empty table `waiting`. A table that has grown larger is released when no multicast
    /// answer waits.
    private static let keptCapacity = 512
    /// Peers whose query announced more known answers, and until when to wait for these answers.
    private var expected: [MulticastPeer: Duration] = [:]

    // MARK: Adding answers

    /// Adds a multicast answer for all hosts, to be sent as soon as permitted.
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
            // A new answer replaces a pending repeat of an earlier answer, and is itself repeated `repeats` times.
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
        // If a unicast answer to this querier, or its second copy, is still pending, send its records together with the
        // new records.
        let old = direct[peer]?.records ?? []
        let oldDue = direct[peer]?.isRepeat == false ? directDues[peer] : nil
        let present = Set(old)
        direct[peer] = Direct(records: old + (old.isEmpty ? records : records.filter { !present.contains($0) }))
        directDues[peer] = due.time(after: oldDue, at: now)
    }

    /// Whether the record's latest multicast is longer ago than a quarter of its TTL. The record should then be
    /// multicast as well as unicast (RFC 6762 §5.4).
    func isStale(_ record: DNSRecord, at now: Duration) -> Bool {
        guard let age = sent.age(of: record, at: now) else { return true }
        return age > .seconds(Int64(record.timeToLive)) / 4
    }

    /// Whether the record was multicast so recently that it must not be multicast again (RFC 6762 §6).
    func isRecent(_ record: DNSRecord, at now: Duration) -> Bool {
        sent.age(of: record, at: now).map { $0 < Self.spacing } ?? false
    }

    // MARK: Removing answers

    /// Notes that a query announced more known answers (RFC 6762 §7.2).
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

    /// Cancels repeats of records that the querier now lists as known answers: the querier has received the records.
    mutating func arrived(_ known: Set<DNSRecord>, at peer: MulticastPeer) {
        for record in known where waiting[record]?.isRepeat == true {
            waiting[record]?.askers.remove(peer)
            if waiting[record]?.askers.isEmpty == true, waiting[record]?.isForAll == false { forget(record) }
        }
    }

    /// Extends the wait, because the querier announced more known answers again (TC bit).
    mutating func postpone(_ peer: MulticastPeer, to time: Duration) {
        guard expected[peer] != nil else { return }
        // Do not change multicast answers' due times here, because updating thousands of records for each message would
        // be slow. ``takeMulticast(at:)`` corrects each due time when that time has come.
        expected[peer] = time
        if let due = directDues[peer] { directDues[peer] = max(due, time) }
    }

    /// Removes a waiting multicast answer.
    mutating func forget(_ record: DNSRecord) {
        waiting[record] = nil
        dues[record] = nil
    }

    /// Removes records that this host no longer has.
    mutating func drop(_ records: [DNSRecord]) {
        for record in records {
            forget(record)
            sent.forget(record)
        }
        if !direct.isEmpty { dropped.formUnion(records) }
    }

    /// Notes that a record was multicast, and removes its waiting answer.
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

    /// Removes and returns the answers that are due, and further answers that may be sent in the same message (RFC 6762
    /// §6.4).
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

    /// Schedules the next repeat.
    private mutating func sayAgain(_ record: DNSRecord, _ said: Waiting, at now: Duration) {
        var entry = said
        entry.earliest = now + said.gap
        entry.repeats -= 1
        entry.gap *= 2
        entry.isRepeat = true
        waiting[record] = entry
        dues[record] = entry.earliest
    }

    /// Returns when the wait for a querier's known answers ends. Returns `nil` if several queriers or all hosts need
    /// the record, or if no more known answers are expected from the only querier.
    private func patience(for entry: Waiting, at now: Duration) -> Duration? {
        guard !entry.isForAll, entry.askers.count == 1, let peer = entry.askers.first, let time = expected[peer],
            time > now
        else { return nil }
        return time
    }

    private func mayHurry(_ entry: Waiting, at now: Duration) -> Bool {
        // Do not send early while a querier still has known answers to send.
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
