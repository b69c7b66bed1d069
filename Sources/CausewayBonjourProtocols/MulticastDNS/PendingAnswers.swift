internal import CausewayWire

/// Answers that wait until they are due, and the time at which each record was last multicast.
struct PendingAnswers: Sendable {
    /// The minimum time between two multicasts of a record (RFC 6762 §6).
    static let spacing: Duration = .seconds(1)
    /// The minimum time between two multicasts of a record if the second one defends its name against a probe.
    private static let defenceSpacing: Duration = .milliseconds(250)
    /// Answers that are due within this time are sent with earlier ones (RFC 6762 §6.4).
    private static let gathering: Duration = .milliseconds(120)
    /// The maximum number of peers with pending unicast answers. Further peers must ask again.
    private static let peerLimit = 256
    /// The maximum number of queriers that are stored per record. If more queriers ask, the record counts as requested by all hosts.
    private static let askerLimit = 16
    /// The maximum number of repeats of a missed answer, and the maximum number of records that are repeated.
    private static let repeatLimit = 3
    private static let repeatedLimit = 256
    /// The time between the two copies of a unicast answer. A unicast answer is sent over one address family only, and a querier that
    /// misses it asks again only after a second. An answer with more records than the limit is not repeated, because it needs several
    /// packets.
    static let directGap: Duration = .milliseconds(40)
    private static let directRepeatedLimit = 8
    /// The number of unicast answers within a second after which unicast answers are not repeated: when many hosts join one after the
    /// other, each of them gets the answers of all others.
    private static let crowd = 8

    private struct Waiting: Sendable {
        /// The earliest time at which the answer may be sent.
        var earliest: Duration
        /// The queriers that asked for the record. The set is empty if the record must be sent regardless of known answers.
        var askers: Set<MulticastPeer> = []
        var isForAll = false
        /// The number of repeats that are still to be sent. Repeats are for queriers that seem to have missed the answer; they follow after
        /// one, three and seven seconds.
        var repeats = 0
        var gap = PendingAnswers.spacing
        /// Whether the answer was sent before.
        var isRepeat = false
    }

    /// A unicast answer.
    struct Direct: Sendable {
        var records: [DNSRecord]
        /// Whether the answer was sent before.
        var isRepeat = false
    }

    /// The time at which the answer to a query is due.
    struct Due: Sendable {
        var time: Duration
        /// Whether the time is random, to avoid collisions with other hosts. A second copy of the query, which comes over the other address
        /// family, then does not change it: the earlier of two random times would not be uniformly distributed (RFC 6762 §6).
        var isRandom = false
        /// Whether the answer defends a name against a probe.
        var isDefence = false
        /// The number of times to repeat the answer; greater than 0 if the querier seems to have missed earlier answers.
        var repeats = 0

        init(_ time: Duration, isRandom: Bool = false, isDefence: Bool = false, repeats: Int = 0) {
            (self.time, self.isRandom, self.isDefence, self.repeats) = (time, isRandom, isDefence, repeats)
        }

        func later(by delay: Duration) -> Due {
            var due = self
            due.time += delay
            return due
        }

        /// Returns the time for an answer that is already due at `old`.
        func time(after old: Duration?, at now: Duration) -> Duration {
            guard let old else { return time }
            return isRandom && old <= now + PendingAnswers.gathering ? old : min(old, time)
        }
    }

