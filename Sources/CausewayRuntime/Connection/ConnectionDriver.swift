package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import Dispatch

/// Runs a ``ConnectionLifecycle``: establishes, reports, retries and closes one connection.
///
/// Transitions happen under one lock. One thread at a time performs the resulting actions, in order and with the lock
/// released. If a second thread makes a transition during this time, the first thread also performs the actions of that
/// transition.
package final class ConnectionDriver: FlowOwner {
    package typealias Lifecycle = ConnectionLifecycle
    package typealias State = Lifecycle.State

    /// Where the connection's transport comes from.
    package enum Origin: Sendable {
        indirect case connect(Connector.Target, resolver: any NameResolver = SystemNameResolver())
        /// A socket that a listener has accepted. It is not attached to the flow yet.
        case accepted(CInt)
        indirect case peer(SharedDatagramSocket, SocketAddress)
        /// An accepted socket, or one peer of a shared datagram socket. The flow already uses it as its transport.
        case attached
        /// Invalid parameters or an invalid endpoint: the connection fails when it starts.
        case mistaken(Failure)
    }

    package let flow: Flow
    /// The channel for protocols above the transport; `nil` if there are none. The program's send and receive calls go
    /// through this channel, which stays the same for all attempts to connect.
    package let channel: StackChannel?
    /// The flow, if the program uses it directly. `nil` if protocols run above the flow.
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
        // Close the accepted socket of a connection that was never started, because nothing else closes it.
        switch progress.withLock({ progress in progress.origin }) {
        case .accepted(let fd): Descriptor(adopting: fd).close()
        case .peer(let shared, let peer): if case .setup = state { shared.forget(peer) }
        case .connect, .attached, .mistaken: break
        }
    }

    // MARK: Interface to the program

    package var state: State { progress.withLock { progress in progress.lifecycle.state } }
    package var queue: DispatchQueue? { progress.withLock { progress in progress.delivery }?.queue }
    package var establishment: EstablishmentFacts? {
        progress.withLock { progress in progress.establishments.first?.history.facts }
    }

    /// The history of the latest failed establishment; `nil` if no establishment has failed.
    package var defeat: EstablishmentFacts? {
        progress.withLock { progress in progress.establishments.first?.history.defeat }
    }

    /// Starts the connection. All callbacks run on `queue`; without a queue, the observer is called on any thread.
    ///
    /// The driver retains the observer until the connection has ended.
    package func start(on queue: DispatchQueue?, observer: any ConnectionObserver) {
        start(queue.map { SharedDelivery.on($0) }, observer)
    }

    /// Starts the connection with callbacks on its event loop, which saves a thread switch.
    ///
    /// The callbacks run at the end of an event batch and must not block.
    package func startOnLoop(observer: any ConnectionObserver) { start(SharedDelivery.on(flow.loop), observer) }

    private func start(_ delivery: SharedDelivery?, _ observer: any ConnectionObserver) {
        begin { progress in
            guard progress.lifecycle.state == .setup, progress.startCall == .notMade else { return [] }
            progress.startCall = .returned
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
            // A failed connection has released its observer. Set the observer again, because it must receive the report
            // of `cancelled`.
            if !actions.isEmpty { progress.observer = observer }
            return actions
        }
    }

    /// Whether establishment may wait until the program sends content. If so, the caller must call ``contentCame()``
    /// when there is content to send.
    package var isContentAwaited: Bool { frozen.connectsWithContent }

    /// Records that there is content to send, and starts an establishment that waits for content. If the parameters
    /// allow this, the first packet carries the content.
    package func contentCame() {
        guard isContentAwaited else { return }
        transition { progress in
            defer { progress.firstContent = .present }
            return progress.firstContent == .awaited ? [.establish] : []
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
        let mustPerform = progress.withLock { progress in progress.actions.add(body(&progress)) }
        if mustPerform { performActions() }
    }

    func perform(_ action: Lifecycle.Action) {
        switch action {
        // Do nothing here. `release()` reports `cancelled` and then releases the handlers, both in one call on the
        // queue. If the report were a separate call, a concurrent queue could release the handlers before it.
        case .report(.cancelled): break
        case .report(.ready): reportReady()
        case .report(let state): report(state)
        case .establish: establish()
        case .tryNextEndpoint:
            leavePath()
            leaveEndpoint()
        case .stopEstablishing:
            let (connector, plan) = progress.withLock { progress in
                (progress.takeConnector(), progress.establishments.first?.routes.plan)
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

    /// Attaches the accepted socket, or the datagram peer, to the flow. The peer is connected from the beginning. But
    /// the flow uses its socket only when the program starts the connection.
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
        // Report `cancelled` as soon as everything has been sent. Do not wait for the peer's closing message, because
        // the peer may never send it.
        let left: @Sendable () -> Void = { self.transition { progress in progress.lifecycle.closed() } }
        channel.close(abortively: ending == .abortive, left: left) { self.closeFlow(ending) }
    }

    func closeFlow(_ ending: Lifecycle.Ending) {
        if !flow.close(abortively: ending == .abortive, owner: self) { flowClosed() }
    }
}
