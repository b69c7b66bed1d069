internal import CausewayWire

/// Answers that wait for their time, and when each was last given.
struct PendingAnswers: Sendable {
    /// No record is multicast more often (RFC 6762 §6).
    static let spacing: Duration = .seconds(1)
    /// Save in defence against somebody who probes for its name.
    private static let defenceSpacing: Duration = .milliseconds(250)
    /// Answers that are due this soon after others go with them (RFC 6762 §6.4).
    private static let gathering: Duration = .milliseconds(120)
    /// Peers to whom answers are due at one time. Beyond, they get theirs by multicast or ask again.
    private static let peerLimit = 256
    /// Askers of one record that are kept apart. Beyond, it is as if all had asked.
    private static let askerLimit = 16
    /// What is missed is said again so often at most, and only where it is no more than so many records at a time.
    private static let repeatLimit = 3
    private static let repeatedLimit = 256
    /// An answer for one peer alone is said twice, this far apart: unlike one for all it has no second way, over the other family, and
    /// whoever misses it asks again after a second only. Not where it is more than so many records, which take several packets.
    private static let directGap: Duration = .milliseconds(40)
    private static let directRepeatedLimit = 8
    /// Nor where so many peers got something in a second: many hosts join one after the other, and each hears all the others.
    private static let crowd = 8

    private struct Waiting: Sendable {
        /// Not before this, whatever else is sent.
        var earliest: Duration
        /// Who asked; none known by name when an answer of one's known ones does not settle it.
        var askers: Set<MulticastPeer> = []
        var isForAll = false
        /// How often it is said again, for askers that seem to have missed it: after one, three and seven seconds.
        var repeats = 0
        var gap = PendingAnswers.spacing
        /// Whether it was said before.
        var isRepeat = false
    }

    /// What is for one peer alone.
    private struct Direct: Sendable {
        var records: [DNSRecord]
        /// Whether all of it was said before.
        var isRepeat = false
    }

    private var waiting: [DNSRecord: Waiting] = [:]
    private var dues = DeadlineIndex<DNSRecord>()
    private var direct: [MulticastPeer: Direct] = [:]
    private var directDues = DeadlineIndex<MulticastPeer>()
    /// When the last ``crowd`` of them got it.
    private var directTimes: [Duration] = []
    /// What is not held any more since it was put into those: it must not come behind its goodbye.
    private var dropped: Set<DNSRecord> = []
    private var sent = SendingTimes()
    /// Room that stays when nothing waits any more.
    private static let keptCapacity = 512
    /// Who said that more known answers come, and until when they are waited for.
    private var expected: [MulticastPeer: Duration] = [:]

    // MARK: What is to be given

    /// An answer for all, as soon as it may be given.
    mutating func add(_ records: [DNSRecord], at now: Duration) {
        for record in records {
            let due = earliest(record, Self.spacing, at: now)
            waiting[record, default: Waiting(earliest: due)].isForAll = true
            dues[record] = min(dues[record] ?? due, due)
        }
    }

    /// - Parameter repeats: How often each is said again, because the asker missed it before.
    mutating func add(
        _ records: [DNSRecord], for peer: MulticastPeer, at due: Duration, isDefence: Bool, repeats: Int, now: Duration
    ) {
        let repeats = records.count <= Self.repeatedLimit ? min(repeats, Self.repeatLimit) : 0
        for record in records {
            let earliest = earliest(record, isDefence ? Self.defenceSpacing : Self.spacing, at: now)
            var entry = waiting[record] ?? Waiting(earliest: earliest)
            entry.earliest = min(entry.earliest, earliest)
            if entry.askers.count < Self.askerLimit { entry.askers.insert(peer) } else { entry.isForAll = true }
            // A repeat that waits gives way to the answer of the new question: its own repeats follow, if it has any.
            entry.repeats = entry.isRepeat ? repeats : max(entry.repeats, repeats)
            entry.gap = Self.spacing
            entry.isRepeat = false
            waiting[record] = entry
            let time = max(due, earliest)
            dues[record] = min(dues[record] ?? time, time)
        }
    }

    private func earliest(_ record: DNSRecord, _ spacing: Duration, at now: Duration) -> Duration {
        sent[record].map { max(now, $0 + spacing) } ?? now
    }

