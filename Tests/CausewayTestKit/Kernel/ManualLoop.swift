package import CausewayRuntime
package import CausewaySystem

/// An event loop that a test drives: it has no thread and no descriptor set, and its time is that of its ``clock``.
///
/// A descriptor is ready when the test reports it. Submitted work waits until the test calls ``runUntilIdle()``, and runs on the calling
/// thread.
package final class ManualLoop: EventLoop {
    /// The registration of one descriptor with the loop.
    package struct Watch: Sendable {
        package var fd: CInt
        package var interest: Readiness
        package var handler: any ReadinessHandler
        /// Events requested by ``ManualLoop/await(_:of:)`` since the last report.
        package var awaited: Readiness = []
    }

    private struct State: Sendable {
        var watches: [UInt64: Watch] = [:]
        var lastToken: UInt64 = 0
        var calls: [@Sendable () -> Void] = []
        var jobs: [UnownedJob] = []
        var callsAfterBatch: [@Sendable () -> Void] = []
        var updateCount = 0
        var closedCount = 0
        var turnCount = 0
        var beforeUpdate: (@Sendable () -> Void)?
    }

    package let clock: VirtualClock
    private let state = LockedValue(State())
    // SAFETY: the property is written once, before the loop is shared.
    nonisolated(unsafe) private var executorStorage: LoopExecutor?

    package init(clock: VirtualClock = VirtualClock()) {
        self.clock = clock
        executorStorage = LoopExecutor { [unowned self] job in
            self.state.withLock { state in state.jobs.append(job) }
        }
    }

    package var executor: LoopExecutor { executorStorage! }

    package var repeatsReports: Bool { true }

    package var isCurrent: Bool { ThreadLocal.loop == Unmanaged.passUnretained(self).toOpaque() }

    // MARK: Recorded calls

    package func watch(_ registration: Registration) -> Watch? {
        state.withLock { state in state.watches[registration.token] }
    }

    package var watchCount: Int { state.withLock { state in state.watches.count } }
    /// Number of changes of a descriptor's interest after its registration.
    package var updateCount: Int { state.withLock { state in state.updateCount } }
    package var closedCount: Int { state.withLock { state in state.closedCount } }
    /// Number of iterations of the loop that ran work.
    package var turnCount: Int { state.withLock { state in state.turnCount } }

    // MARK: Driving

    /// Calls `body` when the set of awaited events changes next, before the change takes effect. This simulates a
    /// concurrent thread.
    package func beforeNextUpdate(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in state.beforeUpdate = body }
    }

    /// Simulates a batch of events that reports a descriptor's readiness.
    package func report(_ readiness: Readiness, of registration: Registration) {
        let handler = state.withLock { state -> (any ReadinessHandler)? in
            state.watches[registration.token]?.awaited = []
            return state.watches[registration.token]?.handler
        }
        guard let handler else { return }
        batch { handler.ready(for: readiness) }
    }

    /// Runs `events` on the loop as one batch. Deliveries are dispatched at the end of the batch.
    package func batch(_ events: () -> Void) {
        enter(events)
        endBatch()
    }

    /// Runs the queued work. New work that is queued meanwhile must wait for the next call. Returns whether any work
    /// was queued.
    @discardableResult
    package func turn() -> Bool {
        let (calls, jobs) = state.withLock { state in
            defer { (state.calls, state.jobs) = ([], []) }
            return (state.calls, state.jobs)
        }
        guard !calls.isEmpty || !jobs.isEmpty else { return false }
        state.withLock { state in state.turnCount += 1 }
        enter {
            for call in calls { call() }
            for job in jobs { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
        }
        endBatch()
        return true
    }

    /// Runs turns until no work is queued. Timers do not fire here. To fire them, call ``advance(by:)``.
    package func runUntilIdle() { while turn() {} }

    /// Advances the loop's time. Timers that become due run on the loop.
    package func advance(by duration: Duration) {
        batch { clock.advance(by: duration) }
        runUntilIdle()
    }

    private func enter(_ body: () -> Void) {
        let outer = ThreadLocal.loop
        ThreadLocal.loop = Unmanaged.passUnretained(self).toOpaque()
        defer { ThreadLocal.loop = outer }
        body()
    }

    private func endBatch() {
        let calls = state.withLock { state in
            defer { state.callsAfterBatch = [] }
            return state.callsAfterBatch
        }
        for call in calls { call() }
    }

    // MARK: EventLoop

    package func register(
        _ fd: CInt, for interest: Readiness, _ handler: any ReadinessHandler
    ) throws(SystemError) -> Registration {
        let token = state.withLock { state in
            state.lastToken += 1
            state.watches[state.lastToken] = Watch(fd: fd, interest: interest, handler: handler)
            return state.lastToken
        }
        return Registration(token: token)
    }

    package func update(_ registration: Registration, _ fd: CInt, for interest: Readiness) {
        state.withLock { state in state.beforeUpdate.take() }?()
        state.withLock { state in
            state.updateCount += 1
            state.watches[registration.token]?.interest = interest
        }
    }

    package func hand(
        _ registration: Registration, _ fd: CInt, to handler: any ReadinessHandler, for interest: Readiness
    ) {
        state.withLock { state in
            state.watches[registration.token]?.handler = handler
            state.watches[registration.token]?.interest = interest
        }
    }

    package func await(_ readiness: Readiness, of registration: Registration) {
        state.withLock { state in _ = state.watches[registration.token]?.awaited.insert(readiness) }
    }

    package func close(_ registration: Registration, _ descriptor: consuming Descriptor) {
        let watch = state.withLock { state in
            state.closedCount += 1
            return state.watches.removeValue(forKey: registration.token)
        }
        descriptor.close()
        // The handler's last reference must not be released under the lock.
        withExtendedLifetime(watch) {}
    }

    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID {
        TimerID(value: clock.schedule(after: delay, body).id)
    }

    package func cancel(_ timer: TimerID) { clock.cancel(VirtualClock.Timer(id: timer.value)) }

    package func execute(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in state.calls.append(body) }
    }

    package func callAfterBatch(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in state.callsAfterBatch.append(body) }
    }
}
