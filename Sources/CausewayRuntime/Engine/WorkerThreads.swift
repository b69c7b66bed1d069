internal import CausewaySystem
internal import DequeModule
internal import Dispatch

/// Threads for computations that take milliseconds, such as evaluating a peer's certificates. On an event loop they
/// would delay all other work.
///
/// At most half of the processors compute at a time, so that others stay free for the event loops. Further work waits
/// in order of arrival. A thread ends after one idle second.
package final class WorkerThreads: Sendable {
    package static let shared = WorkerThreads(limit: max(1, System.processorCount / 2))

    private struct State {
        var threadCount = 0
        var idleCount = 0
        var waiting: Deque<@Sendable () -> Void> = []
    }

    private static let idleTime = DispatchTimeInterval.seconds(1)

    private let limit: Int
    private let state = LockedValue(State())
    private let arrival = DispatchSemaphore(value: 0)

    package init(limit: Int) { self.limit = limit }

    /// Runs `body` on a worker thread. If the system cannot create a thread, runs `body` on the caller's thread before
    /// returning.
    package func run(_ body: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state -> Bool in
            state.waiting.append(body)
            guard state.waiting.count > state.idleCount, state.threadCount < limit else { return false }
            state.threadCount += 1
            return true
        }
        guard mustStart else {
            arrival.signal()
            return
        }
        do throws(SystemError) {
            try System.startThread(named: "causeway-work") { self.work() }
        } catch {
            work(isBorrowed: true)
        }
    }

    /// - Parameter isBorrowed: Whether this is the caller's thread. It runs only the work that is already waiting, then
    ///   returns.
    private func work(isBorrowed: Bool = false) {
        while true {
            while let body = state.withLock({ $0.waiting.popFirst() }) { body() }
            state.withLock { $0.idleCount += 1 }
            let isLate = isBorrowed || arrival.wait(timeout: .now() + Self.idleTime) == .timedOut
            let isOver = state.withLock { state -> Bool in
                state.idleCount -= 1
                guard isLate, state.waiting.isEmpty else { return false }
                state.threadCount -= 1
                return true
            }
            if isOver { return }
        }
    }
}
