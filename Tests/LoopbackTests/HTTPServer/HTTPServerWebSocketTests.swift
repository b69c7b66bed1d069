import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayWire
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("HTTP server: WebSocket")
    struct HTTPServerWebSocketTests {
        private static var echo: HTTPServerRoutes {
            var routes = HTTPServerRoutes()
            routes.get("/chat") { _ in
                .webSocket(protocols: ["b", "a"]) { socket in
                    try await socket.send("welcome \(socket.subprotocol ?? "-")")
                    while let message = try await socket.receive() { try await socket.send(message) }
                }
            }
            return routes
        }

        /// Returns the bytes with which an HTTP/2 client begins a WebSocket handshake (RFC 8441 §5). The client also
        /// ends its side of the stream: with the head, or with a separate frame.
        private static func handshake(endsWithHead: Bool) -> [UInt8] {
            var fields = FieldSection()
            fields.append("sec-websocket-version", "13")
            let head = HTTP2RequestHead(
                method: "CONNECT", scheme: "http", authority: "h", path: "/", protocolName: "websocket", fields: fields)
            var encoder = HPACKEncoder()
            var block: [UInt8] = []
            head.encode(with: &encoder, to: &block)
            var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
            HTTP2Frame.settings([]).serialize(streamID: 0, into: &bytes)
            let headers = HTTP2HeadersFrame(block[...], endsStream: endsWithHead)
            HTTP2Frame.headers(headers).serialize(streamID: 1, into: &bytes)
            if !endsWithHead { HTTP2Frame.data([], endsStream: true).serialize(streamID: 1, into: &bytes) }
            return bytes
        }

        @Test("Messages in both directions, and a clean end by the client")
        func echoes() async throws {
            try await TestServer.run(routes: Self.echo) { _, port in
                let options = NWProtocolWebSocket.Options()
                options.setSubprotocols(["a", "c"])
                let parameters = NWParameters.tcp
                parameters.defaultProtocolStack.applicationProtocols = [options]
                let url = try #require(URL(string: "ws://127.0.0.1:\(port)/chat"))
                let client = NWConnection(to: .url(url), using: parameters)
                try await client.open()
                #expect(try await client.receive(atMost: 100) == Data("welcome a".utf8))
                for text in ["one", String(repeating: "x", count: 100_000)] {
                    try await client.send(Data(text.utf8))
                    var received = Data()
                    while received.count < text.utf8.count, let piece = try await client.receive(atMost: 200_000) {
                        received += piece
                    }
                    #expect(received == Data(text.utf8))
                }
                await client.close()
            }
        }

        @Test("The close handshake of the server ends the connection")
        func closes() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in .webSocket { socket in try await socket.send("bye") } }
            try await TestServer.run(routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(
                    "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                let head = try await client.read(through: "\r\n\r\n")
                #expect(head.hasPrefix("HTTP/1.1 101 "))
                // The example of RFC 6455 §1.3.
                #expect(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
                #expect(try await client.read(through: "bye").hasSuffix("bye"))
                // Send a masked close frame with status 1000.
                try await client.write(bytes: [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8])
                _ = try await client.readAll()
            }
        }

        @Test("A client of HTTP/2 can end its side before the handler begins", arguments: [true, false])
        func endsFirst(_ endsWithHead: Bool) async throws {
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in .webSocket { socket in while try await socket.receive() != nil {} } }
            let ended = Mailbox<HTTPServer.Exchange>()
            try await TestServer.run(configure: { $0.exchangeHandler = { ended.put($0) } }, routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(bytes: Self.handshake(endsWithHead: endsWithHead))
                #expect(try await ended.next().status == 200)
                client.close()
            }
        }

        // This test checks RFC 8441 §5.
        @Test(
            "A handshake of HTTP/2 with a resource that is no WebSocket has no successful status",
            arguments: [(200, 501), (204, 501), (303, 303), (404, 404)])
        func refusesOthers(_ status: Int, _ answer: Int) async throws {
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in HTTPServerResponse(status: status) }
            let ended = Mailbox<HTTPServer.Exchange>()
            try await TestServer.run(configure: { $0.exchangeHandler = { ended.put($0) } }, routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(bytes: Self.handshake(endsWithHead: true))
                #expect(try await ended.next().status == answer)
                client.close()
            }
        }

        @Test("A client that sends pings and reads no pongs is not read any more, and disconnected")
        func unreadPongs() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in .webSocket { socket in while try await socket.receive() != nil {} } }
            try await TestServer.run(configure: { $0.stallTimeout = .seconds(5) }, routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(
                    "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                _ = try await client.read(through: "\r\n\r\n")
                let ping: [UInt8] = [0x89, 0xFD, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 125)
                let mebibyte = Array(repeatElement(ping, count: 8_000).joined())
                var written = 0
                do {
                    for _ in 0..<512 {
                        try await client.write(bytes: mebibyte)
                        written += 1
                    }
                } catch {
                    // The write fails because the server has closed the connection.
                }
                // The client can still write some data after the server has closed, because the kernel's buffers hold a
                // few MiB in each direction.
                #expect(written < 64)
                client.close()
            }
        }

        @Test(
            "A request that is no handshake is refused",
            arguments: ["", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 8\r\n"])
        func refuses(_ fields: String) async throws {
            try await TestServer.run(routes: Self.echo) { _, port in
                let client = try await RawClient(port: port)
                try await client.write("GET /chat HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
                let status = fields.isEmpty ? "400" : "426"
                #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 \(status) "))
            }
        }
    }
}
