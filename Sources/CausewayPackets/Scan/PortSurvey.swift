/// Decides which port to ask next, and when; and keeps what the answers tell.
///
/// The scan owns no socket and reads no clock: its owner asks ``next(at:)`` for what to do, sends the probes and reports the answers.
/// Times are measured from any fixed instant. What arrives late counts all the same; reports about nothing are ignored.
public struct PortSurvey: ~Copyable, Sendable {
    /// One question: which host, which port (by their places in the lists that the owner has), and for the how manieth time, from 0.
    public struct Probe: Hashable, Sendable {
        public var host: Int
        public var port: Int
        public var attempt: Int

        public init(host: Int, port: Int, attempt: Int) {
            self.host = host
            self.port = port
            self.attempt = attempt
        }
    }

    public enum Step: Hashable, Sendable {
        case send(Probe)
        /// Nothing to send before this time, unless an answer comes.
        case wait(until: Duration)
        case finished
    }

    public struct Settings: Sendable {
        /// A cap, in probes a second.
        public var maximumPerSecond: Double?
        /// Times that a silent port is asked, where its host has answered at all; else at most twice.
        public var attempts = 3
        /// Probes that may wait for an answer at the same time.
        public var maximumWaiting = 65_536
        public var shortestWait: Duration = .milliseconds(50)
        public var longestWait: Duration = .seconds(1)
        public var technique: ScanTechnique
        /// All hosts are neighbours: those that are there answer about equally soon.
        public var isNear = false

        public init(_ technique: ScanTechnique) { self.technique = technique }
    }

    private let hosts: Int
    private let total: Int
    private let settings: Settings
    private let shortest: Int64
    private let longest: Int64
    private var reasons: [UInt8]
    private var attempts: [UInt8]
    /// In microseconds, of which differences count: it wraps after an hour.
    private var left: [UInt32]
    private var estimates: [RoundTripEstimate]
    /// Of all hosts together, for those that have not answered yet.
    private var common = RoundTripEstimate()
    /// Whether a host has answered only when asked again: then silence may be a loss too.
    private var hasSeenLoss = false
    private var pace: ScanPace
    private var wheel = ExpiryWheel()
    private var expired: [ExpiryWheel.Entry] = []
    private var unasked: UInt32 = 0
    /// Silent probes that shall be sent again, and how many of them were.
    private var again: [UInt32] = []
    private var againTaken = 0
    private var waiting = 0
    /// Whether answers have been found to come much sooner than was waited for.
    private var isImpatient = false
    /// Probes whose fate is known.
    public private(set) var settled = 0
    /// Probes given up since the owner last looked: it may forget them.
    public private(set) var givenUp: [Probe] = []

    /// - Precondition: `hosts * ports` is at most ``mostProbes``.
    public init(hosts: Int, ports: Int, settings: Settings) {
        precondition(hosts > 0 && ports > 0 && hosts <= Self.maximumProbes / ports, "too much for one scan")
        self.hosts = hosts
        self.settings = settings
        total = hosts * ports
        shortest = Self.microseconds(settings.shortestWait)
        longest = min(Self.microseconds(settings.longestWait), ExpiryWheel.reach)
        reasons = Array(repeating: ScanFinding.Reason.notAsked.rawValue, count: total)
        attempts = Array(repeating: 0, count: total)
        left = Array(repeating: 0, count: total)
        estimates = Array(repeating: RoundTripEstimate(), count: hosts)
        pace = ScanPace(maximumPerSecond: settings.maximumPerSecond)
    }

    /// What one scan may ask: nine bytes are kept for each probe. More hosts are scanned in groups.
    public static let maximumProbes = 1 << 22

    public var probeCount: Int { total }
    /// Probes a second at this moment.
    public var rate: Double { pace.rate }

    public func finding(host: Int, port: Int) -> ScanFinding {
        ScanFinding(reason(port * hosts + host), technique: settings.technique)
    }

    /// What to do at this time. Calling early or twice is harmless.
    public mutating func next(at now: Duration) -> Step {
        let time = Self.microseconds(now)
        expire(time)
        guard settled < total else { return .finished }
        if waiting < settings.maximumWaiting, let id = candidate() {
            guard pace.take(time) else { return .wait(until: .microseconds(min(pace.next, wheel.next ?? .max))) }
            return .send(begin(id, time))
        }
        // A slot lies behind us when its time came between two looks: then the next look is due now.
        return .wait(until: .microseconds(max(wheel.next ?? time + longest, time + 1)))
    }

    /// The ports in the order of the list, each on all hosts, so that no host gets everything at once; silent ones again before new ones.
    private mutating func candidate() -> UInt32? {
        while againTaken < again.count {
            if reason(Int(again[againTaken])) == .waitingAgain { return again[againTaken] }
            againTaken += 1
        }
        if !again.isEmpty {
            again.removeAll(keepingCapacity: true)
            againTaken = 0
        }
        while unasked < total, reason(Int(unasked)) != .notAsked { unasked += 1 }
        return unasked < total ? unasked : nil
    }

    private mutating func begin(_ id: UInt32, _ time: Int64) -> Probe {
        let index = Int(id)
        if reason(index) == .waitingAgain { attempts[index] += 1 }
        reasons[index] = ScanFinding.Reason.waiting.rawValue
        left[index] = UInt32(truncatingIfNeeded: time)
        waiting += 1
        wheel.add(.init(probe: id, attempt: attempts[index]), at: time + patience(index))
        return probe(index)
    }

