import Causeway
import CausewaySystem
import Dispatch
import Foundation
import Testing

extension Loopback {
    /// Tests the ready report, the events that accompany it, and the end of a connection.
    @Suite("From ready to the end of both directions")
    struct ReadinessTests {
        @Test(
            "Ready is reported after start() has returned, for accepted and for outgoing connections",
            arguments: Medium.allCases)
        func afterTheStart(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            let accepted = Mailbox<NWConnection>()
            listener.listener.newConnectionHandler = { accepted.put($0) }
            try await listener.listen()
            let early = LockedValue(0)
            // The queue's threads differ from the thread that starts the connection.
            let queue = DispatchQueue(label: "ready", target: .global())
            @Sendable func start(_ connection: NWConnection) async throws {
                let isStarting = Mailbox<Bool>()
                // Check inside the callback whether `start` is still in progress. A mark set after `start` would come
                // too late if this thread were interrupted before setting it.
                connection.stateUpdateHandler = { [unowned connection] state in
                    if case .ready = state { isStarting.put(connection.driver.isStarting) }
                }
                connection.start(queue: queue)
                if try await isStarting.next() { early.withLock { $0 += 1 } }
            }
            for _ in 0..<100 {
                let client = NWConnection(to: listener.endpoint, using: medium.parameters)
                try await start(client)
                if !medium.isStream { client.send(content: Data("x"), completion: .idempotent) }
                let server = try await accepted.next()
                try await start(server)
                client.cancel()
                server.cancel()
            }
            #expect(early.withLock { $0 } == 0)
            try await listener.cancel()
        }

        @Test("Requests before the start of an accepted connection complete once it is ready")
        func setUpAfterStart() async throws {
            let listener = try ListenerProbe(.tcp4)
            let accepted = Mailbox<NWConnection>()
            listener.listener.newConnectionHandler = { accepted.put($0) }
            try await listener.listen()
            for _ in 0..<20 {
                let client = Probe(to: listener.endpoint, using: .tcp).start()
                try await client.ready()
                try await client.deliver(Data("hello"))
                let server = try await accepted.next()
                let events = Mailbox<String>()
                let queue = DispatchQueue(label: "late", target: .global())
                // Suspend the queue until all handlers are set. Otherwise, reports could arrive too early.
                queue.suspend()
                server.start(queue: queue)
                server.stateUpdateHandler = { events.put("\($0)") }
                server.receive(minimumIncompleteLength: 1, maximumLength: 9) { data, _, _, _ in
                    events.put(String(decoding: data ?? Data(), as: UTF8.self))
                }
                queue.resume()
                try await events.first { $0 == "ready" }
                try await events.expect("hello")
                server.cancel()
                try await client.cancel()
            }
        }

        @Test(
            "Viability and the path are reported with ready, before any answer", arguments: [Medium.tcp4, .tcp6, .udp4])
        func pathWithReady(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            for _ in 0..<20 {
                let client = Probe(to: listener.endpoint, using: medium.parameters)
                try await Self.expectPathFirst(client) {
                    if !medium.isStream { client.connection.send(content: Data("x"), completion: .idempotent) }
                    let server = try await listener.connections.next()
                    server.connection.send(content: Data("answer"), completion: .idempotent)
                    try await Self.expectPathFirst(server) {
                        // Send this only on a stream. With datagrams, another datagram would create a new connection
                        // after this connection has ended.
                        if medium.isStream { client.connection.send(content: Data("x"), completion: .idempotent) }
                    }
                    server.connection.cancel()
                }
                client.connection.cancel()
            }
            try await listener.cancel()
        }

        /// Starts a connection with a pending receive. Expects that the path and the viability are reported directly
        /// after the state `ready`.
        private static func expectPathFirst(_ probe: Probe, _ body: () async throws -> Void) async throws {
            let events = Mailbox<String>()
            probe.connection.stateUpdateHandler = { if case .ready = $0 { events.put("ready") } }
            probe.connection.viabilityUpdateHandler = { events.put("viable \($0)") }
            probe.connection.pathUpdateHandler = { events.put("path \($0.status)") }
            probe.connection.receive(minimumIncompleteLength: 1, maximumLength: 9) { _, _, _, _ in events.put("content")
            }
            probe.start()
            try await body()
            let order = try await events.next(4)
            let expected = ["ready", "path satisfied", "viable true", "content"]
            // The last event is received content. It may come from the datagram that created the connection.
            #expect(order == expected, "\(order)")
        }

