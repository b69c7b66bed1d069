import Causeway
import Testing

extension Loopback {
    @Suite("Listeners and their interfaces")
    struct ListenerInterfaceTests {
        static let demands: [@Sendable (NWParameters) -> Void] = [
            { $0.prohibitedInterfaceTypes = [.loopback] },
            { $0.requiredInterfaceType = .wifi },
        ]

        @Test("A connection over an excluded interface is closed and not delivered", arguments: 0..<demands.count)
        func excluded(demand: Int) async throws {
            let listener = try ListenerProbe(.tcp4, Self.demands[demand])
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: .tcp).start()
            try await client.ready()
            // The client sees the end of the stream or an error, as the kernel decides.
            let outcome = try? await client.receive(1, 10)
            #expect(outcome?.data == nil)
            #expect(listener.connections.history.isEmpty)
            try await client.cancel()
            try await listener.cancel()
        }

        @Test("A connection over an allowed interface is delivered", arguments: [Medium.tcp4, .tcp6, .udp4])
        func permitted(medium: Medium) async throws {
            try await Pair.with(medium, server: { $0.prohibitedInterfaceTypes = [.cellular, .wifi] }) { pair in
                try await pair.client.deliver(.init("hello".utf8))
            }
        }
    }
}
