/// Schedules a port scan's probes and collects the findings.
///
/// The scan owns no socket and reads no clock: the caller gets the next action from ``next(at:)``, sends the probes and records the
/// answers. Times are measured from any fixed instant. Late answers are accepted; answers to unknown probes are ignored.
public struct PortSurvey: ~Copyable, Sendable {
    /// One probe: indices into the caller's host and port lists, and the attempt, counted from 0.
    public struct Probe: Hashable, Sendable {
        /// Host index in the caller's list.
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

    /// The caller's next action.
    public enum Step: Hashable, Sendable {
        /// Send this probe.
        case send(Probe)
        /// Wait until this time, or until an answer arrives.
        case wait(until: Duration)
        /// The scan has ended.
        case finished
    }

    /// Scan limits.
    public struct Settings: Sendable {
        /// Maximum rate in probes per second; `nil` means no limit.
        public var maximumPerSecond: Double?
        /// Maximum attempts for a silent port. If the port's host has never answered, at most two attempts are made.
        public var attempts = 3
        /// Maximum number of unanswered probes in flight.
        public var maximumWaiting = 65_536
        /// Minimum time to wait for an answer.
        public var shortestWait: Duration = .milliseconds(50)
        /// Maximum time to wait for a host's first answer.
        public var longestWait: Duration = .seconds(1)
        /// The probe type.
        public var technique: ScanTechnique
        /// Whether all hosts are on the local link. Such hosts have similar round-trip times.
        public var isNear = false

        /// Creates settings with default limits.
        public init(_ technique: ScanTechnique) { self.technique = technique }
    }

    private let hosts: Int
    private let total: Int
    private let settings: Settings
    private let shortest: Int64
    private let longest: Int64
    private var reasons: [UInt8]
    private var attempts: [UInt8]
    /// Send times in microseconds. They wrap around after an hour; only differences are used.
    private var left: [UInt32]
    private var estimates: [RoundTripEstimate]
    /// The estimated round-trip time over all hosts, used for hosts without an answer.
    private var common = RoundTripEstimate()
    /// Whether a host answered only a repeated probe. Missing answers may then be due to packet loss.
    private var hasSeenLoss = false
    private var pace: ScanPace
    private var wheel = ExpiryWheel()
    private var expired: [ExpiryWheel.Entry] = []
    private var unasked: UInt32 = 0
    /// Unanswered probes to repeat, and the number already repeated.
    private var again: [UInt32] = []
    private var againTaken = 0
    private var waiting = 0
    /// Whether a host's first answer has shortened its timeouts, so that running timeouts must be set again.
    private var isImpatient = false
    /// The number of probes with a final result.
    public private(set) var settled = 0
    /// Probes that timed out since ``clearGivenUp()``. The caller may discard its state for them.
    public private(set) var givenUp: [Probe] = []

    /// Creates a scan for each port on each host.
    ///
    /// - Precondition: `hosts * ports` is at most ``maximumProbes``.
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

    /// The maximum number of probes in one scan, which stores nine bytes per probe. Scan more hosts in groups.
    public static let maximumProbes = 1 << 22

    /// The probe count: hosts times ports.
    public var probeCount: Int { total }
    /// The current rate in probes per second.
    public var rate: Double { pace.rate }

    /// Returns the finding for a host and a port, by their indices.
    public func finding(host: Int, port: Int) -> ScanFinding {
        ScanFinding(reason(port * hosts + host), technique: settings.technique)
    }

    /// Returns the next action. The caller may call again before the time of a `wait` action.
    public mutating func next(at now: Duration) -> Step {
        let time = Self.microseconds(now)
        expire(time)
        guard settled < total else { return .finished }
        if waiting < settings.maximumWaiting, let id = candidate() {
            guard pace.take(time) else { return .wait(until: .microseconds(min(pace.next, wheel.next ?? .max))) }
            return .send(begin(id, time))
        }
        // If a slot has expired since the last call, its time is in the past: the caller then calls again immediately.
        return .wait(until: .microseconds(max(wheel.next ?? time + longest, time + 1)))
    }

    /// Returns the next probe: probes to repeat first, then each port on all hosts, which spreads the load.
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
            // Other hosts have answered, so this host is absent or farther away. Later answers still count while the scan runs.
            once = min(
                max(4 * common.patience(shortest: 0, longest: longest), shortest * (settings.isNear ? 3 : 4) / 2),
                longest)
            // The first two attempts wait for this time. Each further attempt doubles it.
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

    /// Sets running timeouts again after a host's first answer: they were set to the maximum, which is too long.
    private mutating func hasten() {
        isImpatient = false
        for entry in wheel.takeAll() {
            let index = Int(entry.probe)
            guard reason(index) == .waiting, attempts[index] == entry.attempt else { continue }
            // Send times wrap around, but a waiting probe was sent within the last seconds.
            let sent = latest - Int64(UInt32(truncatingIfNeeded: latest) &- left[index])
            wheel.add(entry, at: sent + patience(index))
        }
    }
    private var latest: Int64 = 0

    /// Records an answer or a network error.
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
            // A router reports an unreachable host only after address resolution, which takes seconds: not a round-trip
            // time.
            if reason != .hostUnreachable, reason != .addressUnreachable {
                estimates[probe.host].learn(taken)
                common.learn(taken)
            }
            if probe.attempt > 0 { hasSeenLoss = true }
            // With UDP, silence is due to ICMP rate limits and does not indicate congestion.
            if probe.attempt > 0, settings.technique != .udp { pace.lost(time, roundTrip: taken) }
        }
        if probe.attempt == 0 { pace.answered() }
        if !wasKnown, estimates[probe.host].isKnown { isImpatient = true }
    }

    /// Reschedules a probe that the kernel did not send because its buffers were full.
    public mutating func refused(_ probe: Probe, at now: Duration) {
        guard let index = index(of: probe), reason(index) == .waiting, probe.attempt == Int(attempts[index]) else {
            return
        }
        waiting -= 1
        pace.lost(Self.microseconds(now), roundTrip: 0)
        // The failed send does not count as an attempt.
        if attempts[index] > 0 {
            attempts[index] -= 1
            reasons[index] = ScanFinding.Reason.waitingAgain.rawValue
            again.append(UInt32(index))
        } else {
            reasons[index] = ScanFinding.Reason.notAsked.rawValue
            unasked = min(unasked, UInt32(index))
        }
    }

    /// Clears ``givenUp``.
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
