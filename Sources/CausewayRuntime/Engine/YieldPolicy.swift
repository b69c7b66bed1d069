/// Decides when an event loop yields the processor to the threads that it has given work.
///
/// A loop wakes for each event, and then preempts the running thread. On a shared processor, the loop often interrupts
/// these threads, each time for little work. During a yield, these threads run and more events arrive. The loop then
/// handles these events together. If each thread has a separate processor, a yield only costs one system call.
package struct YieldPolicy {
    /// The minimum number of events for which a yield is worth its system call.
    ///
    /// After a single event, the program usually waits for a reply before it sends more. So no other event arrives
    /// during the yield.
    private static let minimumEvents = 2
    /// The maximum time that other threads need for the work from one iteration of the loop. It is the fixed time
    /// `atAll` plus the time `anEvent` for each event.
    ///
    /// If the loop gets the processor back later than that after a yield, unrelated threads have used the processor.
    /// The loop then does not yield again for some time.
    private static let patience = (atAll: Duration.milliseconds(1), anEvent: Duration.microseconds(50))
    /// The shortest and the longest time for which the loop does not yield after a delay.
    ///
    /// A delay means that the loop gets the processor back too late. Each delay doubles the time, and each yield
    /// without a delay halves it. So the loop soon yields again after a single delay, but rarely yields beside a busy
    /// process.
    private static let pauses = Duration.milliseconds(4)...Duration.seconds(1)

    private var nextTime = Duration.zero
    private var pause = Self.pauses.lowerBound

    package init() {}

    /// Returns whether the loop should yield the processor now, after a batch of `eventCount` events.
    package func isDue(eventCount: Int, at now: Duration) -> Bool {
        eventCount >= Self.minimumEvents && now >= nextTime
    }

    /// Records how long the loop had to wait for the processor after it had yielded the processor. The wait lasted from
    /// `began` to `end`.
    package mutating func note(eventCount: Int, from began: Duration, to end: Duration) {
        guard end - began > Self.patience.atAll + Self.patience.anEvent * eventCount else {
            pause = max(pause / 2, Self.pauses.lowerBound)
            return
        }
        nextTime = end + pause
        pause = min(pause * 2, Self.pauses.upperBound)
    }
}
