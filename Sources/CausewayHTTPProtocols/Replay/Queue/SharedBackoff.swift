/// An offline queue's back-off after attempts that did not reach the server. All operations of the queue share it.
///
/// One operation probes the server, and the other operations wait for the end of this attempt. An operation that was
/// never tried does not wait: neither the failure of another operation nor a network that seems unreachable blocks a
/// first attempt. The back-off sets no timers; ``ReplayQueue/deadline`` tells when the wait ends.
struct SharedBackoff: Sendable {
    /// When the back-off permits an attempt to send an operation.
    enum Permission: Sendable {
        case now
        case at(Duration)
        /// The operation must wait until another operation's attempt, which probes the server, has ended.
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
    /// The operation that probes the server.
    private var probe: UInt64?

    /// Whether an attempt did not reach the server, and no later attempt has reached it.
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

    /// The state of the network changed. If the network is reachable, the next probe of the server need not wait any
    /// longer.
    mutating func networkChanged(isReachable: Bool, at uptime: Duration) {
        guard isReachable, notBefore != nil else { return }
        failures = 0
        notBefore = uptime
    }
}
