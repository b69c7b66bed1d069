/// Reports states to the connection's observer.
extension ConnectionDriver {
    /// Reports a state on the program's queue. If there is no queue, reports it at once on this thread.
    func report(_ state: State) {
        let (delivery, observer, startCall) = progress.withLock { progress in
            (progress.delivery, progress.observer, progress.startCall)
        }
        guard let observer else { return }
        if let delivery {
            let mustWait =
                startCall == .inProgress && state == .ready && !delivery.delivery.isOnLoop
                && !delivery.delivery.isDraining
            delivery.post(
                .call {
                    if mustWait { self.awaitStart() }
                    observer.connectionChanged(to: state)
                })
        } else if startCall != .notMade {
            observer.connectionChanged(to: state)
        }
        // After a failure, only the state `cancelled` can follow. So release the observer now. `cancel` gets the
        // observer again for that report.
        if case .failed = state {
            progress.withLock { progress in if !progress.lifecycle.isEnding { progress.observer = nil } }
        }
    }

    func release() {
        let (delivery, observer, hasStarted) = progress.withLock { progress in
            (progress.delivery, progress.observer.take(), progress.startCall != .notMade)
        }
        guard let observer else { return }
        let last: @Sendable () -> Void = {
            if hasStarted { observer.connectionChanged(to: .cancelled) }
            // Release the handlers after the final report, because they may retain objects that the program expects to
            // be deallocated.
            observer.connectionReleased()
        }
        if let delivery { delivery.post(.call(last)) } else { last() }
    }
}
