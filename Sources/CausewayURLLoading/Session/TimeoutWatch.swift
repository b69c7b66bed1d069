internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Ends tasks of a session when their timeouts expire.
///
/// One timer serves all tasks. It is set to the earliest deadline and checks all tasks when it fires, because deadlines are postponed by
/// progress far more often than they expire.
final class TimeoutWatch: Sendable {
    private struct State {
        var cores: [Int: TaskCore] = [:]
        var timer: (any DispatchSourceTimer)?
        var due: Duration?
    }

    private let queue: DispatchQueue
    private let state: LockedValue<Unchecked<StateBox>>

    /// A class that stores the state, because a timer is not declared `Sendable`.
    private final class StateBox {
        var state = State()
    }

    init(queue: DispatchQueue) {
        self.queue = queue
        state = LockedValue(Unchecked(StateBox()))
    }

    deinit { stop() }

    /// Starts monitoring the timeouts of a task. Call this again when the timeouts continue after a pause.
    func add(_ core: TaskCore) {
        guard let deadline = core.state.withLock({ $0.deadline }) else { return }
        state.withLock { $0.value.state.cores[core.identifier] = core }
        arm(deadline)
    }

    func remove(_ core: TaskCore) {
        let removed = state.withLock { $0.value.state.cores.removeValue(forKey: core.identifier) }
        withExtendedLifetime(removed) {}
    }

    func stop() {
        state.withLock { box in
            box.value.state.timer?.cancel()
            box.value.state.timer = nil
            box.value.state.due = nil
        }
    }

    /// Sets the timer to a deadline if it is earlier than the current one.
    private func arm(_ earliest: Duration) {
        let delay = max(earliest - MonotonicTime.now, .zero)
        state.withLock { box in
            if let due = box.value.state.due, due <= earliest { return }
            box.value.state.due = earliest
            let timer = box.value.state.timer ?? makeTimer()
            box.value.state.timer = timer
            let (seconds, attoseconds) = delay.components
            let wait = Double(seconds) + Double(attoseconds) / 1e18
            timer.schedule(deadline: .now() + min(wait, 1e8), leeway: .milliseconds(5))
        }
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.fire() }
        timer.activate()
        return timer
    }

    private func fire() {
        let cores = state.withLock { box in
            box.value.state.due = nil
            return Array(box.value.state.cores.values)
        }
        let now = MonotonicTime.now
        var next: Duration?
        for core in cores {
            guard let deadline = core.state.withLock({ $0.deadline }) else { continue }
            if deadline <= now {
                core.timedOut(at: now)
            } else {
                next = min(next ?? deadline, deadline)
            }
        }
        if let next { arm(next) }
    }
}