    private var waiting: [DNSRecord: Waiting] = [:]
    private var dues = DeadlineIndex<DNSRecord>()
    private var direct: [MulticastPeer: Direct] = [:]
    private var directDues = DeadlineIndex<MulticastPeer>()
    /// The times of the last ``crowd`` unicast answers.
    private var directTimes: [Duration] = []
    /// The unicast answers of the last ``takeDirect(at:)`` whose querier may be unreachable.
    private var unconfirmed: [MulticastPeer: [DNSRecord]] = [:]
    /// Removed records that are part of waiting unicast answers. They must not be sent after their goodbyes.
    private var dropped: Set<DNSRecord> = []
    private var sent = SendingTimes()
    /// The maximum capacity that is kept when no answer waits.
    private static let keptCapacity = 512
    /// The peers whose query announced more known answers, and how long to wait for them.
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
            // If only a repetition of an earlier answer is pending, the new answer replaces it and is repeated `repeats` times. Otherwise
            // the larger count applies.
            entry.repeats = entry.isRepeat ? repeats : max(entry.repeats, repeats)
            entry.gap = Self.spacing
            entry.isRepeat = false
            waiting[record] = entry
            dues[record] = max(due.time(after: old, at: now), earliest)
        }
    }

    private func earliest(_ record: DNSRecord, _ spacing: Duration, at now: Duration) -> Duration {
        sent[record].map { max(now, $0 + spacing) } ?? now
    }

    /// Adds a unicast answer.
    mutating func add(_ records: [DNSRecord], to peer: MulticastPeer, _ due: Due, now: Duration) {
        guard !records.isEmpty, direct.count < Self.peerLimit || direct[peer] != nil else { return }
        if !dropped.isEmpty { dropped.subtract(records) }
        // The querier asked again: send a pending repeat together with the new answer.
        let old = direct[peer]?.records ?? []
        let oldDue = direct[peer]?.isRepeat == false ? directDues[peer] : nil
        let present = Set(old)
        direct[peer] = Direct(records: old + (old.isEmpty ? records : records.filter { !present.contains($0) }))
        directDues[peer] = due.time(after: oldDue, at: now)
    }

    /// Returns whether the last multicast of the record is older than a quarter of its TTL. The record should then be multicast again (RFC
    /// 6762 §5.4).
    func isStale(_ record: DNSRecord, at now: Duration) -> Bool {
        guard let age = sent.age(of: record, at: now) else { return true }
        return age > .seconds(Int64(record.timeToLive)) / 4
    }

    /// Whether the record was multicast so recently that it must not be multicast again (RFC 6762 §6).
    func isRecent(_ record: DNSRecord, at now: Duration) -> Bool {
        sent.age(of: record, at: now).map { $0 < Self.spacing } ?? false
    }

    // MARK: Removing answers

    /// Records that a query announced more known answers (RFC 6762 §7.2).
    mutating func expectMore(of peer: MulticastPeer, until time: Duration, at now: Duration) {
        if expected.count >= Self.peerLimit { expected = expected.filter { $0.value > now } }
        if expected.count < Self.peerLimit { expected[peer] = time }
    }

    /// Whether more known answers from the peer may follow.
    func expectsMore(of peer: MulticastPeer) -> Bool { expected[peer] != nil }

    /// Removes the answers that the querier lists as known.
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
        }
    }

    /// Cancels repeated answers with records that the querier now lists as known answers, because it has received them.
    mutating func arrived(_ known: Set<DNSRecord>, at peer: MulticastPeer) {
        for record in known where waiting[record]?.isRepeat == true {
            waiting[record]?.askers.remove(peer)
            if waiting[record]?.askers.isEmpty == true, waiting[record]?.isForAll == false { forget(record) }
        }
    }

    /// Extends the wait, because the querier announced even more known answers.
    mutating func postpone(_ peer: MulticastPeer, to time: Duration) {
        guard expected[peer] != nil else { return }
        // The due times of multicast answers are corrected only when they pass; updating thousands of records for each of a hundred
        // messages would be slow.
        expected[peer] = time
        if let due = directDues[peer] { directDues[peer] = max(due, time) }
    }

    /// Removes an answer because another host gave it.
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

    mutating func wasSent(_ record: DNSRecord, at now: Duration) {
        sent.note(record, at: now)
        forget(record)
    }

    // MARK: Time

    var deadline: Duration? {
        guard let one = dues.next else { return directDues.next }
        return directDues.next.map { min($0, one) } ?? one
    }

    /// Removes and returns the answers that are due, and those that may be sent with them in one message (RFC 6762 §6.4).
    mutating func take(at now: Duration) -> [DNSRecord] {
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

    private mutating func sayAgain(_ record: DNSRecord, _ said: Waiting, at now: Duration) {
        var entry = said
        entry.earliest = now + said.gap
        entry.repeats -= 1
        entry.gap *= 2
        entry.isRepeat = true
        waiting[record] = entry
        dues[record] = entry.earliest
    }

    /// Returns how long to wait for the known answers of the only querier; `nil` if they are complete or if other hosts need the record
    /// too.
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

    mutating func takeDirect(at now: Duration) -> [(MulticastPeer, Direct)] {
        defer { if direct.isEmpty { dropped = [] } }
        unconfirmed = [:]
        return directDues.takeDue(at: now).compactMap { peer in
            guard var said = direct.removeValue(forKey: peer) else { return nil }
            if !dropped.isEmpty { said.records.removeAll { dropped.contains($0) } }
            guard !said.records.isEmpty else { return nil }
            if said.isRepeat {
                unconfirmed[peer] = said.records
            } else {
                noteDirect(at: now)
                if !isCrowded(at: now), said.records.count <= Self.directRepeatedLimit {
                    direct[peer] = Direct(records: said.records, isRepeat: true)
                    directDues[peer] = now + Self.directGap
                }
            }
            return (peer, said)
        }
    }

    /// Removes and returns the records of the repeated unicast answer that was just sent to the peer.
    mutating func takeUnconfirmed(of peer: MulticastPeer) -> [DNSRecord] {
        unconfirmed.removeValue(forKey: peer) ?? []
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
