/// Decides which transfers of a background session run, and when a transfer whose attempt failed runs again.
///
/// A transfer waits until it is due, a place is free and no transfer with a higher priority waits. Times are wall-clock times since 1970,
/// because they outlive the process. The clock of the system can be set: no back-off lasts longer than its delay from any time on.
package struct TransferQueue: Sendable {
    package typealias ID = Int

    /// Numbers that bound the work of a session.
    package struct Limits: Sendable {
        /// The maximum number of transfers that run at the same time.
        package var running = 8
        /// The delay after the first attempt without progress. It doubles with each further one.
        package var firstDelay = Duration.seconds(1)
        package var maximumDelay = Duration.seconds(600)

        package init() {}
    }

    private struct Entry {
        var priority: Float
        /// The earliest time of the first attempt; `nil` if there is none.
        var beginning: Duration?
        /// The end of the back-off; `nil` if there is none.
        var retry: Duration?
        /// The delay that led to ``retry``.
        var delay = Duration.zero
        var failureCount = 0
        var isRunning = false
        var isSuspended = false
    }

    private let limits: Limits
    private var entries: [ID: Entry] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Whether no transfer waits or runs.
    package var isEmpty: Bool { entries.isEmpty }

    /// Adds a transfer that may start. A transfer that is already there stays as it is.
    ///
    /// - Parameters:
    ///   - id: The identifier. Of transfers with the same priority, the one with the lowest identifier runs first.
    ///   - priority: 0 to 1.
    ///   - beginning: The earliest time at which the transfer may run.
    package mutating func add(_ id: ID, priority: Float, beginning: Duration? = nil) {
        guard entries[id] == nil else { return }
        entries[id] = Entry(priority: priority.isFinite ? priority : 0, beginning: beginning)
    }

    /// Changes the priority of a transfer. Has no effect on one that runs.
    package mutating func setPriority(_ priority: Float, _ id: ID) {
        entries[id]?.priority = priority.isFinite ? priority : 0
    }

    /// Removes a transfer that ended.
    package mutating func remove(_ id: ID) { entries[id] = nil }

    /// Suspends a transfer, or ends its suspension. A suspended transfer needs no place.
    package mutating func setSuspended(_ isSuspended: Bool, _ id: ID) { entries[id]?.isSuspended = isSuspended }

    /// Records that an attempt failed for a reason that may pass.
    ///
    /// - Parameters:
    ///   - id: The transfer. Has no effect unless it runs.
    ///   - progressed: Whether the attempt moved content. The back-off then restarts.
    ///   - now: The time.
    ///   - spread: 0 to 1. Spreads the attempts of several transfers.
    /// - Returns: The delay until the next attempt; `nil` if the transfer does not run.
    @discardableResult
    package mutating func attemptFailed(_ id: ID, progressed: Bool, at now: Duration, spread: Double) -> Duration? {
        guard var entry = entries[id], entry.isRunning else { return nil }
        entry.isRunning = false
        entry.failureCount = progressed ? 1 : min(entry.failureCount + 1, 32)
        var delay = limits.firstDelay
        for _ in 1..<entry.failureCount where delay < limits.maximumDelay { delay *= 2 }
        delay = min(delay, limits.maximumDelay)
        // Half of the delay is fixed.
        entry.delay = delay * (0.5 + 0.5 * min(max(spread, 0), 1))
        entry.retry = now + entry.delay
        entries[id] = entry
        return entry.delay
    }

    /// Returns the transfers that start now, in order, and counts them as running.
    package mutating func next(at now: Duration) -> [ID] {
        noteClock(now)
        let running = entries.values.count { $0.isRunning && !$0.isSuspended }
        let due = entries.filter { !$0.value.isRunning && !$0.value.isSuspended && dueTime($0.value, at: now) <= now }
            .sorted { ($1.value.priority, $0.key) < ($0.value.priority, $1.key) }
            .prefix(max(limits.running - running, 0)).map(\.key)
        for id in due { entries[id]?.isRunning = true }
        return due
    }

    /// The time at which ``next(at:)`` is needed again; `nil` if only another event can change its result.
    package func wakeUp(at now: Duration) -> Duration? {
        entries.values.filter { !$0.isRunning && !$0.isSuspended }.map { dueTime($0, at: now) }.filter { $0 > now }
            .min()
    }

    /// Shortens the back-offs that would last longer than their delay, because the clock was set back.
    private mutating func noteClock(_ now: Duration) {
        for (id, entry) in entries {
            if let retry = entry.retry, retry - now > entry.delay { entries[id]?.retry = now + entry.delay }
        }
    }

    private func dueTime(_ entry: Entry, at now: Duration) -> Duration {
        max(entry.retry ?? now, entry.beginning ?? now)
    }
}
