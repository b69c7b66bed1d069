internal import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes

/// A connection whose type includes its protocol stack. The stack determines the send and receive operations.
///
/// ```swift
/// let connection = NetworkConnection(to: .hostPort(host: "example.org", port: 443)) { TLS() }
/// try await connection.send(Array("hello".utf8))
/// ```
///
/// The first operation starts the connection, and waits until there is a path to the endpoint. If the host refuses the
/// connection, the connection waits and tries again when the network changes; ``onStateUpdate(_:)`` reports the state.
/// The connection ends when all references to it are released, and when `withNetworkConnection(to:using:_:)` or the
/// listener's closure returns. The connection ends gracefully: pending content is sent and the protocols are closed,
/// within two seconds.
///
/// Counterpart: macOS 26, iOS 26.
// SAFETY: the added properties are immutable and `Sendable`.
public final class NetworkConnection<ApplicationProtocol>: NetworkChannel<ApplicationProtocol>, @unchecked Sendable
where ApplicationProtocol: NetworkProtocolOptions {
    /// Whether the program passed an endpoint that this library can read.
    private let hasEndpoint: Bool
    /// The properties of a QUIC tunnel, such as `keepalive`; `nil` if this connection is not a QUIC tunnel.
    private let storedTunnel: NWProtocolQUIC.Metadata?

    package init(endpoint: NWEndpoint?, parameters: NWParameters) {
        hasEndpoint = endpoint != nil
        storedTunnel = Self.makeTunnel()
        // If this library cannot read the endpoint, replace it by a Unix socket with an empty path. A connection to
        // this path always fails with `EINVAL`.
        super.init(NWConnection(to: endpoint ?? .unix(path: ""), using: parameters))
    }

    /// Creates a connection from an `NWConnection` that a listener accepted and has not started.
    init(accepted connection: NWConnection) {
        hasEndpoint = true
        storedTunnel = Self.makeTunnel()
        super.init(connection)
    }

    deinit {
        // Cancel the connection. A started `NWConnection` would otherwise stay alive until it fails.
        if hasBegun { connection.cancel() }
    }

    private static func makeTunnel() -> NWProtocolQUIC.Metadata? {
        guard ApplicationProtocol.self == QUIC.self else { return nil }
        return NWProtocolQUIC.Metadata(values: .init(), securityProtocolMetadata: sec_protocol_metadata_t())
    }

    /// A QUIC tunnel's additional state.
    var tunnel: NWProtocolQUIC.Metadata {
        guard let storedTunnel else { Misuse.stop("\(ApplicationProtocol.self) does not support tunnels") }
        return storedTunnel
    }

    /// The connection's current path. Before the connection is ready, this is the path that it would use now. `nil`
    /// before the start and after the end.
    public var currentPath: NWPath? { connection.currentPath }

    /// The local address and port. `nil` before the connection is ready.
    public var localEndpoint: NWEndpoint? {
        guard case .ready = connection.state else { return nil }
        return connection.driver.flow.addresses?.local.map { NWEndpoint($0.unmapped) }
    }

    /// The endpoint passed to the initializer; for a connection from a listener, the peer's address. `nil` for a program-defined
    /// ``Connectable`` type.
    public var remoteEndpoint: NWEndpoint? { hasEndpoint ? connection.endpoint : nil }

    /// Abandons the current address and continues with the next address. If there is no other address, the connection
    /// waits.
    ///
    /// A stream connection that is already ready cannot change its address: this method makes the connection fail with
    /// `ECONNABORTED`.
    public func tryNextEndpoint() { connection.cancelCurrentEndpoint() }

    /// Sets a closure that is called at each state change, in the closure's own isolation. Call this method before the first operation.
    @discardableResult
    public func onStateUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (
                _ connection: NetworkConnection<ApplicationProtocol>, _ state: NetworkChannel<ApplicationProtocol>.State
            ) -> Void
    ) -> Self {
        let watch = watch()
        // This closure has only a weak reference to the connection, so that it does not keep the connection alive.
        // After the connection is released, the closure no longer calls the program's handler.
        watch.setReport { [weak self, calls = watch.calls] state in
            guard let self else { return }
            calls.add { await handler(self, State(state)) }
        }
        return self
    }

    fileprivate func reporting<Value: Sendable>(
        _ handler: @escaping @isolated(any) @Sendable (NetworkConnection, Value) -> Void
    ) -> @Sendable (Value) -> Void {
        { [weak self, calls = watch().calls] value in
            guard let self else { return }
            calls.add { await handler(self, value) }
        }
    }
}

