internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import Synchronization

/// Delays the report of `.ready` until `start` has returned and the network has been read, so that viability and path are reported with it.
extension ConnectionDriver {
    /// Makes a transition like ``transition(_:)``, for a call of `start` on the program's thread. The loop reports `ready` only after
    /// `start` has returned: a program may finish its set-up after that call, and the reports may arrive on a different queue.
    func begin(_ body: (inout Progress) -> [Lifecycle.Action]) {
        guard progress.withLock({ progress in progress.actions.add(body(&progress)) }) else { return }
        while let action = progress.withLock({ progress in progress.actions.next() }) {
            guard action == .report(.ready), progress.withLock({ progress in progress.delivery != nil }) else {
                perform(action)
                continue
            }
            progress.withLock { progress in progress.isStarting = true }
            flow.loop.execute { self.performBehindStart(action) }
            // Clear the flag last, so that the loop waits: `execute` wakes the loop's thread, which may preempt this thread before `start`
            // returns.
            return progress.withLock { progress in progress.isStarting = false }
        }
    }

    private func performBehindStart(_ action: Lifecycle.Action) {
        guard progress.withLock({ progress in progress.isStarting }) else { return performActions(from: action) }
        _ = flow.loop.schedule(after: .milliseconds(1)) { self.performBehindStart(action) }
    }

    /// Performs `first`, then all queued actions, including those that transitions add in the meantime.
    func performActions(from first: Lifecycle.Action? = nil) {
        var following = first
        while let action = following ?? progress.withLock({ progress in progress.actions.next() }) {
            following = nil
            if action == .report(.ready), awaitsModel(before: action) { return }
            perform(action)
        }
    }

    /// Starts an accepted connection, which is ready when the handshakes of its protocols are complete. Without protocols the connection is
    /// ready in the next turn of the loop, or at once if it has no queue.
    func acceptPeer() {
        if let channel {
            attachAccepted()
            flow.begin()
            progress.withLock { progress in progress.beginAgreement() }
            return beginHandshake(channel)
        }
        let isQueued = progress.withLock { progress in progress.delivery != nil }
        guard isQueued else { return transition { progress in progress.lifecycle.established() } }
        flow.loop.execute { self.transition { progress in progress.lifecycle.established() } }
    }

    func reportReady() {
        attachAccepted()
        report(.ready)
        if wantsPathReports || canMove { followPath() }
        channel?.readyIsTold()
    }

    private var wantsPathReports: Bool { progress.withLock { progress in progress.observer }?.wantsPathReports == true }

    // MARK: The network

    /// Maximum time that the report of `ready` waits until the state of the network is first read. Connections must work even if the kernel
    /// does not answer queries about the network.
    private static let modelPatience = Duration.milliseconds(50)

    /// Returns whether the report of `ready` must wait because the program has path handlers and the network has not been read yet. In that
    /// case `action` and the queued actions are performed when the monitor has read the network, or after ``modelPatience``.
    private func awaitsModel(before action: Lifecycle.Action) -> Bool {
        guard wantsPathReports, NetworkStateMonitor.shared.followed == nil else { return false }
        let isOver = LockedValue(false)
        let goOn: @Sendable () -> Void = {
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { self.performNow(action) }
        }
        let watch = NetworkStateMonitor.shared.subscribe { _ in self.flow.loop.execute(goOn) }
        progress.withLock { progress in
            if progress.establishments.isEmpty { progress.establishments = [Establishment()] }
            progress.establishments[0].watch = watch
        }
        _ = flow.loop.schedule(after: Self.modelPatience, goOn)
        return true
    }

    /// Performs `action` without waiting for the network, then the queued actions.
    private func performNow(_ action: Lifecycle.Action) {
        perform(action)
        progress.withLock { progress in progress.takeWatch() }?.cancel()
        performActions()
    }
}
