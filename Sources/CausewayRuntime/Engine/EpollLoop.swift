internal import CausewayProtocols
package import CausewaySystem
internal import DequeModule
internal import Synchronization

/// An edge-triggered epoll loop on a thread of its own, or on one that is lent to it for good.
///
/// Shared state lies behind one lock, held for a few instructions and never across a call to a handler.
/// Jobs that the loop's own thread submits take no lock at all.
package final class EpollLoop: EventLoop {
    private struct Slot {
        var handler: (any ReadinessHandler)?
        /// Even when free, odd when taken; grows at each change, so that a late event finds that its slot has moved on.
        var generation: UInt32 = 0
    }

    private struct Shared: ~Copyable {
        var slots: [Slot] = []
        var freeSlots: [UInt32] = []
        var timers = TimerHeap<@Sendable () -> Void>()
        var calls: [@Sendable () -> Void] = []
        var jobs: [UnownedJob] = []
        /// Handlers of closed descriptors: they live as long as the batch of events that may name them.
        var retired: [any ReadinessHandler] = []
        var isSleeping = false
        /// When the loop wakes by itself: for the first timer, or for one that was first and has been cancelled since. So a timer that
        /// each connection sets and cancels wakes the loop once in its time, not once for each.
        var wakesAt: Duration?

        /// Whether the caller must wake the loop, once its lock is released.
        mutating func needsWake() -> Bool {
            defer { isSleeping = false }
            return isSleeping
        }
    }

    private let epoll: Epoll
    private let shared = LockedValue(Shared())
    /// Calls, jobs or timers may wait behind the lock. Whoever misses that they have just come finds them under the lock, before
    /// going to sleep.
    private let hasQueued = Atomic(false)
    // SAFETY: touched on the loop's thread only; `isCurrent` is asked first.
    nonisolated(unsafe) private let ownJobs = Ring<UnownedJob>()
    // SAFETY: touched on the loop's thread only.
    nonisolated(unsafe) private let wakeups = DeferredWakeups()
    // SAFETY: written once, before the loop is shared.
    nonisolated(unsafe) private var executorStorage: LoopExecutor?

    /// - Parameter name: Of the loop's thread; without one, the loop waits for ``runHere()``.
    package init(name: String?) throws(SystemError) {
        epoll = try Epoll()
        // The loop's thread never ends, and neither does the loop.
        executorStorage = LoopExecutor { [self] job in submit(job) }
        if let name { try System.startThread(named: name) { [self] in self.run() } }
    }

    /// Makes this thread the loop's.
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
            // Closing begins with giving up the slot: after that the number may be somebody else's. So this one system call is
            // made under the lock.
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

    /// Edges need no arming.
    package func await(_ readiness: Readiness, of registration: Registration) {}

    package func close(_ registration: Registration, _ descriptor: consuming Descriptor) {
        forget(registration.token)
        // Closing removes the descriptor from the set as well.
        descriptor.close()
    }

    private func forget(_ token: UInt64) {
        // The handler's last reference may go: never under the lock.
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

    /// How long nothing will be due; says to others that they must wake the loop. What the turn retired goes, and costs no turn of its own.
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

    /// Who is to be told of an event; `nil` if the descriptor was closed since, by an earlier handler of the same batch for instance.
    /// Whoever will be told next is fetched meanwhile.
    private func handler(of token: UInt64, before next: UInt64?) -> (any ReadinessHandler)? {
        shared.withLock { shared in
            shared.isSleeping = false
            if let next, let handler = shared.slots[Int(next & 0xffff_ffff)].handler { Prefetch.fetch(handler) }
            let index = Int(token & 0xffff_ffff)
            return shared.slots[index].generation == UInt32(token >> 32) ? shared.slots[index].handler : nil
        }
    }

    /// Runs what others have queued, and what is due. The batch of events is over: what it retired goes.
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

    /// Runs what is queued now; jobs that these submit wait for the next turn, so that readiness is never starved.
    private func runOwnJobs(_ executor: UnownedTaskExecutor) {
        for _ in 0..<ownJobs.count {
            guard let job = ownJobs.popFirst() else { return }
            if let next = ownJobs.first { Prefetch.fetch(next) }
            job.runSynchronously(on: executor)
        }
    }
}
