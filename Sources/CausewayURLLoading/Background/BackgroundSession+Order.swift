internal import Causeway
internal import CausewayProtocols
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Decides the order in which the session's tasks run.
extension BackgroundSession {
    /// The time between two checks of the system load.
    private static let busyInterval = Duration.seconds(60)

    private static var now: Duration { .seconds(Date().timeIntervalSince1970) }

    // MARK: Tasks

    /// Adds a task that the program has started.
    func enqueue(_ core: TaskCore) {
        let options = TransferRecord.Options(core.state.withLock { $0.options })
        state.withLock { state in
            state.cores[core.identifier] = core
            state.queue.add(
                core.identifier, priority: options.priority,
                beginning: options.earliestBegin.map { .seconds(max($0, 0)) })
        }
        noteSuspension(of: core)
    }

    /// Updates a task's state in the session's queue after the task was resumed or suspended.
    func noteSuspension(of core: TaskCore) {
        state.withLock { state in
            // Read the task's state while the session's lock is held. Several threads may call this method at the same
            // time. Because of the lock, the last of these calls uses the latest state.
            state.queue.setSuspended(core.state.withLock { $0.life.state == .suspended }, core.identifier)
        }
        advance()
    }

    /// Moves a task to a new position in the queue after its priority has changed.
    func notePriority(of core: TaskCore) {
        state.withLock { state in state.queue.setPriority(core.priority, core.identifier) }
    }

    /// Schedules a task's next attempt.
    func attemptFailed(_ identifier: Int, progressed: Bool) {
        let now = Self.now
        _ = state.withLock { state in
            state.queue.attemptFailed(identifier, progressed: progressed, at: now, spread: .random(in: 0...1))
        }
        advance()
    }

    /// Removes a completed task.
    func remove(_ identifier: Int) {
        let core = state.withLock { state in
            state.queue.remove(identifier)
            return state.cores.removeValue(forKey: identifier)
        }
        withExtendedLifetime(core) {}
        advance()
    }

    // MARK: Time

    /// Starts the tasks that are due, and sets the timer for the next ones.
    func advance() {
        let now = Self.now
        let waits = waitsForLowLoad(at: now)
        let (cores, timer) = state.withLock { state -> ([TaskCore], Timer?) in
            guard state.access == .active else { return ([], nil) }
            let cores = waits ? [] : state.queue.next(at: now).compactMap { state.cores[$0] }
            let wakeUp = waits && !state.queue.isEmpty ? now + Self.busyInterval : state.queue.wakeUp(at: now)
            guard let next = wakeUp, let core = state.cores.values.first else { return (cores, nil) }
            if let due = state.wakeUp.due, due <= next, due > now { return (cores, nil) }
            state.wakeUp.due = next
            state.wakeUp.number += 1
            return (cores, Timer(number: state.wakeUp.number, wait: next - now, queue: core.session.core.work))
        }
        for core in cores { core.startTransfer() }
        if let timer { start(timer) }
        ensureAgent()
    }

    /// Returns whether a discretionary session must wait, because the system load exceeds the number of processors.
    private func waitsForLowLoad(at now: Duration) -> Bool {
        guard isDiscretionary else { return false }
        let (load, processorCount) = (SystemLoad.average, ProcessInfo.processInfo.activeProcessorCount)
        return state.withLock { $0.wakeUp.busyWait.waits(load: load, processorCount: processorCount, at: now) }
    }

    /// A timer for the session's next check for due tasks. A timer cannot be cancelled, so it has a number. When the
    /// timer fires, the session does nothing unless this number is the current one.
    private struct Timer: Sendable {
        var number: Int
        var wait: Duration
        var queue: DispatchQueue
    }

    private func start(_ timer: Timer) {
        // A wait is limited to 60 s and then calculated again, because the wall clock may have been changed.
        timer.queue.call(after: min(timer.wait, .seconds(60))) { [weak self] in self?.fired(timer.number) }
    }

    private func fired(_ number: Int) {
        let isCurrent = state.withLock { state in
            guard state.wakeUp.number == number else { return false }
            state.wakeUp.due = nil
            return true
        }
        if isCurrent { advance() }
    }
}
