import Causeway
import CausewayStreams
import CausewaySystem
import CausewayTLS
import Foundation
import Testing

extension Loopback {
    /// Tests a peer that answers and then resets the connection. This happens when a peer closes with unread content.
    /// The program must still receive the answer.
    @Suite("Content that came before a reset")
    struct ContentBeforeResetTests {
        /// The protocols that the tested connection uses above TCP.
        enum Layers: String, CaseIterable, CustomTestStringConvertible, Sendable {
            case none = "TCP"
            case tls = "TLS"
            case webSocket = "WebSocket"
            case framer = "a framer"
            case framerOverTLS = "a framer over TLS"

            var testDescription: String { rawValue }

            func parameters(isServer: Bool) throws -> NWParameters {
                let base: NWParameters =
                    switch self {
                    case .none, .webSocket, .framer: .tcp
                    case .tls, .framerOverTLS:
                        NWParameters(tls: try TestIdentity.options(isServer: isServer), tcp: NWProtocolTCP.Options())
                    }
                switch self {
                case .none, .tls: break
                case .webSocket:
                    base.defaultProtocolStack.applicationProtocols.insert(NWProtocolWebSocket.Options(), at: 0)
                case .framer, .framerOverTLS: _ = LengthFramer.parameters(base)
                }
                return base
            }

            func context() -> NWConnection.ContentContext {
                guard self == .webSocket else { return .defaultMessage }
                let metadata = NWProtocolWebSocket.Metadata(opcode: .binary)
                return NWConnection.ContentContext(identifier: "message", metadata: [metadata])
            }

            func endpoint(_ port: NWEndpoint.Port) -> NWEndpoint {
                guard self == .webSocket else { return .hostPort(host: .ipv4(.loopback), port: port) }
                return .url(URL(string: "ws://127.0.0.1:\(port.rawValue)/")!)
            }
        }

        /// How the client detects the reset.
        enum Discovery: CaseIterable, Sendable {
            /// The client has no pending receive call, so it does not detect the reset yet.
            case idle
            /// The client is sending, so a send call reports the reset.
            case sending
        }

        private static let answer = Data.pattern(3_000)
        /// How long a connection waits for its program to receive before it reports the failure.
        private static let patience = Duration.seconds(5)

        /// Creates a connection to a server that sends an answer and then resets the connection.
        private static func withReset(
            _ layers: Layers, _ body: (Probe) async throws -> Void
        ) async throws {
            let (client, server) = (try layers.parameters(isServer: false), try layers.parameters(isServer: true))
            try await StackPair.with(client: client, server: server, endpoint: layers.endpoint) { pair in
                try await pair.client.deliver(Data.pattern(500), layers.context())
                _ = try await pair.server.receive(1, 10)
                try await pair.server.deliver(answer, layers.context())
                await reset(pair.server)
                try await body(pair.client)
            }
        }

        /// Resets the connection after all content was sent, because a reset discards unsent content.
        private static func reset(_ probe: Probe) async {
            while (probe.connection.driver.flow.withDescriptor { Socket.bytesUnsent($0) } ?? 0) > 0 {
                await Task.yield()
            }
            probe.connection.forceCancel()
        }

        @Test(
            "200 of 200 answers are received before the error and the state", arguments: Layers.allCases,
            Discovery.allCases)
        func answers(_ layers: Layers, _ discovery: Discovery) async throws {
            let rounds = layers == .none || layers == .tls || layers == .webSocket ? 200 : 40
            for _ in 0..<rounds {
                let start = System.now
                try await Self.withReset(layers) { client in
                    switch discovery {
                    // The test cannot observe when the client detects the reset. If the client detects it later than
                    // expected, the test is easier but still valid.
                    case .idle: try await Task.sleep(for: .milliseconds(2))
                    case .sending:
                        while try await client.send(Data("x"), layers.context()).next() == nil {}
                    }
                    let states = client.states.history
                    // On a busy machine, this test can run so late that the connection no longer waits for it.
                    let isLate = System.now - start >= Self.patience
                    #expect(states == [.preparing, .ready] || isLate)
                    var received = Data()
                    while received.count < Self.answer.count {
                        let answer = try await client.receive(1, 1_000)
                        guard let data = answer.data, answer.error == nil else { break }
                        received += data
                    }
                    try #require(received == Self.answer)
                    let last = try await client.receive()
                    #expect(last.data == nil && (last.error != nil || last.isComplete))
                    if layers != .webSocket { try await client.states.first { $0 == .failed(.posix(.ECONNRESET)) } }
                }
            }
        }

