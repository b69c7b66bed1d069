/// Decides when operations are tried after attempts that found no way to the server.
///
/// The state is shared by all lanes of a queue, because they have one server. An operation that was never tried does not wait for it: a known failure of another
/// operation, or a network that seems unreachable, never blocks a first attempt.
package struct WayBack: Sendable {
    /// The attempts in a row that found no way.
    private(set) var failures = 0
    private var notBefore: Duration?
    /// The operation that tests the way.
    private var probe: UInt64?
    private var isReachable = true

    init() {}

    /// Whether the last attempt found a way.
    package var isOpen: Bool { notBefore == nil }

    /// The time of the next test; `nil` if none is due.
    var deadline: Duration? { probe == nil ? notBefore : nil }

    /// Returns whether an operation may be tried now.
    func permits(wasTried: Bool, at uptime: Duration) -> Bool {
        guard wasTried, let notBefore else { return true }
        return probe == nil && uptime >= notBefore
    }

    mutating func began(_ id: UInt64) { if notBefore != nil, probe == nil { probe = id } }

    /// An attempt found no way.
    mutating func failed(_ id: UInt64, at uptime: Duration, _ backoff: OfflinePolicy.Backoff, jitter: Double) {
        if probe == id { probe = nil }
        // Operations of several lanes that fail together count once.
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

    /// An attempt ended without a fact about the way.
    mutating func abandoned(_ id: UInt64) { if probe == id { probe = nil } }

    /// The state of the network has changed. A network that comes back ends the wait.
    mutating func networkChanged(isReachable now: Bool, at uptime: Duration) {
        defer { isReachable = now }
        guard now, notBefore != nil else { return }
        failures = 0
        notBefore = uptime
    }
}
