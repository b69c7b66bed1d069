import Causeway
import FoundationEssentials
import Testing

extension Loopback {
    /// Peers that do not play their part in a handshake.
    @Suite("Handshakes that come to nothing")
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

        @Test("A silent peer does not hold up a cancel, which answers everything first", arguments: Kind.allCases)
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

        @Test("Garbage makes a client wait, with its content unsent", arguments: Kind.allCases)
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
