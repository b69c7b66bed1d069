internal import CausewaySystem
public import CausewayTypes

/// A listener whose stack is part of its type.
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
    /// Called at each change of state.
    public typealias StateUpdateHandler =
        @isolated(any) @Sendable (
            _ listener: NetworkListener<ApplicationProtocol>, _ state: NetworkListener<ApplicationProtocol>.State
        ) -> Void
    /// Called when the service has been registered or withdrawn.
    public typealias ServiceRegistrationUpdateHandler =
        @isolated(any) @Sendable (
            _ listener: NetworkListener<ApplicationProtocol>,
            _ change: NetworkListener<ApplicationProtocol>.ServiceRegistrationChange
        ) -> Void

    /// Where a listener is in its life.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum State: Equatable, Sendable {
        /// Made and not started.
        case setup
        /// There is no usable network now.
        case waiting(NWError)
        /// Accepts connections.
        case ready
        /// Ended by an error.
        case failed(NWError)
        /// Ended.
        case cancelled
    }

    /// Something that happened to the registration of a listener's service.
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

    /// As given when the listener was made.
    package var parameters: NWParameters { listener.parameters }

    /// Makes a listener over a stack.
    ///
    /// - Parameters:
    ///   - provider: What to advertise; `nil` for nothing.
    ///   - builder: The stack of each connection.
    public convenience init(
        for provider: (any ListenerProvider)? = nil,
        @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) throws {
        try self.init(provider, NWParameters(top: builder()))
    }

    /// Makes a listener with parameters, of which the local port is that to listen at.
    public convenience init(
        for provider: (any ListenerProvider)? = nil, using builder: NWParametersBuilder<ApplicationProtocol>
    ) throws {
        try self.init(provider, builder.parameters)
    }

    private init(_ provider: (any ListenerProvider)?, _ parameters: NWParameters) throws {
        listener = try NWListener(using: parameters)
        listener.service = provider?.service
    }

    /// Calls a closure at each change of state, in the isolation in which it was written. One that belongs to no actor must not block
    /// if `run` is called on an event loop: it is called there too.
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

    /// Calls a closure when the service has been registered or withdrawn.
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

    /// How many connections may still be handed over. It counts down; at 0 further ones wait in the system's queue until it is raised.
    public var newConnectionLimit: Int {
        get { listener.newConnectionLimit }
        set { listener.newConnectionLimit = newValue }
    }

    /// The service to advertise.
    public var service: NWListener.Service? {
        get { listener.service }
        set { listener.service = newValue }
    }

    /// The port in use once the listener is ready; `nil` before.
    public var port: NWEndpoint.Port? { listener.port }

    /// The stack and the state.
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
                // What goes wrong with one peer is no business of the others.
                try? await handler(connection)
                await connection.end()
            }
        } catch {
            await calls.settle()
            throw error
        }
        await calls.settle()
        // A listener that did not fail ends only by being cancelled.
        throw NWError.posix(.ECANCELED)
    }
}

extension NetworkListener where ApplicationProtocol: OneToOneProtocol {
    /// Listens, and runs a closure for each connection in a task of its own, until the task is cancelled or the listener
    /// fails. Once only.
    ///
    /// A connection ends gracefully when its closure has returned or thrown; what one closure throws does not concern the others. When the
    /// listener ends, the closures' tasks are cancelled, and `run` returns when all have ended and their connections are closed. Unless the
    /// closure belongs to an actor, it runs on its connection's event loop and must not block.
    ///
    /// - Throws: Why the listener failed, `.posix(.ECANCELED)` when the task was cancelled, `.posix(.EALREADY)` the second time.
    public func run(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws {
        try await serve(handler)
    }
}

extension NetworkListener where ApplicationProtocol: MultiplexProtocol {
    /// Listens, and runs a closure for each tunnel in a task of its own, until the task is cancelled or the listener
    /// fails. Once only.
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
