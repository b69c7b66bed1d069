internal import CausewayProtocols
package import CausewaySystem
internal import DequeModule
internal import Synchronization

/// An edge-triggered epoll loop on a thread of its own.
///
/// Shared state lies behind one lock, held for a few instructions and never across a call to a handler.
/// Jobs that the loop's own thread submits take no lock at all.
package final class EpollLoop: EventLoop {
    private struct Slot {
        var handler: (any ReadinessHandler)?
        /// Even when free, odd when taken; grows at each change, so that a late event finds that its slot has moved on.
        var generation: UInt32 = 0
    }

    private struct Report {
        var token: UInt64
        var handler: any ReadinessHandler
        var readiness: Readiness
    }

    private struct Shared: ~Copyable {
        var slots: [Slot] = []
        var freeSlots: [UInt32] = []
        var timers = TimerHeap<@Sendable () -> Void>()
        var calls: [@Sendable () -> Void] = []
        var jobs: [UnownedJob] = []
        var isSleeping = false

        /// Whether the caller must wake the loop, once its lock is released.
        mutating func needsWake() -> Bool {
            defer { isSleeping = false }
            return isSleeping
        }
    }

    private let epoll: Epoll
    private let shared = Guarded(Shared())
    /// Set when a descriptor is forgotten, cleared when a batch of events is resolved.
    private let hasForgotten = Atomic(false)
    // SAFETY: touched on the loop's thread only; `isCurrent` is asked first.
    nonisolated(unsafe) private var ownJobs: [UnownedJob] = []
    // SAFETY: touched on the loop's thread only.
    nonisolated(unsafe) private var deliveries: [Delivery] = []
    // SAFETY: written once, before the loop is shared.
    nonisolated(unsafe) private var executorStorage: LoopExecutor?

    package init(name: String) throws(SystemError) {
        epoll = try Epoll()
        executorStorage = LoopExecutor { [unowned self] job in self.submit(job) }
        try Machine.startThread(named: name) { [self] in self.run() }
    }

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
            hasForgotten.store(true, ordering: .relaxed)
            shared.freeSlots.append(UInt32(index))
            return shared.slots[index].handler.take()
        }
        withExtendedLifetime(handler) {}
    }

    // MARK: Timers, calls and jobs

    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID {
        let deadline = Machine.now + max(delay, .zero)
        let (id, wake) = shared.withLock { shared in
            let earliest = shared.timers.nextDeadline()
            let id = shared.timers.add(at: deadline, body)
            let isEarlier = earliest.map { deadline < $0 } ?? true
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
            return shared.needsWake()
        }
        if wake { epoll.signal() }
    }

    package func dispatchAfterBatch(_ delivery: Delivery) { deliveries.append(delivery) }

    // MARK: The thread

    private func run() {
        ThreadLocal.loop = Unmanaged.passUnretained(self).toOpaque()
        var events = Epoll.EventBuffer()
        var ready: [Report] = []
        ready.reserveCapacity(256)
        while true {
            let count = epoll.wait(into: &events, timeout: sleepTime())
            resolve(count, of: events, into: &ready)
            for report in ready where !isForgotten(report.token) { report.handler.ready(for: report.readiness) }
            ready.removeAll(keepingCapacity: true)
            flushDeliveries()
            runDue()
            runJobs()
            flushDeliveries()
        }
    }

    /// How long nothing will be due; says to others that they must wake the loop.
    private func sleepTime() -> Duration? {
        if !ownJobs.isEmpty { return .zero }
        return shared.withLock { shared -> Duration? in
            guard shared.calls.isEmpty, shared.jobs.isEmpty else { return .zero }
            shared.isSleeping = true
            guard shared.timers.count > 0 else { return nil }
            return shared.timers.nextDeadline().map { $0 - Machine.now }
        }
    }

    /// Retains every handler that the batch names, in one turn of the lock: from then on it does not matter who closes what.
    private func resolve(
        _ count: Int, of events: borrowing Epoll.EventBuffer,
        into ready: inout [Report]
    ) {
        shared.withLock { shared in
            shared.isSleeping = false
            hasForgotten.store(false, ordering: .relaxed)
            for position in 0..<count {
                let (token, readiness) = events[position]
                let slot = shared.slots[Int(token & 0xffff_ffff)]
                guard slot.generation == UInt32(token >> 32), let handler = slot.handler else { continue }
                ready.append(Report(token: token, handler: handler, readiness: readiness))
            }
        }
    }

    /// Whether a descriptor that the batch names was closed since: by an earlier handler of the same batch, for instance.
    private func isForgotten(_ token: UInt64) -> Bool {
        guard hasForgotten.load(ordering: .relaxed) else { return false }
        return shared.withLock { shared in
            shared.slots[Int(token & 0xffff_ffff)].generation != UInt32(token >> 32)
        }
    }

    private func flushDeliveries() {
        guard !deliveries.isEmpty else { return }
        for delivery in deliveries { delivery.dispatch() }
        deliveries.removeAll(keepingCapacity: true)
    }

    private func runDue() {
        let (calls, hasTimers) = shared.withLock { shared in
            let calls = shared.calls
            if !calls.isEmpty { shared.calls = [] }
            return (calls, shared.timers.count > 0)
        }
        for call in calls { call() }
        guard hasTimers else { return }
        let now = Machine.now
        while let body = shared.withLock({ shared in shared.timers.popDue(at: now) }) { body() }
    }

    /// Runs what is queued now; jobs that these submit wait for the next turn, so that readiness is never starved.
    private func runJobs() {
        let jobs = shared.withLock { shared in
            let jobs = shared.jobs
            if !jobs.isEmpty { shared.jobs = [] }
            return jobs
        }
        let executor = executor.asUnownedTaskExecutor()
        for job in jobs { job.runSynchronously(on: executor) }
        let count = ownJobs.count
        for position in 0..<count { ownJobs[position].runSynchronously(on: executor) }
        ownJobs.removeFirst(count)
    }
}
