internal import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes

/// A connection whose stack is part of its type, so that it offers the ways to send and receive which the stack has.
///
/// ```swift
/// let connection = NetworkConnection(to: .hostPort(host: "example.org", port: 443)) { TLS() }
/// try await connection.send(Array("hello".utf8))
/// ```
///
/// A connection starts with its first operation, which waits until there is a way to the endpoint: a host that refuses is tried again when
/// the network changes, and ``onStateUpdate(_:)`` tells of it meanwhile. It ends when its last reference goes, and at the end of
/// `withNetworkConnection(to:using:_:)` or of a listener's closure that it was made for. Ending is graceful: what was sent is
/// sent, and the protocols say goodbye, for two seconds at most.
///
/// Counterpart: macOS 26, iOS 26.
// SAFETY: what is added is immutable and `Sendable`.
public final class NetworkConnection<ApplicationProtocol>: NetworkChannel<ApplicationProtocol>, @unchecked Sendable
where ApplicationProtocol: NetworkProtocolOptions {
    /// Whether the endpoint is one that is known here.
    private let hasEndpoint: Bool
    /// What the program has set of a tunnel before there is one. Other connections have none.
    private let storedTunnel: NWProtocolQUIC.Metadata?

    package init(endpoint: NWEndpoint?, parameters: NWParameters) {
        hasEndpoint = endpoint != nil
        storedTunnel = Self.makeTunnel()
        // Nothing leads to the empty path: the connection fails with `EINVAL`.
        super.init(NWConnection(to: endpoint ?? .unix(path: ""), using: parameters))
    }

    /// Takes what a listener accepted, and has not started.
    init(accepted connection: NWConnection) {
        hasEndpoint = true
        storedTunnel = Self.makeTunnel()
        super.init(connection)
    }

    deinit {
        // The connection itself would live until it was cancelled or failed.
        if hasBegun { connection.cancel() }
    }

    private static func makeTunnel() -> NWProtocolQUIC.Metadata? {
        guard ApplicationProtocol.self == QUIC.self else { return nil }
        return NWProtocolQUIC.Metadata(values: .init(), securityProtocolMetadata: sec_protocol_metadata_t())
    }

    /// What a tunnel has besides.
    var tunnel: NWProtocolQUIC.Metadata {
        guard let storedTunnel else { preconditionFailure("\(ApplicationProtocol.self) makes no tunnel") }
        return storedTunnel
    }

    /// The path in use. `nil` before the connection is ready.
    public var currentPath: NWPath? { connection.currentPath }

    /// The local address and port. `nil` before the connection is ready.
    public var localEndpoint: NWEndpoint? {
        guard case .ready = connection.state else { return nil }
        return connection.driver.flow.addresses?.local.map { NWEndpoint($0.unmapped) }
    }

    /// The endpoint that the connection was made to; of what a listener gave, the peer's address. `nil` for a ``Connectable`` that is not
    /// known here.
    public var remoteEndpoint: NWEndpoint? { hasEndpoint ? connection.endpoint : nil }

    /// Leaves the address that is being tried, or used, and goes on with the next one; with none left the connection waits. A stream that
    /// is ready fails.
    public func tryNextEndpoint() { connection.cancelCurrentEndpoint() }

    /// Calls a closure at each change of state, in the isolation in which it was written. Set it before the first operation.
    @discardableResult
    public func onStateUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (
                _ connection: NetworkConnection<ApplicationProtocol>, _ state: NetworkChannel<ApplicationProtocol>.State
            ) -> Void
    ) -> Self {
        let watch = watch()
        // The connection's end must not wait for its own handler: it is called while somebody else holds the connection.
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
    /// Makes a connection to an endpoint over a stack. It starts with the first operation.
    public convenience init(
        to endpoint: NWEndpoint, @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        self.init(endpoint: endpoint, parameters: NWParameters(top: builder()))
    }

    /// Makes a connection to something that was found. It starts with the first operation.
    public convenience init(
        to provider: any Connectable,
        @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        self.init(endpoint: provider.connectableEndpoint, parameters: NWParameters(top: builder()))
    }

    /// Makes a connection to an endpoint with parameters. It starts with the first operation.
    public convenience init(to endpoint: NWEndpoint, using builder: NWParametersBuilder<ApplicationProtocol>) {
        self.init(endpoint: endpoint, parameters: builder.parameters)
    }

    /// Makes a connection to something that was found, with parameters. It starts with the first operation.
    public convenience init(to provider: any Connectable, using builder: NWParametersBuilder<ApplicationProtocol>) {
        self.init(endpoint: provider.connectableEndpoint, parameters: builder.parameters)
    }

    /// Calls a closure with the path when the connection is ready, and at each change.
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

    /// Calls a closure when packets can flow, and at each change.
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

    /// Calls a closure when another path would now be preferred.
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
    /// Makes a tunnel to an endpoint over a stack.
    public convenience init(
        to endpoint: NWEndpoint, @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        self.init(endpoint: endpoint, parameters: NWParameters(top: builder()))
    }

    /// Makes a tunnel to something that was found.
    public convenience init(
        to provider: any Connectable,
        @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) {
        self.init(endpoint: provider.connectableEndpoint, parameters: NWParameters(top: builder()))
    }

    /// Makes a tunnel to an endpoint with parameters.
    public convenience init(to endpoint: NWEndpoint, using builder: NWParametersBuilder<ApplicationProtocol>) {
        self.init(endpoint: endpoint, parameters: builder.parameters)
    }

    /// Makes a tunnel to something that was found, with parameters.
    public convenience init(to provider: any Connectable, using builder: NWParametersBuilder<ApplicationProtocol>) {
        self.init(endpoint: provider.connectableEndpoint, parameters: builder.parameters)
    }

    /// Begins to establish the tunnel. Only the first call counts.
    public func start() -> Self {
        begin()
        return self
    }
}
