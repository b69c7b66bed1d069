package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
internal import CausewayWire
package import Dispatch

/// Listens on one address, or on the sockets that the service manager supplies. Passes each accepted stream connection
/// to the program, and also each new peer that sends datagrams.
package final class ListenerDriver: ReadinessHandler {
    package typealias Lifecycle = ListenerLifecycle
    package typealias State = Lifecycle.State

    /// The maximum number of simultaneous peers of a datagram socket. Without it, forged source addresses could create
    /// any number of peers.
    static let peerLimit = 65_536
    private static let backlog: CInt = 4_096

    struct Progress: Sendable {
        var lifecycle = Lifecycle()
        var observer: (any ListenerObserver)?
        var delivery: SharedDelivery?
        var hasStarted = false
        var line = ActionLine<Lifecycle.Action>()
        /// The actions that the latest state change requests. They have not been added to the action queue yet.
        var requested: [Lifecycle.Action] = []
        /// The open sockets. There are several only if the service manager supplied them.
        var sockets: [ListeningSocket] = []
        /// Whether the listener created its Unix socket file and must remove that file. A file that the service manager
        /// created must stay, because the service manager needs it to start the service again.
        var ownsFile = false
        var address: SocketAddress?
        var admission = Admission()
        /// The subscription that keeps the network model up to date. The listener needs the model to check the
        /// interface of each connection.
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
        /// Whether connections wait in the kernel's backlog, because the limit ``allowance`` is used up. They wait
        /// until the program raises the limit.
        private var hasBacklog = false
        /// Whether a timer is running that will accept connections again. It is set after the system had no descriptor
        /// or no buffer left.
        private var isRetryDue = false

        /// Returns whether the next connection may be accepted. This is `false` if the limit is 0, and the connection
        /// then waits in the kernel's backlog. When the program raises the limit, ``allow(_:)`` tells the caller to
        /// accept it.
        mutating func acceptsNext() -> Bool {
            hasBacklog = allowance == 0
            return !hasBacklog
        }

        mutating func handedOver() {
            // The program may have set `allowance` to 0 while the listener accepted this connection. In that case, do
            // not reduce it further.
            if allowance != .max, allowance > 0 { allowance -= 1 }
        }

        /// Sets how many more connections the listener may pass to the program. Returns `true` if the caller must now
        /// accept connections that wait in the backlog.
        mutating func allow(_ count: Int) -> Bool {
            allowance = max(0, count)
            return hasBacklog && allowance > 0
        }

        /// Returns whether the caller must set the timer that lets the listener accept again. Returns `false` if the
        /// timer is already set. Otherwise, each connection that arrives before the timer fires would set another
        /// timer.
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
    /// Sockets that the service manager (systemd) has passed, and that the listener has not used yet.
    private let inherited: LockedValue<[CInt]>
    let loop: any EventLoop
    let progress = LockedValue(Progress())

    /// - Parameter inherited: The service manager's sockets, which the listener closes later. If there are none, the
    ///   listener opens a socket.
    package init(_ settings: FrozenSettings, port: UInt16, inherited: [CInt] = [], mistake: Failure? = nil) {
        self.inherited = LockedValue(inherited)
        self.settings = settings
        self.port = port
        self.mistake = mistake
        loop = Engine.nextLoop()
    }

    /// An executor that runs Swift tasks on the same event loop that accepts the listener's connections.
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
        // Do not report the state here. `release()` reports the `cancelled` state and then releases the program's
        // handlers, both in one block. On a concurrent queue, a separate report could run after the handlers' release.
        case .report(.cancelled): break
        case .report(let state): report(state)
        case .open: loop.execute { self.open() }
        // Close the socket only on the loop's thread, because the loop may be accepting a connection. Another thread
        // could close it at a bad time: the kernel could reuse the descriptor number, and the loop would then use an
        // unrelated descriptor.
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
            // Release the observer, unless the program has cancelled the listener in the meantime. A cancelled listener
            // must still report `cancelled` to its observer.
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

    /// Listens on the sockets from the service manager. If there are none, opens a socket.
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

    /// Makes the listener use a socket that is already bound.
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
    /// Called when the listener is finished. No other call to the observer follows.
    func listenerReleased()
}
