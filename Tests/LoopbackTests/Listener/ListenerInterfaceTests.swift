import Causeway
import Testing

extension Loopback {
    @Suite("Listeners and the interfaces that they may use")
    struct ListenerInterfaceTests {
        static let demands: [@Sendable (NWParameters) -> Void] = [
            { $0.prohibitedInterfaceTypes = [.loopback] },
            { $0.requiredInterfaceType = .wifi },
        ]

        @Test("What comes over an excluded interface is closed and not handed over", arguments: 0..<demands.count)
        func excluded(demand: Int) async throws {
            let listener = try ListenerProbe(.tcp4, Self.demands[demand])
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: .tcp).start()
            try await client.ready()
            // The end, by whatever word the kernel has for it.
            let outcome = try? await client.receive(1, 10)
            #expect(outcome?.data == nil)
            #expect(listener.connections.history.isEmpty)
            try await client.cancel()
            try await listener.cancel()
        }

        @Test("What comes over the interface that is left is handed over", arguments: [Medium.tcp4, .tcp6, .udp4])
        func permitted(medium: Medium) async throws {
            try await Pair.with(medium, server: { $0.prohibitedInterfaceTypes = [.cellular, .wifi] }) { pair in
                try await pair.client.deliver(.init("hello".utf8))
            }
        }
    }
}
