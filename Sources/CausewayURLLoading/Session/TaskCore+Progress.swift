internal import Foundation

extension TaskCore {
    /// The progress of the task, created at its first use.
    var progress: Progress {
        let made = madeProgress()
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

    private func madeProgress() -> Progress {
        let progress = Progress(totalUnitCount: NSURLSessionTransferSizeUnknown)
        progress.isCancellable = true
        progress.isPausable = true
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.suspend() }
        progress.resumingHandler = { [weak self] in self?.resume() }
        return progress
    }

    /// Updates the progress: bytes that were moved, of those to send and to receive. It is indeterminate while one of them is unknown.
    func noteProgress() {
        guard let (progress, counts) = state.withLock({ state in state.progress.map { ($0, state.counts) } }) else {
            return
        }
        let moved = counts.sent + counts.received
        if counts.expectedToSend >= 0, counts.expectedToReceive > 0 {
            progress.totalUnitCount = max(counts.expectedToSend + counts.expectedToReceive, moved)
        }
        progress.completedUnitCount = moved
    }

    /// Sets the progress to its end.
    func finishProgress() {
        guard let progress = state.withLock({ $0.progress }), state.withLock({ $0.outcome.error == nil }) else {
            return
        }
        let total = max(progress.totalUnitCount, progress.completedUnitCount, 1)
        progress.totalUnitCount = total
        progress.completedUnitCount = total
    }
}
