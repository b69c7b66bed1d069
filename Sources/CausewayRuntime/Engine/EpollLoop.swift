internal import CausewayProtocols
package import CausewaySystem
internal import DequeModule
internal import Synchronization

/// An edge-triggered epoll loop on its own thread, or permanently on a caller's thread.
///
/// One lock protects the shared state. It is held for a few instructions, or for one system call that changes the epoll
/// set, and never while a handler runs. Jobs submitted on the loop's own thread need no lock.
package final class EpollLoop: EventLoop {
    private struct Slot {
        var handler: (any ReadinessHandler)?
        /// Counts the uses of this table slot. The counter increases by one when a descriptor gets the slot, and again
        /// when the descriptor leaves the slot. So the counter is odd while the slot is in use, and even while it is
        /// free.
        ///
        /// An event that arrives late, for an earlier descriptor, has an old counter value. The event therefore does
        /// not reach the descriptor that now uses the slot.
        var generation: UInt32 = 0
    }

    private struct Shared: ~Copyable {
        var slots: [Slot] = []
        var freeSlots: [UInt32] = []
        var timers = TimerHeap<@Sendable () -> Void>()
        var calls: [@Sendable () -> Void] = []
        var jobs: [UnownedJob] = []
        /// Handlers of closed descriptors. They are retained until the current batch of events ends, because events in
        /// the batch may refer to them.
        var retired: [any ReadinessHandler] = []
        var isSleeping = false
        /// The time at which the current or next sleep ends if no other thread wakes the loop. This is the first
        /// timer's deadline. It stays the same if that timer is cancelled. So if connections often set and cancel
        /// timers, the loop wakes once per timeout interval, not once for each timer.
        var wakesAt: Duration?

        /// Returns whether the caller must wake the loop. The caller must first release the lock.
        mutating func needsWake() -> Bool {
            defer { isSleeping = false }
            return isSleeping
        }
    }

    private let epoll: Epoll
    private let shared = LockedValue(Shared())
    /// Whether the shared state may contain queued calls, jobs or timers.
    ///
    /// The loop checks this flag without the lock, so it can miss a change. It still finds the work, because it takes
    /// the lock before it sleeps.
    private let hasQueued = Atomic(false)
    // SAFETY: only the loop's thread accesses this property; callers check `isCurrent` first.
    nonisolated(unsafe) private let ownJobs = Ring<UnownedJob>()
    // SAFETY: used only on the thread of the loop.
    nonisolated(unsafe) private let wakeups = DeferredWakeups()
    // SAFETY: written once, before the loop is shared.
    nonisolated(unsafe) private var executorStorage: LoopExecutor?

    /// - Parameter name: The thread's name; if `nil`, the loop starts with ``runHere()``.
    package init(name: String?) throws(SystemError) {
        epoll = try Epoll()
        // The loop's thread never ends, so the loop is never deallocated.
        executorStorage = LoopExecutor { [self] job in submit(job) }
        if let name { try System.startThread(named: name) { [self] in self.run() } }
    }

    /// Runs the loop on the current thread.
    package func runHere() -> Never { run() }

    package var executor: LoopExecutor { executorStorage! }

    package var isCurrent: Bool { ThreadLocal.loop == Unmanaged.passUnretained(self).toOpaque() }

    // MARK: Descriptors

    package func register(
        _ fd: CInt, for interest: Readiness, _ handler: any ReadinessHandler
    ) throws(SystemError) -> Registration {
        let token = shared.withLock { shared in
            let index = shared.freeSlots.popLast() ?? UInt32(shared.slots.count)
            if Int(index) == shared.slots.count { shared.slots.append(Slot()) }
            shared.slots[Int(index)].handler = handler
            shared.slots[Int(index)].generation &+= 1
            return UInt64(shared.slots[Int(index)].generation) << 32 | UInt64(index)
        }
        do {
            try epoll.add(fd, token: token, interest)
        } catch {
            forget(token)
            throw error
        }
        return Registration(token: token)
    }

    package func update(_ registration: Registration, _ fd: CInt, for interest: Readiness) {
        shared.withLock { shared in
            // Hold the lock during this system call. Without it, `close` could release the table entry first, and the
            // kernel could give the descriptor number to another file. The call would then change the events of that
            // file.
            guard shared.slots[Int(registration.token & 0xffff_ffff)].generation == UInt32(registration.token >> 32)
            else { return }
            try? epoll.modify(fd, token: registration.token, interest)
        }
    }

    package func hand(
        _ registration: Registration, _ fd: CInt, to handler: any ReadinessHandler, for interest: Readiness
    ) {
        let old = shared.withLock { shared -> (any ReadinessHandler)? in
            let index = Int(registration.token & 0xffff_ffff)
            guard shared.slots[index].generation == UInt32(registration.token >> 32) else { return nil }
            defer { shared.slots[index].handler = handler }
            return shared.slots[index].handler
        }
        withExtendedLifetime(old) {}
        update(registration, fd, for: interest)
    }

    package var repeatsReports: Bool { true }

    /// Does nothing. This loop uses edge-triggered events, so it reports every change without such a request.
    package func await(_ readiness: Readiness, of registration: Registration) {}

    package func close(_ registration: Registration, _ descriptor: consuming Descriptor) {
        forget(registration.token)
        // When the descriptor is closed, the kernel also removes it from the epoll set.
        descriptor.close()
    }

    private func forget(_ token: UInt64) {
        // Release the handler outside the lock, because this reference may be the last one. The handler's deinitializer
        // may then call the loop, which takes the lock.
        let handler = shared.withLock { shared -> (any ReadinessHandler)? in
            let index = Int(token & 0xffff_ffff)
            guard shared.slots[index].generation == UInt32(token >> 32) else { return nil }
            shared.slots[index].generation &+= 1
            shared.freeSlots.append(UInt32(index))
            let handler = shared.slots[index].handler.take()
            guard !shared.isSleeping, let handler else { return handler }
            shared.retired.append(handler)
            hasQueued.store(true, ordering: .relaxed)
            return nil
        }
        withExtendedLifetime(handler) {}
    }

    // MARK: Timers, calls and jobs

    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID {
        let deadline = System.now + max(delay, .zero)
        let (id, wake) = shared.withLock { shared in
            let id = shared.timers.add(at: deadline, body)
            hasQueued.store(true, ordering: .relaxed)
            let isEarlier = shared.wakesAt.map { deadline < $0 } ?? true
            return (id, isEarlier ? shared.needsWake() : false)
        }
        if wake { epoll.signal() }
        return TimerID(value: id)
    }

    package func cancel(_ timer: TimerID) {
        let body = shared.withLock { shared in shared.timers.cancel(timer.value) }
        withExtendedLifetime(body) {}
    }

    package func execute(_ body: @escaping @Sendable () -> Void) {
        let wake = shared.withLock { shared in
            shared.calls.append(body)
            hasQueued.store(true, ordering: .relaxed)
            return shared.needsWake()
        }
        if wake { epoll.signal() }
    }

    private func submit(_ job: UnownedJob) {
        if isCurrent {
            ownJobs.append(job)
            return
        }
        let wake = shared.withLock { shared in
            shared.jobs.append(job)
            hasQueued.store(true, ordering: .relaxed)
            return shared.needsWake()
        }
        if wake { epoll.signal() }
    }

    package func callAfterBatch(_ body: @escaping @Sendable () -> Void) { wakeups.add(body) }

    package func resumeAfterBatch(_ task: OffLoopTask) { wakeups.add(task) }

    // MARK: The thread

    private func run() -> Never {
        ThreadLocal.loop = Unmanaged.passUnretained(self).toOpaque()
        let executor = executor.asUnownedTaskExecutor()
        var events = Epoll.EventBuffer()
        while true {
            let count = epoll.wait(into: &events, timeout: sleepTime())
            for position in 0..<count {
                let (token, readiness) = events[position]
                let next = position + 1 < count ? events[position + 1].token : nil
                handler(of: token, before: next)?.ready(for: readiness)
            }
            wakeups.flush()
            if hasQueued.load(ordering: .relaxed) { runQueued(executor) }
            runOwnJobs(executor)
            wakeups.flush()
            wakeups.endTurn(eventCount: count)
        }
    }

    /// Returns how long the loop may sleep, and marks the loop as sleeping, so that other threads wake it.
    ///
    /// The loop may sleep until the next timer, or without a limit (`nil`). It may not sleep if work is waiting. This
    /// method also releases the handlers of closed descriptors, so that the loop needs no extra iteration for this.
    private func sleepTime() -> Duration? {
        if ownJobs.count > 0 { return .zero }
        var retired: [any ReadinessHandler] = []
        defer { withExtendedLifetime(retired) {} }
        return shared.withLock { shared -> Duration? in
            if !shared.retired.isEmpty { swap(&retired, &shared.retired) }
            guard shared.calls.isEmpty, shared.jobs.isEmpty else { return .zero }
            shared.isSleeping = true
            let first = shared.timers.count > 0 ? shared.timers.nextDeadline() : nil
            guard first != nil || shared.wakesAt != nil else { return nil }
            let now = System.now
            if let wakesAt = shared.wakesAt, wakesAt > now {
                shared.wakesAt = min(first ?? wakesAt, wakesAt)
            } else {
                shared.wakesAt = first
            }
            return shared.wakesAt.map { $0 - now }
        }
    }

    /// Returns an event's handler; `nil` if the descriptor was closed after the event was fetched, for example by an
    /// earlier handler in the same batch. Also prefetches the next event's handler.
    private func handler(of token: UInt64, before next: UInt64?) -> (any ReadinessHandler)? {
        shared.withLock { shared in
            shared.isSleeping = false
            if let next, let handler = shared.slots[Int(next & 0xffff_ffff)].handler { Prefetch.fetch(handler) }
            let index = Int(token & 0xffff_ffff)
            return shared.slots[index].generation == UInt32(token >> 32) ? shared.slots[index].handler : nil
        }
    }

    /// Runs the queued calls, then the timers that are due, then the jobs that other threads have queued.
    ///
    /// Also releases the handlers whose descriptors were closed during the current batch of events.
    private func runQueued(_ executor: UnownedTaskExecutor) {
        let (calls, jobs, retired, hasTimers) = shared.withLock { shared in
            let (calls, jobs, retired) = (shared.calls, shared.jobs, shared.retired)
            if !calls.isEmpty { shared.calls = [] }
            if !jobs.isEmpty { shared.jobs = [] }
            if !retired.isEmpty { shared.retired = [] }
            let hasTimers = shared.timers.count > 0
            shared.isSleeping = false
            hasQueued.store(hasTimers, ordering: .relaxed)
            return (calls, jobs, retired, hasTimers)
        }
        withExtendedLifetime(retired) {}
        for call in calls { call() }
        if hasTimers {
            let now = System.now
            while let body = shared.withLock({ shared in shared.timers.popDue(at: now) }) { body() }
        }
        for job in jobs { job.runSynchronously(on: executor) }
    }

    /// Runs the jobs that are queued now. Jobs that they submit run in the loop's next iteration, after new readiness
    /// events. So jobs cannot starve the events.
    private func runOwnJobs(_ executor: UnownedTaskExecutor) {
        for _ in 0..<ownJobs.count {
            guard let job = ownJobs.popFirst() else { return }
            if let next = ownJobs.first { Prefetch.fetch(next) }
            job.runSynchronously(on: executor)
        }
    }
}
