/// Decides when an event loop yields the processor to other threads to which it has passed work.
///
/// A loop wakes for each event, and a waking thread preempts the thread that runs on the processor. A loop that shares
/// a processor with the threads it serves would interrupt them often, each time for little work. During a yield, these
/// threads run and more events arrive, and the loop then handles these events together. If each thread has a separate
/// processor, a yield only costs one system call.
package struct YieldPolicy {
    /// The minimum number of events for which a yield is worth the system call. If the loop woke for a single event,
    /// the program usually waits for each reply before it sends more, so no other event arrives during a yield.
    private static let minimumEvents = 2
    /// The maximum time for the work that other threads get from one iteration of the loop: a fixed time, `atAll`, plus
    /// the time `anEvent` for each event. If the loop gets the processor back later than that after a yield, unrelated
    /// threads have used the processor. Then the loop does not yield again for some time.
    private static let patience = (atAll: Duration.milliseconds(1), anEvent: Duration.microseconds(50))
    /// The shortest and the longest time without yields after the loop got the processor back too late. The time
    /// doubles whenever this happens, and halves whenever the loop gets the processor back in time. So the loop soon
    /// yields again after a single delay, but rarely yields beside a busy process.
    private static let pauses = Duration.milliseconds(4)...Duration.seconds(1)

    private var nextTime = Duration.zero
    private var pause = Self.pauses.lowerBound

    package init() {}

    /// Returns whether the loop should yield the processor after it has handled a batch of `eventCount` events.
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
