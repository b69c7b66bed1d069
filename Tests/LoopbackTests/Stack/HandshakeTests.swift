import Causeway
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests with peers that do not complete a handshake.
    @Suite("Handshakes that fail")
    struct HandshakeTests {
        enum Kind: String, CaseIterable {
            case tls, webSocket

            var parameters: NWParameters {
                switch self {
                case .tls: return .tls
                case .webSocket:
                    let parameters = NWParameters.tcp
                    parameters.defaultProtocolStack.applicationProtocols = [NWProtocolWebSocket.Options()]
                    return parameters
                }
            }
        }

        private static func client(of raw: RawSocket, _ kind: Kind) -> Probe {
            Probe(
                to: .hostPort(host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: raw.port)),
                using: kind.parameters)
        }

        @Test("A silent peer does not delay a cancel, which completes all requests first", arguments: Kind.allCases)
        func silence(_ kind: Kind) async throws {
            let raw = try RawSocket.listening(.tcp4)
            let client = Self.client(of: raw, kind)
            let (sent, answer) = (client.send(Data("early".utf8)), client.requestMessage())
            client.start()
            let peer = try await raw.accept()
            try await client.states.expect(.preparing)
            client.connection.cancel()
            #expect(try await sent.next() == .posix(.ECANCELED))
            #expect(try await answer.next().error == .posix(.ECANCELED))
            try await client.states.expect(.cancelled)
            withExtendedLifetime(peer) {}
        }

        /// Returns the parameters with a time limit of 1 second for the handshake.
        private static func limited(_ parameters: NWParameters) -> NWParameters {
            (parameters.defaultProtocolStack.transportProtocol as? NWProtocolTCP.Options)?.connectionTimeout = 1
            return parameters
        }

        @Test(
            "A client waits after the handshake timeout of a silent peer, with its content unsent",
            arguments: Kind.allCases)
        func stalledServer(_ kind: Kind) async throws {
            let raw = try RawSocket.listening(.tcp4)
            let client = Probe(
                to: .hostPort(host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: raw.port)),
                using: Self.limited(kind.parameters))
            client.start()
            let peer = try await raw.accept()
            try await client.states.expect(.preparing)
            try await client.states.expect(.waiting(.posix(.ETIMEDOUT)))
            try await client.cancel()
            withExtendedLifetime(peer) {}
        }

        @Test("A server's connection fails after the handshake timeout, and the listener continues")
        func stalledClient() async throws {
            let parameters = Self.limited(Kind.webSocket.parameters)
            parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
            let listener = ListenerProbe(try NWListener(using: parameters))
            try await listener.listen()
            defer { listener.listener.cancel() }
            let raw = try await RawSocket.connected(to: Medium.tcp4.socketAddress(port: listener.port.rawValue))
            let accepted = try await listener.connections.next()
            accepted.start()
            try await accepted.states.expect(.preparing)
            try await accepted.states.expect(.failed(.posix(.ETIMEDOUT)))
            #expect(listener.listener.state == .ready)
            accepted.connection.cancel()
            withExtendedLifetime(raw) {}
        }

        @Test("A reset during the handshake makes a client wait, like a refused connection", arguments: Kind.allCases)
        func reset(_ kind: Kind) async throws {
            let raw = try RawSocket.listening(.tcp4)
            let client = Self.client(of: raw, kind)
            client.start()
            let peer = try await raw.accept()
            _ = try await peer.read()
            peer.reset()
            try await client.states.expect(.preparing)
            try await client.states.expect(.waiting(.posix(.ECONNRESET)))
            // After the restart, the next attempt uses a new connection.
            client.connection.restart()
            _ = try await raw.accept().read()
            try await client.states.expect(.preparing)
            try await client.cancel()
        }

        @Test("Invalid data makes a client wait, with its content unsent", arguments: Kind.allCases)
        func garbage(_ kind: Kind) async throws {
            let raw = try RawSocket.listening(.tcp4)
            let client = Self.client(of: raw, kind)
            client.start()
            let peer = try await raw.accept()
            try await peer.write(Data(repeating: 0x2a, count: 1_000) + Data("\r\n\r\n".utf8))
            try await client.states.expect(.preparing)
            guard case .waiting = try await client.states.next() else {
                Issue.record("not waiting: \(client.states.history)")
                return
            }
            try await client.cancel()
        }
    }
}
