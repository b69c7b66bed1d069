internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Ends a session's tasks when their timeouts expire.
///
/// One timer serves all tasks. The session already lists its tasks, so this object needs no other table. Progress
/// postpones deadlines far more often than deadlines expire, so a postponed deadline does not change the timer. The
/// timer fires at the earliest deadline that was known when it was set. It then checks all tasks.
final class TimeoutWatch: Sendable {
    private struct State {
        var timer: (any DispatchSourceTimer)?
        var due: Duration?
    }

    private let queue: DispatchQueue
    private let state: LockedValue<Unchecked<StateBox>>

    /// The timer and the other mutable state. A timer is not declared `Sendable`, so ``Unchecked`` wraps the state. The
    /// state is in a class, because the value in ``Unchecked`` is a constant.
    private final class StateBox {
        var state = State()
        weak var session: SessionCore?
    }

    init(queue: DispatchQueue) {
        self.queue = queue
        state = LockedValue(Unchecked(StateBox()))
    }

    deinit { stop() }

    /// Sets the session whose tasks have the timeouts.
    func attach(_ session: SessionCore) { state.withLock { box in box.value.session = session } }

    func stop() {
        state.withLock { box in
            box.value.state.timer?.cancel()
            box.value.state.timer = nil
            box.value.state.due = nil
        }
    }

    /// Sets the timer to a deadline if it is earlier than the current one. Call this when a task's timeouts begin, and when they continue
    /// after a pause.
    func arm(_ earliest: Duration) {
        state.withLock { box in
            if let due = box.value.state.due, due <= earliest { return }
            // If too few descriptors are free, the timer is created in a later call of this method.
            guard let timer = box.value.state.timer ?? makeTimer() else { return }
            box.value.state.due = earliest
            let delay = max(earliest - MonotonicTime.now, .zero)
            box.value.state.timer = timer
            let (seconds, attoseconds) = delay.components
            let wait = Double(seconds) + Double(attoseconds) / 1e18
            timer.schedule(deadline: .now() + min(wait, 1e8), leeway: .milliseconds(5))
        }
    }

    /// Creates the timer; `nil` if Dispatch could not open descriptors for it. The caller holds the lock on the state.
    /// This is acceptable, because the timer is created only once.
    private func makeTimer() -> (any DispatchSourceTimer)? {
        guard (try? System.checkRoomForSource()) != nil else { return nil }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.fire() }
        timer.activate()
        return timer
    }

    private func fire() {
        let session = state.withLock { box in
            box.value.state.due = nil
            return box.value.session
        }
        guard let session else { return }
        let now = MonotonicTime.now
        var next: Duration?
        for core in session.cores {
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
