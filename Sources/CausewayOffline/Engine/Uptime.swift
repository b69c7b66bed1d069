internal import CausewaySystem
internal import Foundation

/// The clocks of an engine. Tests replace them.
struct EngineClocks: Sendable {
    /// The time since the start of the clock.
    let uptime: @Sendable () -> Duration
    /// Suspends until an uptime.
    let sleep: @Sendable (Duration) async throws -> Void
    /// Milliseconds since 1970.
    let date: @Sendable () -> Int64

    /// Uses a clock for waits, and the time of the computer for ages.
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

/// Wakes one task, also if it waits only later.
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

    /// Suspends until the signal is raised, and lowers it.
    ///
    /// Cancellation: returns.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // The cancellation handler may have run before the waiter was stored.
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
