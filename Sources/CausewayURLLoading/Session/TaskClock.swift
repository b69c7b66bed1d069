internal import Foundation

/// A task's idle timeout and resource timeout. Times are measured from an arbitrary fixed instant.
struct TaskClock: Sendable {
    /// The reasons for which the idle timeout is paused. Several reasons can apply at the same time, and they can begin
    /// and end in any order.
    struct Pauses: OptionSet, Sendable {
        let rawValue: UInt8

        /// The task is suspended.
        static let suspension = Pauses(rawValue: 1)
        /// The task waits for a response of the program.
        static let question = Pauses(rawValue: 2)
        /// The task waits for a network, or waits until its background session starts it.
        static let waiting = Pauses(rawValue: 4)
    }

    private var idleLimit: Duration
    /// When the resource timeout expires; `nil` if it is not running.
    private(set) var resourceDeadline: Duration?
    private var lastActivity: Duration?
    private var pauses: Pauses = []

    /// - Parameter idle: The idle timeout in seconds.
    init(idle: TimeInterval) {
        idleLimit = Self.duration(idle)
    }

    /// Returns a request's idle timeout: the session's value if the request has the default of 60 seconds, otherwise the request's value.
    /// Zero means 60 seconds.
    static func idleLimit(request: TimeInterval, session: TimeInterval) -> TimeInterval {
        let limit = request == 60 ? session : request
        return limit > 0 ? limit : 60
    }

    /// When the next timeout expires; `nil` if none is running.
    var deadline: Duration? {
        let idle = pauses.isEmpty ? lastActivity.map { $0 + idleLimit } : nil
        switch (idle, resourceDeadline) {
        case (let idle?, let resource?): return min(idle, resource)
        case (let idle?, nil): return idle
        case (nil, let resource): return resource
        }
    }

    /// Starts both timeouts.
    mutating func begin(at now: Duration, resourceLimit: TimeInterval) {
        resourceDeadline = resourceLimit > 0 ? now + Self.duration(resourceLimit) : nil
        lastActivity = now
    }

    /// Restarts the idle timeout after bytes were sent or received.
    mutating func noteActivity(at now: Duration) {
        if lastActivity != nil { lastActivity = now }
    }

    /// Stops the idle timeout for a reason. It stays stopped until ``goOn(after:at:)`` is called for this reason.
    mutating func pause(for reason: Pauses) { pauses.insert(reason) }

    /// Removes one reason why the idle timeout is stopped. If no reason remains, the timeout starts again with its full
    /// length.
    mutating func goOn(after reason: Pauses, at now: Duration) {
        pauses.remove(reason)
        noteActivity(at: now)
    }

    /// Stops the idle timeout permanently.
    mutating func endIdle() { lastActivity = nil }

    /// Stops both timeouts.
    mutating func end() {
        lastActivity = nil
        resourceDeadline = nil
    }

    private static func duration(_ seconds: TimeInterval) -> Duration {
        // Limit a timeout to 1e10 seconds. No process runs that long, and sums of such values do not overflow
        // `Duration`.
        .seconds(min(max(seconds, 0), 1e10))
    }
}
