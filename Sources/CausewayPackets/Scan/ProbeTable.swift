/// The state of each probe in a scan: its result so far, its attempts and its latest send time.
///
/// A probe's index is its port times the host count, plus its host.
struct ProbeTable: Sendable {
    private let hosts: Int
    private var reasons: [UInt8]
    private var attempts: [UInt8]
    /// The send time of each probe in microseconds. The values wrap around after about an hour, so only use the
    /// difference between two values.
    private var sendTimes: [UInt32]
    /// The number of probes that wait for an answer.
    private(set) var waiting = 0
    /// The number of probes with a final result.
    private(set) var settled = 0

    init(hosts: Int, ports: Int) {
        self.hosts = hosts
        let count = hosts * ports
        reasons = Array(repeating: ScanFinding.Reason.notAsked.rawValue, count: count)
        attempts = Array(repeating: 0, count: count)
        sendTimes = Array(repeating: 0, count: count)
    }

    var count: Int { reasons.count }

    func index(host: Int, port: Int) -> Int { port * hosts + host }

    /// Returns a probe's index; `nil` if the scan has no such probe.
    func index(of probe: PortSurvey.Probe) -> Int? {
        guard (0..<hosts).contains(probe.host), (0..<count / hosts).contains(probe.port) else { return nil }
        return index(host: probe.host, port: probe.port)
    }

    func host(_ index: Int) -> Int { index % hosts }

    func probe(_ index: Int) -> PortSurvey.Probe {
        PortSurvey.Probe(host: host(index), port: index / hosts, attempt: Int(attempts[index]))
    }

    func reason(_ index: Int) -> ScanFinding.Reason {
        ScanFinding.Reason(rawValue: reasons[index]) ?? .notAsked
    }

    /// The current attempt's number, from 0.
    func attempt(_ index: Int) -> UInt8 { attempts[index] }

    /// Returns whether a timeout is still relevant. It is so if it belongs to the probe's current attempt, and if this
    /// attempt still waits for an answer.
    func isWaiting(for timeout: ExpiryWheel.Entry) -> Bool {
        let index = Int(timeout.probe)
        return reason(index) == .waiting && attempts[index] == timeout.attempt
    }

    /// Returns the time since the probe was sent, in microseconds.
    func elapsed(_ index: Int, at time: Int64) -> Int64 {
        Int64(UInt32(truncatingIfNeeded: time) &- sendTimes[index])
    }

    mutating func sent(_ index: Int, at time: Int64) {
        if reason(index) == .waitingAgain { attempts[index] += 1 }
        sendTimes[index] = UInt32(truncatingIfNeeded: time)
        set(index, .waiting)
    }

    /// Records that the kernel did not send the probe. The failed send does not count as an attempt.
    mutating func wasNotSent(_ index: Int) {
        guard attempts[index] > 0 else { return set(index, .notAsked) }
        attempts[index] -= 1
        set(index, .waitingAgain)
    }

    mutating func willRepeat(_ index: Int) { set(index, .waitingAgain) }

    mutating func settle(_ index: Int, _ reason: ScanFinding.Reason) { set(index, reason) }

    private mutating func set(_ index: Int, _ reason: ScanFinding.Reason) {
        let before = self.reason(index)
        if before == .waiting { waiting -= 1 }
        if reason == .waiting { waiting += 1 }
        if reason.isFinal, !before.isFinal { settled += 1 }
        reasons[index] = reason.rawValue
    }
}
