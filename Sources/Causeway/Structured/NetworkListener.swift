internal import CausewaySystem
public import CausewayTypes

/// A listener whose type includes the protocol stack.
///
/// ```swift
/// let listener = try NetworkListener(using: .parameters { TCP() }.localPort(7000))
/// try await listener.run { connection in
///     while true {
///         let (content, metadata) = try await connection.receive(atMost: 65_536)
///         try await connection.send(content, endOfStream: metadata.endOfStream)
///         if metadata.endOfStream { return }
///     }
/// }
/// ```
///
/// Counterpart: macOS 26, iOS 26.
public final class NetworkListener<ApplicationProtocol>: Sendable, CustomDebugStringConvertible
where ApplicationProtocol: NetworkProtocolOptions {
    /// Called at each state change.
    public typealias StateUpdateHandler =
        @isolated(any) @Sendable (
            _ listener: NetworkListener<ApplicationProtocol>, _ state: NetworkListener<ApplicationProtocol>.State
        ) -> Void
    /// Called after the service was registered or withdrawn.
    public typealias ServiceRegistrationUpdateHandler =
        @isolated(any) @Sendable (
            _ listener: NetworkListener<ApplicationProtocol>,
            _ change: NetworkListener<ApplicationProtocol>.ServiceRegistrationChange
        ) -> Void

    /// The states of a listener.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum State: Equatable, Sendable {
        /// The listener has been created and not started.
        case setup
        /// Never reported: a listener needs no network.
        case waiting(NWError)
        /// The listener accepts connections.
        case ready
        /// The listener ended with an error.
        case failed(NWError)
        /// The listener has ended.
        case cancelled
    }

    /// A change to a listener's service registration.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum ServiceRegistrationChange: Sendable {
        /// The service is registered. Its name may have changed to avoid a conflict.
        case add(NWEndpoint)
        /// The service is no longer registered.
        case remove(NWEndpoint)
    }

    private struct Progress: Sendable {
        var hasRun = false
        var stateHandler: StateUpdateHandler?
        var registrationHandler: ServiceRegistrationUpdateHandler?
    }

    private let listener: NWListener
    private let calls = HandlerCalls()
    private let progress = LockedValue(Progress())

    /// The parameters passed to the initializer.
    package var parameters: NWParameters { listener.parameters }

    /// Creates a listener for connections with the protocol stack from `builder`.
    ///
    /// - Parameters:
    ///   - provider: The service to register; `nil` for none.
    ///   - builder: The protocol stack for each connection.
    ///
    /// - Throws: Never. Errors are reported by the state `failed`.
    public convenience init(
        for provider: (any ListenerProvider)? = nil,
        @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) throws {
        try self.init(provider, NWParameters(top: builder()))
    }

    /// Creates a listener with parameters. The parameters' local port is the port to listen on.
    ///
    /// - Throws: Never. Errors are reported by the state `failed`.
    public convenience init(
        for provider: (any ListenerProvider)? = nil, using builder: NWParametersBuilder<ApplicationProtocol>
    ) throws {
        try self.init(provider, builder.parameters)
    }

    private init(_ provider: (any ListenerProvider)?, _ parameters: NWParameters) throws {
        listener = try NWListener(using: parameters)
        listener.service = provider?.service
    }

    /// Sets a closure that is called at each state change. It runs in its own isolation. If the closure belongs to no
    /// actor, it must not block: if `run` is called on an event loop, the closure runs on the same loop.
    @discardableResult
    public func onStateUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (
                _ listener: NetworkListener<ApplicationProtocol>, _ state: NetworkListener<ApplicationProtocol>.State
            ) -> Void
    ) -> Self {
        progress.withLock { $0.stateHandler = handler }
        return self
    }

    /// Sets a closure that is called each time the service has been registered or withdrawn.
    @discardableResult
    public func onServiceRegistrationUpdate(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (
                _ listener: NetworkListener<ApplicationProtocol>,
                _ change: NetworkListener<ApplicationProtocol>.ServiceRegistrationChange
            ) -> Void
    ) -> Self {
        progress.withLock { $0.registrationHandler = handler }
        return self
    }

    /// Sets ``newConnectionLimit-swift.property``.
    public func newConnectionLimit(_ limit: Int) -> Self {
        newConnectionLimit = limit
        return self
    }

    /// The number of connections that the listener may still accept. Each accepted connection decrements the value. At
    /// 0, connections wait in the kernel's queue until the program raises the value.
    public var newConnectionLimit: Int {
        get { listener.newConnectionLimit }
        set { listener.newConnectionLimit = newValue }
    }

    /// The service to register.
    public var service: NWListener.Service? {
        get { listener.service }
        set { listener.service = newValue }
    }

    /// The port in use; `nil` before the listener is ready.
    public var port: NWEndpoint.Port? { listener.port }

    /// A text with the protocol stack and the state.
    public var debugDescription: String {
        "[listener \(parameters.defaultProtocolStack.summary), \(State(listener.state))]"
    }

    private func report(_ state: NWListener.State) {
        guard let handler = progress.withLock({ $0.stateHandler }) else { return }
        calls.add { await handler(self, State(state)) }
    }

    private func report(_ change: NWListener.ServiceRegistrationChange) {
        guard let handler = progress.withLock({ $0.registrationHandler }) else { return }
        calls.add { await handler(self, ServiceRegistrationChange(change)) }
    }

    fileprivate func serve(
        _ handler: @escaping @isolated(any) @Sendable (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws {
        let isFirst = progress.withLock { progress in
            defer { progress.hasRun = true }
            return !progress.hasRun
        }
        guard isFirst else { throw NWError.posix(.EALREADY) }
        calls.stayHere()
        listener.stateUpdateHandler = { state in self.report(state) }
        listener.serviceRegistrationUpdateHandler = { change in self.report(change) }
        defer { (listener.stateUpdateHandler, listener.serviceRegistrationUpdateHandler) = (nil, nil) }
        do throws(NWError) {
            try await listener.run(startsConnections: false) { accepted in
                let connection = NetworkConnection<ApplicationProtocol>(accepted: accepted)
                // Discard the error, because it belongs only to this connection. The listener and all other connections
                // continue.
                try? await handler(connection)
                await connection.end()
            }
        } catch {
            await calls.settle()
            throw error
        }
        await calls.settle()
        // The listener has ended without a failure. The only other reason is that the task that called `run` was
        // cancelled.
        throw NWError.posix(.ECANCELED)
    }
}

extension NetworkListener where ApplicationProtocol: OneToOneProtocol {
    /// Listens until the task is cancelled or the listener fails. Runs a closure for each connection in its own task. Can be called only
    /// once.
    ///
    /// A connection ends gracefully after its closure has returned or thrown; an error in a closure does not affect other connections. When
    /// the listener ends, the closures' tasks are cancelled, and `run` returns after all tasks have ended and their connections are closed.
    /// Unless the closure belongs to an actor, it runs on its connection's event loop and must not block.
    ///
    /// - Throws: The listener's error; `.posix(.EALREADY)` for a second call.
    ///
    /// Cancellation: ends the listener and throws `.posix(.ECANCELED)`.
    public func run(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws {
        try await serve(handler)
    }
}

extension NetworkListener where ApplicationProtocol: MultiplexProtocol {
    /// Listens until the task is cancelled or the listener fails. Runs a closure for each tunnel in its own task. Can be called only once.
    ///
    /// Cancellation: ends the listener and throws `.posix(.ECANCELED)`.
    public func run(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws {
        try await serve(handler)
    }
}

extension NetworkListener.State {
    init(_ state: NWListener.State) {
        switch state {
        case .setup: self = .setup
        case .waiting(let error): self = .waiting(error)
        case .ready: self = .ready
        case .failed(let error): self = .failed(error)
        case .cancelled: self = .cancelled
        }
    }
}

extension NetworkListener.ServiceRegistrationChange {
    init(_ change: NWListener.ServiceRegistrationChange) {
        switch change {
        case .add(let endpoint): self = .add(endpoint)
        case .remove(let endpoint): self = .remove(endpoint)
        }
    }
}
