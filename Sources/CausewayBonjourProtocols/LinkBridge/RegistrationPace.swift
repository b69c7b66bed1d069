/// Decides when a ``LinkBridge`` may register services. Limits the rate for all services together, and delays a service
/// that has just ended.
struct RegistrationPace: Sendable {
    /// How many services may be registered at once. Each further registration waits for ``interval``.
    static let burst = 32
    static let interval: Duration = .milliseconds(100)
    /// Minimum time between the end of a service's registration and its next registration.
    static let rest: Duration = .seconds(2)

    /// The time before which no service may be registered; `nil` before ``open(at:)``.
    private var opening: Duration?
    /// The state of the rate limiter, stored as a time. Each registration moves this time forward by ``interval``. If
    /// the time is too far in the future, the next registration must wait: see ``start(of:at:)``.
    private var paid: Duration = .zero
    /// Services that ended recently, with the time at which they may be registered again.
    private var resting: [LinkBridge.Place: Duration] = [:]

    /// Sets the earliest time for registrations. Before this time, no service may be registered. Returns `false` if the
    /// time was already set.
    mutating func open(at time: Duration) -> Bool {
        guard opening == nil else { return false }
        opening = time
        return true
    }

    /// Returns the earliest time at which the service may be registered.
    func start(of place: LinkBridge.Place, at now: Duration) -> Duration {
        max(now, opening ?? now, resting[place] ?? now, paid - Self.interval * (Self.burst - 1))
    }

    /// Counts one service registration toward the rate limit.
    mutating func registered(at now: Duration) { paid = max(paid, now) + Self.interval }

    /// Records that hosts can no longer find the service. The service may be registered again after ``rest``.
    mutating func ended(_ place: LinkBridge.Place, at now: Duration) { resting[place] = now + Self.rest }

    /// Returns the time at which a service may be registered again after it has ended. Returns `nil` if there is no
    /// pause.
    func restEnd(of place: LinkBridge.Place) -> Duration? { resting[place] }

    /// Removes the service's entry from ``resting`` if the service's pause has ended.
    mutating func tidy(_ place: LinkBridge.Place, at now: Duration) {
        if let end = resting[place], end <= now { resting[place] = nil }
    }
}
