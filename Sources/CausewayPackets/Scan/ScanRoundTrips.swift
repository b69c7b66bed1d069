/// The round-trip times of a scan's hosts, and the timeouts that follow from them. All times are in microseconds.
struct ScanRoundTrips: Sendable {
    private let technique: ScanTechnique
    /// Whether all hosts are on the local link. Their round-trip times are then similar. So hosts that have not
    /// answered get a shorter timeout in an echo scan.
    private let isNear: Bool
    private let shortest: Int64
    let longest: Int64
    private var estimates: [RoundTripEstimate]
    /// The estimated round-trip time over all hosts, used for hosts without an answer.
    private var common = RoundTripEstimate()
    /// Whether any host answered a repeated probe, but not the first one. Missing answers may then be due to packet
    /// loss.
    private var hasSeenLoss = false

    init(hosts: Int, _ settings: PortSurvey.Settings, shortest: Int64, longest: Int64) {
        technique = settings.technique
        isNear = settings.isNear
        self.shortest = shortest
        self.longest = longest
        estimates = Array(repeating: RoundTripEstimate(), count: hosts)
    }

    /// Whether the host has answered a probe in time.
    func isKnown(host: Int) -> Bool { estimates[host].isKnown }

    /// Returns whether a missing answer from this host may be due to packet loss.
    func mayHaveLost(host: Int) -> Bool { isKnown(host: host) || (hasSeenLoss && technique == .echo) }

    /// Returns the timeout for an attempt, counted from 0.
    func timeout(host: Int, attempt: UInt8) -> Int64 {
        let estimate = estimates[host]
        if !estimate.isKnown, common.isKnown, technique == .echo {
            // Other hosts in the scan have answered in time. So this host is probably absent, and a short timeout is
            // enough. If the host is only farther away, its late answer still counts.
            let once = min(
                max(4 * common.patience(shortest: 0, longest: longest), shortest * (isNear ? 3 : 4) / 2), longest)
            // Each of the first two attempts has the timeout `once`. Every further attempt has twice the timeout of the
            // attempt before it.
            return doubled(once, max(Int(attempt) - 1, 0))
        }
        return doubled(estimate.patience(shortest: shortest, longest: longest), Int(attempt))
    }

    private func doubled(_ once: Int64, _ times: Int) -> Int64 {
        min(once << Int64(min(times, 8)), max(longest, once))
    }

    /// Records an answer that arrived in time.
    mutating func learn(_ taken: Int64, from probe: PortSurvey.Probe, _ reason: ScanFinding.Reason) {
        // Do not learn a round-trip time from an error that reports an unreachable host. A router sends this error
        // after address resolution, which takes seconds.
        if reason != .hostUnreachable, reason != .addressUnreachable {
            estimates[probe.host].learn(taken)
            common.learn(taken)
        }
        if probe.attempt > 0 { hasSeenLoss = true }
    }

    /// Records an answer that arrived after its timeout.
    mutating func wasTooShort(host: Int) { estimates[host].wasTooShort() }
}
