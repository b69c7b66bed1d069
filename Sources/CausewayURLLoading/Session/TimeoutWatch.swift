internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Ends a session's tasks when their timeouts expire.
///
/// One timer serves all tasks. This object needs no table of tasks, because the session already has one.
///
/// A task's deadline is often postponed, but it rarely expires. So a postponed deadline does not change the timer. The
/// timer fires at the deadline that was the earliest when the timer was set. It then checks all tasks.
final class TimeoutWatch: Sendable {
    private struct State {
        var timer: (any DispatchSourceTimer)?
        var due: Duration?
    }

    private let queue: DispatchQueue
    private let state: LockedValue<Unchecked<StateBox>>

    /// A box for the timer and the other mutable state. The box is needed for ``Unchecked``, because a timer is not
    /// declared `Sendable`. It is a class, because ``Unchecked`` holds its value as a constant.
    private final class StateBox {
        var state = State()
        weak var session: SessionCore?
    }

    init(queue: DispatchQueue) {
        self.queue = queue
        state = LockedValue(Unchecked(StateBox()))
    }

    deinit { stop() }

    /// Sets the session whose tasks this watch observes for timeouts.
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
            // If too few descriptors are free now, a later call of this method creates the timer.
            guard let timer = box.value.state.timer ?? makeTimer() else { return }
            box.value.state.due = earliest
            let delay = max(earliest - MonotonicTime.now, .zero)
            box.value.state.timer = timer
            let (seconds, attoseconds) = delay.components
            let wait = Double(seconds) + Double(attoseconds) / 1e18
            timer.schedule(deadline: .now() + min(wait, 1e8), leeway: .milliseconds(5))
        }
    }

    /// Creates the timer. Returns `nil` if Dispatch could not open file descriptors for the timer.
    ///
    /// The caller holds the state's lock during this call. This is acceptable, because it happens only once.
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
