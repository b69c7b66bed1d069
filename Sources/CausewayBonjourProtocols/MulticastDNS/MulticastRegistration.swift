internal import CausewayTypes
internal import CausewayWire

/// A set of records that are registered and removed together, with their state from the first probe to the final
/// announcement (RFC 6762 §8).
struct MulticastRegistration: Sendable {
    static let probeCount = 3
    static let probeInterval: Duration = .milliseconds(250)
    /// Delay after a lost tie-break against a simultaneous probe (RFC 6762 §8.2).
    static let deferral: Duration = .seconds(1)
    /// Maximum number of changes per minute that are announced without delay (RFC 6762 §8.4).
    private static let updateLimit = 10
    private static let updateWindow: Duration = .seconds(60)

    enum Phase: Equatable, Sendable {
        case probing(sent: Int, next: Duration)
        case announcing(sent: Int, next: Duration)
        case established
        /// Goodbyes were sent; the host is asleep.
        case asleep
        /// The registration has ended, because another host, or another registration on this host, has one of its
        /// names.
        case off
    }

    enum Action: Equatable, Sendable {
        case probe(isFirst: Bool)
        /// Report that the registration answers queries.
        case established
        case announce(isFirst: Bool)
    }

    private(set) var content: RecordSet
    private(set) var phase: Phase
    /// Whether a first conflict during probing was ignored. Such a conflict may be caused by this host's own old
    /// record.
    private var wasForgiven = false
    /// Whether the registration lost a tie-break and waits before it probes again (RFC 6762 §8.2).
    private var isDeferred = false
    /// Whether it is certain that no other host has the names, so that they need no probes (RFC 6762 §8.1). A conflict
    /// sets this property to `false`.
    private var isKnownUnique: Bool
    /// Whether ``Action/established`` was returned since the latest probe.
    private var didReportEstablished = false
    /// The number of announcements to send. RFC 6762 §8.3 requires at least two.
    var announcementCount: UInt8 = 2
    /// The announcement times of the changes within ``updateWindow``.
    private var updates: [Duration] = []

    init(_ content: RecordSet, phase: Phase, isKnownUnique: Bool = false) {
        self.content = content
        self.phase = phase
        self.isKnownUnique = isKnownUnique
    }

    var records: [DNSRecord] { content.records }

    /// The names that no other host may have, each once.
    var uniqueNames: [DNSName] {
        var names: [DNSName] = []
        for record in records where record.flushesCache && !names.contains(record.name) { names.append(record.name) }
        return names
    }

    // MARK: Events

    /// Replaces the records. New unique names are probed first, except names that no other host can have. If no name
    /// must be probed, a registration that answers queries announces the new records at once, or later if its records
    /// change too often.
    ///
    /// - Returns: Whether there are new unique names to probe.
    mutating func recordsChanged(to new: RecordSet, at now: Duration) -> Bool {
        let oldNames = uniqueNames
        content = new
        let isRenamed = !isKnownUnique && !Set(uniqueNames).isSubset(of: oldNames)
        let time = announcementTime(at: now)
        switch phase {
        case .announcing, .established:
            phase = isRenamed ? .probing(sent: 0, next: now) : .announcing(sent: 0, next: time)
        // If probing waits after a conflict, a new name does not shorten the wait.
        case .probing(_, let next): if isRenamed { phase = .probing(sent: 0, next: max(now, next)) }
        case .asleep, .off: break
        }
        return isRenamed
    }

    private mutating func announcementTime(at now: Duration) -> Duration {
        updates.removeAll { now - $0 >= Self.updateWindow }
        // A delayed announcement is already scheduled: share it.
        if let waiting = updates.last, waiting > now { return waiting }
        let time = updates.count < Self.updateLimit ? now : max(now, updates[0] + Self.updateWindow)
        updates.append(time)
        if updates.count > Self.updateLimit { updates.removeFirst() }
        return time
    }

    /// Probes and announces again, because the link or the host was down.
    mutating func restarted(start: Duration) {
        guard phase != .off else { return }
        let isProbed = !isKnownUnique && !uniqueNames.isEmpty
        phase = isProbed ? .probing(sent: 0, next: start) : .announcing(sent: 0, next: start)
        wasForgiven = false
        isDeferred = false
    }

    mutating func fellAsleep() {
        if phase != .off { phase = .asleep }
    }

    /// Probes again at `retry`, because another host has one of the names (RFC 6762 §9).
    mutating func conflicted(retry: Duration) {
        switch phase {
        case .probing, .announcing, .established:
            wasForgiven = true
            isKnownUnique = false
            phase = .probing(sent: 0, next: retry)
        case .asleep, .off: break
        }
    }

    /// Probes again at `retry`, because another host that probes for the name has won the tie-break (RFC 6762 §8.2).
    mutating func tieBreakLost(retry: Duration) {
        guard case .probing = phase else { return }
        isDeferred = true
        phase = .probing(sent: 0, next: retry)
    }

