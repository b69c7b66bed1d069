package import CausewaySystem

/// Receives one descriptor's readiness events on its loop's thread. The handler must not block.
package protocol ReadinessHandler: AnyObject, Sendable {
    func ready(for readiness: Readiness)
}

/// Identifies a descriptor in its loop.
package struct Registration: Hashable, Sendable {
    package let token: UInt64

    package init(token: UInt64) { self.token = token }
}

package struct TimerID: Hashable, Sendable {
    package let value: UInt64

    package init(value: UInt64) { self.value = value }
}

/// One thread that waits for descriptors and timers and runs jobs. The backends are epoll and `DispatchSource`.
///
/// Every method may be called from any thread, unless its documentation restricts this. A descriptor that was closed
/// through the loop is never reported again, even if the loop has already fetched an event for that descriptor.
package protocol EventLoop: AnyObject, Sendable {
    /// Begins to report changes of readiness to `handler`: the loop calls it each time when `fd` becomes ready. The
    /// loop retains the handler until ``close(_:_:)``.
    func register(
        _ fd: CInt, for interest: Readiness, _ handler: any ReadinessHandler
    ) throws(SystemError) -> Registration

    /// Changes the reported events. If `fd` is already ready for one of the new events, the loop reports that event
    /// too.
    func update(_ registration: Registration, _ fd: CInt, for interest: Readiness)

    /// Transfers the descriptor to another handler and reports the current readiness to the new handler.
    func hand(_ registration: Registration, _ fd: CInt, to handler: any ReadinessHandler, for interest: Readiness)

    /// Requests the next report for `readiness`. Call this method when a system call on the descriptor could not make
    /// full progress: it returned `EAGAIN`, or it moved fewer bytes than requested.
    func await(_ readiness: Readiness, of registration: Registration)

    /// Whether the loop reports each readiness change without a call to ``await(_:of:)``.
    var repeatsReports: Bool { get }

    /// Removes the descriptor from the loop and closes the descriptor.
    func close(_ registration: Registration, _ descriptor: consuming Descriptor)

    /// Removes the descriptor from the loop and closes it, then calls `completion`, on the loop or before the method
    /// returns. The descriptor's local address is free again when `completion` is called.
    func close(
        _ registration: Registration, _ descriptor: consuming Descriptor, _ completion: @escaping @Sendable () -> Void)

    /// Runs `body` on the loop after `delay`.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID
    func cancel(_ timer: TimerID)

    /// Runs `body` on the loop, after all calls queued earlier.
    func execute(_ body: @escaping @Sendable () -> Void)

    /// Whether the current thread is the loop's thread.
    var isCurrent: Bool { get }

    /// Calls `body` when the current batch of events ends. Call this on the loop's thread only.
    ///
    /// A `body` that captures a single object needs no allocation.
    func callAfterBatch(_ body: @escaping @Sendable () -> Void)

    /// Resumes a suspended task that continues on another thread. The loop may collect such tasks until the current
    /// batch of events ends, and resume them together. Call this method on the loop's thread only.
    func resumeAfterBatch(_ task: OffLoopTask)

    /// An executor that runs Swift tasks on the loop.
    var executor: LoopExecutor { get }
}

extension EventLoop {
    package func resumeAfterBatch(_ task: OffLoopTask) { task.resume() }

    /// Closes the descriptor, then calls `completion` at once. This default is for loops that close a descriptor
    /// without delay.
    package func close(
        _ registration: Registration, _ descriptor: consuming Descriptor, _ completion: @escaping @Sendable () -> Void
    ) {
        close(registration, descriptor)
        completion()
    }
}

/// Runs Swift task jobs on one event loop. A task that prefers this executor resumes on the loop's thread, so no thread
/// switch is necessary after a loop event.
package final class LoopExecutor: TaskExecutor {
    private let submit: @Sendable (UnownedJob) -> Void

    package init(_ submit: @escaping @Sendable (UnownedJob) -> Void) { self.submit = submit }

    package func enqueue(_ job: consuming ExecutorJob) { submit(UnownedJob(job)) }
}
