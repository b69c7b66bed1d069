/// The times at which a ``LinkBridge`` may register services: all services together at a limited rate, and each service
/// again only a while after it ended.
struct RegistrationPace: Sendable {
    /// Maximum number of registrations at once. Further registrations follow at ``interval``.
    static let burst = 32
    static let interval: Duration = .milliseconds(100)
    /// Minimum time between withdrawing a service and registering it again.
    static let rest: Duration = .seconds(2)

    /// The earliest time for any registration; `nil` before ``open(at:)``.
    private var opening: Duration?
    /// Rate limiter: each registration moves this time forward by ``interval``, see ``start(of:at:)``.
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

    /// Records that hosts can no longer find the service.
    mutating func ended(_ place: LinkBridge.Place, at now: Duration) { resting[place] = now + Self.rest }

    /// Returns when the service's rest ends.
    func restEnd(of place: LinkBridge.Place) -> Duration? { resting[place] }

    /// Forgets the service's rest if that is over.
    mutating func tidy(_ place: LinkBridge.Place, at now: Duration) {
        if let end = resting[place], end <= now { resting[place] = nil }
    }
}
