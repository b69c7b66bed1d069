package import CausewayRuntime
package import CausewaySystem
public import CausewayTypes
public import Dispatch

/// Listens at a local endpoint and passes each incoming connection to the program, which starts it.
///
/// All callbacks run on the queue given to ``start(queue:)``, in order. No callback follows `cancelled`. Cancelling a
/// listener does not affect connections that the program has already received. All members may be used from any thread.
///
/// Counterpart: macOS 10.14, iOS 12.
public final class NWListener: Sendable {
    struct Handlers: Sendable {
        var state: (@Sendable (State) -> Void)?
        var connection: (@Sendable (NWConnection) -> Void)?
        var group: (@Sendable (NWConnectionGroup) -> Void)?
        var registration: (@Sendable (ServiceRegistrationChange) -> Void)?
        var service: Service?
    }

    /// The value of ``newConnectionLimit`` that means no limit.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public static let InfiniteConnectionLimit = Int(UInt32.max)

    /// The parameters given to the initializer.
    public let parameters: NWParameters
    package let driver: ListenerDriver
    let handlers = LockedValue(Handlers())
    private let advertisement = LockedValue<ListenerAdvertisement?>(nil)

    /// Creates a listener for a port; `.any` lets the system choose one.
    ///
    /// Unusable parameters, and a port that is in use, are reported later, by the state `failed`.
    ///
    /// - Throws: `NWError.posix` with `EINVAL` if both `parameters` and `port` specify a local port.
    public init(using parameters: NWParameters, on port: NWEndpoint.Port = .any) throws {
        if port != .any, case .hostPort(_, let local) = parameters.requiredLocalEndpoint, local != .any {
            throw NWError.posix(.EINVAL)
        }
        self.parameters = parameters
        do throws(NWError) {
            driver = ListenerDriver(try parameters.makeListenerSettings(), port: port.rawValue)
        } catch {
            driver = ListenerDriver(
                FrozenSettings(SocketSettings(transport: .tcp)), port: port.rawValue, mistake: Failure(error))
        }
    }

    /// Creates a listener that advertises a service.
    ///
    /// - Throws: Never. Errors are reported by the state `failed`.
    ///
    /// Counterpart: macOS 13, iOS 16.
    public convenience init(service: NWListener.Service, using parameters: NWParameters) throws {
        try self.init(using: parameters)
        self.service = service
    }

    /// Creates a listener for an application service. Application services need Apple's device discovery, so the listener fails with
    /// `ENOTSUP` when started.
    ///
    /// - Throws: Never. Errors are reported by the state `failed`.
    ///
    /// Counterpart: macOS 13, iOS 16.
    public convenience init(
        applicationService name: String, using parameters: NWParameters = .applicationService
    ) throws {
        try self.init(service: Service(applicationService: name), using: parameters)
    }

    /// Creates a listener that uses the sockets opened by the service manager. systemd passes them under the name `key`.
    ///
    /// A unit can have several sockets. The listener uses those of its transport protocol, and ``port`` is the port of
    /// the first one. If there is no such socket, the listener fails with `ENOENT` when started.
    ///
    /// Counterpart: macOS 13, where launchd passes the socket.
    public init(launchdSocketKey key: String, parameters: NWParameters) {
        self.parameters = parameters
        do throws(NWError) {
            let settings = try parameters.makeListenerSettings()
            let kind = settings.value.transport == .udp ? Socket.Kind.datagram : .stream
            let sockets = SocketActivation.takeDescriptors(named: key, kind)
            driver = ListenerDriver(
                settings, port: 0, inherited: sockets, mistake: sockets.isEmpty ? Failure(errno: Errno.noEntry) : nil)
        } catch {
            driver = ListenerDriver(FrozenSettings(SocketSettings(transport: .tcp)), port: 0, mistake: Failure(error))
        }
    }

    /// Creates a listener like ``init(launchdSocketKey:parameters:)``. Never returns `nil`.
    ///
    /// Counterpart: macOS 13; deprecated in macOS 15.
    public convenience init?(launchd key: String, using parameters: NWParameters) {
        self.init(launchdSocketKey: key, parameters: parameters)
    }

    // MARK: Life cycle

    /// Starts the listener. All callbacks run on `queue`. Only the first call has an effect.
    ///
    /// Without a ``newConnectionHandler`` the listener fails with `EINVAL`.
    public func start(queue: DispatchQueue) {
        driver.start(on: queue, observer: self, mistake: handlers.withLock { $0.mistake }.map { Failure($0) })
    }

    /// The queue passed to ``start(queue:)``; `nil` before the start.
    public var queue: DispatchQueue? { driver.queue }

    /// Stops listening. The state `cancelled` is the final callback.
    ///
    /// If this method is called on the listener's queue, ``newConnectionHandler`` is not called again: connections that
    /// wait for the queue are closed.
    public func cancel() { driver.cancel(observer: self) }

    /// The current state. May be read from any thread.
    public var state: State { State(driver.state) }

    /// The local port, available after the listener has become ready. `nil` before that, and for a Unix domain socket.
    public var port: NWEndpoint.Port? {
        guard let address = driver.address, address.family != .unix else { return nil }
        return NWEndpoint.Port(rawValue: address.port)
    }

    /// Maximum number of connections to pass to the program from now on (default: no limit).
    ///
    /// The value decreases by one with each connection. At 0, new connections wait in the kernel's queue until the program raises the
    /// limit.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var newConnectionLimit: Int {
        get { driver.allowance == .max ? Self.InfiniteConnectionLimit : driver.allowance }
        set { driver.allowance = newValue >= Self.InfiniteConnectionLimit ? .max : newValue }
    }
}