        @Test("Tasks receive the answer too", arguments: Discovery.allCases)
        func tasks(_ discovery: Discovery) async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            for _ in 0..<200 {
                let client = NetworkConnection(to: .hostPort(host: .ipv4(.loopback), port: port)) { TCP() }
                try await client.send(Data.pattern(500))
                let peer = try await listener.accept()
                _ = try await peer.read(atMost: 10)
                try await peer.write(Self.answer)
                peer.close()
                switch discovery {
                case .idle: try await Task.sleep(for: .milliseconds(2))
                case .sending:
                    await #expect(throws: NWError.self) { while true { try await client.send(Data("x")) } }
                }
                #expect(try await client.receive(exactly: Self.answer.count).content == Self.answer)
                await #expect(throws: NWError.posix(.ECONNRESET)) { try await client.receive(exactly: 1) }
            }
        }

        @Test("An answer of several megabytes is received completely and slowly, long after the reset")
        func largeAnswer() async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp).start()
            let peer = try await listener.accept()
            try await client.ready()
            try await client.deliver(Data.pattern(500))
            _ = try await peer.read(atMost: 10)
            var sent = 0
            // Send as much content as both kernels can buffer.
            while case .moved(let count) = Data.pattern(4_096, from: sent).withUnsafeBytes({ Socket.send(peer.fd, $0) })
            {
                sent += count
            }
            var arrived = -1
            while let now = client.connection.driver.flow.withDescriptor({ Socket.bytesReadable($0) }), now != arrived {
                arrived = now
                try await Task.sleep(for: .milliseconds(20))
            }
            peer.close()
            var received = Data()
            // More content can have arrived since the last count, so receive until the failure.
            while let data = try await client.receive(1, 10_000).data { received += data }
            #expect(received.count >= arrived && received == Data.pattern(received.count))
            try await client.states.expect(.failed(.posix(.ECONNRESET)))
            #expect(try await client.receive().error == .posix(.ECONNRESET))
        }

        @Test("A program that does not receive gets the failure, and can still receive the content before it")
        func neverReceives() async throws {
            try await Self.withReset(.none) { client in
                try await client.states.first { $0 == .failed(.posix(.ECONNRESET)) }
                #expect(try await client.receive(1, 10_000).data == Self.answer)
                #expect(try await client.receive().error == .posix(.ECONNRESET))
                try await client.cancel()
                #expect(client.states.history == [.preparing, .ready, .failed(.posix(.ECONNRESET)), .cancelled])
            }
        }

        @Test("The peer's end before a reset is received before the failure")
        func endBeforeReset() async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            for _ in 0..<50 {
                let client = Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp).start()
                let peer = try await listener.accept()
                try await client.ready()
                try await client.deliver(Data.pattern(500))
                _ = try await peer.read(atMost: 10)
                try await peer.write(Self.answer)
                try Socket.shutdownWrite(peer.fd)
                peer.reset()
                try await Task.sleep(for: .milliseconds(2))
                #expect(try await client.receive(Self.answer.count, 10_000).data == Self.answer)
                let end = try await client.receive()
                #expect(end.isFinal && end.isComplete && end.error == nil)
                try await client.states.first { $0 == .failed(.posix(.ECONNRESET)) }
                try await client.cancel()
            }
        }

        @Test("On a Unix-domain socket, a peer that closes with unread content loses no answer either")
        func unixDomain() async throws {
            try await Pair.with(.unix) { pair in
                try await pair.client.deliver(Data.pattern(5_000))
                _ = try await pair.server.receive(1, 10)
                try await pair.server.deliver(Self.answer)
                pair.server.connection.forceCancel()
                try await pair.server.states.first { $0 == .cancelled }
                while try await pair.client.send(Data("x")).next() == nil {}
                #expect(try await pair.client.receive(Self.answer.count, 10_000).data == Self.answer)
            }
        }
    }
}