    /// Answers for one peer alone.
    mutating func add(_ records: [DNSRecord], to peer: MulticastPeer, at due: Duration) {
        guard !records.isEmpty, direct.count < Self.peerLimit || direct[peer] != nil else { return }
        if !dropped.isEmpty { dropped.subtract(records) }
        // Whoever asks again is answered again: what waits to be repeated goes with it.
        let old = direct[peer]?.records ?? []
        let present = Set(old)
        direct[peer] = Direct(records: old + (old.isEmpty ? records : records.filter { !present.contains($0) }))
        directDues[peer] = min(directDues[peer] ?? due, due)
    }

    /// Whether a record was not multicast for a quarter of its time: then others need it as well (RFC 6762 §5.4).
    func isStale(_ record: DNSRecord, at now: Duration) -> Bool {
        guard let age = sent.age(of: record, at: now) else { return true }
        return age > .seconds(Int64(record.timeToLive)) / 4
    }

    /// Whether a record was multicast so recently that it may not be again (RFC 6762 §6).
    func isRecent(_ record: DNSRecord, at now: Duration) -> Bool {
        sent.age(of: record, at: now).map { $0 < Self.spacing } ?? false
    }

    // MARK: What need not be given

    /// A question said that more known answers will come (RFC 6762 §7.2).
    mutating func expectMore(of peer: MulticastPeer, until time: Duration, at now: Duration) {
        if expected.count >= Self.peerLimit { expected = expected.filter { $0.value > now } }
        if expected.count < Self.peerLimit { expected[peer] = time }
    }

    /// Whether a peer said so, and may not have said all of them yet.
    func expectsMore(of peer: MulticastPeer) -> Bool { expected[peer] != nil }

    /// Those have come: own records that the asker knows well enough.
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

    /// An asker knows them after all: they need not be said again for it.
    mutating func arrived(_ known: Set<DNSRecord>, at peer: MulticastPeer) {
        for record in known where waiting[record]?.isRepeat == true {
            waiting[record]?.askers.remove(peer)
            if waiting[record]?.askers.isEmpty == true, waiting[record]?.isForAll == false { forget(record) }
        }
    }

    /// Even more will come: what the asker waits for waits longer.
    mutating func postpone(_ peer: MulticastPeer, to time: Duration) {
        guard expected[peer] != nil else { return }
        // Each record sees that when its time comes: thousands of them need not be gone through for each of a hundred messages.
        expected[peer] = time
        if let due = directDues[peer] { directDues[peer] = max(due, time) }
    }

    /// Somebody else gave it.
    mutating func forget(_ record: DNSRecord) {
        waiting[record] = nil
        dues[record] = nil
    }

    /// It is not held any more.
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

    /// What is due, with what may go beside it: one message instead of several (RFC 6762 §6.4).
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

    /// Until when the only one who wants an answer says what he knows; `nil` if he has said it, or others want it as well.
    private func patience(for entry: Waiting, at now: Duration) -> Duration? {
        guard !entry.isForAll, entry.askers.count == 1, let peer = entry.askers.first, let time = expected[peer],
            time > now
        else { return nil }
        return time
    }

    private func mayHurry(_ entry: Waiting, at now: Duration) -> Bool {
        // Whoever has more known answers to say is waited for to the end.
        entry.earliest <= now && !entry.askers.contains { peer in expected[peer].map { $0 > now } ?? false }
    }

    mutating func takeDirect(at now: Duration) -> [(MulticastPeer, [DNSRecord])] {
        defer { if direct.isEmpty { dropped = [] } }
        return directDues.takeDue(at: now).compactMap { peer in
            guard let said = direct.removeValue(forKey: peer) else { return nil }
            let held = dropped.isEmpty ? said.records : said.records.filter { !dropped.contains($0) }
            if !said.isRepeat { noteDirect(at: now) }
            if !said.isRepeat, !isCrowded(at: now), held.count <= Self.directRepeatedLimit, !held.isEmpty {
                direct[peer] = Direct(records: held, isRepeat: true)
                directDues[peer] = now + Self.directGap
            }
            return held.isEmpty ? nil : (peer, held)
        }
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
