import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("HTTP server: failures")
    struct HTTPServerFailureTests {
        private struct Bug: Error, Equatable { var name = "bug" }
        private struct User: Codable, Equatable { var name: String }

        private static func post(_ path: String, _ content: String, type: String = "application/json") -> String {
            "POST \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: \(type)\r\n"
                + "Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
        }

        private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

        @Test("The error of a handler, and of a response that cannot be sent, reaches the exchange handler")
        func reports() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/bug") { _ in throw Bug() }
            routes.get("/teapot") { _ in throw HTTPServerError(status: 418) }
            routes.get("/split") { _ in HTTPServerResponse(fields: ["X": "a\nB: c"], body: .data(Data("text".utf8))) }
            routes.get("/late") { _ in HTTPServerResponse(body: .stream { _ in throw Bug(name: "late") }) }
            routes.get("/fine") { _ in .text("fine") }
            let ended = Mailbox<HTTPServer.Exchange>()
            try await TestServer.run(configure: { $0.exchangeHandler = { ended.put($0) } }, routes: routes) { _, port in
                let client = try await RawClient(port: port)
                for (path, status) in [("/bug", 500), ("/teapot", 418), ("/split", 500), ("/fine", 200)] {
                    try await client.write(Self.get(path))
                    #expect(try await client.read(through: "\r\n\r\n").contains("HTTP/1.1 \(status) "))
                    let exchange = try await ended.next()
                    #expect(exchange.request.path == path && exchange.status == status)
                    switch path {
                    case "/bug": #expect(exchange.error as? Bug == Bug())
                    case "/teapot": #expect((exchange.error as? HTTPServerError)?.status == 418)
                    case "/split": #expect((exchange.error as? HTTPServerError)?.code == .invalidMessage)
                    default: #expect(exchange.error == nil)
                    }
                }
                try await client.write(Self.get("/late"))
                #expect(try await ended.next().error as? Bug == Bug(name: "late"))
            }
        }

        // This test checks RFC 9110 §8.3.2, §15.5.16.
        @Test("JSON and text of a request, and the statuses of malformed content")
        func contents() async throws {
            var routes = HTTPServerRoutes()
            routes.post("/json") { .text("name \(try await $0.json(User.self).name);") }
            routes.post("/short") { .text("name \(try await $0.json(User.self, upTo: 20).name);") }
            routes.post("/text") { .text("text \(try await $0.text());") }
            try await TestServer.run(routes: routes) { _, port in
                let long = "{\"name\": \"\(String(repeating: "a", count: 30))\"}"
                for (request, answer) in [
                    (Self.post("/json", "{\"name\": \"Ann\"}"), "200 name Ann;"),
                    (Self.post("/json", "{\"name\": "), "400"), (Self.post("/json", ""), "400"),
                    (Self.post("/json", "{\"name\": 7}"), "400"), (Self.post("/json", "{}"), "400"),
                    (Self.post("/short", long), "413"),
                    (Self.post("/text", "Zoë", type: "text/plain"), "200 text Zoë;"),
                    (Self.post("/text", "", type: "text/plain; charset=UTF-8"), "200 text ;"),
                    (Self.post("/text", "a", type: "text/plain; charset=ISO-8859-1"), "200 text a;"),
                    (Self.post("/text", "a", type: "text/plain; charset=koi8-r"), "415"),
                ] {
                    let client = try await RawClient(port: port)
                    try await client.write(request)
                    let text = try await client.readAll()
                    let (status, content) = (answer.prefix(3), answer.dropFirst(4))
                    #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.hasSuffix(content), "\(request): \(text)")
                }
            }
        }

        @Test("A client that ends inside the content it sends gets no status in the log", arguments: [true, false])
        func cutUpload(_ resets: Bool) async throws {
            let started = Gate()
            var routes = HTTPServerRoutes()
            routes.put("/file") { request in
                for try await _ in request.body { started.open() }
                return .status(201)
            }
            let ended = Mailbox<HTTPServer.Exchange>()
            try await TestServer.run(configure: { $0.exchangeHandler = { ended.put($0) } }, routes: routes) { _, port in
                let client = try await RawClient(port: port)
                try await client.write("PUT /file HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nabc")
                await started.wait()
                if resets { client.reset() } else { client.close() }
                let exchange = try await ended.next()
                #expect(exchange.status == 0 && (exchange.error as? HTTPServerError)?.code == .clientGone)
            }
        }

        @Test("A file that was truncated before its response begins gets status 500", arguments: [10, 200_000])
        func truncatedFile(_ length: Int) async throws {
            var template = Array("/tmp/http-server-XXXXXX".utf8CString)
            let path = try #require(mkdtemp(&template).map { String(cString: $0) })
            defer {
                unlink("\(path)/file")
                rmdir(path)
            }
            close(open("\(path)/file", O_WRONLY | O_CREAT | O_CLOEXEC, mode_t(0o600)))
            #expect(truncate("\(path)/file", off_t(length)) == 0)
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in
                let response = try HTTPServerResponse.file("\(path)/file")
                #expect(truncate("\(path)/file", 0) == 0)
                return response
            }
            let ended = Mailbox<HTTPServer.Exchange>()
            try await TestServer.run(configure: { $0.exchangeHandler = { ended.put($0) } }, routes: routes) { _, port in
                let client = try await RawClient(port: port)
                // The connection stays open after the error, and the file is now empty.
                for status in [500, 200] {
                    try await client.write(Self.get("/"))
                    #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 \(status) "))
                    let exchange = try await ended.next()
                    #expect(exchange.status == status && (exchange.error == nil) == (status == 200))
                }
            }
        }

        @Test("A file is read no faster than its client takes it, also after the client has ended its side")
        func halfClosed() async throws {
            var template = Array("/tmp/http-server-XXXXXX".utf8CString)
            let path = try #require(mkdtemp(&template).map { String(cString: $0) })
            defer {
                unlink("\(path)/file")
                rmdir(path)
            }
            close(open("\(path)/file", O_WRONLY | O_CREAT | O_CLOEXEC, mode_t(0o600)))
            let length = 256 << 20
            #expect(truncate("\(path)/file", off_t(length)) == 0)
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in try .file("\(path)/file") }
            let ended = Mailbox<HTTPServer.Exchange>()
            try await TestServer.run(
                configure: { configuration in
                    configuration.stallTimeout = .seconds(1)
                    configuration.exchangeHandler = { ended.put($0) }
                }, routes: routes
            ) { _, port in
                let client = try await RawClient(port: port)
                try await client.write(Self.get("/"))
                client.endWriting()
                // The client reads nothing, so the server closes the connection.
                let exchange = try await ended.next()
                #expect(exchange.sentByteCount < length / 2)
                client.close()
            }
        }

        @Test("Requests of a client that does not read its responses are not served")
        func unreadResponses() async throws {
            let served = Counter()
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in
                served.increment()
                return HTTPServerResponse(body: .data(Data(repeating: 1, count: 4 << 20)))
            }
            try await TestServer.run(configure: { $0.stallTimeout = .seconds(1) }, routes: routes) { _, port in
                let client = try await RawClient(port: port)
                // Pause between the requests, so that each request arrives at the server separately. Send requests
                // until the server has disconnected the client, because it serves no more requests after that.
                await #expect(throws: SystemError.self) {
                    while served.value < 20 {
                        try await client.write(Self.get("/"))
                        try await Task.sleep(for: .milliseconds(5))
                    }
                }
                // The server may serve some more requests, because the kernel's buffers hold a few responses.
                #expect(served.value < 20)
                client.close()
            }
        }

        @Test("Clients with half a head, or idle, give way to new ones, the oldest first; requests do not")
        func fullServer() async throws {
            let (started, release) = (Gate(), Gate())
            var routes = HTTPServerRoutes()
            routes.get("/busy") { _ in
                started.open()
                await release.wait()
                return .text("done")
            }
            routes.get("/") { _ in .text("fine") }
            try await TestServer.run(configure: { $0.maximumConnections = 4 }, routes: routes) { _, port in
                let busy = try await RawClient(port: port)
                try await busy.write(Self.get("/busy"))
                await started.wait()
                let idle = try await RawClient(port: port)
                try await idle.write(Self.get("/"))
                #expect(try await idle.read(through: "fine").hasPrefix("HTTP/1.1 200 "))
                var halves: [RawClient] = []
                for _ in 0..<20 {
                    let half = try await RawClient(port: port)
                    try await half.write("GET / HTTP/1.1\r\nA: ")
                    halves.append(half)
                }
                for _ in 0..<3 {
                    let client = try await RawClient(port: port)
                    try await client.write(Self.get("/"))
                    #expect(try await client.read(through: "fine").hasPrefix("HTTP/1.1 200 "))
                }
                // These connections have waited longest, so the server closes them.
                #expect(try await idle.readAll().isEmpty)
                #expect(try await halves[0].readAll().isEmpty)
                release.open()
                #expect(try await busy.read(through: "done").hasPrefix("HTTP/1.1 200 "))
            }
        }

        // Uploads with PUT: RFC 9110 §9.3.4, §10.2.1, §13.1.1, §13.1.2, §15.3.2, §15.5.6, §15.5.10, §15.5.13.
        @Test("Uploads to a directory: conditions on a missing file, and names for a terminal")
        func directory() async throws {
            var template = Array("/tmp/http-server-XXXXXX".utf8CString)
            let path = try #require(mkdtemp(&template).map { String(cString: $0) })
            defer {
                unlink("\(path)/new")
                rmdir(path)
            }
            let files = try HTTPServerDirectory(path, options: .uploads)
            let readOnly = try HTTPServerDirectory(path)
            var routes = HTTPServerRoutes()
            for method in ["PUT", "POST", "DELETE"] {
                routes.on(method, "/files/{path...}") {
                    try await files.respond(to: $0, path: $0.parameters["path"] ?? "")
                }
                routes.on(method, "/readonly/{path...}") {
                    try await readOnly.respond(to: $0, path: $0.parameters["path"] ?? "")
                }
            }
            try await TestServer.run(configure: { $0.maximumContentLength = nil }, routes: routes) { _, port in
                for (method, target, field, status) in [
                    ("PUT", "/files/new", "If-Match: \"x\"", 412), ("PUT", "/files/new", "If-Match: *", 412),
                    ("PUT", "/files/a%0Ab", "A: b", 400), ("PUT", "/files/a%1B%5B31m", "A: b", 400),
                    ("PUT", "/files/%C2%9B31m", "A: b", 400), ("PUT", "/files/new", "If-None-Match: *", 201),
                    ("PUT", "/files/new", "A: b", 409), ("PUT", "/readonly/new", "A: b", 405),
                    ("POST", "/readonly/new", "A: b", 405), ("DELETE", "/readonly/new", "A: b", 405),
                ] {
                    let client = try await RawClient(port: port)
                    try await client.write(
                        "\(method) \(target) HTTP/1.1\r\nHost: h\r\n\(field)\r\nContent-Length: 5\r\n\r\nhello")
                    let head = try await client.read(through: "\r\n\r\n")
                    #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(method) \(target) \(field): \(head)")
                    #expect(status != 405 || head.contains("Allow: GET, HEAD\r\n"))
                }
            }
        }
    }
}
