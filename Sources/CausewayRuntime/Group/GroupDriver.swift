package import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import Dispatch

/// Runs a ``GroupLifecycle``: joins multicast groups wherever it can, and moves datagrams to and from them.
///
/// Transitions happen under one lock; their actions are performed by one thread at a time, in order, with the lock released.
/// Everything that touches the sockets is done on the loop.
package final class GroupDriver: ReadinessHandler {
    package typealias Lifecycle = GroupLifecycle
    package typealias State = Lifecycle.State

    struct Progress: Sendable {
        var lifecycle = Lifecycle()
        var membership: GroupMembership
        var interfaces = GroupInterfaces()
        var observer: (any GroupObserver)?
        var delivery: SharedDelivery?
        var hasStarted = false
        var actions = ActionLine<Lifecycle.Action>()
        var sockets: [FamilySocket] = []
        var watch: NetworkChangeMonitor.Subscription?
        var inbox = GroupInbox()
        var outbox = SendQueue<GroupOutbound>()
        /// The message that is being sent, while it waits for room.
        var passage: GroupTransmission?
        var isPumpPosted = false
        /// When the timer for messages that expire goes off.
        var expiryTime: Duration?
    }

    struct FamilySocket: Sendable {
        var family: SocketAddress.Family
        var socket: SharedDatagramSocket
    }

    package let plan: GroupPlan
    package let loop: any EventLoop
    let progress: LockedValue<Progress>

    package init(_ plan: GroupPlan, loop: (any EventLoop)? = nil) {
        self.plan = plan
        self.loop = loop ?? Engine.nextLoop()
        progress = LockedValue(Progress(membership: GroupMembership(groups: plan.groups.compactMap(\.group))))
    }

    // MARK: The program's side

    package var state: State { progress.withLock { progress in progress.lifecycle.state } }
    package var queue: DispatchQueue? { progress.withLock { progress in progress.delivery }?.queue }
    /// Groups on interfaces, as they are joined now.
    package var membershipCount: Int { progress.withLock { progress in progress.membership.joined.count } }

    /// Begins; `queue` takes every callback from now on. The observer is retained until the group has ended.
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
        let mustPerform = progress.withLock { progress in progress.actions.add(body(&progress)) }
        if mustPerform { performActions() }
    }

    private func performActions() {
        while let action = progress.withLock({ progress in progress.actions.next() }) {
            guard case .close = action else {
                perform(action)
                continue
            }
            // The sockets are used on the loop. Closed elsewhere meanwhile, a number could be somebody else's.
            if loop.isCurrent { close() } else { loop.execute { self.close() } }
            // What follows waits until the port is free.
            return
        }
    }

    private func perform(_ action: Lifecycle.Action) {
        switch action {
        // Told with the release: a concurrent queue could otherwise let go of the handlers first.
        case .report(.cancelled): break
        case .report(let state): report(state)
        case .open: loop.execute { self.open() }
        case .send: postPump()
        case .close: break
        case .release: release()
        }
    }

    private func report(_ state: State) {
        let (delivery, observer) = progress.withLock { progress in (progress.delivery, progress.observer) }
        guard let observer, let delivery else { return }
        delivery.post(.call { observer.groupChanged(to: state) })
        if case .failed = state {
            // Unless the program has asked for the end meanwhile, and is to be told of it.
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

    /// Leaves, answers and closes; then goes on with the actions behind the closing.
    private func close() {
        let watch = progress.withLock { progress in progress.watch.take() }
        watch?.cancel()
        let (sockets, left, dropped) = progress.withLock { progress in
            defer { progress.sockets = [] }
            progress.inbox.removeAll()
            return (progress.sockets, progress.membership.leaveAll(), progress.takeUnsent())
        }
        // A socket lives on with the connections taken out of the group, and must not hear for it any more.
        for membership in left { leave(membership, sockets) }
        answer(dropped)
        closeNext(sockets[...])
    }

    private func closeNext(_ sockets: ArraySlice<FamilySocket>) {
        guard let first = sockets.first else { return performActions() }
        first.socket.stop { self.closeNext(sockets.dropFirst()) }
    }
}

extension GroupDriver.Progress {
    /// Why messages are refused: the group has ended.
    var refusal: Failure? {
        switch lifecycle.state {
        case .failed(let failure): failure
        case .cancelled: Failure(errno: Errno.cancelled)
        case .setup, .waiting, .ready: nil
        }
    }

    /// Everything that was not sent, with the reason.
    mutating func takeUnsent() -> [(GroupOutbound, Failure?)] {
        let reason = refusal ?? Failure(errno: Errno.cancelled)
        let entries = (passage.take().map { [$0.entry] } ?? []) + outbox.removeAll()
        for entry in entries { entry.ticket?.progress = .failed }
        return entries.map { ($0.payload, reason) }
    }
}
