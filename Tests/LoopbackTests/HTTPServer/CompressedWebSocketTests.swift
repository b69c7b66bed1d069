import CausewayHTTPServer
import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("HTTP server: compressed WebSocket")
    struct CompressedWebSocketTests {
        private static let text = String(repeating: "Grüße, 世界 ", count: 10_000)

        private static func routes() -> HTTPServerRoutes {
            var required = NWProtocolWebSocket.Compression()
            required.isRequired = true
            let kinds: [(String, NWProtocolWebSocket.Compression?)] = [
                ("/compressed", NWProtocolWebSocket.Compression()), ("/required", required), ("/plain", nil),
            ]
            var routes = HTTPServerRoutes()
            for (path, compression) in kinds {
                routes.get(path) { _ in
                    .webSocket(maximumMessageLength: 200_000, compression: compression) { socket in
                        try await socket.send("compressed \(socket.usesCompression)")
                        while let message = try await socket.receive() { try await socket.send(message) }
                    }
                }
            }
            return routes
        }

        private static func compression(_ isRequired: Bool) -> NWProtocolWebSocket.Compression {
            var compression = NWProtocolWebSocket.Compression()
            compression.isRequired = isRequired
            return compression
        }

        @Test("A connection and a server agree")
        func connection() async throws {
            try await TestServer.run(routes: Self.routes()) { _, port in
                let options = NWProtocolWebSocket.Options()
                options.compression = Self.compression(true)
                let parameters = NWParameters.tcp
                parameters.defaultProtocolStack.applicationProtocols = [options]
                let url = try #require(URL(string: "ws://127.0.0.1:\(port)/required"))
                let client = NWConnection(to: .url(url), using: parameters)
                try await client.open()
                let found = client.metadata(definition: NWProtocolWebSocket.definition)
                #expect((found as? NWProtocolWebSocket.Metadata)?.usesCompression == true)
                #expect(try await client.receive(atMost: 100) == Data("compressed true".utf8))
                try await client.send(Data(Self.text.utf8))
                var received = Data()
                while received.count < Self.text.utf8.count, let piece = try await client.receive(atMost: 200_000) {
                    received += piece
                }
                let isEqual = received == Data(Self.text.utf8)
                #expect(isEqual)
                await client.close()
            }
        }

        @Test("A structured connection and a listener agree")
        func structured() async throws {
            try await Hall.open(.parameters { WebSocket { TCP() }.compression() }) { connection in
                for try await (content, metadata) in connection.messages where metadata.opcode == .text {
                    try await connection.send(String(decoding: content, as: UTF8.self))
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) {
                    WebSocket { TCP() }.compression(Self.compression(true))
                }
                try await connection.send(Self.text)
                let isEqual = try await connection.receive().content == Data(Self.text.utf8)
                #expect(isEqual)
            }
        }

        @Test(
            "A WebSocket task and a server agree, or not",
            arguments: [
                ("/compressed", "compressed true"), ("/required", "compressed true"), ("/plain", "compressed false"),
            ])
        func task(_ path: String, _ greeting: String) async throws {
            try await TestServer.run(routes: Self.routes()) { _, port in
                let session = privateSession { $0.webSocketCompression = Self.compression(false) }
                let task = session.webSocketTask(with: try #require(URL(string: "ws://127.0.0.1:\(port)\(path)")))
                task.resume()
                #expect(await task.hear() == greeting)
                #expect(await task.say(Self.text) == nil)
                let isEqual = await task.hear() == Self.text
                #expect(isEqual)
                task.cancel(with: .normalClosure, reason: nil)
            }
        }

        @Test("Required compression that the peer does not have")
        func required() async throws {
            try await TestServer.run(routes: Self.routes()) { _, port in
                for (isRequired, path) in [(true, "/plain"), (false, "/required")] {
                    let session = privateSession { configuration in
                        if isRequired { configuration.webSocketCompression = Self.compression(true) }
                    }
                    let task = session.webSocketTask(with: try #require(URL(string: "ws://127.0.0.1:\(port)\(path)")))
                    task.resume()
                    #expect(await task.hear() == "\(URLError.Code.badServerResponse)")
                }
            }
        }

        @Test("A compressed message that is too long ends the connection")
        func bomb() async throws {
            try await TestServer.run(routes: Self.routes()) { _, port in
                let session = privateSession { $0.webSocketCompression = Self.compression(true) }
                let url = try #require(URL(string: "ws://127.0.0.1:\(port)/compressed"))
                let sender = session.webSocketTask(with: url)
                sender.resume()
                #expect(await sender.hear() == "compressed true")
                #expect(await sender.say(String(repeating: "a", count: 200_001)) == nil)
                #expect(await sender.hear() == "\(POSIXError.Code.ENOTCONN)")
                #expect(sender.closeCode == .messageTooBig)
                let receiver = session.webSocketTask(with: url)
                receiver.maximumMessageSize = 100_000
                receiver.resume()
                #expect(await receiver.hear() == "compressed true")
                #expect(await receiver.say(String(repeating: "a", count: 100_001)) == nil)
                #expect(await receiver.hear() == "\(POSIXError.Code.EMSGSIZE)")
            }
        }
    }
}
