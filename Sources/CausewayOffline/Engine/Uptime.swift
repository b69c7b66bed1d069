internal import CausewaySystem
internal import Foundation

/// An engine's clocks. Tests replace them.
struct EngineClocks: Sendable {
    /// Returns the time since the engine was created.
    let uptime: @Sendable () -> Duration
    /// Suspends until ``uptime`` has reached the given time. Throws if the task is cancelled.
    let sleep: @Sendable (Duration) async throws -> Void
    /// Returns milliseconds since 1970.
    let date: @Sendable () -> Int64

    /// Uses `clock` to measure waits, and the system time to compute the ages of operations.
    init(
        _ clock: some Clock<Duration>,
        date: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
    ) {
        let start = clock.now
        uptime = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        self.date = date
    }

    var now: ReplayTime { ReplayTime(uptime: uptime(), date: date()) }
}

/// Wakes one task. If no task waits, the next ``wait()`` returns at once.
final class Signal: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = LockedValue(State())

    func raise() {
        let waiter = state.withLock { state in
            state.isRaised = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Suspends until the signal is raised, and then resets the signal. Only one task may wait at a time.
    ///
    /// Cancellation: returns at once.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // Do not suspend if the task has already been cancelled. The cancellation handler has then run
                    // before, and it found no task to resume.
                    guard !state.isRaised, !Task.isCancelled else {
                        state.isRaised = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }

    /// Suspends until the signal is raised or an uptime is reached.
    func wait(until deadline: Duration?, _ clocks: EngineClocks) async {
        guard let deadline else { return await wait() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            group.addTask { try? await clocks.sleep(deadline) }
            await group.next()
            group.cancelAll()
        }
    }
}
