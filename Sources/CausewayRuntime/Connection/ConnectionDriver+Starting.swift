internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import Synchronization

/// When `.ready` is reported: after the program's set-up, together with viability and path.
extension ConnectionDriver {
    /// As ``transition(_:)``, on the program's thread: the loop reports ready once `start` is returning. A program finishes its
    /// set-up after the start, and its queue may be another one.
    func begin(_ body: (inout Progress) -> [Lifecycle.Action]) {
        let mustPerform = progress.withLock { progress -> Bool in
            for action in body(&progress) { progress.actions.append(action) }
            guard !progress.isPerforming, !progress.actions.isEmpty else { return false }
            progress.isPerforming = true
            return true
        }
        guard mustPerform else { return }
        while let action = progress.withLock({ progress in progress.nextAction() }) {
            guard action == .report(.ready), progress.withLock({ progress in progress.delivery != nil }) else {
                perform(action)
                continue
            }
            progress.withLock { progress in progress.isStarting = true }
            flow.loop.execute { self.performBehindStart([action]) }
            // The last thing that is done here: what wakes another thread may cost this one its processor.
            return progress.withLock { progress in progress.isStarting = false }
        }
    }

    private func performBehindStart(_ actions: [Lifecycle.Action]) {
        guard progress.withLock({ progress in progress.isStarting }) else { return performAll(actions) }
        _ = flow.loop.schedule(after: .milliseconds(1)) { self.performBehindStart(actions) }
    }

    /// Performs these, and what comes about meanwhile.
    func performAll(_ first: [Lifecycle.Action]) {
        for (index, action) in first.enumerated() {
            if action == .report(.ready), awaitsModel(behind: Array(first[index...])) { return }
            perform(action)
        }
        while let action = progress.withLock({ progress in progress.nextAction() }) {
            if action == .report(.ready), awaitsModel(behind: [action]) { return }
            perform(action)
        }
    }

    /// What a listener gave is ready as soon as its protocols have agreed and the loop has had a turn.
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

    /// How long ready may wait for a first look at the network: a kernel that cannot be asked must not stop connections.
    private static let modelPatience = Duration.milliseconds(50)

    /// Whether the program has path handlers and the network has not been read yet. Then the actions go on when the monitor has.
    private func awaitsModel(behind actions: [Lifecycle.Action]) -> Bool {
        guard wantsPathReports, NetworkStateMonitor.shared.followed == nil else { return false }
        let isOver = LockedValue(false)
        let goOn: @Sendable () -> Void = {
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { self.performAllNow(actions) }
        }
        let watch = NetworkStateMonitor.shared.subscribe { _ in self.flow.loop.execute(goOn) }
        progress.withLock { progress in
            if progress.establishments.isEmpty { progress.establishments = [Establishment()] }
            progress.establishments[0].watch = watch
        }
        _ = flow.loop.schedule(after: Self.modelPatience, goOn)
        return true
    }

    /// The same without waiting once more.
    private func performAllNow(_ actions: [Lifecycle.Action]) {
        for action in actions { perform(action) }
        progress.withLock { progress in progress.takeWatch() }?.cancel()
        performAll([])
    }
}
