/// Decides when the probes of a port scan are sent, and collects the findings.
///
/// This type owns no socket and reads no clock. The caller gets the next action from ``next(at:)``, sends the probes,
/// and records the answers. All times are measured from the same instant, which the caller chooses. A late answer is
/// accepted. Answers to unknown probes are ignored.
public struct PortSurvey: ~Copyable, Sendable {
    /// One probe: indices into the caller's host and port lists, and the attempt, counted from 0.
    public struct Probe: Hashable, Sendable {
        /// The host's index in the caller's list.
        public var host: Int
        /// Port index in the caller's list.
        public var port: Int
        /// The attempt number, from 0.
        public var attempt: Int

        /// Creates a probe.
        public init(host: Int, port: Int, attempt: Int) {
            self.host = host
            self.port = port
            self.attempt = attempt
        }
    }

    /// The action that the caller must perform next.
    public enum Step: Hashable, Sendable {
        /// Send this probe.
        case send(Probe)
        /// Wait until this time, or until an answer arrives.
        case wait(until: Duration)
        /// The scan has ended.
        case finished
    }

    /// The limits of a scan.
    public struct Settings: Sendable {
        /// Maximum rate in probes per second. `nil` and values above 1,000,000 mean 1,000,000.
        public var maximumPerSecond: Double?
        /// Maximum number of probes to a port that does not answer. If the port's host has never answered, at most two
        /// probes are sent. An echo scan is an exception: it sends all probes if some host answered only a repeated
        /// probe, because packets may then be getting lost.
        public var attempts = 3
        /// Maximum number of probes that wait for an answer at the same time.
        public var maximumWaiting = 65_536
        /// Minimum time to wait for an answer.
        public var shortestWait: Duration = .milliseconds(50)
        /// Maximum time to wait for an answer, at most 5.1 seconds. This is also the timeout for hosts that have not
        /// answered yet. In an echo scan, such hosts have a shorter timeout as soon as another host has answered.
        public var longestWait: Duration = .seconds(1)
        /// How hosts or ports are probed.
        public var technique: ScanTechnique
        /// Whether all hosts are on the local link. Their round-trip times are similar, so an echo scan waits a shorter
        /// time for hosts that have not answered.
        public var isNear = false

        /// Creates settings with default limits.
        public init(_ technique: ScanTechnique) { self.technique = technique }
    }

    private let settings: Settings
    private var table: ProbeTable
    private var order = ProbeOrder()
    private var roundTrips: ScanRoundTrips
    private var pace: ScanPace
    private var wheel = ExpiryWheel()
    private var expired: [ExpiryWheel.Entry] = []
    /// Whether a host has just answered for the first time. The host's round-trip time is now known. So the timeouts of
    /// its waiting probes must be computed again.
    private var isImpatient = false
    /// The time at which the latest answer arrived, in microseconds.
    private var latest: Int64 = 0
    /// Probes that timed out since the latest call of ``clearGivenUp()``. The caller may discard its state for these
    /// probes.
    public private(set) var givenUp: [Probe] = []

    /// Creates a scan for each port on each host.
    ///
    /// - Precondition: `hosts * ports` is at most ``maximumProbes``.
    public init(hosts: Int, ports: Int, settings: Settings) {
        precondition(hosts > 0 && ports > 0 && hosts <= Self.maximumProbes / ports, "too much for one scan")
        self.settings = settings
        table = ProbeTable(hosts: hosts, ports: ports)
        roundTrips = ScanRoundTrips(
            hosts: hosts, settings, shortest: Self.microseconds(settings.shortestWait),
            longest: min(Self.microseconds(settings.longestWait), ExpiryWheel.reach))
        pace = ScanPace(maximumPerSecond: settings.maximumPerSecond)
    }

    /// The maximum number of probes in one scan. The scan stores at least six bytes for each probe. To scan many hosts,
    /// divide them into groups, and make one scan for each group.
    public static let maximumProbes = 1 << 22

    /// The probe count: hosts times ports.
    public var probeCount: Int { table.count }
    /// The number of probes with a final result.
    public var settled: Int { table.settled }
    /// The current rate in probes per second.
    public var rate: Double { pace.rate }

    /// Returns the finding for one port of one host. Both are given by their indices.
    public func finding(host: Int, port: Int) -> ScanFinding {
        ScanFinding(table.reason(table.index(host: host, port: port)), technique: settings.technique)
    }

