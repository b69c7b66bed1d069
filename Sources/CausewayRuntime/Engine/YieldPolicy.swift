/// Decides when a loop yields the processor to the threads it has given work.
///
/// A loop wakes for each event, and a waking thread preempts the running thread. A loop that shares a processor with
/// the threads it serves would interrupt them often, each time for little work. After a yield, more events have
/// arrived, and the loop handles them together. If each thread has its own processor, a yield costs one system call
/// without effect.
package struct YieldPolicy {
    /// The minimum number of events that make a yield worth the system call. If a turn had only a single event, the
    /// program usually waits for each answer, so no other event arrives during a yield.
    private static let minimumEvents = 2
    /// How long the work from one turn can take: `atAll`, plus `anEvent` for each event. If the loop gets the processor
    /// back later than that, unrelated threads have used the processor, and the loop pauses before it yields again.
    private static let patience = (atAll: Duration.milliseconds(1), anEvent: Duration.microseconds(50))
    /// The shortest and longest pause. The pause doubles after each late return and halves after each timely one: after
    /// one disturbance the loop soon yields again, and next to a busy process it rarely yields.
    private static let pauses = Duration.milliseconds(4)...Duration.seconds(1)

    private var nextTime = Duration.zero
    private var pause = Self.pauses.lowerBound

    package init() {}

    /// Returns whether the loop should yield at the end of a turn with `eventCount` events.
    package func isDue(eventCount: Int, at now: Duration) -> Bool {
        eventCount >= Self.minimumEvents && now >= nextTime
    }

    /// Records how long the loop waited for the processor after a yield: from `began` to `end`.
    package mutating func note(eventCount: Int, from began: Duration, to end: Duration) {
        guard end - began > Self.patience.atAll + Self.patience.anEvent * eventCount else {
            pause = max(pause / 2, Self.pauses.lowerBound)
            return
        }
        nextTime = end + pause
        pause = min(pause * 2, Self.pauses.upperBound)
    }
}
