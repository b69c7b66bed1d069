/// Delays an offline queue's attempts after attempts that did not reach the server. All operations of the queue share
/// this back-off.
///
/// One operation probes the server. The other operations wait until this attempt ends. An operation that was never
/// tried does not wait. Its first attempt takes place even if another operation failed or the network seems
/// unreachable. The back-off sets no timers: ``ReplayQueue/deadline`` states when the wait ends.
struct SharedBackoff: Sendable {
    /// When the back-off permits an attempt to send an operation.
    enum Permission: Sendable {
        case now
        case at(Duration)
        /// Another operation tests whether the server is reachable. This operation must wait for the end of that test.
        case afterProbe

        func isGranted(at uptime: Duration) -> Bool {
            switch self {
            case .now: true
            case .at(let time): time <= uptime
            case .afterProbe: false
            }
        }
    }

    /// The number of attempts in a row that did not reach the server.
    private var failures = 0
    private var notBefore: Duration?
    /// The operation that tests whether the server can be reached.
    private var probe: UInt64?

    /// Whether the server seems unreachable. This is the case if an attempt did not reach it, and no later attempt has
    /// reached it since.
    var isActive: Bool { notBefore != nil }

    func permission(wasTried: Bool) -> Permission {
        guard wasTried, let notBefore else { return .now }
        return probe == nil ? .at(notBefore) : .afterProbe
    }

    mutating func began(_ id: UInt64) { if notBefore != nil, probe == nil { probe = id } }

    /// An attempt did not reach the server.
    mutating func failed(_ id: UInt64, at uptime: Duration, _ backoff: OfflinePolicy.Backoff, jitter: Double) {
        if probe == id { probe = nil }
        // If several operations are sent at the same time and fail together, count one failure.
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

    /// An attempt ended without telling whether the server can be reached.
    mutating func abandoned(_ id: UInt64) { if probe == id { probe = nil } }

    /// Reports that the network has changed. If the network is reachable now, the next attempt to reach the server may
    /// start at once.
    mutating func networkChanged(isReachable: Bool, at uptime: Duration) {
        guard isReachable, notBefore != nil else { return }
        failures = 0
        notBefore = uptime
    }
}
