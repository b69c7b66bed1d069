import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Errors that lead to waiting, and errors that lead to failed")
    struct ConnectionFailureTests {
        @Test("A refused connection waits, and connects when it is restarted", arguments: Medium.internetStreams)
        func refusedThenRestarted(medium: Medium) async throws {
            // A socket that is bound but does not listen. No other program can use the port, and the kernel refuses
            // connections to it.
            let holder = RawSocket(try Socket.open(medium.family, .stream))
            try Socket.bind(holder.fd, to: medium.socketAddress(port: 0))
            let port = try #require(NWEndpoint.Port(rawValue: holder.port))
            let host = try #require(medium.loopback)
            let client = Probe(to: .hostPort(host: host, port: port), using: .tcp).start()
            try await client.states.expect(.preparing, .waiting(.posix(.ECONNREFUSED)))
            client.connection.restart()
            try await client.states.expect(.preparing, .waiting(.posix(.ECONNREFUSED)))
            try Socket.listen(holder.fd, backlog: 4)
            client.connection.restart()
            try await client.states.expect(.preparing, .ready)
            client.connection.restart()
            try await client.cancel()
            #expect(client.states.history.count == 7)
        }

        @Test("A datagram connection is ready without a listener, and stays ready when it is refused")
        func refusedDatagrams() async throws {
            // A socket that is connected to its own address receives nothing from others, so the kernel refuses their
            // datagrams. If the socket were closed, another test could get its port.
            let holder = try RawSocket.bound(.udp4)
            _ = try Socket.connect(holder.fd, to: Medium.udp4.socketAddress(port: holder.port))
            let port = try #require(NWEndpoint.Port(rawValue: holder.port))
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .udp).start()
            try await client.ready()
            let answers = client.requestMessage()
            try await client.deliver(Data("request"))
            #expect(try await answers.next().error == .posix(.ECONNREFUSED))
            #expect(client.connection.state == .ready)
            try await client.cancel()
            holder.close()
        }

        @Test("A missing socket file leads to waiting with ENOENT, one without a listener to waiting with ECONNREFUSED")
        func absentPath() async throws {
            let path = Scratch.path()
            let client = Probe(to: .unix(path: path), using: .tcp).start()
            try await client.states.expect(.preparing, .waiting(.posix(.ENOENT)))
            let holder = RawSocket(try Socket.open(.unix, .stream))
            try Socket.bind(holder.fd, to: .unix(path: path))
            defer { LocalPath.remove(path) }
            client.connection.restart()
            try await client.states.expect(.preparing, .waiting(.posix(.ECONNREFUSED)))
            try Socket.listen(holder.fd, backlog: 4)
            client.connection.restart()
            try await client.states.expect(.preparing, .ready)
            try await client.cancel()
        }

        @Test("Cancelling ends waiting, and completes pending requests")
        func cancelledWhileWaiting() async throws {
            let client = Probe(to: .unix(path: Scratch.path()), using: .tcp)
            let outcomes = client.send(Data("never"))
            let answers = client.request(1, 10)
            client.start()
            try await client.states.expect(.preparing, .waiting(.posix(.ENOENT)))
            client.connection.cancel()
            try await client.states.expect(.cancelled)
            #expect(outcomes.history == [.posix(.ECANCELED)])
            #expect(answers.history.map(\.error) == [.posix(.ECANCELED)])
        }

        @Test("A name that cannot exist leads to waiting with a DNS error")
        func unknownName() async throws {
            // RFC 6761 §6.4 reserves `.invalid`, so that the name does not exist.
            let client = Probe(to: .hostPort(host: "no-such-host.invalid", port: 9), using: .tcp).start()
            try await client.states.expect(.preparing)
            let state = try await client.states.next()
            guard case .waiting(.dns) = state else {
                Issue.record("\(state)")
                return
            }
            try await client.cancel()
        }

        @Test("With a silent host the connection is preparing until its timeout, then waits with ETIMEDOUT")
        func silentHost() async throws {
            // The listener's backlog is full, so the kernel drops further handshakes. To a client, the host seems to be
            // absent.
            let silent = try RawSocket.listening(.tcp4, backlog: 0)
            let filler = try await RawSocket.connected(to: Medium.tcp4.socketAddress(port: silent.port))
            let isFull = await eventually { KernelSocket.isBacklogFull(silent.fd) }
            try #require(isFull)
            let options = NWProtocolTCP.Options()
            options.connectionTimeout = 1
            let parameters = NWParameters(tls: nil, tcp: options)
            let port = try #require(NWEndpoint.Port(rawValue: silent.port))
            let start = System.now
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: parameters).start()
            try await client.states.expect(.preparing, .waiting(.posix(.ETIMEDOUT)))
            // On a busy machine this test runs late, so only the lower limit of the time is certain.
            #expect(System.now - start >= .seconds(1))
            try await client.cancel()
            filler.close()
            silent.close()
        }

        @Test("A reset by the peer fails the connection with ECONNRESET", arguments: Medium.internetStreams)
        func resetByPeer(medium: Medium) async throws {
            let listener = try RawSocket.listening(medium)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            let host = try #require(medium.loopback)
            let client = Probe(to: .hostPort(host: host, port: port), using: .tcp).start()
            let peer = try await listener.accept()
            try await client.ready()
            let answers = client.request(1, 10)
            peer.reset()
            try await client.states.expect(.failed(.posix(.ECONNRESET)))
            #expect(answers.history.map(\.error) == [.posix(.ECONNRESET)])
            #expect(try await client.receive().error == .posix(.ECONNRESET))
            #expect(try await client.send(Data("x")).next() == .posix(.ECONNRESET))
            try await client.cancel()
            #expect(client.states.history == [.preparing, .ready, .failed(.posix(.ECONNRESET)), .cancelled])
        }

        @Test("A reset is noticed without a pending receive")
        func resetWhileIdle() async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp).start()
            let peer = try await listener.accept()
            try await client.ready()
            peer.reset()
            try await client.states.expect(.failed(.posix(.ECONNRESET)))
            try await client.cancel()
        }

        @Test("A reset after the peer's end is reported as ECONNRESET, not as EPIPE")
        func resetBehindTheEnd() async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp).start()
            let peer = try await listener.accept()
            try await client.ready()
            try Socket.shutdownWrite(peer.fd)
            #expect(try await client.receive().isFinal)
            peer.reset()
            try await client.states.expect(.failed(.posix(.ECONNRESET)))
            try await client.cancel()
        }

        @Test("Content that arrived before a reset completes the pending receive")
        func contentBeforeReset() async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp).start()
            let peer = try await listener.accept()
            try await client.ready()
            try await peer.write(Data("last words"))
            #expect(try await client.receive(1, 4).text == "last")
            let answers = client.request(100, 100)
            peer.reset()
            let answer = try await answers.next()
            #expect(answer.text == " words")
            #expect(answer.error == .posix(.ECONNRESET))
            try await client.cancel()
        }

        @Test("The end of the peer's direction alone changes no state", arguments: Medium.streams)
        func endIsNoState(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.server.cancel()
                let answer = try await pair.client.receive()
                #expect(answer.isFinal && answer.isComplete && answer.error == nil)
                #expect(pair.client.connection.state == .ready)
            }
        }

        @Test("Invalid parameters and endpoints fail with EINVAL")
        func mistakes() async throws {
            let contradiction = NWParameters.tcp
            contradiction.requiredLocalEndpoint = .hostPort(host: .ipv6(.loopback), port: .any)
            let ip = try #require(contradiction.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options)
            ip.version = .v4
            let tooLong = "/tmp/" + String(repeating: "x", count: 200)
            let rows: [(NWEndpoint, NWParameters)] = [
                (.hostPort(host: .ipv4(.loopback), port: 9), contradiction), (.unix(path: tooLong), .tcp),
                (.unix(path: ""), .tcp),
            ]
            for (endpoint, parameters) in rows {
                let client = Probe(to: endpoint, using: parameters)
                let outcomes = client.send(Data("x"))
                client.start()
                try await client.states.expect(.failed(.posix(.EINVAL)))
                try await outcomes.expect(.posix(.EINVAL))
                try await client.cancel()
            }
        }

        @Test("A required address that this host lacks leads to waiting")
        func missingLocalAddress() async throws {
            let parameters = NWParameters.tcp
            // An address for documentation (RFC 5737 §3), which no host has.
            parameters.requiredLocalEndpoint = .hostPort(host: "192.0.2.1", port: .any)
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: 9), using: parameters).start()
            try await client.states.expect(.preparing)
            let state = try await client.states.next()
            guard case .waiting(.posix(.EADDRNOTAVAIL)) = state else {
                Issue.record("\(state)")
                return
            }
            try await client.cancel()
        }
    }
}
