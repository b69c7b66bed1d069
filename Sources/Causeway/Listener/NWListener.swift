package import CausewayRuntime
package import CausewaySystem
public import CausewayTypes
public import Dispatch

/// Listens at a local endpoint and hands over each connection that arrives, not yet started.
///
/// Every callback comes on the queue given to ``start(queue:)``, in order, `cancelled` last. Cancelling a listener leaves the
/// connections alone that it has handed over.
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

    /// Says that any number of connections may be handed over.
    public static let InfiniteConnectionLimit = Int(UInt32.max)

    /// The parameters given when the listener was made.
    public let parameters: NWParameters
    package let driver: ListenerDriver
    let handlers = LockedValue(Handlers())
    private let advertisement = LockedValue<ListenerAdvertisement?>(nil)

    /// Makes a listener for a port; `.any` lets the system choose one.
    ///
    /// - Throws: `EINVAL` when the parameters name a local endpoint with a port and `port` is given as well.
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

    /// Makes a listener that advertises a service.
    ///
    /// Counterpart: macOS 13, iOS 16.
    public convenience init(service: NWListener.Service, using parameters: NWParameters) throws {
        try self.init(using: parameters)
        self.service = service
    }

    /// Makes a listener for an application service, which needs Apple's device discovery: it fails with `ENOTSUP` when started.
    ///
    /// Counterpart: macOS 13, iOS 16.
    public convenience init(
        applicationService name: String, using parameters: NWParameters = .applicationService
    ) throws {
        try self.init(service: Service(applicationService: name), using: parameters)
    }

    /// Makes a listener from a socket that the service manager has opened: systemd passes it by the name `key`.
    ///
    /// Without such a socket the listener fails with `ENOENT` when it starts.
    ///
    /// Counterpart: macOS 13, where launchd passes the socket.
    public init(launchdSocketKey key: String, parameters: NWParameters) {
        self.parameters = parameters
        do throws(NWError) {
            let settings = try parameters.makeListenerSettings()
            if let descriptor = SocketActivation.takeDescriptor(named: key) {
                driver = ListenerDriver(settings, port: 0, inherited: descriptor)
            } else {
                driver = ListenerDriver(settings, port: 0, mistake: Failure(errno: Errno.noEntry))
            }
        } catch {
            driver = ListenerDriver(FrozenSettings(SocketSettings(transport: .tcp)), port: 0, mistake: Failure(error))
        }
    }

    /// The older spelling of ``init(launchdSocketKey:parameters:)``. `nil` is never returned.
    ///
    /// Counterpart: macOS 13; deprecated in macOS 15.
    public convenience init?(launchd key: String, using parameters: NWParameters) {
        self.init(launchdSocketKey: key, parameters: parameters)
    }

    // MARK: Life

    /// Begins to listen. `queue` takes every callback from now on. Only the first call counts.
    ///
    /// Without a ``newConnectionHandler`` the listener fails with `EINVAL`.
    public func start(queue: DispatchQueue) {
        driver.start(on: queue, observer: self, mistake: handlers.withLock { $0.mistake }.map { Failure($0) })
    }

    /// The queue given to ``start(queue:)``; `nil` before.
    public var queue: DispatchQueue? { driver.queue }

    /// Stops listening; `cancelled` is the last callback.
    public func cancel() { driver.cancel(observer: self) }

    /// The current state. Readable from any thread.
    public var state: State { State(driver.state) }

    /// The port in use once the listener is ready; `nil` before.
    public var port: NWEndpoint.Port? {
        guard let address = driver.address, address.family != .unix else { return nil }
        return NWEndpoint.Port(rawValue: address.port)
    }

    /// How many connections may still be handed over. It counts down; at 0 further ones wait in the system's queue until it is
    /// raised.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var newConnectionLimit: Int {
        get { driver.allowance == .max ? Self.InfiniteConnectionLimit : driver.allowance }
        set { driver.allowance = newValue >= Self.InfiniteConnectionLimit ? .max : newValue }
    }
}

extension NWListener {
    /// Called at each change of state.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ newState: NWListener.State) -> Void)? {
        get { handlers.withLock { $0.state } }
        set { update { $0.state = newValue } }
    }

    /// Called with each new connection, which is not started. Set it before ``start(queue:)``.
    @preconcurrency public var newConnectionHandler: (@Sendable (_ connection: NWConnection) -> Void)? {
        get { handlers.withLock { $0.connection } }
        set { update { $0.connection = newValue } }
    }

    /// Called with each new multiplexed tunnel. No protocol here makes any yet.
    ///
    /// Counterpart: macOS 12, iOS 15.
    @preconcurrency public var newConnectionGroupHandler: (@Sendable (_ group: NWConnectionGroup) -> Void)? {
        get { handlers.withLock { $0.group } }
        set { update { $0.group = newValue } }
    }

    /// The service to advertise, which may be set, changed and taken away at any time.
    ///
    /// One that cannot be makes the listener fail, before it is ready if it is set before the start: with `kDNSServiceErr_NameConflict` where another host has
    /// the name and no other may be chosen, `kDNSServiceErr_BadParam` for a type or a name that is none, `ENOTSUP` for a domain beyond the
    /// link, `kDNSServiceErr_ServiceNotRunning` where another program has port 5353 for itself.
    public var service: NWListener.Service? {
        get { handlers.withLock { $0.service } }
        set {
            update { $0.service = newValue }
            // A listener that advertises nothing has nothing to tell the engine.
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
        // Nothing was there to begin when the listener became ready.
        if case .ready = driver.state, let port { current.begin(port: port.rawValue) }
    }

    /// On the listener's queue, in order with its states. One that tasks serve has none: what it calls there hands the news on.
    func registered(_ change: ServiceRegistrationChange) {
        let tell: @Sendable () -> Void = { [weak self] in self?.handlers.withLock { $0.registration }?(change) }
        guard let queue else { return tell() }
        SharedDelivery.on(queue).post(.call(tell))
    }

    /// Called when the service has been registered or withdrawn. What cannot be registered is told by the state, `failed`.
    @preconcurrency public var serviceRegistrationUpdateHandler:
        (@Sendable (_ change: NWListener.ServiceRegistrationChange) -> Void)?
    {
        get { handlers.withLock { $0.registration } }
        set { update { $0.registration = newValue } }
    }

    private func update(_ body: (inout Handlers) -> Void) {
        // What is replaced may hold the last reference to something of the program's: it is released outside the lock.
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
        // A connection that nobody takes is closed when it goes out of scope here.
        let connection = NWConnection(driver, destination(of: peer), parameters: parameters)
        handlers.withLock { $0.connection }?(connection)
    }

    package func listenerReleased() {
        update { handlers in handlers = Handlers(service: handlers.service) }
    }

    /// A local peer that is bound to no path has an empty one.
    private func destination(of peer: SocketAddress?) -> NWConnection.Destination {
        .init(peer: peer ?? .unix(path: ""))
    }
}

extension NWListener.Handlers {
    fileprivate var mistake: NWError? {
        if service?.applicationService != nil { return .posix(.ENOTSUP) }
        if group != nil, connection == nil { return .posix(.ENOTSUP) }
        guard connection != nil else { return .posix(.EINVAL) }
        // A service that cannot be registered is reported before the listener is ready, before its port is known.
        do throws(NWError) {
            _ = try service?.description(port: 1)
            return nil
        } catch { return error }
    }
}

extension NWListener: CustomDebugStringConvertible {
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
