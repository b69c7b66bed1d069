public import Causeway
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes

/// A server for HTTP/1.1 and HTTP/2, on TCP or TLS.
///
/// A closure handles each request. The closure runs in a separate task, by default on the connection's event loop: for
/// work that blocks or computes for long, choose another ``Configuration/handlerExecution``. The task is cancelled when
/// the client goes away.
///
/// ```swift
/// var routes = HTTPServerRoutes()
/// routes.get("/hello/{name}") { request in .text("Hello, \(request.parameters["name"] ?? "")!") }
/// let server = try HTTPServer(at: .loopback(port: 8080), routes: routes)
/// try await server.run()
/// ```
public final class HTTPServer: Sendable {
    /// A closure that answers a request.
    ///
    /// If it throws an ``HTTPServerError``, the client receives the status of this error. After any other error, the
    /// client receives status 500.
    public typealias Handler = @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse

    private struct State {
        var connections: [ObjectIdentifier: ServerConnection] = [:]
        var waiting = WaitingConnections()
        var isShuttingDown = false
    }

    private let listener: NWListener
    private let service: ServerService
    private let isSecure: Bool
    private let places: ConnectionPlaces
    private let maximumConnections: Int
    private let state = LockedValue(State())

    /// Creates a server at a port. It does nothing before ``run()``.
    ///
    /// Unless the parameters have a local endpoint or an interface, the server listens on all addresses of this host,
    /// and other hosts can connect. ``init(at:using:configuration:handler:)`` names the address instead.
    ///
    /// - Parameters:
    ///   - parameters: The transport: TCP, or TLS with an identity. If the TLS options contain no application protocols
    ///     (ALPN), the server offers HTTP/2 and HTTP/1.1.
    ///   - port: The port to listen on; `.any` lets the system choose one.
    ///   - configuration: Limits and timeouts.
    ///   - handler: Responds to each request.
    /// - Throws: `NWError.posix` with `EINVAL` if both `parameters` and `port` specify a local port.
    public init(
        using parameters: NWParameters = HTTPServer.defaultParameters, on port: NWEndpoint.Port,
        configuration: Configuration = Configuration(), handler: @escaping Handler
    ) throws {
        let parameters = parameters.copy()
        var isSecure = false
        for case let tls as NWProtocolTLS.Options in parameters.defaultProtocolStack.applicationProtocols {
            isSecure = true
            Self.offerVersions(tls)
        }
        self.isSecure = isSecure
        service = ServerService(configuration, handler)
        listener = try NWListener(using: parameters, on: port)
        maximumConnections = max(1, configuration.maximumConnections)
        places = ConnectionPlaces(of: listener, count: maximumConnections)
    }

    /// Creates a server that hands each request to its route's handler. It listens where
    /// ``init(using:on:configuration:handler:)`` does; ``init(at:using:configuration:routes:)`` names the address.
    ///
    /// - Throws: As ``init(using:on:configuration:handler:)``.
    public convenience init(
        using parameters: NWParameters = HTTPServer.defaultParameters, on port: NWEndpoint.Port,
        configuration: Configuration = Configuration(), routes: HTTPServerRoutes
    ) throws {
        try self.init(using: parameters, on: port, configuration: configuration) { request in
            try await routes.respond(to: request)
        }
    }

    /// The parameters for a server without TLS: TCP without Nagle's algorithm.
    public static var defaultParameters: NWParameters {
        let tcp = NWProtocolTCP.Options()
        tcp.noDelay = true
        return NWParameters(tls: nil, tcp: tcp)
    }

    private static func offerVersions(_ tls: NWProtocolTLS.Options) {
        guard tls.securityProtocolOptions.values.applicationProtocols.isEmpty else { return }
        for name in ["h2", "http/1.1"] {
            sec_protocol_options_add_tls_application_protocol(tls.securityProtocolOptions, name)
        }
    }

    /// The local port; `nil` before the server is ready.
    public var port: NWEndpoint.Port? { listener.port }

    /// The service to advertise on the local network, for example with the type `_http._tcp`. Set it before ``run()``,
    /// for a server with an address that other hosts reach, such as ``Address/any(port:)``.
    public var advertisedService: NWListener.Service? {
        get { listener.service }
        set { listener.service = newValue }
    }

    /// Serves clients until the task is cancelled, the server has shut down, or the listener fails.
    ///
    /// This is the method that the protocol `Service` of swift-service-lifecycle requires. At a graceful shutdown, call
    /// ``shutDown(within:)``.
    ///
    /// Cancellation: as for ``run(whenReady:)``.
    ///
    /// - Throws: The listener's error, for example `.posix(.EADDRINUSE)`.
    public func run() async throws(NWError) { try await run(whenReady: nil) }

    /// Serves clients like ``run()``, and reports when the server accepts connections.
    ///
    /// Cancellation: closes all connections at once, cancels the handlers, and returns when they have ended.
    ///
    /// - Parameter whenReady: Called with the local port when the server accepts connections.
    /// - Throws: The listener's error, for example `.posix(.EADDRINUSE)`.
    public func run(whenReady: (@Sendable (NWEndpoint.Port) -> Void)?) async throws(NWError) {
        listener.stateUpdateHandler = { [weak listener] state in
            if state == .ready, let port = listener?.port { whenReady?(port) }
        }
        var failure: NWError?
        await withTaskCancellationHandler {
            do throws(NWError) {
                try await listener.run(finishesConnections: true) { [self] connection in await serve(connection) }
            } catch {
                failure = error
            }
        } onCancel: {
            abortAll()
        }
        if let failure { throw failure }
    }

    /// Shuts the server down: it accepts no more connections, and ``run()`` returns when the requests in progress are
    /// complete.
    ///
    /// - Parameter limit: The time after which the remaining connections are closed and their handlers are cancelled.
    public func shutDown(within limit: Duration = .seconds(30)) {
        let connections = state.withLock { state in
            state.isShuttingDown = true
            return Array(state.connections.values)
        }
        listener.cancel()
        for connection in connections { connection.shutDown() }
        _ = Engine.nextLoop().schedule(after: limit) { [weak self] in self?.abortAll() }
    }

    private func abortAll() {
        let connections = state.withLock { state in
            state.isShuttingDown = true
            return Array(state.connections.values)
        }
        for connection in connections { connection.abort() }
    }

    private func serve(_ accepted: NWConnection) async {
        places.refill()
        let connection = ServerConnection(accepted, service, isSecure: isSecure)
        let (mustEnd, isFull) = state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = connection
            state.waiting.append(connection, at: System.now)
            state.waiting.compact(to: state.connections.count)
            return (state.isShuttingDown, state.connections.count >= maximumConnections)
        }
        if mustEnd { connection.shutDown() }
        if isFull { makeRoom(except: connection) }
        await connection.run()
        state.withLock { state in _ = state.connections.removeValue(forKey: ObjectIdentifier(connection)) }
        places.free()
    }

    /// Closes the connection that has waited longest for a request. This makes room for the next client.
    private func makeRoom(except newest: ServerConnection) {
        while let oldest = state.withLock({ state in state.waiting.popOldest(except: newest) }) {
            // The connection may have received a request since it was taken from the list. In that case, it stays open
            // and returns to the list.
            if oldest.connection.giveWay(since: oldest.start) { return }
            state.withLock { state in state.waiting.append(oldest.connection, at: System.now) }
        }
    }
}
