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
        /// The host is asleep. The goodbye messages for the registration were sent.
        case asleep
        /// The registration has ended, because another host, or another registration on this host, has one of its
        /// names.
        case off
    }

    enum Action: Equatable, Sendable {
        case probe(isFirst: Bool)
        /// Report that the registration is complete. It answers queries from now on.
        case established
        case announce(isFirst: Bool)
    }

    private(set) var content: RecordSet
    private(set) var phase: Phase
    /// Whether the first conflict during probing was already ignored. This host's own old record may cause such a
    /// conflict.
    private var wasForgiven = false
    /// Whether the registration lost a tie-break and waits before it probes again (RFC 6762 §8.2).
    private var isDeferred = false
    /// Whether no other host can have the names, so that they need no probes (RFC 6762 §8.1). A conflict sets this
    /// property to `false`.
    private var isKnownUnique: Bool
    /// Whether the registration has returned ``Action/established`` since its latest probe.
    private var didReportEstablished = false
    /// The number of announcements to send for this registration. RFC 6762 §8.3 requires at least two.
    var announcementCount: UInt8 = 2
    /// The times at which changes were announced. Only times within ``updateWindow`` are kept.
    private var updates: [Duration] = []

    init(_ content: RecordSet, phase: Phase, isKnownUnique: Bool = false) {
        self.content = content
        self.phase = phase
        self.isKnownUnique = isKnownUnique
    }

    var records: [DNSRecord] { content.records }

    /// The names that must be unique, so that no other host may use them. Each name occurs once.
    var uniqueNames: [DNSName] {
        var names: [DNSName] = []
        for record in records where record.flushesCache && !names.contains(record.name) { names.append(record.name) }
        return names
    }

    // MARK: Events

    /// Replaces the records. New unique names are probed first, except names that no other host can have.
    ///
    /// If no name must be probed, a registration that answers queries announces the new records at once. It announces
    /// them later if its records change too often.
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
        // After a conflict, probing pauses. A new name must not shorten this pause.
        case .probing(_, let next): if isRenamed { phase = .probing(sent: 0, next: max(now, next)) }
        case .asleep, .off: break
        }
        return isRenamed
    }

    private mutating func announcementTime(at now: Duration) -> Duration {
        updates.removeAll { now - $0 >= Self.updateWindow }
        // If a delayed announcement is already scheduled, use its time.
        if let waiting = updates.last, waiting > now { return waiting }
        let time = updates.count < Self.updateLimit ? now : max(now, updates[0] + Self.updateWindow)
        updates.append(time)
        if updates.count > Self.updateLimit { updates.removeFirst() }
        return time
    }

    /// Sends probes and announcements again after the link or the host was down.
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

    /// Starts probing again at `retry`, because another host has one of this registration's names (RFC 6762 §9).
    mutating func conflicted(retry: Duration) {
        switch phase {
        case .probing, .announcing, .established:
            wasForgiven = true
            isKnownUnique = false
            phase = .probing(sent: 0, next: retry)
        case .asleep, .off: break
        }
    }

    /// Records that another host that probes for the name has won the tie-break (RFC 6762 §8.2). This host's probing
    /// starts again at `retry`.
    mutating func tieBreakLost(retry: Duration) {
        guard case .probing = phase else { return }
        isDeferred = true
        phase = .probing(sent: 0, next: retry)
    }

    /// Ends the registration because another host owns one of its names.
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

    /// The effect of another host's conflicting record.
    enum Conflict: Equatable, Sendable {
        /// The record contradicts one of this host's unique records, but this causes no conflict now. For example, the
        /// host is asleep, or it has not sent a probe yet.
        case harmless
        /// The host probes for the name again after this delay.
        case renewed(after: Duration)
        /// Another host owns the name, so this host must stop using it.
        case lost
    }

    /// Compares another host's record with the unique records. Returns `nil` if they do not conflict.
    ///
    /// During probing, the first conflict is ignored, and the next conflict ends the registration. An established
    /// registration is probed again after a conflict.
    func conflict(with record: DNSRecord, isMulticast: Bool) -> Conflict? {
        guard record.timeToLive > 0 else { return nil }
        let own = records.filter { $0.name == record.name && $0.flushesCache }
        guard !own.isEmpty, !own.contains(where: { $0.type == record.type && $0.data == record.data }) else {
            return nil
        }
        switch phase {
        case .probing(let sent, _):
            // Another host uses the name. If this host has not sent a probe yet, the response cannot be a reply to a
            // probe, so ignore it. Exception: after a lost tie-break the other host owns the name, so do not ignore its
            // response.
            guard sent > 0 || isDeferred, record.type != .nsec else { return .harmless }
            return isMulticast && !wasForgiven && !isDeferred ? .renewed(after: Self.deferral) : .lost
        case .announcing, .established:
            // If the other host's record has the same type, probe again. The owner of the name then defends it (RFC
            // 6762 §9). Ignore a record that arrived by unicast. An unsolicited response counts only if it is multicast
            // (RFC 6762 §11).
            guard isMulticast, own.contains(where: { $0.type == record.type }) else { return .harmless }
            return .renewed(after: .zero)
        case .asleep, .off: return .harmless
        }
    }

    // MARK: Probes

    /// The records that probes propose: this registration's unique records without the cache-flush bit (RFC 6762 §8.1,
    /// §10.2).
    var proposals: [DNSRecord] {
        records.filter(\.flushesCache).map { record in
            var record = record
            record.flushesCache = false
            return record
        }
    }

    /// Returns whether this host's probe for `name` loses the tie-break against another host's simultaneous probe (RFC
    /// 6762 §8.2). `theirs` contains the authority records of the other probe.
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
    /// Whether the registration has ended because another host uses one of its names.
    var hasEnded: Bool { phase == .off }
}
