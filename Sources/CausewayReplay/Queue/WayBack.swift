/// Shared back-off after attempts that could not reach the server.
///
/// All lanes in a queue share this state, because they have one server. While the server is unreachable, one operation
/// at a time probes it. An operation's first attempt never waits, neither for the back-off nor for the network state.
package struct WayBack: Sendable {
    /// Failures in a row.
    private(set) var failures = 0
    private var notBefore: Duration?
    /// The operation whose attempt probes the server.
    private var probe: UInt64?
    private var isReachable = true

    init() {}

    /// Whether no back-off is in force.
    package var isOpen: Bool { notBefore == nil }

    /// When the next probe is due; `nil` without a back-off, and during a probe.
    var deadline: Duration? { probe == nil ? notBefore : nil }

    /// Returns whether an operation may be tried now.
    func permits(wasTried: Bool, at uptime: Duration) -> Bool {
        guard wasTried, let notBefore else { return true }
        return probe == nil && uptime >= notBefore
    }

    mutating func began(_ id: UInt64) { if notBefore != nil, probe == nil { probe = id } }

    /// An attempt could not reach the server.
    mutating func failed(_ id: UInt64, at uptime: Duration, _ backoff: OfflinePolicy.Backoff, jitter: Double) {
        if probe == id { probe = nil }
        // Failures in several lanes at the same time count once.
        if let notBefore, uptime < notBefore { return }
        failures = min(failures + 1, 64)
        notBefore = uptime + backoff.wait(after: failures, jitter: jitter)
    }

    /// An attempt reached the server.
    mutating func succeeded() {
        failures = 0
        notBefore = nil
        probe = nil
    }

    /// An attempt ended without showing whether the server is reachable.
    mutating func abandoned(_ id: UInt64) { if probe == id { probe = nil } }

    /// The network state has changed. If the network is reachable, the next probe is due at once.
    mutating func networkChanged(isReachable now: Bool, at uptime: Duration) {
        defer { isReachable = now }
        guard now, notBefore != nil else { return }
        failures = 0
        notBefore = uptime
    }
}
