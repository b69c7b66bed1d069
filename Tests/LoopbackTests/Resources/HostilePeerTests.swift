import Causeway
import CausewaySystem
import CausewayTestKit
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Peers that misbehave")
    struct HostilePeerTests {
        private static func connect(
            to raw: RawSocket, _ tune: (NWProtocolTCP.Options) -> Void = { _ in }
        ) async throws -> (Probe, RawSocket) {
            let port = try #require(NWEndpoint.Port(rawValue: raw.port))
            let options = NWProtocolTCP.Options()
            tune(options)
            let client = Probe(
                to: .hostPort(host: .ipv4(.loopback), port: port), using: NWParameters(tls: nil, tcp: options))
            client.start()
            let peer = try await raw.accept()
            try await client.ready()
            return (client, peer)
        }

        @Test("A reset while both directions are full fails every pending request once")
        func resetUnderLoad() async throws {
            let raw = try RawSocket.listening(.tcp4)
            for round in 0..<20 {
                let (client, peer) = try await Self.connect(to: raw)
                let outcomes = Mailbox<NWError?>()
                for _ in 0..<20 { client.send(Data(count: 1 << 20), into: outcomes) }
                let answers = Mailbox<Received>()
                for _ in 0..<20 { client.request(1 << 20, 1 << 20, into: answers) }
                try await peer.write(Data(count: round * 10_000))
                peer.reset()
                try await client.states.expect(.failed(.posix(.ECONNRESET)))
                #expect(try await outcomes.next(20).last == .posix(.ECONNRESET))
                #expect(try await answers.next(20).last?.error == .posix(.ECONNRESET))
                try await client.cancel()
                #expect(outcomes.history.count == 20 && answers.history.count == 20)
            }
        }

        @Test("A peer that half-closes and never reads does not end the other direction")
        func halfClosedAndDeaf() async throws {
            let raw = try RawSocket.listening(.tcp4)
            let (client, peer) = try await Self.connect(to: raw)
            try Socket.shutdownWrite(peer.fd)
            #expect(try await client.receive().isFinal)
            let outcomes = Mailbox<NWError?>()
            for _ in 0..<64 { client.send(Data(count: 1 << 20), into: outcomes) }
            while await outcomes.take(within: Patience.silence) != nil {}
            #expect(outcomes.history.count < 64 && client.connection.state == .ready)
            try await client.cancel()
            #expect(outcomes.history.count == 64)
        }

        @Test("A vanished peer is detected by sending and by keepalive")
        func vanished() async throws {
            guard geteuid() == 0 else {
                print("SKIPPED: making a peer vanish needs CAP_NET_ADMIN")
                return
            }
            let raw = try RawSocket.listening(.tcp4)
            for bySending in [true, false] {
                let (client, peer) = try await Self.connect(to: raw) { options in
                    options.enableKeepalive = !bySending
                    options.keepaliveIdle = 1
                    options.keepaliveInterval = 1
                    options.keepaliveCount = 1
                }
                // Put the socket in repair mode (tcp(7)), so that it closes without notifying its peer. Option 19 is
                // TCP_REPAIR.
                var on: CInt = 1
                try #require(setsockopt(peer.fd, CInt(IPPROTO_TCP), 19, &on, socklen_t(MemoryLayout<CInt>.size)) == 0)
                peer.close()
                if bySending { client.send(Data("hello?")) }
                try await client.states.expect(.failed(.posix(.ECONNRESET)))
                try await client.cancel()
            }
        }

        @Test("Content in single bytes, paced and in bursts, arrives complete", arguments: [UInt64](1...3))
        func drip(seed: UInt64) async throws {
            let raw = try RawSocket.listening(.tcp6)
            let port = try #require(NWEndpoint.Port(rawValue: raw.port))
            let client = Probe(to: .hostPort(host: .ipv6(.loopback), port: port), using: .tcp).start()
            let peer = try await raw.accept()
            try await client.ready()
            let content = Data.pattern(20_000)
            async let all = client.receiveMessage()
            var random = SplitMix64(seed: seed)
            var offset = 0
            while offset < content.count {
                let count = min(content.count - offset, random.chance(oneIn: 3) ? 1 : random.integer(in: 1...300))
                try await peer.write(content[offset..<(offset + count)])
                offset += count
            }
            try Socket.shutdownWrite(peer.fd)
            #expect(try await all.data == content)
            try await client.cancel()
        }

        @Test("A listener still works after a flood of connections that reset at once")
        func resetFlood() async throws {
            let listener = try ListenerProbe(.tcp4)
            listener.listener.newConnectionHandler = {
                [connections = listener.connections, queue = listener.queue] connection in
                connection.start(queue: queue)
                connection.receive(minimumIncompleteLength: 1, maximumLength: 10) { data, context, isComplete, error in
                    if data == nil { return connection.cancel() }
                    connections.put(Probe(connection))
                }
            }
            try await listener.listen()
            for _ in 0..<2_000 {
                try await RawSocket.connected(to: Medium.tcp4.socketAddress(port: listener.port.rawValue)).reset()
            }
            let client = Probe(to: listener.endpoint, using: .tcp).start()
            try await client.deliver(Data("here"))
            let server = try await listener.connections.next()
            try await client.cancel()
            server.connection.cancel()
            try await listener.cancel()
        }

        @Test("A listener still works after datagrams of every length from many peers")
        func datagramNoise() async throws {
            let listener = try ListenerProbe(.udp4)
            listener.listener.newConnectionHandler = { [queue = listener.queue] connection in
                connection.start(queue: queue)
                Self.echo(connection)
            }
            try await listener.listen()
            var random = SplitMix64(seed: 7)
            // Keep these sockets open until the end. If one were closed, the client could get its port, and then
            // receive the echoed noise.
            var peers: [RawSocket] = []
            for _ in 0..<200 {
                let noise = try await RawSocket.connected(
                    to: Medium.udp4.socketAddress(port: listener.port.rawValue), .datagram)
                peers.append(noise)
                for _ in 0..<5 { try await noise.write(Data(count: random.integer(in: 1...40_000))) }
            }
            let client = Probe(to: listener.endpoint, using: .udp).start()
            try await client.ready()
            let answers = client.requestMessage()
            var answer: Received?
            // The socket buffer may still be full, so the datagram may be dropped. Send it again.
            while answer == nil {
                try await client.deliver(Data("here"))
                answer = await answers.take(within: Patience.silence)
            }
            #expect(answer?.text == "here")
            withExtendedLifetime(peers) {}
            try await client.cancel()
            try await listener.cancel()
        }

        private static func echo(_ connection: NWConnection) {
            connection.receiveMessage { data, _, _, error in
                guard let data, error == nil else { return connection.cancel() }
                connection.send(content: data, completion: .idempotent)
                echo(connection)
            }
        }
    }
}