    /// Ends the registration, because another host has one of the names.
    mutating func nameLost() { phase = .off }

    /// Whether queries are answered with the records.
    var isAnswering: Bool {
        switch phase {
        case .announcing, .established: true
        case .probing, .asleep, .off: false
        }
    }

    // MARK: Time

    var deadline: Duration? {
        switch phase {
        case .probing(_, let next), .announcing(_, let next): next
        case .established, .asleep, .off: nil
        }
    }

    /// Returns the probe or announcement that is due. When the wait after the third probe has ended, the first
    /// announcement is due at once.
    mutating func advance(to now: Duration) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        switch phase {
        case .probing(let sent, _) where sent < Self.probeCount:
            isDeferred = false
            didReportEstablished = false
            phase = .probing(sent: sent + 1, next: now + Self.probeInterval)
            return [.probe(isFirst: sent == 0)]
        case .probing: return announce(after: 0, isNew: true, at: now)
        case .announcing(let sent, _): return announce(after: sent, isNew: sent == 0 && !didReportEstablished, at: now)
        case .established, .asleep, .off: return []
        }
    }

    private mutating func announce(after sent: Int, isNew: Bool, at now: Duration) -> [Action] {
        didReportEstablished = true
        // Each interval is twice the previous interval (RFC 6762 §8.3). The announcements are sent after 0, 1, 3 and 7
        // seconds.
        phase =
            sent + 1 < announcementCount ? .announcing(sent: sent + 1, next: now + .seconds(1 << sent)) : .established
        return isNew ? [.established, .announce(isFirst: true)] : [.announce(isFirst: sent == 0)]
    }

    // MARK: Conflicts

    /// The effect of another host's record.
    enum Conflict: Equatable, Sendable {
        /// The record contradicts a unique record, but is ignored. For example, this host is asleep, or has not sent a
        /// probe yet.
        case harmless
        /// Probe again after this delay.
        case renewed(after: Duration)
        /// Give up the name.
        case lost
    }

    /// Compares another host's record with the unique records. Returns `nil` if there is no contradiction.
    ///
    /// During probing, the first conflict is ignored, and the next conflict ends the registration. An established
    /// registration is probed again.
    func conflict(with record: DNSRecord, isMulticast: Bool) -> Conflict? {
        guard record.timeToLive > 0 else { return nil }
        let own = records.filter { $0.name == record.name && $0.flushesCache }
        guard !own.isEmpty, !own.contains(where: { $0.type == record.type && $0.data == record.data }) else {
            return nil
        }
        switch phase {
        case .probing(let sent, _):
            // Another host uses the name. A response before this host's first probe cannot be a reply to a probe, so it
            // is ignored. After a lost tie-break, such a response is not ignored, because the other host now owns the
            // name.
            guard sent > 0 || isDeferred, record.type != .nsec else { return .harmless }
            return isMulticast && !wasForgiven && !isDeferred ? .renewed(after: Self.deferral) : .lost
        case .announcing, .established:
            // If the other host's record has the same type, probe again: the owner of the name will then defend it (RFC
            // 6762 §9). Ignore a unicast record, because unsolicited responses count only if they are multicast (RFC
            // 6762 §11).
            guard isMulticast, own.contains(where: { $0.type == record.type }) else { return .harmless }
            return .renewed(after: .zero)
        case .asleep, .off: return .harmless
        }
    }

    // MARK: Probes

    /// The proposed records of probes: the unique records, without the cache-flush bit (RFC 6762 §8.1, §10.2).
    var proposals: [DNSRecord] {
        records.filter(\.flushesCache).map { record in
            var record = record
            record.flushesCache = false
            return record
        }
    }

    /// Compares this host's probe for `name` with another host's simultaneous probe, whose authority records are
    /// `theirs`. Returns whether the other host wins the tie-break (RFC 6762 §8.2).
    func loses(_ name: DNSName, to theirs: [DNSRecord]) -> Bool {
        let ours = proposals.filter { $0.name == name }.map(Self.rank).sorted(by: Self.precedes)
        let others = theirs.filter { $0.name == name }.map(Self.rank).sorted(by: Self.precedes)
        for (our, other) in zip(ours, others) where our != other { return Self.precedes(our, other) }
        return ours.count < others.count
    }

    /// Returns class, type and data as bytes in the comparison order of RFC 6762 §8.2 and §8.2.1.
    private static func rank(_ record: DNSRecord) -> [UInt8] {
        let numbers = [record.recordClass.rawValue, record.type.rawValue]
        return numbers.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } + record.data.canonical
    }

    private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
}

extension MulticastRegistration: ReturningMachine {
    /// Whether another host has one of the names.
    var hasEnded: Bool { phase == .off }
}
