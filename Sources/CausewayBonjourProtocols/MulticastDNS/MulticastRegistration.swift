internal import CausewayWire

/// Records registered and removed together, and their state from the first probe to the last announcement (RFC 6762 §8).
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
        /// The registration lost a name to another host, or was refused.
        case off
    }

    private(set) var content: RecordSet
    var phase: Phase
    /// Whether a first conflict during probing was ignored. It may come from this host's own old record, in a late or repeated packet.
    var wasForgiven = false
    /// Whether the registration lost a tie-break and waits one second before it probes again (RFC 6762 §8.2).
    var isDeferred = false
    /// Whether `established` was reported since the registration last began to answer queries.
    var isTold = false
    /// Announcement times for the latest changes, at most ``updateLimit``.
    private var updates: [Duration] = []

    init(_ content: RecordSet, phase: Phase) {
        self.content = content
        self.phase = phase
    }

    var records: [DNSRecord] { content.records }

    /// The names that no other host may have, each once.
    var uniqueNames: [DNSName] {
        var names: [DNSName] = []
        for record in records where record.flushesCache && !names.contains(record.name) { names.append(record.name) }
        return names
    }

    /// Replaces the records. Returns when to announce them: now, or later after ten changes within a minute.
    mutating func exchange(_ new: RecordSet, at now: Duration) -> Duration {
        content = new
        updates.removeAll { now - $0 >= Self.updateWindow }
        // A delayed announcement is already scheduled: share it.
        if let waiting = updates.last, waiting > now { return waiting }
        let time = updates.count < Self.updateLimit ? now : max(now, updates[0] + Self.updateWindow)
        updates.append(time)
        if updates.count > Self.updateLimit { updates.removeFirst() }
        return time
    }

    /// Whether queries are answered from the records.
    var isAnswering: Bool {
        switch phase {
        case .announcing, .established: true
        case .probing, .asleep, .off: false
        }
    }

    var deadline: Duration? {
        switch phase {
        case .probing(_, let next), .announcing(_, let next): next
        case .established, .asleep, .off: nil
        }
    }

    /// Counts a probe or an announcement sent at `now`. Returns whether the registration now owns its names.
    mutating func advance(announcements: Int, at now: Duration) -> Bool {
        switch phase {
        case .probing(Self.probeCount, _):
            phase = .announcing(sent: 0, next: now)
            return true
        case .probing(let sent, _):
            isDeferred = false
            phase = .probing(sent: sent + 1, next: now + Self.probeInterval)
        case .announcing(let sent, _):
            // Each interval is twice the previous one (RFC 6762 §8.3). The announcements are sent after 0, 1, 3 and 7 seconds.
            phase =
                sent + 1 < announcements ? .announcing(sent: sent + 1, next: now + .seconds(1 << sent)) : .established
        case .established, .asleep, .off: break
        }
        return false
    }

    /// The records for a probe's authority section: unique records, without the cache-flush bit (RFC 6762 §8.1, §10.2).
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

    /// Returns class, type and data as bytes in RFC 6762 §8.2 comparison order.
    private static func rank(_ record: DNSRecord) -> [UInt8] {
        let numbers = [record.recordClass.rawValue, record.type.rawValue]
        return numbers.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } + record.data.canonical
    }

    private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
}
