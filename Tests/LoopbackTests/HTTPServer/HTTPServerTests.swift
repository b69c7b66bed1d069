import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("HTTP server")
    struct HTTPServerTests {
        private static func get(_ path: String, _ fields: String = "") -> String {
            "GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
        }

        private static func routes(_ fill: (inout HTTPServerRoutes) -> Void) -> HTTPServerRoutes {
            var routes = HTTPServerRoutes()
            fill(&routes)
            return routes
        }

        // Methods and errors: RFC 9110 §9.3.1, §9.3.2, §9.3.7, §15.5.5, §15.5.6.
        @Test("Routes, parameters, 404, 405, HEAD and OPTIONS", arguments: Medium.internetStreams)
        func routing(_ medium: Medium) async throws {
            let routes = Self.routes { routes in
                routes.get("/fixed") { _ in .text("fixed") }
                routes.get("/{name}") { .text("name \($0.parameters["name"] ?? "")") }
                routes.get("/files/{rest...}") { .text("rest \($0.parameters["rest"] ?? "")") }
            }
            try await TestServer.run(medium, routes: routes) { _, port in
                let client = try await RawClient(medium, port: port)
                for (request, answer) in [
                    (Self.get("/fixed"), "fixed"), (Self.get("/a%2Fb%20c?x"), "name a/b c"),
                    (Self.get("/files/x/y"), "rest x/y"), (Self.get("/files/"), "rest "),
                ] {
                    try await client.write(request)
                    #expect(try await client.read(through: answer).hasPrefix("HTTP/1.1 200 OK\r\n"))
                }
                for (request, status) in [
                    (Self.get("/a/b/c"), "404 Not Found"),
                    ("DELETE /fixed HTTP/1.1\r\nHost: h\r\n\r\n", "405 Method Not Allowed"),
                    (Self.get("/%zz"), "400 Bad Request"), ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "204 No Content"),
                    ("HEAD /fixed HTTP/1.1\r\nHost: h\r\n\r\n", "200 OK"),
                ] {
                    try await client.write(request)
                    let head = try await client.read(through: "\r\n\r\n")
                    #expect(head.contains("HTTP/1.1 \(status)\r\n"), "\(head)")
                }
            }
        }

        @Test("Content flows both ways at once, without a length")
        func streams() async throws {
            let routes = Self.routes { routes in
                routes.post("/echo") { request in
                    HTTPServerResponse(
                        body: .stream { writer in
                            for try await piece in request.body { try await writer.write(piece) }
                            writer.setTrailers(["X-End": request.body.trailers?["X-Sum"] ?? "none"])
                        })
                }
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(
                    "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
                #expect(try await client.read(through: "3\r\nabc").contains("Transfer-Encoding: chunked"))
                try await client.write("2\r\nde\r\n")
                #expect(try await client.read(through: "de") == "\r\n2\r\nde")
                try await client.write("0\r\nX-Sum: 7\r\n\r\n")
                #expect(try await client.read(through: "\r\n\r\n") == "\r\n0\r\nX-End: 7\r\n\r\n")
            }
        }

        @Test("A client that does not read stops its handler, until the server disconnects the client")
        func clientStalls() async throws {
            let written = Counter()
            let ended = Gate()
            let routes = Self.routes { routes in
                routes.get("/flood") { _ in
                    HTTPServerResponse(
                        body: .stream { writer in
                            defer { ended.open() }
                            for _ in 0..<4_096 {
                                try await writer.write(Data(repeating: 1, count: 65_536))
                                written.increment()
                            }
                        })
                }
            }
            try await TestServer.run(configure: { $0.stallTimeout = .seconds(1) }, routes: routes) { _, port in
                let reader = try await RawClient(port: port)
                try await reader.write(Self.get("/flood"))
                await ended.wait()
                // The client does not read. The handler wants to write 256 MiB, but the kernel's buffers hold only a
                // few MiB.
                #expect(written.value < 1_000)
                reader.close()
            }
        }

        @Test("A handler that does not read stops its client")
        func handlerStalls() async throws {
            let release = Gate()
            let routes = Self.routes { routes in
                routes.post("/slow") { request in
                    await release.wait()
                    return .text("\(try await request.body.collect(upTo: 1 << 30).count)")
                }
            }
            try await TestServer.run(configure: { $0.maximumContentLength = nil }, routes: routes) { _, port in
                let writer = try await RawClient(port: port)
                try await writer.write("POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 20000000\r\n\r\n")
                async let sending: Void = writer.write(String(repeating: "x", count: 20_000_000))
                #expect(await eventually { writer.isStopped })
                release.open()
                try await sending
                #expect(try await writer.read(through: "\r\n\r\n20000000").hasPrefix("HTTP/1.1 200"))
            }
        }

        @Test("A handler is cancelled when its client goes away", arguments: [true, false])
        func cancellation(_ resets: Bool) async throws {
            let started = Gate()
            let cancelled = Gate()
            let routes = Self.routes { routes in
                routes.get("/wait") { _ in
                    started.open()
                    do { try await Task.sleep(for: .seconds(7_200)) } catch {
                        cancelled.open()
                        throw error
                    }
                    return .text("late")
                }
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(Self.get("/wait"))
                await started.wait()
                if resets { client.reset() } else { client.close() }
                await cancelled.wait()
            }
        }

        @Test("Shutting down finishes the requests in progress and then returns")
        func shutDown() async throws {
            let started = Gate()
            let release = Gate()
            let routes = Self.routes { routes in
                routes.get("/slow") { _ in
                    started.open()
                    await release.wait()
                    return .text("done")
                }
                routes.get("/") { _ in .text("fine") }
            }
            try await TestServer.run(routes: routes) { server, port in
                let busy = try await RawClient(port: port)
                let idle = try await RawClient(port: port)
                // The answer shows that the server has accepted this client. The kernel resets connections that wait in
                // the backlog of a listener when the listener closes.
                try await idle.write(Self.get("/"))
                #expect(try await idle.read(through: "fine").hasPrefix("HTTP/1.1 200 "))
                try await busy.write(Self.get("/slow"))
                await started.wait()
                server.shutDown(within: .seconds(3_600))
                #expect(try await idle.readAll().isEmpty)
                release.open()
                let answer = try await busy.readAll()
                #expect(answer.hasSuffix("done"))
                #expect(answer.contains("Connection: close\r\n"))
            }
        }

        @Test("At the deadline of a shutdown, handlers are cancelled")
        func shutDownDeadline() async throws {
            let started = Gate()
            let cancelled = Gate()
            let routes = Self.routes { routes in
                routes.get("/never") { _ in
                    started.open()
                    do { try await Task.sleep(for: .seconds(7_200)) } catch {
                        cancelled.open()
                        throw error
                    }
                    return .text("late")
                }
            }
            try await TestServer.run(routes: routes) { server, port in
                let client = try await RawClient(port: port)
                try await client.write(Self.get("/never"))
                await started.wait()
                server.shutDown(within: .zero)
                // Wait here for the cancellation, because the end of the server cancels the handler too. The client is
                // still connected meanwhile.
                await cancelled.wait()
                client.close()
            }
        }

        // This test checks RFC 9110 §15.6.1.
        @Test("Errors of handlers become responses, and their text stays secret")
        func failures() async throws {
            struct Secret: Error {}
            let routes = Self.routes { routes in
                routes.get("/teapot") { _ in throw HTTPServerError(status: 418, "short and stout") }
                routes.get("/bug") { _ in throw Secret() }
                routes.get("/cut") { _ in
                    HTTPServerResponse(
                        body: .stream(length: 10) { writer in
                            try await writer.write("123")
                            throw Secret()
                        })
                }
                routes.get("/split") { _ in HTTPServerResponse(fields: ["X": "a\r\nB: c"]) }
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(Self.get("/teapot"))
                #expect(try await client.read(through: "stout\n").hasPrefix("HTTP/1.1 418 "))
                try await client.write(Self.get("/bug"))
                #expect(try await client.read(through: "Internal Server Error\n").hasPrefix("HTTP/1.1 500 "))
                try await client.write(Self.get("/split"))
                #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 500 "))
                try await client.write(Self.get("/cut"))
                // The server resets the connection after a part of the response. The client then knows that the
                // response is incomplete.
                await #expect(throws: SystemError(errno: Errno.connectionReset, call: "recv")) {
                    try await client.readAll()
                }
            }
        }

        // RFC 9110 §15.5.14.
        @Test("Content beyond the limit gets 413")
        func contentLimit() async throws {
            let routes = Self.routes { routes in
                routes.post("/") { .text("\(try await $0.body.collect(upTo: 1_000).count)") }
            }
            try await TestServer.run(configure: { $0.maximumContentLength = 10 }, routes: routes) { _, port in
                for content in [
                    "Content-Length: 11\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n",
                ] {
                    let client = try await RawClient(port: port)
                    try await client.write("POST / HTTP/1.1\r\nHost: h\r\n\(content)")
                    let answer = try await client.readAll()
                    #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
                }
            }
        }

        // Conditional and range requests: RFC 9110 §13.1.2, §14.4, §14.6, §15.3.7.1, §15.3.7.2, §15.5.17.
        @Test("Conditional requests and ranges of content with validators")
        func ranges() async throws {
            let routes = Self.routes { routes in
                routes.get("/") { _ in
                    HTTPServerResponse(
                        fields: ["ETag": "\"v1\"", "Content-Type": "text/x"],
                        body: .data(Data((0..<1_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })))
                }
                routes.get("/stated") { _ in
                    HTTPServerResponse(
                        fields: ["ETag": "\"v1\"", "Content-Length": "10"], body: .data(Data("0123456789".utf8)))
                }
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(Self.get("/", "If-None-Match: \"v1\"\r\n"))
                let unchanged = try await client.read(through: "\r\n\r\n")
                #expect(unchanged.hasPrefix("HTTP/1.1 304 ") && unchanged.contains("ETag: \"v1\""))
                try await client.write(Self.get("/", "Range: bytes=1-3\r\n"))
                let part = try await client.read(through: "\r\n\r\nbcd")
                #expect(part.hasPrefix("HTTP/1.1 206 ") && part.contains("Content-Range: bytes 1-3/1000\r\n"))
                try await client.write(Self.get("/", "Range: bytes=2000-\r\n"))
                #expect(try await client.read(through: "\r\n\r\n").contains("Content-Range: bytes */1000\r\n"))
                try await client.write(Self.get("/", "Range: bytes=0-0,500-501\r\n"))
                let several = try await client.read(through: "--\r\n")
                #expect(
                    several.contains("\r\nContent-Type: text/x\r\nContent-Range: bytes 0-0/1000\r\n\r\na\r\n--"),
                    "\(several)")
                #expect(several.contains("Content-Range: bytes 500-501/1000\r\n\r\ngh\r\n--"), "\(several)")
                try await client.write(Self.get("/stated", "Range: bytes=1-3\r\n"))
                let stated = try await client.read(through: "\r\n\r\n")
                #expect(stated.hasPrefix("HTTP/1.1 206 ") && stated.contains("Content-Length: 3\r\n"), "\(stated)")
            }
        }

        @Test("The limit of connections: a further client waits until another one leaves")
        func connectionLimit() async throws {
            let routes = Self.routes { $0.get("/") { _ in .text("ok") } }
            try await TestServer.run(configure: { $0.maximumConnections = 1 }, routes: routes) { _, port in
                for _ in 0..<20 {
                    let first = try await RawClient(port: port)
                    try await first.write(Self.get("/"))
                    #expect(try await first.read(through: "\r\n\r\nok").hasPrefix("HTTP/1.1 200"))
                    let second = try await RawClient(port: port)
                    try await second.write(Self.get("/"))
                    first.close()
                    #expect(try await second.read(through: "\r\n\r\nok").hasPrefix("HTTP/1.1 200"))
                    second.close()
                }
            }
        }

        @Test("Server-sent events")
        func events() async throws {
            let routes = Self.routes { routes in
                routes.get("/events") { _ in
                    .events { events in
                        try await events.send("one\ntwo", event: "note", id: "7", retry: .seconds(2))
                        try await events.comment("still here")
                        try await events.send("three")
                    }
                }
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write("GET /events HTTP/1.0\r\n\r\n")
                let text = try await client.readAll()
                #expect(text.contains("Content-Type: text/event-stream\r\n"))
                #expect(
                    text.hasSuffix(
                        "\r\n\r\nevent: note\nid: 7\nretry: 2000\ndata: one\ndata: two\n\n: still here\n\ndata: three\n\n"
                    ))
            }
        }

        @Test("The exchange handler sees every request once, with its outcome")
        func exchangeHandler() async throws {
            let log = LockedValue<[String]>([])
            let routes = Self.routes { $0.get("/a") { _ in .text("hello") } }
            try await TestServer.run(
                configure: { configuration in
                    configuration.exchangeHandler = { exchange in
                        log.withLock {
                            $0.append("\(exchange.request.path) \(exchange.status) \(exchange.sentByteCount)")
                        }
                    }
                }, routes: routes
            ) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(Self.get("/a") + Self.get("/b", "Connection: close\r\n"))
                _ = try await client.readAll()
            }
            #expect(log.withLock { $0 } == ["/a 200 5", "/b 404 10"])
        }
    }
}