    private func patience(_ index: Int) -> Int64 {
        let estimate = estimates[index % hosts]
        var once = estimate.patience(shortest: shortest, longest: longest)
        if !estimate.isKnown, common.isKnown, settings.technique == .echo {
            // Others have answered: this one is not there, or somewhat farther away. What comes later still counts while the scan goes on.
            once = min(
                max(4 * common.patience(shortest: 0, longest: longest), shortest * (settings.isNear ? 3 : 4) / 2),
                longest)
            // Asked once more it has had that time twice already.
            return min(once << Int64(min(max(Int(attempts[index]) - 1, 0), 8)), max(longest, once))
        }
        return min(once << Int64(min(attempts[index], 8)), max(longest, once))
    }

    private mutating func expire(_ time: Int64) {
        if isImpatient { hasten() }
        wheel.take(time, into: &expired)
        for entry in expired {
            let index = Int(entry.probe)
            guard reason(index) == .waiting, attempts[index] == entry.attempt else { continue }
            waiting -= 1
            givenUp.append(probe(index))
            let isWorthwhile = estimates[index % hosts].isKnown || (hasSeenLoss && settings.technique == .echo)
            let allowed = isWorthwhile ? settings.attempts : min(settings.attempts, 2)
            if Int(attempts[index]) + 1 < allowed {
                reasons[index] = ScanFinding.Reason.waitingAgain.rawValue
                again.append(entry.probe)
            } else {
                reasons[index] = ScanFinding.Reason.noResponse.rawValue
                settled += 1
            }
        }
        expired.removeAll(keepingCapacity: true)
    }

    /// What was sent before anything was known waits for the longest time: too long, once an answer has shown how near the host is.
    private mutating func hasten() {
        isImpatient = false
        for entry in wheel.takeAll() {
            let index = Int(entry.probe)
            guard reason(index) == .waiting, attempts[index] == entry.attempt else { continue }
            // Times of sending wrap; what waits was sent within the last seconds.
            let sent = latest - Int64(UInt32(truncatingIfNeeded: latest) &- left[index])
            wheel.add(entry, at: sent + patience(index))
        }
    }
    private var latest: Int64 = 0

    /// Takes note of an answer, or of an error that the network reported.
    public mutating func answered(_ probe: Probe, _ reason: ScanFinding.Reason, at now: Duration) {
        guard let index = index(of: probe), reason.isFinal, reason != .noResponse else { return }
        let time = Self.microseconds(now)
        latest = max(latest, time)
        let before = self.reason(index)
        guard before != .notAsked, !before.isFinal || before == .noResponse else { return }
        learn(probe, index, before, reason, time)
        if before == .waiting { waiting -= 1 }
        if !before.isFinal { settled += 1 }
        reasons[index] = reason.rawValue
    }

    private mutating func learn(
        _ probe: Probe, _ index: Int, _ before: ScanFinding.Reason, _ reason: ScanFinding.Reason, _ time: Int64
    ) {
        let isLate = before != .waiting || probe.attempt < Int(attempts[index])
        let wasKnown = estimates[probe.host].isKnown
        if isLate {
            estimates[probe.host].wasTooShort()
        } else {
            let taken = Int64(UInt32(truncatingIfNeeded: time) &- left[index])
            // An error may come from a host's neighbour after seconds of asking who has the address: no round trip.
            if reason != .hostUnreachable, reason != .addressUnreachable {
                estimates[probe.host].learn(taken)
                common.learn(taken)
            }
            if probe.attempt > 0 { hasSeenLoss = true }
            // What the network or its hosts allow of ICMP is no sign of a crowded way.
            if probe.attempt > 0, settings.technique != .udp { pace.lost(time, roundTrip: taken) }
        }
        if probe.attempt == 0 { pace.answered() }
        if !wasKnown, estimates[probe.host].isKnown { isImpatient = true }
    }

    /// Takes back a probe that the kernel had no room for.
    public mutating func refused(_ probe: Probe, at now: Duration) {
        guard let index = index(of: probe), reason(index) == .waiting, probe.attempt == Int(attempts[index]) else {
            return
        }
        waiting -= 1
        pace.lost(Self.microseconds(now), roundTrip: 0)
        // It does not count as an attempt.
        if attempts[index] > 0 {
            attempts[index] -= 1
            reasons[index] = ScanFinding.Reason.waitingAgain.rawValue
            again.append(UInt32(index))
        } else {
            reasons[index] = ScanFinding.Reason.notAsked.rawValue
            unasked = min(unasked, UInt32(index))
        }
    }

    /// Forgets the list of what was given up.
    public mutating func clearGivenUp() { givenUp.removeAll(keepingCapacity: true) }

    private func reason(_ index: Int) -> ScanFinding.Reason {
        ScanFinding.Reason(rawValue: reasons[index]) ?? .notAsked
    }

    private func probe(_ index: Int) -> Probe {
        Probe(host: index % hosts, port: index / hosts, attempt: Int(attempts[index]))
    }

    private func index(of probe: Probe) -> Int? {
        guard (0..<hosts).contains(probe.host), (0..<total / hosts).contains(probe.port) else { return nil }
        return probe.port * hosts + probe.host
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return min(max(seconds, 0), 1 << 40) * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
