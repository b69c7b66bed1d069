package import CausewayProtocols
package import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
public import Dispatch

/// A two-way flow of content to one endpoint.
///
/// The connection resolves the endpoint, tries its addresses, waits where there is no way, and reports every step to
/// ``stateUpdateHandler``. Nothing blocks the caller; every callback comes on the queue given to ``start(queue:)``, in
/// order, `cancelled` last. Once started, a connection lives until it is cancelled or has failed.
///
/// Counterpart: macOS 10.14, iOS 12.
public final class NWConnection: Sendable {
    /// On the heap, and only once the program sets one: a server's tasks never do.
    struct Handlers: Sendable {
        var state: (@Sendable (State) -> Void)?
        var viability: (@Sendable (Bool) -> Void)?
        var betterPath: (@Sendable (Bool) -> Void)?
        var path: (@Sendable (NWPath) -> Void)?
        /// Called when everything is closed and nothing else will be called.
        var released: (@Sendable () -> Void)?
    }

    /// The endpoint given when the connection was made; for an accepted connection, the peer's address.
    public var endpoint: NWEndpoint { destination.endpoint }
    private let destination: Destination
    /// The parameters given when the connection was made; for an accepted connection, the listener's.
    public let parameters: NWParameters
    package let driver: ConnectionDriver
    /// At most one.
    private let storedHandlers = LockedValue<[Handlers]>([])

    /// Makes a connection to an endpoint. Nothing happens until ``start(queue:)``.
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

    /// Makes a connection to a host and port. Nothing happens until ``start(queue:)``.
    public convenience init(host: NWEndpoint.Host, port: NWEndpoint.Port, using parameters: NWParameters) {
        self.init(to: .hostPort(host: host, port: port), using: parameters)
    }

    /// Wraps what a listener accepted.
    init(_ driver: ConnectionDriver, _ destination: Destination, parameters: NWParameters) {
        self.destination = destination
        self.parameters = parameters
        self.driver = driver
    }

    // MARK: Life

    /// Begins to establish the connection. `queue` takes every callback from now on. Only the first call counts.
    public func start(queue: DispatchQueue) { driver.start(on: queue, observer: self) }

    /// The queue given to ``start(queue:)``; `nil` before.
    public var queue: DispatchQueue? { driver.queue }

    /// Ends the connection gracefully: outstanding requests complete with `ECANCELED`, the transport closes, and `cancelled`
    /// is the last callback. Content that was not reported as processed may be lost. More calls are ignored.
    public func cancel() { driver.cancel(.graceful, observer: self) }

    /// Ends the connection at once: TCP sends a reset.
    public func forceCancel() { driver.cancel(.abortive, observer: self) }

    /// Leaves the address that is being tried, or used, and goes on with the next one; with none left the connection waits.
    ///
    /// On TCP that is ready there is no going on: the connection fails with `ECONNABORTED`.
    public func cancelCurrentEndpoint() { driver.cancelCurrentEndpoint() }

    /// Tries again now. Only a waiting connection does.
    public func restart() { driver.restart() }

    /// The current state. Readable from any thread.
    public var state: State { State(driver.state) }
}

extension NWConnection {
    /// Called at each change of state. Set it before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ state: NWConnection.State) -> Void)? {
        get { handlers.state }
        set { update { $0.state = newValue } }
    }

    /// Called with `true` when the connection is ready and packets can flow, and at each change: with `false` when its address,
    /// its interface or every route is gone. The connection stays as it is, and may become viable again; only if its interface has had
    /// another address instead of the connection's for two seconds a stream fails with `ECONNABORTED`. Datagrams leave from another
    /// address then, if there is one, and stay viable.
    @preconcurrency public var viabilityUpdateHandler: (@Sendable (_ newIsViable: Bool) -> Void)? {
        get { handlers.viability }
        set {
            update { $0.viability = newValue }
            followPath(newValue != nil)
        }
    }

    /// Called with `true` when a new connection to the endpoint would use an interface that is preferred to this one's, or that works
    /// when this one's does not; with `false` when that has passed. Nothing moves by itself.
    @preconcurrency public var betterPathUpdateHandler: (@Sendable (_ newHasBetterPath: Bool) -> Void)? {
        get { handlers.betterPath }
        set {
            update { $0.betterPath = newValue }
            followPath(newValue != nil)
        }
    }

    /// Called with the connection's path when it is ready, and at each change.
    @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { handlers.path }
        set {
            update { $0.path = newValue }
            followPath(newValue != nil)
        }
    }

    /// A handler that is set late hears of the path as one that was there from the start.
    private func followPath(_ isWanted: Bool) {
        if isWanted, case .ready = driver.state { driver.followPath() }
    }

    private var handlers: Handlers { storedHandlers.withLock { $0.first } ?? Handlers() }

    func update(_ body: (inout Handlers) -> Void) {
        // What is replaced may hold the last reference to something of the program's: it is released outside the lock.
        let old = storedHandlers.withLock { stored in
            let old = stored
            if stored.isEmpty { stored = [Handlers()] }
            body(&stored[0])
            return old
        }
        withExtendedLifetime(old) {}
    }

    private func releaseHandlers() {
        let old = storedHandlers.withLock { stored in
            defer { stored = [] }
            return stored
        }
        withExtendedLifetime(old) {}
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

    package func connectionReleased() {
        let released = handlers.released
        releaseHandlers()
        released?()
    }
}

extension NWConnection {
    /// Where a connection leads. A server's idle connections keep the address alone, a third of an endpoint.
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
