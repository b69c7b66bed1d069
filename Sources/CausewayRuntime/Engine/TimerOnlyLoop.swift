internal import CausewayProtocols
package import CausewaySystem
internal import Dispatch

/// A loop for a process without free descriptors. It runs timers, calls and tasks, but ``register(_:for:_:)`` throws.
///
/// Connections on this loop fail with the system error that prevented a normal loop. Without this loop, the process
/// would trap in a lower layer.
package final class TimerOnlyLoop: EventLoop {
    private struct State: ~Copyable {
        var timers = TimerHeap<@Sendable () -> Void>()
        var calls: [@Sendable () -> Void] = []
        var callsAfterBatch: [@Sendable () -> Void] = []
    }

    private let error: SystemError
    private let state = LockedValue(State())
    private let arrival = DispatchSemaphore(value: 0)
    private let storedExecutor = LockedValue<LoopExecutor?>(nil)

    /// - Parameter error: The reason why the loop cannot watch descriptors.
    /// - Throws: The system error if the thread cannot be created.
    package init(name: String, because error: SystemError) throws(SystemError) {
        self.error = error
        // The thread of the loop never ends. The strong references to the loop here are therefore no leak: the loop is
        // never deallocated anyway.
        let executor = LoopExecutor { [self] job in
            execute { job.runSynchronously(on: self.executor.asUnownedTaskExecutor()) }
        }
        storedExecutor.withLock { $0 = executor }
        try System.startThread(named: name) { [self] in run() }
    }

    package var executor: LoopExecutor { storedExecutor.withLock { $0! } }
    package var isCurrent: Bool { ThreadLocal.loop == Unmanaged.passUnretained(self).toOpaque() }
    package var repeatsReports: Bool { true }

    package func register(
        _ fd: CInt, for interest: Readiness, _ handler: any ReadinessHandler
    ) throws(SystemError) -> Registration {
        throw error
    }

    package func update(_ registration: Registration, _ fd: CInt, for interest: Readiness) {}
    package func hand(
        _ registration: Registration, _ fd: CInt, to handler: any ReadinessHandler, for interest: Readiness
    ) {}
    package func await(_ readiness: Readiness, of registration: Registration) {}
    package func close(_ registration: Registration, _ descriptor: consuming Descriptor) { descriptor.close() }

    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID {
        let deadline = System.now + max(delay, .zero)
        let id = state.withLock { state in state.timers.add(at: deadline, body) }
        arrival.signal()
        return TimerID(value: id)
    }

    package func cancel(_ timer: TimerID) {
        let body = state.withLock { state in state.timers.cancel(timer.value) }
        withExtendedLifetime(body) {}
    }

    package func execute(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in state.calls.append(body) }
        arrival.signal()
    }

    package func callAfterBatch(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in state.callsAfterBatch.append(body) }
        arrival.signal()
    }

    private func run() -> Never {
        ThreadLocal.loop = Unmanaged.passUnretained(self).toOpaque()
        while true {
            let (calls, deadline) = state.withLock { state -> ([@Sendable () -> Void], Duration?) in
                let calls = state.calls
                state.calls = []
                return (calls, state.timers.count > 0 ? state.timers.nextDeadline() : nil)
            }
            for call in calls { call() }
            while let body = state.withLock({ state in state.timers.popDue(at: System.now) }) { body() }
            let lastCalls = state.withLock { state -> [@Sendable () -> Void] in
                defer { state.callsAfterBatch = [] }
                return state.callsAfterBatch
            }
            for call in lastCalls { call() }
            guard calls.isEmpty, lastCalls.isEmpty else { continue }
            guard let deadline else {
                arrival.wait()
                continue
            }
            let rest = max(deadline - System.now, .zero).nanoseconds
            _ = arrival.wait(timeout: .now() + .nanoseconds(Int(clamping: rest)))
        }
    }
}
