import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("The states of a connection")
    struct ConnectionStateTests {
        @Test("A connection changes from setup to preparing, ready and cancelled", arguments: Medium.allCases)
        func lifeOfAConnection(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: medium.parameters)
            #expect(client.connection.state == .setup)
            #expect(client.connection.queue == nil)
            client.start()
            try await client.ready()
            #expect(client.connection.state == .ready)
            #expect(client.connection.queue === client.queue)
            try await client.cancel()
            #expect(client.connection.state == .cancelled)
            await client.settle()
            #expect(client.states.history == [.preparing, .ready, .cancelled])
            try await listener.cancel()
        }

        @Test("The state is updated without a handler")
        func stateWithoutHandler() async throws {
            let listener = try ListenerProbe(.tcp4)
            try await listener.listen()
            let connection = NWConnection(to: listener.endpoint, using: .tcp)
            let answers = Mailbox<Received>()
            connection.start(queue: DispatchQueue(label: "plain"))
            connection.receive(minimumIncompleteLength: 1, maximumLength: 10) { data, context, isComplete, error in
                answers.put(Received(data: data, context: context, isComplete: isComplete, error: error))
            }
            let server = try await listener.connections.next().start()
            try await server.deliver(Data("x"))
            #expect(try await answers.next().text == "x")
            #expect(connection.state == .ready)
            connection.cancel()
            try await server.cancel()
            try await listener.cancel()
        }

        @Test("A repeated start or cancel changes nothing", arguments: [Medium.tcp4, .udp4])
        func onlyTheFirstCallCounts(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let other = DispatchQueue(label: "other")
                pair.client.connection.start(queue: other)
                #expect(pair.client.connection.queue === pair.client.queue)
                pair.client.connection.cancel()
                pair.client.connection.cancel()
                pair.client.connection.forceCancel()
                try await pair.client.states.first { $0 == .cancelled }
                pair.client.connection.start(queue: other)
                pair.client.connection.restart()
                await pair.client.settle()
                #expect(pair.client.states.history == [.preparing, .ready, .cancelled])
            }
        }

        @Test("A handler that is set after the start receives later states")
        func lateHandler() async throws {
            try await Pair.with(.tcp4) { pair in
                let late = Mailbox<NWConnection.State>()
                pair.client.connection.stateUpdateHandler = { late.put($0) }
                pair.client.connection.cancel()
                try await late.expect(.cancelled)
                #expect(pair.client.states.history == [.preparing, .ready])
            }
        }

        @Test("Cancelling before the start releases everything")
        func cancelledBeforeStart() async throws {
            let probe = Probe(to: .hostPort(host: .ipv4(.loopback), port: 9), using: .tcp)
            let answers = probe.request(1, 1)
            let outcomes = probe.send(Data("x"))
            probe.connection.cancel()
            #expect(try await answers.next().error == .posix(.ECANCELED))
            try await outcomes.expect(.posix(.ECANCELED))
            #expect(probe.connection.state == .cancelled)
            probe.start()
            await probe.settle()
            #expect(probe.connection.state == .cancelled)
        }

        @Test(
            "An accepted connection has its endpoint before it is started",
            arguments: [Medium.tcp4, .tcp6, .udp4, .udp6])
        func acceptedEndpoint(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: medium.parameters).start()
            try await client.ready()
            if !medium.isStream { try await client.deliver(Data("x")) }
            let server = try await listener.connections.next()
            #expect(server.connection.state == .setup)
            #expect(server.connection.endpoint == client.connection.currentPath?.localEndpoint)
            try await client.cancel()
            try await server.cancel()
            try await listener.cancel()
        }

        @Test(
            "A name resolves, and the connection uses the address family that has a listener",
            arguments: [Medium.tcp4, .tcp6])
        func nameOfThisHost(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            let client = Probe(to: .hostPort(host: "localhost", port: listener.port), using: .tcp).start()
            try await client.states.expect(.preparing)
            // If `localhost` has no address of the listener's family, the connection waits.
            let state = try await client.states.next()
            switch state {
            case .ready: #expect(client.connection.currentPath?.remoteEndpoint == listener.endpoint)
            case .waiting(let error): #expect(error == .posix(.ECONNREFUSED) && medium == .tcp6)
            default: Issue.record("\(state)")
            }
            try await client.cancel()
            try await listener.cancel()
        }
    }
}