    /// Returns the next action. If the action is `wait`, the caller may call again earlier than its time.
    public mutating func next(at now: Duration) -> Step {
        let time = Self.microseconds(now)
        expire(time)
        guard table.settled < table.count else { return .finished }
        if table.waiting < settings.maximumWaiting, let id = order.next(in: table) {
            guard pace.take(time) else { return .wait(until: .microseconds(min(pace.next, wheel.next ?? .max))) }
            return .send(begin(id, time))
        }
        // The earliest probe timeout in the timer wheel may already have passed. In that case, the caller calls again
        // after one microsecond.
        return .wait(until: .microseconds(max(wheel.next ?? time + roundTrips.longest, time + 1)))
    }

    private mutating func begin(_ id: UInt32, _ time: Int64) -> Probe {
        let index = Int(id)
        table.sent(index, at: time)
        wheel.add(.init(probe: id, attempt: table.attempt(index)), at: time + timeout(index))
        return table.probe(index)
    }

    private func timeout(_ index: Int) -> Int64 {
        roundTrips.timeout(host: table.host(index), attempt: table.attempt(index))
    }

    private mutating func expire(_ time: Int64) {
        if isImpatient { hasten() }
        wheel.take(time, into: &expired)
        for entry in expired where table.isWaiting(for: entry) {
            let index = Int(entry.probe)
            givenUp.append(table.probe(index))
            let isWorthwhile = roundTrips.mayHaveLost(host: table.host(index))
            let allowed = isWorthwhile ? settings.attempts : min(settings.attempts, 2)
            if Int(table.attempt(index)) + 1 < allowed {
                table.willRepeat(index)
                order.add(entry.probe, in: table)
            } else {
                table.settle(index, .noResponse)
            }
        }
        expired.removeAll(keepingCapacity: true)
    }

    /// Recomputes the timeouts of waiting probes after the host's first answer. When they were set, the round-trip time
    /// was not known.
    private mutating func hasten() {
        isImpatient = false
        for entry in wheel.takeAll() where table.isWaiting(for: entry) {
            let index = Int(entry.probe)
            // Send times wrap around after an hour. This is harmless here: a probe that still waits for an answer was
            // sent only seconds ago.
            wheel.add(entry, at: latest - table.elapsed(index, at: latest) + timeout(index))
        }
    }

    /// Records the answer to a probe, or a network error.
    public mutating func answered(_ probe: Probe, _ reason: ScanFinding.Reason, at now: Duration) {
        guard let index = table.index(of: probe), reason.isFinal, reason != .noResponse else { return }
        let time = Self.microseconds(now)
        latest = max(latest, time)
        let before = table.reason(index)
        guard before != .notAsked, !before.isFinal || before == .noResponse else { return }
        learn(probe, index, reason, time)
        table.settle(index, reason)
    }

    private mutating func learn(_ probe: Probe, _ index: Int, _ reason: ScanFinding.Reason, _ time: Int64) {
        let isLate = table.reason(index) != .waiting || probe.attempt < Int(table.attempt(index))
        let wasKnown = roundTrips.isKnown(host: probe.host)
        if isLate {
            roundTrips.wasTooShort(host: probe.host)
        } else {
            let taken = table.elapsed(index, at: time)
            roundTrips.learn(taken, from: probe, reason)
            // In a UDP scan, answers are missing because of ICMP rate limits, not because of congestion. So do not slow
            // down.
            if probe.attempt > 0, settings.technique != .udp { pace.lost(time, roundTrip: taken) }
        }
        if probe.attempt == 0 { pace.answered() }
        if !wasKnown, roundTrips.isKnown(host: probe.host) { isImpatient = true }
    }

    /// Schedules a probe that the kernel did not send, because it had no buffer space.
    public mutating func refused(_ probe: Probe, at now: Duration) {
        guard let index = table.index(of: probe), table.reason(index) == .waiting,
            probe.attempt == Int(table.attempt(index))
        else { return }
        pace.lost(Self.microseconds(now), roundTrip: 0)
        table.wasNotSent(index)
        order.add(UInt32(index), in: table)
    }

    /// Clears ``givenUp``.
    public mutating func clearGivenUp() { givenUp.removeAll(keepingCapacity: true) }

    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return min(max(seconds, 0), 1 << 40) * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
