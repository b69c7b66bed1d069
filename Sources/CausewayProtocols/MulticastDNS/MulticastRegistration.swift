internal import CausewayWire

/// A group of records that live and die together, from the first probe to the last announcement (RFC 6762 §8).
struct MulticastRegistration: Sendable {
    static let probeCount = 3
    static let probeInterval: Duration = .milliseconds(250)
    /// After losing to somebody who probes at the same time (RFC 6762 §8.2).
    static let deferral: Duration = .seconds(1)
    /// Changes in a minute that are announced at once (RFC 6762 §8.4).
    private static let updateLimit = 10
    private static let updateWindow: Duration = .seconds(60)

    enum Phase: Equatable, Sendable {
        case probing(sent: Int, next: Duration)
        case announcing(sent: Int, next: Duration)
        case established
        /// Said goodbye, until the host wakes.
        case asleep
        /// Lost its name.
        case off
    }

    private(set) var content: RecordSet
    var phase: Phase
    /// One conflict during probing is forgiven: it may be an echo of this host's own past.
    var wasForgiven = false
    /// Whether it gave way to another host's probe, and waits before it probes again (RFC 6762 §8.2).
    var isDeferred = false
    /// Whether its owner knows that it answers.
    var isTold = false
    private var updates: [Duration] = []

    init(_ content: RecordSet, phase: Phase) {
        self.content = content
        self.phase = phase
    }

    var records: [DNSRecord] { content.records }

    /// Names that nobody else may have, each once.
    var uniqueNames: [DNSName] {
        var names: [DNSName] = []
        for record in records where record.flushesCache && !names.contains(record.name) { names.append(record.name) }
        return names
    }

    /// Exchanges the records. Returns when that may be announced: who changes his mind too often waits.
    mutating func exchange(_ new: RecordSet, at now: Duration) -> Duration {
        content = new
        updates.removeAll { now - $0 >= Self.updateWindow }
        // Changes that wait for their announcement share it.
        if let waiting = updates.last, waiting > now { return waiting }
        let time = updates.count < Self.updateLimit ? now : max(now, updates[0] + Self.updateWindow)
        updates.append(time)
        if updates.count > Self.updateLimit { updates.removeFirst() }
        return time
    }

    /// Whether its records are given as answers.
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

    /// From the second announcement to the third: more than twice the gap before (RFC 6762 §8.3). What is new is announced again much
    /// later, for hosts that missed it. Changed records are wrong in caches until the next announcement, so it follows soon.
    private var lastGap: Duration { updates.isEmpty ? .seconds(8) : .seconds(2) }

    /// Counts a probe or an announcement that was sent at `now`. Returns whether the names are its own from here on.
    mutating func advance(announcements: Int, at now: Duration) -> Bool {
        switch phase {
        case .probing(Self.probeCount, _):
            phase = .announcing(sent: 0, next: now)
            return true
        case .probing(let sent, _):
            isDeferred = false
            phase = .probing(sent: sent + 1, next: now + Self.probeInterval)
        case .announcing(let sent, _):
            phase =
                sent + 1 < announcements
                ? .announcing(sent: sent + 1, next: now + (sent == 0 ? .seconds(1) : lastGap)) : .established
        case .established, .asleep, .off: break
        }
        return false
    }

    /// What probes propose: unique records, with the bit clear (RFC 6762 §8.1, §10.2).
    var proposals: [DNSRecord] {
        records.filter(\.flushesCache).map { record in
            var record = record
            record.flushesCache = false
            return record
        }
    }

    /// Whether somebody who proposes `theirs` for `name` at the same time wins (RFC 6762 §8.2).
    func loses(_ name: DNSName, to theirs: [DNSRecord]) -> Bool {
        let ours = proposals.filter { $0.name == name }.map(Self.rank).sorted(by: Self.precedes)
        let others = theirs.filter { $0.name == name }.map(Self.rank).sorted(by: Self.precedes)
        for (our, other) in zip(ours, others) where our != other { return Self.precedes(our, other) }
        return ours.count < others.count
    }

    /// Class, type and bytes, each compared as unsigned numbers.
    private static func rank(_ record: DNSRecord) -> [UInt8] {
        let numbers = [record.recordClass.rawValue, record.type.rawValue]
        return numbers.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } + record.data.canonical
    }

    private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
}