extension NWListener {
    /// Called on the listener's queue at each state change.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ newState: NWListener.State) -> Void)? {
        get { handlers.withLock { $0.state } }
        set { update { $0.state = newValue } }
    }

    /// Called on the listener's queue with each new connection. The program starts the connection. Set this before ``start(queue:)``.
    @preconcurrency public var newConnectionHandler: (@Sendable (_ connection: NWConnection) -> Void)? {
        get { handlers.withLock { $0.connection } }
        set { update { $0.connection = newValue } }
    }

    /// The handler for new multiplexed tunnels. Never called: QUIC is not implemented. A listener with only this handler fails with
    /// `.posix(.ENOTSUP)`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    @preconcurrency public var newConnectionGroupHandler: (@Sendable (_ group: NWConnectionGroup) -> Void)? {
        get { handlers.withLock { $0.group } }
        set { update { $0.group = newValue } }
    }

    /// The service to advertise. It can be set, changed and removed (`nil`) at any time.
    ///
    /// If the service cannot be registered, the listener fails. With an invalid service, it already fails at the start,
    /// before it becomes ready. The errors are:
    /// - `kDNSServiceErr_NameConflict` if another host has the name and renaming is not allowed;
    /// - `kDNSServiceErr_BadParam` for an invalid type or name;
    /// - `ENOTSUP` for a domain other than `local`;
    /// - `kDNSServiceErr_ServiceNotRunning` if another program uses port 5353 exclusively.
    public var service: NWListener.Service? {
        get { handlers.withLock { $0.service } }
        set {
            update { $0.service = newValue }
            // If the listener has never advertised a service, there is none to withdraw. So do not start the Bonjour
            // engine.
            if newValue != nil || advertisement.withLock({ $0 != nil }) { advertise(newValue) }
        }
    }

    private func advertise(_ service: Service?) {
        let current = advertisement.withLock { advertisement in
            let current =
                advertisement
                ?? ListenerAdvertisement(
                    failed: { [driver] error in driver.fail(Failure(error)) },
                    { [weak self] change in self?.registered(change) })
            advertisement = current
            return current
        }
        current.change(to: service)
        // Normally, the advertisement begins when the listener becomes ready. If the listener became ready without a
        // service, begin the advertisement now.
        if case .ready = driver.state, let port { current.begin(port: port.rawValue) }
    }

    /// Calls the registration handler on the listener's queue, in order with the state changes.
    ///
    /// During ``run(startsConnections:finishesConnections:_:)`` the listener has no queue. The calling thread then runs
    /// the handler directly. The handler that ``NetworkListener`` sets only passes the change to a task.
    func registered(_ change: ServiceRegistrationChange) {
        let tell: @Sendable () -> Void = { [weak self] in
            guard let self, self.state != .cancelled else { return }
            handlers.withLock { $0.registration }?(change)
        }
        guard let queue else { return tell() }
        SharedDelivery.on(queue).post(.call(tell))
    }

    /// Called on the listener's queue when the service has been registered or withdrawn. A failed registration is reported by the state
    /// `failed` instead.
    @preconcurrency public var serviceRegistrationUpdateHandler:
        (@Sendable (_ change: NWListener.ServiceRegistrationChange) -> Void)?
    {
        get { handlers.withLock { $0.registration } }
        set { update { $0.registration = newValue } }
    }

    private func update(_ body: (inout Handlers) -> Void) {
        // Release the old handlers outside the lock, because they may hold the only reference to one of the program's
        // objects.
        let old = handlers.withLock { handlers in
            let old = handlers
            body(&handlers)
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension NWListener: ListenerObserver {
    package func listenerChanged(to state: ListenerDriver.State) {
        let current = advertisement.withLock { $0 }
        switch state {
        case .ready: if let port { current?.begin(port: port.rawValue) }
        case .failed, .cancelled: current?.end()
        case .setup, .waiting: break
        }
        handlers.withLock { $0.state }?(State(state))
    }

    package func listenerAccepted(_ driver: ConnectionDriver, _ peer: SocketAddress?) {
        // If the handler neither starts nor retains the connection, this scope has its only reference. The connection
        // is then released at the end of this scope, and its socket is closed.
        let connection = NWConnection(driver, destination(of: peer), parameters: parameters)
        handlers.withLock { $0.connection }?(connection)
    }

    package func listenerReleased() {
        update { handlers in handlers = Handlers(service: handlers.service) }
    }

    /// Returns the peer's endpoint. If the peer is a Unix domain socket without a bound path, returns the listener's
    /// own path.
    private func destination(of peer: SocketAddress?) -> NWConnection.Destination {
        guard let peer, peer != .unix(path: "") else { return .init(peer: driver.address ?? .unix(path: "")) }
        return .init(peer: peer)
    }
}

extension NWListener.Handlers {
    fileprivate var mistake: NWError? {
        if service?.applicationService != nil { return .posix(.ENOTSUP) }
        if group != nil, connection == nil { return .posix(.ENOTSUP) }
        guard connection != nil else { return .posix(.EINVAL) }
        // Check the service now, so that a listener with an invalid service fails before it opens a port. Any port
        // number works for this check.
        do throws(NWError) {
            _ = try service?.description(port: 1)
            return nil
        } catch { return error }
    }
}

extension NWListener: CustomDebugStringConvertible {
    /// The local endpoint, or `-` before the listener has one, and the state.
    public var debugDescription: String {
        "[listener on \(driver.address.map { NWEndpoint($0).debugDescription } ?? "-"), \(state)]"
    }
}

extension NWListener.State {
    init(_ state: ListenerDriver.State) {
        switch state {
        case .setup: self = .setup
        case .ready: self = .ready
        case .cancelled: self = .cancelled
        case .waiting(let error): self = .waiting(error.networkError)
        case .failed(let error): self = .failed(error.networkError)
        }
    }
}
