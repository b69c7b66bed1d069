/// Decides when a ``LinkBridge`` may register services. Limits the rate for all services together, and delays a service
/// that has just ended.
struct RegistrationPace: Sendable {
    /// Maximum number of registrations at once. Further registrations follow at ``interval``.
    static let burst = 32
    static let interval: Duration = .milliseconds(100)
    /// Minimum time between withdrawing a service and registering it again.
    static let rest: Duration = .seconds(2)

    /// The earliest time for any registration; `nil` before ``open(at:)``.
    private var opening: Duration?
    /// The rate limiter's state, as a time. Each registration moves the time forward by ``interval``. If the time is
    /// too far in the future, the next registration waits: see ``start(of:at:)``.
    private var paid: Duration = .zero
    /// Services that ended recently, with the time at which they may be registered again.
    private var resting: [LinkBridge.Place: Duration] = [:]

    /// Sets the earliest time for any registration. Returns `false` if it was set before.
    mutating func open(at time: Duration) -> Bool {
        guard opening == nil else { return false }
        opening = time
        return true
    }

    /// Returns the earliest time at which the service may be registered.
    func start(of place: LinkBridge.Place, at now: Duration) -> Duration {
        max(now, opening ?? now, resting[place] ?? now, paid - Self.interval * (Self.burst - 1))
    }

    /// Counts one registration for the rate limit.
    mutating func registered(at now: Duration) { paid = max(paid, now) + Self.interval }

    /// Notes that hosts can no longer find the service. The service may be registered again after ``rest``.
    mutating func ended(_ place: LinkBridge.Place, at now: Duration) { resting[place] = now + Self.rest }

    /// Returns when the pause after the service's end is over.
    func restEnd(of place: LinkBridge.Place) -> Duration? { resting[place] }

    /// Removes the service from ``resting`` if its pause is over.
    mutating func tidy(_ place: LinkBridge.Place, at now: Duration) {
        if let end = resting[place], end <= now { resting[place] = nil }
    }
}
