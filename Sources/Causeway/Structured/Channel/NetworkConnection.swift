internal import CausewaySystem
public import CausewayTypes

/// A connection whose stack is part of its type, so that it offers the ways to send and receive which the stack has.
///
/// ```swift
/// let connection = NetworkConnection(to: .hostPort(host: "example.org", port: 443)) { TLS() }
/// try await connection.send(Array("hello".utf8))
/// ```
///
/// Connections of this kind are declared and not implemented: the first operation ends in the state
/// `.failed(.posix(.ENOTSUP))`, and all throw that error.
///
/// Counterpart: macOS 26, iOS 26.
// SAFETY: what is added is immutable and `Sendable`, or behind a lock.
public final class NetworkConnection<ApplicationProtocol>: NetworkChannel<ApplicationProtocol>, @unchecked Sendable
where ApplicationProtocol: NetworkProtocolOptions {
    typealias StateHandler = @isolated(any) @Sendable (NetworkConnection, State) -> Void

    private struct Handlers: Sendable {
        var state: StateHandler?
        var path: (@isolated(any) @Sendable (NetworkConnection, NWPath) -> Void)?
        var viability: (@isolated(any) @Sendable (NetworkConnection, Bool) -> Void)?
        var betterPath: (@isolated(any) @Sendable (NetworkConnection, Bool) -> Void)?
    }

    /// As given when the connection was made; `nil` if what was given has no endpoint that is known here.
    private let endpoint: NWEndpoint?
    private let handlers = Guarded(Handlers())
    /// What the program has set of a tunnel before there is one.
    let tunnel = NWProtocolQUIC.Metadata(values: .init(), securityProtocolMetadata: sec_protocol_metadata_t())

    package init(endpoint: NWEndpoint?, parameters: NWParameters) {
        self.endpoint = endpoint
        super.init(parameters: parameters)
    }

    /// The path in use. `nil` before the connection is ready.
    public var currentPath: NWPath? { nil }

    /// The local address and port. `nil` before the connection is ready.
    public var localEndpoint: NWEndpoint? { nil }

    /// The endpoint that the connection was made to.
    public var remoteEndpoint: NWEndpoint? { endpoint }

    /// Leaves the address that is being tried, or used, and goes on with the next one.
    public func tryNextEndpoint() {}

    /// Calls a closure at each change of state, in the isolation in which it was written.
    @discardableResult
    public func onStateUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (
                _ connection: NetworkConnection<ApplicationProtocol>, _ state: NetworkChannel<ApplicationProtocol>.State
            ) -> Void
    ) -> Self {
        handlers.withLock { $0.state = handler }
        return self
    }

    override func report(_ state: State) async {
        await handlers.withLock { $0.state }?(self, state)
    }

    fileprivate func setHandlers(
        path: (@isolated(any) @Sendable (NetworkConnection, NWPath) -> Void)? = nil,
        viability: (@isolated(any) @Sendable (NetworkConnection, Bool) -> Void)? = nil,
        betterPath: (@isolated(any) @Sendable (NetworkConnection, Bool) -> Void)? = nil
    ) {
        handlers.withLock { handlers in
            if let path { handlers.path = path }
            if let viability { handlers.viability = viability }
            if let betterPath { handlers.betterPath = betterPath }
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
        setHandlers(path: handler)
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
        setHandlers(viability: handler)
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
        setHandlers(betterPath: handler)
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
        useUnheard()
        return self
    }
}
