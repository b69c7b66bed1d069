internal import CausewayRuntime
public import CausewayTypes

/// Makes a connection over a stack for the time of a closure, and ends it afterwards.
///
/// However the closure ends, the connection is ended gracefully: the protocols say goodbye, for two seconds at most. Cancelling the task
/// ends the operation that the closure waits for; it returns once the closure has.
///
/// Counterpart: macOS 26, iOS 26.
nonisolated(nonsending)
    public func withNetworkConnection<ApplicationProtocol>(
        to endpoint: NWEndpoint, @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol,
        _ handler: (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws where ApplicationProtocol: OneToOneProtocol
{
    try await NetworkConnection(to: endpoint, using: builder).scoped(handler)
}

/// Makes a connection with parameters for the time of a closure, and ends it afterwards.
///
/// Counterpart: macOS 26, iOS 26.
nonisolated(nonsending)
    public func withNetworkConnection<ApplicationProtocol>(
        to endpoint: NWEndpoint, using builder: NWParametersBuilder<ApplicationProtocol>,
        _ handler: (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws where ApplicationProtocol: OneToOneProtocol
{
    try await NetworkConnection(to: endpoint, using: builder).scoped(handler)
}

/// Makes a tunnel over a stack for the time of a closure, and ends it afterwards.
///
/// Counterpart: macOS 26, iOS 26.
nonisolated(nonsending)
    public func withNetworkConnection<ApplicationProtocol>(
        to endpoint: NWEndpoint, @ProtocolStackBuilder<ApplicationProtocol> using builder: () -> ApplicationProtocol,
        _ handler: (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws where ApplicationProtocol: MultiplexProtocol
{
    try await NetworkConnection(to: endpoint, using: builder).scoped(handler)
}

/// Makes a tunnel with parameters for the time of a closure, and ends it afterwards.
///
/// Counterpart: macOS 26, iOS 26.
nonisolated(nonsending)
    public func withNetworkConnection<ApplicationProtocol>(
        to endpoint: NWEndpoint, using builder: NWParametersBuilder<ApplicationProtocol>,
        _ handler: (NetworkConnection<ApplicationProtocol>) async throws -> Void
    ) async throws where ApplicationProtocol: MultiplexProtocol
{
    try await NetworkConnection(to: endpoint, using: builder).scoped(handler)
}

extension NetworkConnection {
    nonisolated(nonsending)
        fileprivate func scoped(
            _ handler: (NetworkConnection<ApplicationProtocol>) async throws -> Void
        ) async throws
    {
        let flow = connection.driver.flow
        do {
            // Said once for all operations of this task, which are then as cheap as those of a listener's tasks.
            try await withTaskCancellationHandler {
                flow.makeHome()
                defer { flow.leaveHome() }
                try await handler(self)
            } onCancel: {
                flow.cancelHome()
            }
        } catch {
            await end()
            throw error
        }
        await end()
    }
}
