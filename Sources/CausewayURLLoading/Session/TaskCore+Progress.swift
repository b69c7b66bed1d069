internal import Foundation

extension TaskCore: TaskProgress.Target {
    /// The task's progress. It is created at the first access.
    var progress: Progress {
        let made = TaskProgress(of: self)
        let progress = state.withLock { state in
            if let progress = state.progress { return progress }
            state.progress = made
            return made
        }
        if progress === made {
            if state.withLock({ $0.life.state == .completed }) { finishProgress() } else { noteProgress() }
        }
        return progress
    }

    /// Updates the task's progress from its byte counts.
    ///
    /// The completed amount is the number of bytes sent and received. The total amount is the number of bytes that the
    /// task expects to send and receive. If one of the expected numbers is unknown, the progress is indeterminate.
    func noteProgress() {
        guard let (progress, counts) = state.withLock({ state in state.progress.map { ($0, state.counts) } }) else {
            return
        }
        let moved = counts.sent + counts.received
        if counts.expectedToSend >= 0, counts.expectedToReceive > 0 {
            // A server can state any content length, so the sum can overflow.
            let (expected, isTooLarge) = counts.expectedToSend.addingReportingOverflow(counts.expectedToReceive)
            progress.totalUnitCount = max(isTooLarge ? .max : expected, moved)
        }
        progress.completedUnitCount = moved
    }

    /// Marks the progress as finished.
    func finishProgress() {
        guard let progress = state.withLock({ $0.outcome.error == nil ? $0.progress : nil }) else { return }
        let total = max(progress.totalUnitCount, progress.completedUnitCount, 1)
        progress.totalUnitCount = total
        progress.completedUnitCount = total
    }
}
