package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import Dispatch

/// Runs a ``GroupLifecycle``: joins multicast groups on all suitable interfaces, and sends and receives their
/// datagrams.
///
/// Transitions happen under one lock. One thread at a time performs the resulting actions, in order and with the lock
/// released. All socket operations run on the loop.
package final class GroupDriver: ReadinessHandler {
    package typealias Lifecycle = GroupLifecycle
    package typealias State = Lifecycle.State

    struct Progress: Sendable {
        var lifecycle = Lifecycle()
        var membership: GroupMembership
        var interfaces: GroupInterfaces
        var observer: (any GroupObserver)?
        var delivery: SharedDelivery?
        var hasStarted = false
        var line = ActionLine<Lifecycle.Action>()
        /// Actions that the latest transition has requested. They must still be added to the queue of actions.
        var requested: [Lifecycle.Action] = []
        var sockets: [FamilySocket] = []
        var watch: Watch?
        var inbox = GroupInbox()
        var outbox = GroupOutbox()
    }

    /// The subscriptions to changes of the network.
    struct Watch: Sendable {
        let kernel: NetworkChangeMonitor.Subscription
        /// Also reports changes that come from network managers, such as NetworkManager. `nil` if the program's
        /// settings exclude no interfaces: these changes then do not matter.
        let model: NetworkStateMonitor.Subscription?

        func cancel() {
            kernel.cancel()
            model?.cancel()
        }
    }

    struct FamilySocket: Sendable {
        var family: SocketAddress.Family
        var socket: SharedDatagramSocket
    }

    package let plan: GroupPlan
    package let loop: any EventLoop
    let progress: LockedValue<Progress>
    /// Takes a snapshot of the network; returns `nil` if the kernel does not answer.
    let look: @Sendable () -> NetworkSnapshot?
    /// Returns the network model, which is needed only if the settings exclude interfaces.
    let readModel: @Sendable () -> NetworkModel
    /// Whether a timer is running that will take another network snapshot.
    let isRetryDue = LockedValue(false)

    package init(
        _ plan: GroupPlan, loop: (any EventLoop)? = nil,
        look: @escaping @Sendable () -> NetworkSnapshot? = { try? NetworkSnapshot.current() },
        readModel: @escaping @Sendable () -> NetworkModel = { NetworkStateMonitor.shared.model }
    ) {
        self.plan = plan
        self.loop = loop ?? Engine.nextLoop()
        self.look = look
        self.readModel = readModel
        // Until the first snapshot is taken, no interface is known. So a group with interface restrictions permits
        // none.
        let interfaces = GroupInterfaces(NetworkSnapshot(), for: plan.settings.value)
        let membership = GroupMembership(groups: plan.groups.compactMap(\.group))
        progress = LockedValue(Progress(membership: membership, interfaces: interfaces))
    }

    // MARK: Interface to the program

    package var state: State { progress.withLock { progress in progress.lifecycle.state } }
    package var queue: DispatchQueue? { progress.withLock { progress in progress.delivery }?.queue }
    /// The number of group memberships. Each group counts once for each interface on which it is joined.
    package var membershipCount: Int { progress.withLock { progress in progress.membership.joined.count } }

    /// Starts the group. All callbacks run on `queue`. The driver retains the observer until the group has ended.
    ///
    /// - Parameters:
    ///   - queue: The program's queue.
    ///   - observer: Receives reports and datagrams.
    ///   - mistake: The failure to report at once if the parameters are invalid; otherwise `nil`.
    package func start(on queue: DispatchQueue, observer: any GroupObserver, mistake: Failure? = nil) {
        let delivery = SharedDelivery.on(queue)
        transition { progress in
            guard progress.lifecycle.state == .setup, !progress.hasStarted else { return [] }
            progress.hasStarted = true
            progress.delivery = delivery
            progress.observer = observer
            if let mistake { return progress.lifecycle.startedWithMistake(mistake) }
            return progress.lifecycle.started()
        }
    }

    package func cancel(observer: any GroupObserver) {
        transition { progress in
            let actions = progress.lifecycle.cancelled()
            if !actions.isEmpty { progress.observer = observer }
            return actions
        }
    }

    // MARK: Transitions and their actions

    func transition(_ body: (inout Progress) -> [Lifecycle.Action]) {
        progress.change({ progress in progress.requested = body(&progress) }, perform: perform)
    }

    private func perform(_ action: Lifecycle.Action) {
        switch action {
        // Do not report here. `release()` reports the `cancelled` state and then releases the program's handlers, all
        // in one block. On a concurrent queue, a separate report could run after the handlers' release.
        case .report(.cancelled): break
        case .report(let state): report(state)
        case .open: loop.execute { self.open() }
        case .send: postPump()
        // Close the sockets only on the loop's thread, because the loop may be using them. If another thread closed
        // them, the kernel could reuse a descriptor number, and the loop would then use an unrelated descriptor.
        case .close: if loop.isCurrent { close() } else { loop.execute { self.close() } }
        case .release: release()
        }
    }

    private func report(_ state: State) {
        let (delivery, observer) = progress.withLock { progress in (progress.delivery, progress.observer) }
        guard let observer, let delivery else { return }
        delivery.post(.call { observer.groupChanged(to: state) })
        if case .failed = state {
            // Release the observer, unless the program has cancelled the group meanwhile. In this case, the observer
            // must still get the `cancelled` report.
            progress.withLock { progress in if progress.lifecycle.state != .cancelled { progress.observer = nil } }
        }
    }

    private func release() {
        let (delivery, observer, hasStarted) = progress.withLock { progress in
            (progress.delivery, progress.observer.take(), progress.hasStarted)
        }
        guard let observer else { return }
        let last: @Sendable () -> Void = {
            if hasStarted { observer.groupChanged(to: .cancelled) }
            observer.groupReleased()
        }
        if let delivery { delivery.post(.call(last)) } else { last() }
    }

    /// Leaves the groups, completes unsent messages, and closes the sockets. Then reports that the port is free.
    private func close() {
        let watch = progress.withLock { progress in progress.watch.take() }
        watch?.cancel()
        let (sockets, left, dropped) = progress.withLock { progress in
            defer { progress.sockets = [] }
            progress.inbox.removeAll()
            return (progress.sockets, progress.membership.leaveAll(), progress.takeUnsent())
        }
        // Leave the groups. Connections extracted from the group may keep a socket open, and that socket must receive
        // no more multicast datagrams.
        for membership in left { leave(membership, sockets) }
        answer(dropped)
        closeNext(sockets[...])
    }

    private func closeNext(_ sockets: ArraySlice<FamilySocket>) {
        guard let first = sockets.first else {
            return transition { progress in progress.lifecycle.closed() }
        }
        first.socket.stop { self.closeNext(sockets.dropFirst()) }
    }
}

extension GroupDriver.Progress: SequencedState {
    mutating func queueActions() -> Bool { line.move(&requested) }

    /// The failure for new messages after the group has ended; `nil` before that.
    var refusal: Failure? {
        switch lifecycle.state {
        case .failed(let failure): failure
        case .cancelled: Failure(errno: Errno.cancelled)
        case .setup, .waiting, .ready: nil
        }
    }

    /// Removes all unsent messages and returns them with the failure to report.
    mutating func takeUnsent() -> [(GroupOutbound, Failure?)] {
        let reason = refusal ?? Failure(errno: Errno.cancelled)
        return outbox.removeAll().map { ($0, reason) }
    }
}
