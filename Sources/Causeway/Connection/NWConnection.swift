package import CausewayProtocols
package import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
public import Dispatch

/// A bidirectional connection to one endpoint.
///
/// The connection resolves the endpoint, tries its addresses, waits if there is no path, and reports each step to ``stateUpdateHandler``.
/// No call blocks. All callbacks run on the queue given to ``start(queue:)``, in order. No callback follows
/// `cancelled`. A started connection stays alive until it is cancelled or has failed.
///
/// Counterpart: macOS 10.14, iOS 12.
public final class NWConnection: Sendable {
    /// The program's handlers. They are allocated only when the program sets a handler. The connections of a task-based
    /// server have no handlers.
    struct Handlers: Sendable {
        var state: (@Sendable (State) -> Void)?
        var viability: (@Sendable (Bool) -> Void)?
        var betterPath: (@Sendable (Bool) -> Void)?
        var path: (@Sendable (NWPath) -> Void)?
        /// Called when all resources are released. No other handler is called afterwards.
        var released: [@Sendable () -> Void] = []
    }

    /// The endpoint passed to the initializer; for an accepted connection, the peer's address.
    public var endpoint: NWEndpoint { destination.endpoint }
    private let destination: Destination
    /// The parameters passed to the initializer; for an accepted connection, the listener's parameters.
    public let parameters: NWParameters
    package let driver: ConnectionDriver
    /// The program's handlers, in an array that needs no memory while it is empty. The array has one element after the
    /// program has set a handler. `nil` after the handlers were released.
    private let storedHandlers = LockedValue<[Handlers]?>([])

    /// Creates a connection to an endpoint. It does nothing before ``start(queue:)``.
    public init(to endpoint: NWEndpoint, using parameters: NWParameters) {
        destination = .endpoint(endpoint)
        self.parameters = parameters
        do throws(NWError) {
            driver = ConnectionDriver(
                try .connecting(to: endpoint), try parameters.makeConnectionSettings(to: endpoint, scripts: .shared))
        } catch {
            driver = ConnectionDriver(.mistaken(Failure(error)), FrozenSettings(SocketSettings(transport: .tcp)))
        }
    }

    /// Creates a connection to a host and port. It does nothing before ``start(queue:)``.
    public convenience init(host: NWEndpoint.Host, port: NWEndpoint.Port, using parameters: NWParameters) {
        self.init(to: .hostPort(host: host, port: port), using: parameters)
    }

    /// Creates a connection for an existing driver, the object that runs a connection. A listener or a group supplies
    /// the driver.
    init(_ driver: ConnectionDriver, _ destination: Destination, parameters: NWParameters) {
        self.destination = destination
        self.parameters = parameters
        self.driver = driver
    }

    // MARK: Life cycle

    /// Starts to establish the connection. All callbacks run on `queue`. Later calls have no effect.
    public func start(queue: DispatchQueue) { driver.start(on: queue, observer: self) }

    /// The queue passed to ``start(queue:)``; `nil` before the start.
    public var queue: DispatchQueue? { driver.queue }

    /// Ends the connection gracefully. Pending receive calls complete with `ECANCELED`, the transport closes, and the
    /// report of the state `cancelled` is the final callback. Later calls have no effect.
    ///
    /// The kernel still sends the content that it has accepted. Protocols above the transport, such as TLS and
    /// WebSocket, first send the queued content, for at most two seconds. All other content is lost, and its send calls
    /// complete with `ECANCELED`.
    public func cancel() { driver.cancel(.graceful, observer: self) }

    /// Ends the connection at once: TCP sends a reset.
    public func forceCancel() { driver.cancel(.abortive, observer: self) }

    /// Abandons the current address and continues with the next address. If there is no other address, the connection
    /// waits.
    ///
    /// A TCP connection that is ready cannot continue: it fails with `ECONNABORTED`.
    public func cancelCurrentEndpoint() { driver.cancelCurrentEndpoint() }

    /// Tries again immediately to establish the connection. Has an effect only on a waiting connection.
    public func restart() { driver.restart() }

    /// The current state. Readable from any thread.
    public var state: State { State(driver.state) }
}

