import Causeway
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Content that is sent immediately before cancel()")
    struct FarewellTests {
        enum Kind: String, CaseIterable, CustomTestStringConvertible {
            case tls, framer, framerOverTLS, webSocket, webSocketOverTLS, dtls

            var testDescription: String { rawValue }
            var isSecure: Bool { self != .framer && self != .webSocket }
            var hasMessages: Bool { self != .tls }

            func parameters(isServer: Bool) throws -> NWParameters {
                let parameters =
                    switch self {
                    case .framer, .webSocket: NWParameters.tcp
                    case .tls, .framerOverTLS, .webSocketOverTLS:
                        NWParameters(tls: try TestIdentity.options(isServer: isServer))
                    case .dtls: NWParameters(dtls: try TestIdentity.options(isServer: isServer))
                    }
                switch self {
                case .framer, .framerOverTLS: return LengthFramer.parameters(parameters)
                case .webSocket, .webSocketOverTLS:
                    parameters.defaultProtocolStack.applicationProtocols.insert(NWProtocolWebSocket.Options(), at: 0)
                case .tls, .dtls: break
                }
                return parameters
            }

            func endpoint(_ port: NWEndpoint.Port) -> NWEndpoint {
                switch self {
                case .webSocket, .webSocketOverTLS: .url(Self.url(isSecure, port))
                case .tls, .framer, .framerOverTLS, .dtls: .hostPort(host: .ipv4(.loopback), port: port)
                }
            }

            private static func url(_ isSecure: Bool, _ port: NWEndpoint.Port) -> URL {
                // This text is a valid URL for every port, so the fallback URL is not used.
                URL(string: "\(isSecure ? "wss" : "ws")://127.0.0.1:\(port.rawValue)/") ?? URL(filePath: "/")
            }
        }

        private static func binary(_ kind: Kind) -> NWConnection.ContentContext {
            switch kind {
            case .webSocket, .webSocketOverTLS:
                NWConnection.ContentContext(identifier: "m", metadata: [NWProtocolWebSocket.Metadata(opcode: .binary)])
            case .tls, .framer, .framerOverTLS, .dtls: .defaultMessage
            }
        }

        /// One side sends three pieces and then cancels, in one callback on its queue. Together, the pieces have more
        /// bytes than a protocol stack holds at a time.
        @Test("All of it arrives, then the end", arguments: Kind.allCases, [false, true])
        func arrives(_ kind: Kind, isServer: Bool) async throws {
            let size = kind == .dtls ? 1_000 : 150_000
            try await StackPair.with(
                client: try kind.parameters(isServer: false),
                server: try kind.parameters(isServer: true), on: kind == .dtls ? .udp4 : .tcp4,
                endpoint: kind.endpoint
            ) { pair in
                let (sender, receiver) = isServer ? (pair.server, pair.client) : (pair.client, pair.server)
                if kind == .dtls { _ = try await pair.server.receiveMessage() }
                let pieces = (0..<3).map { Data(repeating: UInt8($0 + 1), count: size) }
                let outcomes = Mailbox<NWError?>()
                sender.queue.async {
                    for piece in pieces { sender.send(piece, Self.binary(kind), into: outcomes) }
                    sender.connection.cancel()
                }
                for piece in kind.hasMessages ? pieces : [pieces[0] + pieces[1] + pieces[2]] {
                    let received =
                        kind.hasMessages
                        ? try await receiver.receiveMessage() : try await receiver.receive(piece.count, piece.count)
                    let isEqual = received.data == piece
                    #expect(isEqual && received.error == nil)
                }
                for _ in pieces { #expect(try await outcomes.next() == nil) }
                try await sender.states.first { $0 == .cancelled }
                guard kind != .dtls else { return }
                let end = try await receiver.receiveMessage()
                #expect(end.data?.count ?? 2 <= 2 && end.error == nil)
            }
        }

        @Test("forceCancel() sends nothing that is queued")
        func abrupt() async throws {
            try await StackPair.with(
                client: try Kind.tls.parameters(isServer: false),
                server: try Kind.tls.parameters(isServer: true)
            ) { pair in
                let outcome = Mailbox<NWError?>()
                pair.client.queue.async {
                    pair.client.send(Data("farewell".utf8), into: outcome)
                    pair.client.connection.forceCancel()
                }
                let error = try await outcome.next()
                #expect(error == .posix(.ECANCELED))
                #expect(try await pair.server.receive().error == .posix(.ECONNRESET))
            }
        }
    }
}
