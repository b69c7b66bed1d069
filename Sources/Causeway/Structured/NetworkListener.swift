internal import CausewaySystem
public import CausewayTypes

/// A listener whose stack is part of its type.
///
/// Listeners of this kind are declared and not implemented: `run` ends in the state `.failed(.posix(.ENOTSUP))` and
/// throws that error.
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
        var state = State.setup
        var limit = NWListener.InfiniteConnectionLimit
        var service: NWListener.Service?
        var stateHandler: StateUpdateHandler?
        var registrationHandler: ServiceRegistrationUpdateHandler?
    }

    /// As given when the listener was made.
    package let parameters: NWParameters
    private let progress: Guarded<Progress>

    /// Makes a listener over a stack.
    ///
    /// - Parameters:
    ///   - provider: What to advertise; `nil` for nothing.
    ///   - builder: The stack of each connection.
    public convenience init(
        for provider: (any ListenerProvider)? = nil,
        @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol
    ) throws {
        self.init(provider, NWParameters(top: builder()))
    }

    /// Makes a listener with parameters, of which the local port is that to listen at.
    public convenience init(
        for provider: (any ListenerProvider)? = nil, using builder: NWParametersBuilder<ApplicationProtocol>
    ) throws {
        self.init(provider, builder.parameters)
    }

    private init(_ provider: (any ListenerProvider)?, _ parameters: NWParameters) {
        self.parameters = parameters
        progress = Guarded(Progress(service: provider?.service))
    }

    /// Calls a closure at each change of state, in the isolation in which it was written.
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

    /// How many connections may still be handed over.
    public var newConnectionLimit: Int {
        get { progress.withLock { $0.limit } }
        set { progress.withLock { $0.limit = newValue } }
    }

    /// The service to advertise.
    public var service: NWListener.Service? {
        get { progress.withLock { $0.service } }
        set { progress.withLock { $0.service = newValue } }
    }

    /// The port in use once the listener is ready; `nil` before.
    public var port: NWEndpoint.Port? { nil }

    /// The stack and the state.
    public var debugDescription: String {
        "[listener \(parameters.defaultProtocolStack.summary), \(progress.withLock { $0.state })]"
    }

    fileprivate func fail() async throws {
        let failure = NWError.posix(.ENOTSUP)
        let handler = progress.withLock { progress -> StateUpdateHandler? in
            guard progress.state == .setup else { return nil }
            progress.state = .failed(failure)
            return progress.stateHandler
        }
        await handler?(self, .failed(failure))
        throw failure
    }
}

extension NetworkListener where ApplicationProtocol: OneToOneProtocol {
    /// Listens, and runs a closure for each connection in a task of its own, until the task is cancelled or the listener
    /// fails. Once only.
    public func run(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws {
        try await fail()
    }
}

extension NetworkListener where ApplicationProtocol: MultiplexProtocol {
    /// Listens, and runs a closure for each tunnel in a task of its own, until the task is cancelled or the listener
    /// fails. Once only.
    public func run(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws {
        try await fail()
    }
}