extension NWConnection {
    /// Called at each state change. Set it before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ state: NWConnection.State) -> Void)? {
        get { handlers.state }
        set { update { $0.state = newValue } }
    }

    /// Called with `true` when the connection is ready and packets can flow, and with the new value at each change.
    /// Packets cannot flow (`false`) while the connection's local address, its interface or all routes are missing.
    ///
    /// If the interface gets a different address, a stream fails with `ECONNABORTED` after two seconds, unless the old
    /// address comes back. A UDP connection instead moves to another address, if there is one, and stays viable.
    @preconcurrency public var viabilityUpdateHandler: (@Sendable (_ newIsViable: Bool) -> Void)? {
        get { handlers.viability }
        set {
            update { $0.viability = newValue }
            followPath(newValue != nil)
        }
    }

    /// Called with `true` when a better path appears, and with `false` when it disappears. The connection does not move
    /// to the better path automatically.
    ///
    /// A path is better if a new connection to the endpoint would use a preferred interface. It is also better if it
    /// works while this connection's interface does not.
    @preconcurrency public var betterPathUpdateHandler: (@Sendable (_ newHasBetterPath: Bool) -> Void)? {
        get { handlers.betterPath }
        set {
            update { $0.betterPath = newValue }
            followPath(newValue != nil)
        }
    }

    /// Called with the connection's path when the connection becomes ready or begins to wait, and each time the path changes.
    @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { handlers.path }
        set {
            update { $0.path = newValue }
            followPath(newValue != nil)
        }
    }

    /// Starts to observe the path if `isWanted` is `true` and the connection is already ready. The program's handlers
    /// then first get the current path.
    private func followPath(_ isWanted: Bool) {
        if isWanted, case .ready = driver.state { driver.followPath() }
    }

    private var handlers: Handlers { storedHandlers.withLock { $0?.first } ?? Handlers() }

    /// Changes the handlers. Returns `false` if the handlers were already released. A new handler would then never be
    /// called.
    @discardableResult
    func update(_ body: (inout Handlers) -> Void) -> Bool {
        // Release the old handler outside the lock: it may hold the only reference to one of the program's objects.
        let old = storedHandlers.withLock { stored -> [Handlers]? in
            guard var new = stored else { return nil }
            let old = new
            if new.isEmpty { new = [Handlers()] }
            body(&new[0])
            stored = new
            return old
        }
        return withExtendedLifetime(old) { old != nil }
    }

    /// Releases the handlers. Returns the `released` closures, which the caller must call.
    private func releaseHandlers() -> [@Sendable () -> Void] {
        let old = storedHandlers.withLock { stored in
            defer { stored = nil }
            return stored
        }
        return old?.first?.released ?? []
    }
}

extension NWConnection: ConnectionObserver {
    package func connectionChanged(to state: ConnectionDriver.State) {
        handlers.state?(State(state))
    }

    package var wantsPathReports: Bool {
        let handlers = handlers
        return handlers.path != nil || handlers.viability != nil || handlers.betterPath != nil
    }

    package func connectionPathChanged(_ reports: PathTracker.Reports) {
        let handlers = handlers
        if let path = reports.path, let report = handlers.path, let known = makePath(path) { report(known) }
        if let viability = reports.viability { handlers.viability?(viability) }
        if let betterPath = reports.betterPath { handlers.betterPath?(betterPath) }
    }

    package func connectionWaits(on path: PathEvaluation?) { handlers.path?(makePath(path)) }

    package func connectionReleased() {
        for released in releaseHandlers() { released() }
    }
}

extension NWConnection {
    /// A connection's destination. An idle server connection stores only the address, which needs a third as much
    /// memory as an endpoint.
    enum Destination: Sendable {
        indirect case endpoint(NWEndpoint)
        /// An Internet address without a scope.
        case peer(SocketAddress)

        init(peer: SocketAddress) {
            if case .ipv4 = peer {
                self = .peer(peer)
            } else if case .ipv6(_, _, _, scope: 0) = peer {
                self = .peer(peer)
            } else {
                self = .endpoint(NWEndpoint(peer))
            }
        }

        var endpoint: NWEndpoint {
            switch self {
            case .endpoint(let endpoint): endpoint
            case .peer(let address): NWEndpoint(address)
            }
        }
    }
}

extension NWConnection: CustomDebugStringConvertible {
    /// The connection's endpoint, transport and state, as text.
    public var debugDescription: String {
        let transport = driver.settings.transport == .udp ? "udp" : "tcp"
        return "[\(endpoint.debugDescription) \(transport), \(state)]"
    }
}

extension NWConnection.State {
    init(_ state: ConnectionDriver.State) {
        switch state {
        case .setup: self = .setup
        case .preparing: self = .preparing
        case .ready: self = .ready
        case .cancelled: self = .cancelled
        case .waiting(let error): self = .waiting(error.networkError)
        case .failed(let error): self = .failed(error.networkError)
        }
    }
}
