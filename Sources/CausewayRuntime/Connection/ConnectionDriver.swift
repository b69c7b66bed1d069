package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import Dispatch

/// Runs a ``ConnectionLifecycle``: establishes, reports, retries and closes one connection.
///
/// Transitions happen under one lock. Their actions are performed by one thread at a time, in order, with the lock released:
/// whoever makes a transition while somebody performs leaves its actions to that one.
package final class ConnectionDriver: FlowOwner {
    package typealias Lifecycle = ConnectionLifecycle
    package typealias State = Lifecycle.State

    /// What the connection is made of.
    package enum Origin: Sendable {
        indirect case connect(Connector.Target, resolver: any NameResolver = SystemNameResolver())
        /// A socket from a listener, until it is attached.
        case accepted(CInt)
        indirect case peer(SharedDatagramSocket, SocketAddress)
        /// What was accepted has met its flow.
        case attached
        /// Parameters or endpoint that cannot work: the connection fails when it starts.
        case mistaken(Failure)
    }

    struct Progress: Sendable {
        var lifecycle = Lifecycle()
        var origin: Origin
        var observer: (any ConnectionObserver)?
        var delivery: SharedDelivery?
        var hasStarted = false
        /// A thread is in ``start(on:observer:)``.
        var isStarting = false
        /// Content was given to send, and whether establishing waits for some.
        var hasContent = false
        var isHeld = false
        var actions = InlineFirstQueue<Lifecycle.Action>()
        var isPerforming = false
        /// At most one, and none for what a listener accepted: on the heap, where idle connections do not pay for it.
        var establishments: [Establishment] = []
    }

    /// How a connection came about, or is to.
    struct Establishment: Sendable {
        var connector: Connector?
        /// While the connection waits.
        var watch: NetworkStateMonitor.Subscription?
        /// While it is ready and the program wants to hear of its path.
        var pathWatch: NetworkStateMonitor.Subscription?
        /// It failed for want of a way that is there by now, and was tried again at once.
        var wasRetriedAtOnce = false
        var facts: EstablishmentFacts?
        /// How the last try went, if it failed.
        var defeat: EstablishmentFacts?
        var untried: [SocketAddress] = []
        /// The ways, where they have to be found first.
        var plan: RoutePlan?
        /// Which of several ways is taken.
        var route = 0
        /// What the way lives by, where a proxy relays datagrams.
        var association: (any DatagramRelay)?
        /// Why they did not agree with the peer's.
        var disagreement: Failure?
        /// The transport broke, and content waits for the program.
        var isLost = false
        /// When the first chapter began, and how many attempts there were in all.
        var firstStarted: Duration?
        var attemptCount = 0
    }

    package let flow: Flow
    /// The protocols above the transport, if there are any: where requests go. It serves all attempts.
    package let channel: StackChannel?
    /// The flow, where no protocols stand above it.
    package var plainFlow: Flow? { channel == nil ? flow : nil }
    let frozen: FrozenSettings
    package var settings: SocketSettings { frozen.value }
    let progress: LockedValue<Progress>

    package init(
        _ origin: Origin, _ settings: FrozenSettings, flow: Flow? = nil, loop: (any EventLoop)? = nil
    ) {
        frozen = settings
        self.flow =
            flow
            ?? Flow(
                loop: loop ?? Engine.nextLoop(), kind: settings.value.transport == .udp ? .datagram : .stream)
        channel =
            settings.makeLayers == nil
            ? nil : StackChannel(over: self.flow, isDatagram: settings.value.transport == .udp)
        var start = Progress(origin: origin)
        if channel != nil { start.establishments = [Establishment()] }
        progress = LockedValue(start)
    }

    deinit {
        // Never started: nobody else will close what a listener accepted.
        switch progress.withLock({ progress in progress.origin }) {
        case .accepted(let fd): Descriptor(adopting: fd).close()
        case .peer(let shared, let peer): if case .setup = state { shared.forget(peer) }
        case .connect, .attached, .mistaken: break
        }
    }

    // MARK: The program's side

    package var state: State { progress.withLock { progress in progress.lifecycle.state } }
    package var queue: DispatchQueue? { progress.withLock { progress in progress.delivery }?.queue }
    package var establishment: EstablishmentFacts? {
        progress.withLock { progress in progress.establishments.first?.facts }
    }

    /// How the last attempt to establish went, if it failed.
    package var defeat: EstablishmentFacts? {
        progress.withLock { progress in progress.establishments.first?.defeat }
    }

    /// Begins; `queue` takes every callback from now on. Without one, nothing is called back.
    ///
    /// The observer is retained until the connection has ended.
    package func start(on queue: DispatchQueue?, observer: any ConnectionObserver) {
        let delivery = queue.map { SharedDelivery.on($0) }
        begin { progress in
            guard progress.lifecycle.state == .setup, !progress.hasStarted else { return [] }
            progress.hasStarted = true
            progress.delivery = delivery
            progress.observer = observer
            if let delivery { flow.deliver(on: delivery.delivery) }
            switch progress.origin {
            case .connect: return progress.lifecycle.started()
            case .mistaken(let error): return progress.lifecycle.startedWithMistake(error)
            case .accepted, .peer, .attached:
                return progress.lifecycle.startedEstablished()
            }
        }
    }

    package func cancel(_ ending: Lifecycle.Ending, observer: any ConnectionObserver) {
        transition { progress in
            let actions = progress.lifecycle.cancelled(ending)
            // A failed connection has let go of its observer already.
            if !actions.isEmpty { progress.observer = observer }
            return actions
        }
    }

    /// Whether establishing may wait for content: then ``contentCame()`` tells of it.
    package var isContentAwaited: Bool { frozen.connectsWithContent }

    /// Content was given to send: what is to leave with the first packet, if that was allowed.
    package func contentCame() {
        guard isContentAwaited else { return }
        transition { progress in
            progress.hasContent = true
            defer { progress.isHeld = false }
            return progress.isHeld ? [.establish] : []
        }
    }

    package func restart() { transition { progress in progress.lifecycle.retry() } }

    package func cancelCurrentEndpoint() {
        let isDatagram = settings.transport == .udp
        transition { progress in
            progress.lifecycle.endpointCancelled(
                isDatagram: isDatagram, failure: Failure(errno: Errno.connectionAborted))
        }
    }

    // MARK: Events

    package func flowClosed() {
        dropAssociation()
        transition { progress in progress.lifecycle.closed() }
    }

    package func flowDetached(because reason: Failure?) {
        dropAssociation()
        channel?.detach()
        tryNext(reason)
    }

    // MARK: Transitions and their actions

    func transition(_ body: (inout Progress) -> [Lifecycle.Action]) {
        let first = progress.withLock { progress -> [Lifecycle.Action] in
            let actions = body(&progress)
            if !progress.isPerforming, !actions.isEmpty {
                progress.isPerforming = true
                return actions
            }
            for action in actions { progress.actions.append(action) }
            return []
        }
        if !first.isEmpty { performAll(first) }
    }

    func perform(_ action: Lifecycle.Action) {
        switch action {
        // Told with the release: a concurrent queue could otherwise let go of the handlers first.
        case .report(.cancelled): break
        case .report(.ready): reportReady()
        case .report(let state): report(state)
        case .establish: establish()
        case .tryNextEndpoint:
            leavePath()
            leaveEndpoint()
        case .stopEstablishing:
            let (connector, plan) = progress.withLock { progress in
                (progress.takeConnector(), progress.establishments.first?.plan)
            }
            connector?.cancel()
            plan?.cancel()
        case .watchNetwork: awaitNetwork()
        case .stopWatching: progress.withLock { progress in progress.takeWatch() }?.cancel()
        case .accept: acceptPeer()
        case .open:
            attachAccepted()
            flow.begin()
        case .fail(let error):
            leavePath()
            channel?.fail(error)
            flow.fail(error)
        case .close(let ending):
            leavePath()
            close(ending)
        case .release: release()
        }
    }

    func report(_ state: State) {
        let (delivery, observer, hasStarted) = progress.withLock { progress in
            (progress.delivery, progress.observer, progress.hasStarted)
        }
        guard let observer else { return }
        if let delivery {
            delivery.post(.call { observer.connectionChanged(to: state) })
        } else if hasStarted {
            observer.connectionChanged(to: state)
        }
        // Nothing but `cancelled` can follow, and whoever asks for that holds the observer.
        if case .failed = state {
            progress.withLock { progress in if !progress.lifecycle.isEnding { progress.observer = nil } }
        }
    }

    func release() {
        let (delivery, observer, hasStarted) = progress.withLock { progress in
            (progress.delivery, progress.observer.take(), progress.hasStarted)
        }
        guard let observer else { return }
        let last: @Sendable () -> Void = {
            if hasStarted { observer.connectionChanged(to: .cancelled) }
            // After the last report: the program's handlers may hold what it wants to see released.
            observer.connectionReleased()
        }
        if let delivery { delivery.post(.call(last)) } else { last() }
    }

    /// What a listener gave is connected from the start; it meets its flow when the program starts it.
    func attachAccepted() {
        let origin = progress.withLock { progress -> Origin? in
            switch progress.origin {
            case .accepted, .peer:
                defer { progress.origin = .attached }
                return progress.origin
            case .connect, .attached, .mistaken: return nil
            }
        }
        switch origin {
        case .accepted(let fd):
            do throws(SystemError) {
                let registration = try flow.loop.register(fd, for: flow.interest, flow)
                flow.attach(.socket(fd, registration), owner: self)
            } catch {
                Descriptor(adopting: fd).close()
                flowFailed(Failure(errno: error.errno))
            }
        case .peer(let shared, let peer): flow.attach(.peer(shared, peer), owner: self)
        case .connect, .attached, .mistaken, nil: break
        }
    }

    func close(_ ending: Lifecycle.Ending) {
        attachAccepted()
        guard let channel else { return closeFlow(ending) }
        // A peer that stays silent must not delay the last report.
        let left: @Sendable () -> Void = { self.transition { progress in progress.lifecycle.closed() } }
        channel.close(abortively: ending == .abortive, left: left) { self.closeFlow(ending) }
    }

    func closeFlow(_ ending: Lifecycle.Ending) {
        if !flow.close(abortively: ending == .abortive, owner: self) { flowClosed() }
    }
}
