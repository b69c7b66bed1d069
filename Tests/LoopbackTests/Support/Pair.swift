import Causeway
import FoundationEssentials
import Testing

/// Two ready connections that are connected to each other.
struct Pair: Sendable {
    var medium: Medium
    var listener: ListenerProbe
    var client: Probe
    var server: Probe

    /// Calls `body` with a new pair of connections, and cancels them afterwards.
    static func with(
        _ medium: Medium, client tuneClient: (NWParameters) -> Void = { _ in },
        server tuneServer: (NWParameters) -> Void = { _ in }, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (Pair) async throws -> Void
    ) async throws {
        let listener = try ListenerProbe(medium, tuneServer)
        try await listener.listen(sourceLocation: sourceLocation)
        let parameters = medium.parameters
        tuneClient(parameters)
        let client = Probe(to: listener.endpoint, using: parameters)
        defer {
            listener.listener.cancel()
            client.connection.cancel()
        }
        client.start()
        try await client.ready(sourceLocation: sourceLocation)
        // A datagram listener sees its peer with the first datagram.
        if !medium.isStream { try await client.deliver(Data("hello"), sourceLocation: sourceLocation) }
        let server = try await listener.connections.next(sourceLocation: sourceLocation)
        defer { server.connection.cancel() }
        server.start()
        try await server.ready(sourceLocation: sourceLocation)
        if !medium.isStream {
            #expect(try await server.receiveMessage(sourceLocation: sourceLocation).text == "hello")
        }
        try await body(Pair(medium: medium, listener: listener, client: client, server: server))
    }
}
