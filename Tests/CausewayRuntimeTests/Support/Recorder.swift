import CausewayRuntime
import CausewaySystem

/// Records events from any thread, for tests that wait for them without sleeping.
final class Recorder<Event: Sendable>: Sendable {
    private struct State: Sendable {
        var events: [Event] = []
        var waiters: [(predicate: @Sendable ([Event]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = LockedValue(State())

    var events: [Event] { state.withLock { $0.events } }
    var count: Int { state.withLock { $0.events.count } }

    func note(_ event: Event) {
        let ready = state.withLock { state in
            state.events.append(event)
            let events = state.events
            let ready = state.waiters.filter { $0.predicate(events) }.map(\.continuation)
            state.waiters.removeAll { $0.predicate(events) }
            return ready
        }
        for continuation in ready { continuation.resume() }
    }

    /// Suspends until the recorded events satisfy the predicate. The test needs a time limit, because this may never
    /// happen.
    @discardableResult
    func wait(until predicate: @escaping @Sendable ([Event]) -> Bool) async -> [Event] {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if predicate(state.events) { return true }
                state.waiters.append((predicate, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
        return events
    }

    @discardableResult
    func wait(for count: Int) async -> [Event] { await wait { $0.count >= count } }
}

/// Records each readiness that a loop reports. Runs the test's closure for each report.
final class Probe: ReadinessHandler {
    let reports = Recorder<Readiness>()
    private let body: @Sendable (Readiness) -> Void

    init(_ body: @escaping @Sendable (Readiness) -> Void = { _ in }) { self.body = body }

    func ready(for readiness: Readiness) {
        body(readiness)
        reports.note(readiness)
    }
}

extension EventLoop {
    /// Runs `body` on the loop and returns its result.
    func run<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in execute { continuation.resume(returning: body()) } }
    }

    /// Lets the event loop run several times, so that it has reported all current readiness.
    func takeTurns() async {
        for _ in 0..<4 { await run {} }
    }
}
