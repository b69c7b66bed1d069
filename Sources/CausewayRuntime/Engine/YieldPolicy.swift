/// When a loop lets those go first whom it has given work.
///
/// The loop wakes for each event, and whoever wakes takes the processor from who runs. On a processor that the loop shares with the
/// threads it works for, it would interrupt them over and over, to bring them little each time. Having given way it finds more at
/// once. Where each has a processor of its own, giving way costs a system call that does nothing.
package struct YieldPolicy {
    /// Smaller batches are not worth the call: there is little more to come.
    private static let minimumEvents = 4
    /// Others than those may be waiting for the processor, and keep it for long. So when it comes back later than the work can
    /// explain, it is not given away again for a while.
    private static let patience = (atAll: Duration.milliseconds(1), anEvent: Duration.microseconds(20))
    private static let pause = Duration.seconds(1)

    private var nextTime = Duration.zero

    package init() {}

    /// Whether to give way at the end of a turn that brought so many events.
    package func isDue(eventCount: Int, at now: Duration) -> Bool {
        eventCount >= Self.minimumEvents && now >= nextTime
    }

    /// The loop gave way, and has the processor again.
    package mutating func note(eventCount: Int, from began: Duration, to end: Duration) {
        if end - began > Self.patience.atAll + Self.patience.anEvent * eventCount { nextTime = end + Self.pause }
    }
}
