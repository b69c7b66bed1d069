internal import CausewaySystem
internal import DequeModule
internal import Dispatch

/// Threads for computations that take milliseconds, such as evaluating a peer's certificates. On an event loop, such a
/// computation would delay all other work.
///
/// The number of threads is at most half the number of processors, so that processors stay free for the event loops.
/// Further work waits in order of arrival. A thread ends after one idle second.
package final class WorkerThreads: Sendable {
    /// Runs a closure on a new thread. Returns whether the thread was created.
    package typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

    package static let shared = WorkerThreads(limit: max(1, System.processorCount / 2))

    private struct State {
        var threadCount = 0
        var idleCount = 0
        var waiting: Deque<@Sendable () -> Void> = []
    }

    /// How a new work item comes to a thread.
    private enum Arrival {
        case startThread
        /// The new work goes to an idle thread, which is woken.
        case wakeThread
        /// All threads are busy. The first thread that becomes free takes the new work.
        case queued
    }

    private static let idleTime = DispatchTimeInterval.seconds(1)

    private let limit: Int
    private let start: Start
    private let state = LockedValue(State())
    private let arrival = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - limit: The maximum number of threads.
    ///   - start: Starts a thread. Tests replace it.
    package init(
        limit: Int,
        start: @escaping Start = { (try? System.startThread(named: "causeway-work", $0)) != nil }
    ) {
        self.limit = limit
        self.start = start
    }

    /// Runs `body` on a worker thread. If no thread runs and the system cannot create one, runs `body` on the caller's
    /// thread before returning.
    package func run(_ body: @escaping @Sendable () -> Void) {
        let result = state.withLock { state -> Arrival in
            state.waiting.append(body)
            if state.waiting.count <= state.idleCount { return .wakeThread }
            guard state.threadCount < limit else { return .queued }
            state.threadCount += 1
            return .startThread
        }
        switch result {
        case .startThread: if !start({ self.work() }) { threadFailed() }
        case .wakeThread: arrival.signal()
        case .queued: break
        }
    }

    /// Called when a thread could not be created.
    ///
    /// If other worker threads run, they take the waiting work. If none runs, this method runs the work that is waiting
    /// now on the caller's thread. It does not run work that is added later: the thread that adds such work tries again
    /// to start a worker thread.
    private func threadFailed() {
        let abandoned = state.withLock { state -> Deque<@Sendable () -> Void> in
            state.threadCount -= 1
            guard state.threadCount == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for body in abandoned { body() }
    }

    private func work() {
        while true {
            while let body = next() { body() }
            let isLate = arrival.wait(timeout: .now() + Self.idleTime) == .timedOut
            let isOver = state.withLock { state -> Bool in
                state.idleCount -= 1
                guard isLate, state.waiting.isEmpty else { return false }
                state.threadCount -= 1
                return true
            }
            if isOver { return }
        }
    }

    /// Removes and returns the work that has waited longest. If no work waits, marks the thread as idle and returns
    /// `nil`.
    ///
    /// Both happen in one critical section. So if work is added after this check, the code that adds it finds the idle
    /// thread and wakes it.
    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if let body = state.waiting.popFirst() { return body }
            state.idleCount += 1
            return nil
        }
    }
}
