internal import Foundation

/// The two timeouts of a task. Times are measured from any fixed instant.
struct TaskClock: Sendable {
    private var idleLimit: Duration
    private var resourceDeadline: Duration?
    private var lastActivity: Duration?
    private var isPaused = false

    /// - Parameters:
    ///   - idle: Seconds without progress.
    ///   - now: The time at which the task begins; `nil` before that.
    init(idle: TimeInterval) {
        idleLimit = Self.duration(idle)
    }

    /// Returns the limit of a request: its own unless it is the default of 60 seconds, then that of the session. Zero means 60 seconds.
    static func idleLimit(request: TimeInterval, session: TimeInterval) -> TimeInterval {
        let limit = request == 60 ? session : request
        return limit > 0 ? limit : 60
    }

    /// When the next timeout is due; `nil` if none runs.
    var deadline: Duration? {
        let idle = isPaused ? nil : lastActivity.map { $0 + idleLimit }
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

    /// Notes that bytes were moved.
    mutating func noteActivity(at now: Duration) {
        if lastActivity != nil { lastActivity = now }
    }

    /// Stops the idle timeout, while the task is suspended or waits for the program.
    mutating func pause() { isPaused = true }

    /// Starts the idle timeout from the beginning.
    mutating func goOn(at now: Duration) {
        isPaused = false
        noteActivity(at: now)
    }

    /// Stops both timeouts.
    mutating func end() {
        lastActivity = nil
        resourceDeadline = nil
    }

    private static func duration(_ seconds: TimeInterval) -> Duration {
        // Longer than any process runs, and far from the limits of `Duration`.
        .seconds(min(max(seconds, 0), 1e10))
    }
}
