import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("A listener")
    struct ListenerTests {
        @Test("A listener changes from setup to ready and cancelled", arguments: Medium.allCases)
        func life(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            #expect(listener.listener.state == .setup)
            #expect(listener.listener.port == nil && listener.listener.queue == nil)
            try await listener.listen()
            #expect(listener.listener.state == .ready)
            #expect(listener.listener.queue === listener.queue)
            if medium == .unix {
                #expect(listener.listener.port == nil)
            } else {
                let port = try #require(listener.listener.port)
                #expect(port != .any)
            }
            listener.start()
            listener.listener.cancel()
            listener.listener.cancel()
            try await listener.states.expect(.cancelled)
            await listener.settle()
            #expect(listener.states.history == [.ready, .cancelled])
            #expect(listener.listener.state == .cancelled)
        }

        @Test("Cancelling before the start leads to cancelled")
        func cancelledBeforeStart() async throws {
            let listener = try ListenerProbe(.tcp4)
            listener.listener.cancel()
            #expect(listener.listener.state == .cancelled)
            listener.start()
            await listener.settle()
            #expect(!listener.states.history.contains(.ready))
        }

        @Test("A port in use fails with EADDRINUSE, and the initializer does not throw", arguments: Medium.allCases)
        func portInUse(medium: Medium) async throws {
            let first = try ListenerProbe(medium)
            try await first.listen()
            let second = try ListenerProbe(medium) { $0.requiredLocalEndpoint = first.endpoint }
            second.start()
            try await second.states.expect(.failed(.posix(.EADDRINUSE)))
            second.listener.cancel()
            try await second.states.expect(.cancelled)
            // The failure of the second listener did not affect the first listener, which still has its port.
            let client = Probe(to: first.endpoint, using: medium.parameters).start()
            try await client.ready()
            if !medium.isStream { try await client.deliver(Data("x")) }
            let server = try await first.connections.next()
            try await client.cancel()
            try await server.cancel()
            try await first.cancel()
        }

        @Test(
            "A service that cannot be advertised fails the listener, and frees its port",
            arguments: [
                (NWListener.Service(type: "http"), NWError.dns(DNSServiceErrorType(kDNSServiceErr_BadParam))),
                (.init(name: "a\u{7}b", type: "_http._tcp"), .dns(DNSServiceErrorType(kDNSServiceErr_BadParam))),
                (.init(type: "_http._tcp", domain: "example.com"), .posix(.ENOTSUP)),
            ], [false, true])
        func impossibleService(_ wish: (service: NWListener.Service, error: NWError), isLate: Bool) async throws {
            let (service, error) = wish
            let first = try ListenerProbe(.tcp4)
            if !isLate { first.listener.service = service }
            first.start()
            if isLate {
                try await first.states.expect(.ready)
                first.listener.service = service
            }
            try await first.states.expect(.failed(error))
            first.listener.cancel()
            try await first.states.expect(.cancelled)
            // If the program sets the service before the start, the listener fails before it becomes ready.
            #expect(first.states.history == (isLate ? [.ready] : []) + [.failed(error), .cancelled])
        }

        @Test("A listener without a handler fails with EINVAL")
        func noHandler() async throws {
            let listener = ListenerProbe(try NWListener(using: .tcp))
            listener.listener.newConnectionHandler = nil
            listener.start()
            try await listener.states.expect(.failed(.posix(.EINVAL)))
            try await listener.cancel()
        }

        @Test("A local endpoint with a port conflicts with a port argument")
        func contradiction() throws {
            let parameters = NWParameters.tcp
            parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: 4_711)
            #expect(throws: NWError.posix(.EINVAL)) { try NWListener(using: parameters, on: 4_712) }
            parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
            #expect(throws: Never.self) { try NWListener(using: parameters, on: 4_712) }
        }

        @Test("Without a host, a listener accepts connections over both families", arguments: [true, false])
        func dualStack(isStream: Bool) async throws {
            let listener = ListenerProbe(try NWListener(using: isStream ? .tcp : .udp))
            try await listener.listen()
            for host in [NWEndpoint.Host.ipv4(.loopback), .ipv6(.loopback)] {
                let client = Probe(to: .hostPort(host: host, port: listener.port), using: isStream ? .tcp : .udp)
                    .start()
                try await client.ready()
                if !isStream { try await client.deliver(Data("x")) }
                let server = try await listener.connections.next()
                guard case .hostPort(let peer, _) = server.connection.endpoint else {
                    Issue.record("\(server.connection.endpoint)")
                    continue
                }
                #expect(peer == host)
                try await client.cancel()
                try await server.cancel()
            }
            try await listener.cancel()
        }

        @Test("The IP version restricts a listener to one family", arguments: [NWProtocolIP.Options.Version.v4, .v6])
        func oneFamily(version: NWProtocolIP.Options.Version) async throws {
            let parameters = NWParameters.tcp
            let ip = try #require(parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options)
            ip.version = version
            let listener = ListenerProbe(try NWListener(using: parameters))
            try await listener.listen()
            let isFour = version == .v4
            let good = Probe(
                to: .hostPort(host: isFour ? .ipv4(.loopback) : .ipv6(.loopback), port: listener.port), using: .tcp)
            try await good.start().ready()
            let bad = Probe(
                to: .hostPort(host: isFour ? .ipv6(.loopback) : .ipv4(.loopback), port: listener.port), using: .tcp)
            bad.start()
            try await bad.states.expect(.preparing, .waiting(.posix(.ECONNREFUSED)))
            for probe in [good, bad] { try await probe.cancel() }
            try await listener.cancel()
        }

        @Test("newConnectionLimit counts down, pauses at 0 and resumes when raised", arguments: Medium.streams)
        func limit(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            #expect(listener.listener.newConnectionLimit == NWListener.InfiniteConnectionLimit)
            listener.listener.newConnectionLimit = 2
            try await listener.listen()
            var clients: [Probe] = []
            for _ in 0..<5 {
                let client = Probe(to: listener.endpoint, using: medium.parameters).start()
                // The client becomes ready before the listener accepts the connection, because the kernel completes the
                // TCP handshake.
                try await client.ready()
                clients.append(client)
            }
            _ = try await listener.connections.next(2)
            #expect(listener.listener.newConnectionLimit == 0)
            #expect(await listener.connections.take(within: Patience.silence) == nil)
            listener.listener.newConnectionLimit = 1
            _ = try await listener.connections.next()
            #expect(await listener.connections.take(within: Patience.silence) == nil)
            listener.listener.newConnectionLimit = NWListener.InfiniteConnectionLimit
            _ = try await listener.connections.next(2)
            #expect(listener.listener.newConnectionLimit == NWListener.InfiniteConnectionLimit)
            for probe in clients + listener.connections.history { try await probe.cancel() }
            try await listener.cancel()
        }

        @Test("An initial limit of 0 accepts no connection")
        func closedFromTheStart() async throws {
            let listener = try ListenerProbe(.tcp4)
            listener.listener.newConnectionLimit = 0
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: .tcp).start()
            try await client.ready()
            #expect(await listener.connections.take(within: Patience.silence) == nil)
            listener.listener.newConnectionLimit = 1
            let server = try await listener.connections.next()
            try await client.cancel()
            try await server.cancel()
            try await listener.cancel()
        }

        @Test("Cancelling a listener keeps its connections", arguments: Medium.streams)
        func connectionsSurvive(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.listener.cancel()
                try await pair.client.deliver(Data("still there?"))
                #expect(try await pair.server.receive().text == "still there?")
                let late = Probe(to: pair.client.connection.endpoint, using: medium.parameters).start()
                try await late.states.expect(.preparing)
                let state = try await late.states.next()
                #expect(state == .waiting(.posix(medium == .unix ? .ENOENT : .ECONNREFUSED)))
                try await late.cancel()
            }
        }

        @Test("The address is free as soon as the listener is cancelled", arguments: Medium.streams)
        func rebind(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.listener.cancel()
                let again = try ListenerProbe(medium) { $0.requiredLocalEndpoint = pair.client.connection.endpoint }
                try await again.listen()
                let client = Probe(to: pair.client.connection.endpoint, using: medium.parameters).start()
                try await client.ready()
                _ = try await again.connections.next()
                try await client.cancel()
                try await again.cancel()
            }
        }

        @Test("allowLocalEndpointReuse lets two listeners share a port", arguments: [Medium.tcp4, .udp4])
        func sharedPort(medium: Medium) async throws {
            let first = try ListenerProbe(medium) { $0.allowLocalEndpointReuse = true }
            try await first.listen()
            let second = try ListenerProbe(medium) {
                $0.allowLocalEndpointReuse = true
                $0.requiredLocalEndpoint = first.endpoint
            }
            try await second.listen()
            #expect(second.port == first.port)
            try await first.cancel()
            try await second.cancel()
        }

        @Test("A stale socket file prevents listening, unless reuse is allowed")
        func abandonedPath() async throws {
            let path = Scratch.path()
            defer { LocalPath.remove(path) }
            let holder = RawSocket(try Socket.open(.unix, .stream))
            try Socket.bind(holder.fd, to: .unix(path: path))
            holder.close()
            let strict = try ListenerProbe(.unix) { $0.requiredLocalEndpoint = .unix(path: path) }
            strict.start()
            try await strict.states.expect(.failed(.posix(.EADDRINUSE)))
            try await strict.cancel()
            let lenient = try ListenerProbe(.unix) {
                $0.requiredLocalEndpoint = .unix(path: path)
                $0.allowLocalEndpointReuse = true
            }
            try await lenient.listen()
            try await lenient.cancel()
        }
    }
}

extension ListenerProbe {
    func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