        @Test("After the end of both directions the connection fails with ENOTCONN, and receives still report the end")
        func bothEnds() async throws {
            for medium in Medium.streams {
                try await Pair.with(medium) { pair in
                    try await pair.client.deliver(Data("question"))
                    try await pair.client.sendEnd()
                    #expect(try await pair.server.receive(8, 9).text == "question")
                    #expect(try await pair.server.receive().isFinal)
                    #expect(pair.server.connection.state == .ready)
                    try await pair.server.deliver(Data("answer"))
                    try await pair.server.sendEnd()
                    try await pair.server.states.expect(.failed(.posix(.ENOTCONN)))
                    #expect(pair.client.connection.state == .ready, "its end of the answer has not been received")
                    #expect(try await pair.client.receive(6, 9).text == "answer")
                    let end = try await pair.client.receive()
                    #expect(end.isFinal && end.isComplete && end.error == nil)
                    try await pair.client.states.expect(.failed(.posix(.ENOTCONN)))
                    #expect(try await pair.client.receive().error == .posix(.ENODATA))
                    try await pair.client.cancel()
                    #expect(
                        pair.client.states.history == [.preparing, .ready, .failed(.posix(.ENOTCONN)), .cancelled])
                }
            }
        }

        @Test("The end of both directions with TLS and with a framer", arguments: [false, true])
        func bothEndsOfStack(isFramer: Bool) async throws {
            let client =
                isFramer
                ? LengthFramer.parameters(.tcp)
                : NWParameters(tls: try TestIdentity.options(isServer: false), tcp: .init())
            let server =
                isFramer
                ? LengthFramer.parameters(.tcp)
                : NWParameters(tls: try TestIdentity.options(isServer: true), tcp: .init())
            try await StackPair.with(client: client, server: server) { pair in
                try await pair.client.deliver(Data("question"))
                try await pair.client.sendEnd()
                #expect(try await pair.server.receive(8, 9).text == "question")
                #expect(try await pair.server.receive().isFinal)
                try await pair.server.deliver(Data("answer"))
                try await pair.server.sendEnd()
                try await pair.server.states.expect(.failed(.posix(.ENOTCONN)))
                #expect(try await pair.client.receive(6, 9).text == "answer")
                #expect(try await pair.client.receive().isFinal)
                try await pair.client.states.expect(.failed(.posix(.ENOTCONN)))
            }
        }

        @Test("A client with the parameters of a Unix-domain listener connects")
        func sharedParameters() async throws {
            let parameters = NWParameters.tcp
            parameters.requiredLocalEndpoint = Medium.unix.freshLocalEndpoint()
            let listener = ListenerProbe(try NWListener(using: parameters))
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: parameters).start()
            try await client.ready()
            try await client.deliver(Data("hello"))
            let server = try await listener.connections.next().start()
            #expect(try await server.receive().text == "hello")
            try await client.cancel()
            try await server.cancel()
            try await listener.cancel()
        }

        @Test("A Unix-domain client without a bound path has no local endpoint; its peer sees the path of the listener")
        func unnamedClient() async throws {
            try await Pair.with(.unix) { pair in
                let path = try #require(pair.client.connection.currentPath)
                #expect(path.localEndpoint == nil && path.remoteEndpoint == pair.listener.endpoint)
                let other = try #require(pair.server.connection.currentPath)
                #expect(other.remoteEndpoint == pair.listener.endpoint && other.localEndpoint == pair.listener.endpoint)
                #expect(pair.server.connection.endpoint == pair.listener.endpoint)
            }
        }

        @Test(
            "A receive returns at most its maximum, even if its minimum is greater", arguments: Medium.allCases)
        func maximum(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.server.deliver(Data("0123456789"))
                #expect(try await pair.client.receive(10, 5).text == "01234")
                #expect(try await pair.client.receive(0, 2).text == "56")
                #expect(try await pair.client.receive(3, 3).text == "789")
            }
        }

        @Test("A receive returns at most its maximum through TLS, a framer and WebSocket, and for tasks")
        func maximumOfStacks() async throws {
            for layers in [ContentBeforeResetTests.Layers.tls, .framer, .webSocket] {
                let (client, server) = (try layers.parameters(isServer: false), try layers.parameters(isServer: true))
                try await StackPair.with(client: client, server: server, endpoint: layers.endpoint) { pair in
                    try await pair.server.deliver(Data("0123456789"), layers.context())
                    #expect(try await pair.client.receive(10, 5).text == "01234")
                    #expect(try await pair.client.receive(9, 2).text == "56")
                    #expect(try await pair.client.receive(3, 3).text == "789")
                }
            }
            try await Hall.open(
                .parameters { TCP() }, serving: { try await $0.send(Data("0123456789"), endOfStream: true) },
                { endpoint in
                    let client = NetworkConnection(to: endpoint) { TCP() }
                    let first = try await client.receive(atLeast: 10, atMost: 5).content
                    let second = try await client.receive(exactly: 5).content
                    #expect(first == Data("01234") && second == Data("56789"))
                })
        }
    }
}
