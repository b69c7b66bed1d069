package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
internal import CausewayWire
package import Dispatch

/// Listens on one address, or on the sockets of the service manager, and passes each accepted stream connection, and
/// each new datagram peer, to the program.
package final class ListenerDriver: ReadinessHandler {
    package typealias Lifecycle = ListenerLifecycle
    package typealias State = Lifecycle.State

    /// The maximum number of simultaneous peers of a datagram socket. This limits the effect of forged source
    /// addresses.
    static let peerLimit = 65_536
    private static let backlog: CInt = 4_096

    struct Progress: Sendable {
        var lifecycle = Lifecycle()
        var observer: (any ListenerObserver)?
        var delivery: SharedDelivery?
        var hasStarted = false
        var line = ActionLine<Lifecycle.Action>()
        /// The latest transition's actions, which are not in the queue of actions yet.
        var requested: [Lifecycle.Action] = []
        /// The open sockets: several only if they are those of the service manager.
        var sockets: [ListeningSocket] = []
        /// Whether the listener created its Unix socket file, and must remove it. A file that the service manager
        /// created must stay, because the service manager starts the service again through this file.
        var ownsFile = false
        var address: SocketAddress?
        var admission = Admission()
        /// Keeps the network model current while the listener must check each connection's interface.
        var network: NetworkStateMonitor.Subscription?
    }

    enum ListeningSocket: Sendable {
        case stream(CInt, Registration)
        case datagrams(SharedDatagramSocket)
    }

    /// Limits the number of connections that the listener passes to the program.
    struct Admission: Sendable {
        /// The number of connections that the listener may still pass to the program.
        private(set) var allowance = Int.max
        /// Whether connections wait in the kernel's backlog until the program raises the limit (``allowance``).
        private var hasBacklog = false
        /// Whether a timer is set to accept again, because there was no descriptor or buffer left.
        private var isRetryDue = false

        /// Returns whether the next connection may be accepted: `false` if the limit is 0. The connection then waits in
        /// the kernel's backlog. When the program raises the limit, ``allow(_:)`` returns that the caller must accept
        /// this connection.
        mutating func acceptsNext() -> Bool {
            hasBacklog = allowance == 0
            return !hasBacklog
        }

        mutating func handedOver() {
            // The program may have set `allowance` to 0 while this connection was accepted. In that case, do not
            // subtract from it.
            if allowance != .max, allowance > 0 { allowance -= 1 }
        }

        /// Sets the number of connections that the listener may still pass to the program. Returns whether the caller
        /// must accept connections from the backlog.
        mutating func allow(_ count: Int) -> Bool {
            allowance = max(0, count)
            return hasBacklog && allowance > 0
        }

        /// Returns whether the caller must set the timer to accept again; `false` if this timer is already set. Without
        /// this check, each connection that arrives before the timer fires would add another timer.
        mutating func beginsRetry() -> Bool {
            defer { isRetryDue = true }
            return !isRetryDue
        }

        /// Records that the timer to accept again has fired.
        mutating func endRetry() { isRetryDue = false }
    }

    let settings: FrozenSettings
    private let mistake: Failure?
    private let port: UInt16
    /// The sockets of the service manager (systemd) that the listener has not taken yet.
    private let inherited: LockedValue<[CInt]>
    let loop: any EventLoop
    let progress = LockedValue(Progress())

    /// - Parameter inherited: The sockets of the service manager, which the listener closes; if there are none, the
    ///   listener opens one.
    package init(_ settings: FrozenSettings, port: UInt16, inherited: [CInt] = [], mistake: Failure? = nil) {
        self.inherited = LockedValue(inherited)
        self.settings = settings
        self.port = port
        self.mistake = mistake
        loop = Engine.nextLoop()
    }

    /// Runs Swift tasks on the loop that accepts the connections.
    package var executor: LoopExecutor { loop.executor }
    deinit { closeInherited() }

    package var state: State { progress.withLock { progress in progress.lifecycle.state } }
    package var queue: DispatchQueue? { progress.withLock { progress in progress.delivery }?.queue }
    package var address: SocketAddress? { progress.withLock { progress in progress.address } }

    package func start(on queue: DispatchQueue?, observer: any ListenerObserver, mistake late: Failure? = nil) {
        let delivery = queue.map { SharedDelivery.on($0) }
        transition { progress in
            guard progress.lifecycle.state == .setup, !progress.hasStarted else { return [] }
            progress.hasStarted = true
            progress.delivery = delivery
            progress.observer = observer
            if let mistake = late ?? mistake { return progress.lifecycle.startedWithMistake(mistake) }
            return progress.lifecycle.started()
        }
    }

    package func cancel(observer: any ListenerObserver) {
        transition { progress in
            let actions = progress.lifecycle.cancelled()
            if !actions.isEmpty { progress.observer = observer }
            return actions
        }
    }

    /// Fails the listener because of an error outside its socket, for example a failed service registration.
    package func fail(_ failure: Failure) {
        transition { progress in progress.lifecycle.broke(failure) }
    }

    /// The number of connections that the listener may pass to the program from now on.
    package var allowance: Int {
        get { progress.withLock { progress in progress.admission.allowance } }
        set {
            let mustAccept = progress.withLock { progress in progress.admission.allow(newValue) }
            if mustAccept { loop.execute { self.accept() } }
        }
    }

    // MARK: Transitions and their actions

    private func transition(_ body: (inout Progress) -> [Lifecycle.Action]) {
        progress.change({ progress in progress.requested = body(&progress) }, perform: perform)
    }

    private func perform(_ action: Lifecycle.Action) {
        switch action {
        // `release()` reports the `cancelled` state, and then releases the program's handlers, in a single block. On a
        // concurrent queue, a separate report could run after the handlers' release.
        case .report(.cancelled): break
        case .report(let state): report(state)
        case .open: loop.execute { self.open() }
        // Close the socket only on the loop's thread, because the loop may be accepting a connection. If another thread
        // closed the socket, the kernel could reuse the descriptor number, and the loop would then use an unrelated
        // descriptor.
        case .close: if loop.isCurrent { close() } else { loop.execute { self.close() } }
        case .release: release()
        }
    }

    private func release() {
        let (delivery, observer, hasStarted) = progress.withLock { progress in
            (progress.delivery, progress.observer.take(), progress.hasStarted)
        }
        guard let observer else { return }
        let last: @Sendable () -> Void = {
            if hasStarted { observer.listenerChanged(to: .cancelled) }
            observer.listenerReleased()
        }
        if let delivery { delivery.post(.call(last)) } else { last() }
    }

    private func report(_ state: State) {
        let (delivery, observer, hasStarted) = progress.withLock { progress in
            (progress.delivery, progress.observer, progress.hasStarted)
        }
        guard let observer else { return }
        if let delivery {
            delivery.post(.call { observer.listenerChanged(to: state) })
        } else if hasStarted {
            observer.listenerChanged(to: state)
        }
        if case .failed = state {
            // Release the observer. But if the program has cancelled the listener meanwhile, keep the observer, because
            // it must get the `cancelled` report.
            progress.withLock { progress in if progress.lifecycle.state != .cancelled { progress.observer = nil } }
        }
    }

    /// Closes the sockets, and reports when their ports are free.
    private func close() {
        let (sockets, file, network) = progress.withLock { progress in
            defer { progress.sockets = [] }
            return (progress.sockets, progress.ownsFile ? progress.address : nil, progress.network.take())
        }
        network?.cancel()
        closeInherited()
        if case .stream(_, _)? = sockets.first, case .unix(let path) = file, !path.isEmpty, path.utf8.first != 0 {
            LocalPath.remove(path)
        }
        close(sockets[...])
    }

    /// Closes the sockets one after the other, and then reports the end.
    private func close(_ sockets: ArraySlice<ListeningSocket>) {
        switch sockets.first {
        case nil: closed()
        case .datagrams(let datagrams)?: datagrams.stop { self.close(sockets.dropFirst()) }
        case .stream(let fd, let registration)?:
            loop.close(registration, Descriptor(adopting: fd)) { self.close(sockets.dropFirst()) }
        }
    }

    private func closed() { transition { progress in progress.lifecycle.closed() } }

    /// Closes the service manager's sockets if the listener ends before it has taken them. The program may retain the
    /// cancelled listener for a long time, so do not leave this to `deinit`.
    private func closeInherited() { while let fd = takeInherited() { Descriptor(adopting: fd).close() } }

    private func takeInherited() -> CInt? {
        inherited.withLock { inherited in inherited.isEmpty ? nil : inherited.removeFirst() }
    }

    // MARK: On the loop

    private func open() {
        // If the program has cancelled the listener on the loop's thread, `close()` has already run, so do not open the
        // socket.
        guard progress.withLock({ progress in progress.mayOpen }) else { return }
        do throws(SystemError) {
            if settings.value.pathConstraints.excludesInterfaces {
                let network = NetworkStateMonitor.shared.subscribe { _ in }
                progress.withLock { progress in progress.network = network }
            }
            try openSockets()
            transition { progress in progress.lifecycle.opened() }
        } catch {
            transition { progress in progress.lifecycle.broke(Failure(errno: error.errno)) }
        }
    }

    /// Listens on the service manager's sockets. If there are none, opens a socket.
    private func openSockets() throws(SystemError) {
        guard let first = takeInherited() else {
            let descriptor = try settings.value.openListeningSocket(port: port)
            progress.withLock { progress in progress.ownsFile = true }
            return try use(descriptor)
        }
        var next: CInt? = first
        while let fd = next {
            let descriptor = Descriptor(adopting: fd)
            try settings.value.configureInherited(fd)
            try use(descriptor)
            next = takeInherited()
        }
    }

    /// Listens on a bound socket.
    private func use(_ descriptor: consuming Descriptor) throws(SystemError) {
        let address = Socket.localAddress(descriptor.rawValue)
        progress.withLock { progress in progress.address = progress.address ?? address }
        if settings.value.transport == .udp {
            try listenForDatagrams(descriptor, address)
        } else {
            try listen(descriptor)
        }
    }

    private func listen(_ descriptor: consuming Descriptor) throws(SystemError) {
        try Socket.listen(descriptor.rawValue, backlog: Self.backlog)
        let registration = try loop.register(descriptor.rawValue, for: .readable, self)
        let fd = descriptor.release()
        progress.withLock { progress in progress.sockets.append(.stream(fd, registration)) }
    }

    private func listenForDatagrams(_ descriptor: consuming Descriptor, _ address: SocketAddress?) throws(SystemError) {
        let isWildcard = address?.isWildcard ?? true
        let datagrams = try SharedDatagramSocket(
            descriptor, on: loop, tracksSource: isWildcard
        ) { [weak self] socket, flow, peer in self?.handOver(peer: peer, flow, socket, at: address) ?? false }
        progress.withLock { progress in progress.sockets.append(.datagrams(datagrams)) }
    }

    package func ready(for readiness: Readiness) { accept() }
}

extension ListenerDriver.Progress: SequencedState {
    mutating func queueActions() -> Bool { line.move(&requested) }

    fileprivate var mayOpen: Bool {
        switch lifecycle.state {
        case .setup, .waiting: true
        case .ready, .failed, .cancelled: false
        }
    }
}

/// Receives a listener's reports and connections for the program. The methods are called in order on the listener's
/// queue, or on any thread if the listener was started without a queue.
package protocol ListenerObserver: AnyObject, Sendable {
    func listenerChanged(to state: ListenerDriver.State)
    /// - Parameter peer: The peer's address. For a Unix domain socket without a path, the path to which it connected.
    func listenerAccepted(_ connection: ConnectionDriver, _ peer: SocketAddress?)
    /// Called last: after this call, no other method is called.
    func listenerReleased()
}
