/// Decides which transfers in a background session run, and when a failed transfer is retried.
///
/// A transfer waits until it is due, fewer transfers than the limit are running, and no transfer with a higher priority
/// waits. Times are wall-clock times since 1970, because they outlive the process. If the system clock is set back, the
/// rest of a back-off is shortened to the planned duration of the whole back-off.
package struct TransferQueue: Sendable {
    package typealias ID = Int

    /// The limits on concurrent transfers and on back-off.
    package struct Limits: Sendable {
        /// The maximum number of concurrent transfers.
        package var running = 8
        /// The delay after the first attempt without progress. Each further attempt without progress doubles the delay.
        package var firstDelay = Duration.seconds(1)
        package var maximumDelay = Duration.seconds(600)

        package init() {}
    }

    private struct Entry {
        var priority: Float
        /// The earliest time for the first attempt; `nil` if it may begin at any time.
        var beginning: Duration?
        /// The end of the back-off; `nil` if there is none.
        var retry: Duration?
        /// The duration of the back-off until ``retry``.
        var delay = Duration.zero
        var failureCount = 0
        var isRunning = false
        var isSuspended = false
    }

    private let limits: Limits
    private var entries: [ID: Entry] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Whether the queue has no transfers, waiting or running.
    package var isEmpty: Bool { entries.isEmpty }

    /// Adds a transfer to the queue. A transfer that is already in the queue is left unchanged.
    ///
    /// - Parameters:
    ///   - id: The identifier. Among transfers with equal priority, the lowest identifier runs first.
    ///   - priority: 0 to 1.
    ///   - beginning: The earliest time at which the transfer may run.
    package mutating func add(_ id: ID, priority: Float, beginning: Duration? = nil) {
        guard entries[id] == nil else { return }
        entries[id] = Entry(priority: priority.isFinite ? priority : 0, beginning: beginning)
    }

    /// Changes a transfer's priority. A running transfer continues.
    package mutating func setPriority(_ priority: Float, _ id: ID) {
        entries[id]?.priority = priority.isFinite ? priority : 0
    }

    /// Removes a finished transfer.
    package mutating func remove(_ id: ID) { entries[id] = nil }

    /// Suspends or resumes a transfer. A suspended transfer does not count towards the limit of running transfers.
    package mutating func setSuspended(_ isSuspended: Bool, _ id: ID) { entries[id]?.isSuspended = isSuspended }

    /// Records that an attempt failed for a transient reason.
    ///
    /// - Parameters:
    ///   - id: The transfer. If it is not running, the call has no effect.
    ///   - progressed: Whether the attempt transferred content, which resets the back-off.
    ///   - now: The current wall-clock time since 1970.
    ///   - spread: Jitter, 0 to 1. It spreads the retries of several transfers.
    /// - Returns: The delay until the next attempt; `nil` if the transfer is not running.
    @discardableResult
    package mutating func attemptFailed(_ id: ID, progressed: Bool, at now: Duration, spread: Double) -> Duration? {
        guard var entry = entries[id], entry.isRunning else { return nil }
        entry.isRunning = false
        entry.failureCount = progressed ? 1 : min(entry.failureCount + 1, 32)
        var delay = limits.firstDelay
        for _ in 1..<entry.failureCount where delay < limits.maximumDelay { delay *= 2 }
        delay = min(delay, limits.maximumDelay)
        // One half of the delay is fixed, and the other half is multiplied by a random number from 0 to 1.
        entry.delay = delay * (0.5 + 0.5 * min(max(spread, 0), 1))
        entry.retry = now + entry.delay
        entries[id] = entry
        return entry.delay
    }

    /// Returns the transfers to start now, in order, and counts them as running.
    package mutating func next(at now: Duration) -> [ID] {
        noteClock(now)
        let running = entries.values.count { $0.isRunning && !$0.isSuspended }
        let due = entries.filter { !$0.value.isRunning && !$0.value.isSuspended && dueTime($0.value, at: now) <= now }
            .sorted { ($1.value.priority, $0.key) < ($0.value.priority, $1.key) }
            .prefix(max(limits.running - running, 0)).map(\.key)
        for id in due { entries[id]?.isRunning = true }
        return due
    }

    /// The time at which to call ``next(at:)`` again; `nil` if only another event can change its result.
    package func wakeUp(at now: Duration) -> Duration? {
        entries.values.filter { !$0.isRunning && !$0.isSuspended }.map { dueTime($0, at: now) }.filter { $0 > now }
            .min()
    }

    /// Corrects the back-offs after the clock was set back. No back-off may still last longer than its planned
    /// duration.
    private mutating func noteClock(_ now: Duration) {
        for (id, entry) in entries {
            if let retry = entry.retry, retry - now > entry.delay { entries[id]?.retry = now + entry.delay }
        }
    }

    private func dueTime(_ entry: Entry, at now: Duration) -> Duration {
        max(entry.retry ?? now, entry.beginning ?? now)
    }
}
