internal import CausewayRuntime
public import CausewayTypes

/// Creates a connection with the protocol stack from `builder`, runs `handler` with the connection, and ends the connection.
///
/// The connection ends gracefully, even if `handler` throws: the protocols are closed, within two seconds.
///
/// - Throws: Any error from `handler`.
///
/// Cancellation: ends the pending operation in `handler`. This function returns after `handler` has returned.
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

/// Creates a connection with parameters, runs `handler` with the connection, and ends the connection.
///
/// - Throws: Any error from `handler`.
///
/// Cancellation: ends the pending operation in `handler`. This function returns after `handler` has returned.
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

/// Creates a QUIC tunnel with the protocol stack from `builder`, runs `handler` with the tunnel, and ends the tunnel.
///
/// - Throws: Any error from `handler`.
///
/// Cancellation: ends the pending operation in `handler`. This function returns after `handler` has returned.
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

/// Creates a QUIC tunnel with parameters, runs `handler` with the tunnel, and ends the tunnel.
///
/// - Throws: Any error from `handler`.
///
/// Cancellation: ends the pending operation in `handler`. This function returns after `handler` has returned.
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
            // All receive and send calls of this task share one cancellation handler. A separate handler for each call
            // would be slower. The tasks of a listener share one handler in the same way.
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
