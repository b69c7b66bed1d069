package import CausewaySystem

/// Takes the readiness of one descriptor, on its loop's thread. It must not block.
package protocol ReadinessHandler: AnyObject, Sendable {
    func ready(for readiness: Readiness)
}

/// A descriptor's place in its loop.
package struct Registration: Hashable, Sendable {
    package let token: UInt64

    package init(token: UInt64) { self.token = token }
}

package struct TimerID: Hashable, Sendable {
    package let value: UInt64

    package init(value: UInt64) { self.value = value }
}

/// One thread's worth of readiness, timers and jobs: the seam behind which epoll and `DispatchSource` stand.
///
/// Every method may be called from any thread. A descriptor that was closed through the loop is never reported again, even
/// if its readiness had already been fetched.
package protocol EventLoop: AnyObject, Sendable {
    /// Reports readiness of `fd` to `handler` at each edge, from now on. The loop retains the handler until ``close(_:_:)``.
    func register(
        _ fd: CInt, for interest: Readiness, _ handler: any ReadinessHandler
    ) throws(SystemError) -> Registration

    /// Changes what is reported; what is ready at that moment is reported again.
    func update(_ registration: Registration, _ fd: CInt, for interest: Readiness)

    /// Gives the descriptor to another handler; what is ready at that moment is reported to it.
    func hand(_ registration: Registration, _ fd: CInt, to handler: any ReadinessHandler, for interest: Readiness)

    /// The last call on the descriptor would have blocked, or moved less than asked for: report the next change.
    func await(_ readiness: Readiness, of registration: Registration)

    /// Whether a change is reported although nobody awaits it.
    var repeatsReports: Bool { get }

    /// Forgets the descriptor and closes it.
    func close(_ registration: Registration, _ descriptor: consuming Descriptor)

    /// The same, and calls `completion` once the descriptor is closed and its address free, on the loop or at once.
    func close(
        _ registration: Registration, _ descriptor: consuming Descriptor, _ completion: @escaping @Sendable () -> Void)

    /// Runs `body` on the loop after `delay`.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID
    func cancel(_ timer: TimerID)

    /// Runs `body` on the loop, after what is queued there.
    func execute(_ body: @escaping @Sendable () -> Void)

    /// Whether the caller is on the loop's thread.
    var isCurrent: Bool { get }

    /// Calls `body` at the end of the batch of events in hand. Only on the loop's thread.
    ///
    /// A body that captures one object alone costs no memory.
    func callAfterBatch(_ body: @escaping @Sendable () -> Void)

    /// Resumes a task that runs elsewhere, at the end of the batch of events in hand or earlier. Only on the loop's thread.
    func resumeAfterBatch(_ task: OffLoopTask)

    /// Runs Swift tasks on the loop.
    var executor: LoopExecutor { get }
}

extension EventLoop {
    package func resumeAfterBatch(_ task: OffLoopTask) { task.resume() }

    /// For loops that close at once.
    package func close(
        _ registration: Registration, _ descriptor: consuming Descriptor, _ completion: @escaping @Sendable () -> Void
    ) {
        close(registration, descriptor)
        completion()
    }
}

/// Runs jobs of Swift tasks on one event loop: prefer it and an await costs no change of thread.
package final class LoopExecutor: TaskExecutor {
    private let submit: @Sendable (UnownedJob) -> Void

    package init(_ submit: @escaping @Sendable (UnownedJob) -> Void) { self.submit = submit }

    package func enqueue(_ job: consuming ExecutorJob) { submit(UnownedJob(job)) }
}
