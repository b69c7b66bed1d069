import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("A listener for datagrams")
    struct DatagramListenerTests {
        @Test("Each peer gets one connection, with its first datagram queued", arguments: Medium.datagrams)
        func onePerPeer(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            let clients = try await Self.readyClients(5, of: listener, medium)
            for (index, client) in clients.enumerated() {
                try await client.deliver(Data("first of \(index)"))
                try await client.deliver(Data("second of \(index)"))
            }
            var servers: [NWEndpoint: Probe] = [:]
            for server in try await listener.connections.next(5) { servers[server.connection.endpoint] = server }
            #expect(servers.count == 5)
            for (index, client) in clients.enumerated() {
                let local = try #require(client.connection.currentPath?.localEndpoint)
                let server = try #require(servers[local])
                server.start()
                #expect(try await server.receiveMessage().text == "first of \(index)")
                #expect(try await server.receiveMessage().text == "second of \(index)")
                try await server.deliver(Data("answer to \(index)"))
                // The client's socket is connected to the address to which it sent. It therefore accepts datagrams only
                // from that address.
                #expect(try await client.receiveMessage().text == "answer to \(index)")
            }
            #expect(listener.connections.history.count == 5)
            for probe in clients + servers.values { try await probe.cancel() }
            try await listener.cancel()
        }

        private static func readyClients(_ count: Int, of listener: ListenerProbe, _ medium: Medium) async throws
            -> [Probe]
        {
            var clients: [Probe] = []
            for _ in 0..<count {
                let client = Probe(to: listener.endpoint, using: medium.parameters).start()
                try await client.ready()
                clients.append(client)
            }
            return clients
        }

        @Test(
            "On the wildcard address, answers have the address that the client wrote to as their source",
            arguments: ["127.0.0.1", "127.0.0.2", "::1"])
        func answersFromWhereItWasWrittenTo(host: String) async throws {
            let listener = ListenerProbe(try NWListener(using: .udp))
            try await listener.listen()
            let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: listener.port)
            let client = Probe(to: endpoint, using: .udp).start()
            try await client.ready()
            try await client.deliver(Data("ping"))
            let server = try await listener.connections.next().start()
            #expect(server.connection.endpoint == client.connection.currentPath?.localEndpoint)
            #expect(try await server.receiveMessage().text == "ping")
            try await server.deliver(Data("pong"))
            #expect(try await client.receiveMessage().text == "pong")
            #expect(server.connection.currentPath?.localEndpoint == endpoint)
            #expect(server.connection.currentPath?.remoteEndpoint == server.connection.endpoint)
            try await client.cancel()
            try await server.cancel()
            try await listener.cancel()
        }

        @Test("Cancelling the listener keeps its connections, and ignores new peers")
        func connectionsSurvive() async throws {
            try await Pair.with(.udp4) { pair in
                try await pair.listener.cancel()
                try await pair.client.deliver(Data("still there?"))
                #expect(try await pair.server.receiveMessage().text == "still there?")
                try await pair.server.deliver(Data("yes"))
                #expect(try await pair.client.receiveMessage().text == "yes")
                let stranger = Probe(to: pair.client.connection.endpoint, using: .udp).start()
                try await stranger.ready()
                try await stranger.deliver(Data("let me in"))
                try await pair.client.deliver(Data("x"))
                #expect(try await pair.server.receiveMessage().text == "x")
                #expect(pair.listener.connections.history.count == 1)
                try await stranger.cancel()
            }
        }

        @Test("The port is free after the listener and its last connection have ended")
        func portIsReleased() async throws {
            var port = NWEndpoint.Port.any
            try await Pair.with(.udp4) { pair in
                port = pair.listener.port
                try await pair.listener.cancel()
                try await pair.server.cancel()
                try await pair.client.cancel()
            }
            #expect(await eventuallyListens(on: port))
        }

        private func eventuallyListens(on port: NWEndpoint.Port) async -> Bool {
            let deadline = System.now + Patience.limit
            while System.now < deadline {
                let parameters = NWParameters.udp
                parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: port)
                guard let listener = try? NWListener(using: parameters) else { return false }
                let probe = ListenerProbe(listener)
                probe.start()
                let state = try? await probe.states.next()
                try? await probe.cancel()
                if state == .ready { return true }
            }
            return false
        }

        @Test("A datagram after the cancellation of its connection creates a new one")
        func peerComesBack() async throws {
            try await Pair.with(.udp4) { pair in
                try await pair.server.cancel()
                try await pair.client.deliver(Data("me again"))
                let second = try await pair.listener.connections.next().start()
                #expect(second.connection.endpoint == pair.server.connection.endpoint)
                #expect(try await second.receiveMessage().text == "me again")
                try await second.cancel()
            }
        }

        @Test("newConnectionLimit counts down; peers above it are accepted when it is raised")
        func limit() async throws {
            let listener = try ListenerProbe(.udp4)
            listener.listener.newConnectionLimit = 1
            try await listener.listen()
            let clients = try await Self.readyClients(2, of: listener, .udp4)
            try await clients[0].deliver(Data("first"))
            let server = try await listener.connections.next().start()
            #expect(listener.listener.newConnectionLimit == 0)
            try await clients[1].deliver(Data("second"))
            // Datagrams from the first peer still arrive, even after datagrams from the second peer.
            try await clients[0].deliver(Data("more"))
            #expect(try await server.receiveMessage().text == "first")
            #expect(try await server.receiveMessage().text == "more")
            #expect(listener.connections.history.count == 1)
            listener.listener.newConnectionLimit = 5
            try await clients[1].deliver(Data("third"))
            let late = try await listener.connections.next().start()
            #expect(try await late.receiveMessage().text == "third")
            for probe in clients + [server, late] { try await probe.cancel() }
            try await listener.cancel()
        }
    }
}