extension NetworkConnection where ApplicationProtocol: OneToOneProtocol {
    /// Creates a connection to an endpoint, with the protocol stack from `builder`. The first operation starts the connection.
    public convenience init(
        to endpoint: NWEndpoint, @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        self.init(endpoint: endpoint, parameters: NWParameters(top: builder()))
    }

    /// Creates a connection to a discovered endpoint, with the protocol stack from `builder`. The first operation starts the connection.
    public convenience init(
        to provider: any Connectable,
        @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        self.init(endpoint: provider.connectableEndpoint, parameters: NWParameters(top: builder()))
    }

    /// Creates a connection to an endpoint with parameters. The first operation starts the connection.
    public convenience init(to endpoint: NWEndpoint, using builder: NWParametersBuilder<ApplicationProtocol>) {
        self.init(endpoint: endpoint, parameters: builder.parameters)
    }

    /// Creates a connection to a discovered endpoint with parameters. The first operation starts the connection.
    public convenience init(to provider: any Connectable, using builder: NWParametersBuilder<ApplicationProtocol>) {
        self.init(endpoint: provider.connectableEndpoint, parameters: builder.parameters)
    }

    /// Sets a closure that is called with the path when the connection becomes ready, and each time the path changes.
    @discardableResult
    public func onPathUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (
                _ connection: NetworkConnection<ApplicationProtocol>, _ newPath: NWPath
            ) -> Void
    ) -> Self {
        connection.pathUpdateHandler = reporting(handler)
        return self
    }

    /// Sets a closure that is called when the connection becomes viable (packets can flow), and each time its viability changes.
    @discardableResult
    public func onViabilityUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (
                _ connection: NetworkConnection<ApplicationProtocol>, _ newViable: Bool
            ) -> Void
    ) -> Self {
        connection.viabilityUpdateHandler = reporting(handler)
        return self
    }

    /// Sets a closure that is called with `true` when a better path appears, and with `false` when it disappears.
    @discardableResult
    public func onBetterPathUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (
                _ connection: NetworkConnection<ApplicationProtocol>, _ newValue: Bool
            ) -> Void
    ) -> Self {
        connection.betterPathUpdateHandler = reporting(handler)
        return self
    }
}

extension NetworkConnection where ApplicationProtocol: MultiplexProtocol {
    /// Creates a QUIC tunnel to an endpoint, with the protocol stack from `builder`.
    public convenience init(
        to endpoint: NWEndpoint, @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        self.init(endpoint: endpoint, parameters: NWParameters(top: builder()))
    }

    /// Creates a QUIC tunnel to a discovered endpoint, with the protocol stack from `builder`.
    public convenience init(
        to provider: any Connectable,
        @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        self.init(endpoint: provider.connectableEndpoint, parameters: NWParameters(top: builder()))
    }

    /// Creates a QUIC tunnel to an endpoint with parameters.
    public convenience init(to endpoint: NWEndpoint, using builder: NWParametersBuilder<ApplicationProtocol>) {
        self.init(endpoint: endpoint, parameters: builder.parameters)
    }

    /// Creates a QUIC tunnel to a discovered endpoint with parameters.
    public convenience init(to provider: any Connectable, using builder: NWParametersBuilder<ApplicationProtocol>) {
        self.init(endpoint: provider.connectableEndpoint, parameters: builder.parameters)
    }

    /// Starts to establish the tunnel. Later calls have no effect.
    public func start() -> Self {
        begin()
        return self
    }
}
