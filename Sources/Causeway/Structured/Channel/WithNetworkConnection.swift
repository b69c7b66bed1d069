public import CausewayTypes

/// Makes a connection over a stack for the time of a closure, and ends it afterwards.
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
        do {
            try await handler(self)
        } catch {
            await end()
            throw error
        }
        await end()
    }

    nonisolated(nonsending)
        private func end() async
    {
        if move(to: .cancelled) { await report(.cancelled) }
    }
}
