import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    /// Tests programs from networking cookbooks, written as for Apple platforms.
    @Suite("URL loading: tasks of programs")
    struct CookbookTests {
        private static func url(_ port: UInt16, _ path: String) throws -> URL {
            try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        }

        /// Answers a request with three lines: the request's method, content type and content.
        private static func echo(_ request: HTTPServerRequest) async throws -> HTTPServerResponse {
            let body = String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self)
            return .text("\(request.method)\n\(request.fields["Content-Type"] ?? "-")\n\(body)", status: 200)
        }

        private static func text(_ session: URLSession, _ request: URLRequest) async throws -> String {
            String(decoding: try await session.data(for: request).0, as: UTF8.self)
        }

        private static func request(_ url: URL, _ method: String, _ body: String? = nil) -> URLRequest {
            var request = URLRequest(url: url)
            request.httpMethod = method
            request.httpBody = body.map { Data($0.utf8) }
            return request
        }

        @Test("H1: query parameters and a form arrive as they were given")
        func h1() async throws {
            let items = [("name", "a b&c=d"), ("sum", "1+1"), ("město", "Plzeň")]
            var routes = HTTPServerRoutes()
            routes.get("/search/{path}") { request in
                let query = request.queryItems.map { "\($0.name):\($0.value)" }
                return .text("\(request.parameters["path"] ?? "") \(query.joined(separator: " | "))")
            }
            routes.post("/form") { try await Self.echo($0) }
            try await TestServer.run(routes: routes) { _, port in
                var parts = try #require(URLComponents(url: Self.url(port, "/"), resolvingAgainstBaseURL: false))
                parts.path = "/search/ä b"
                parts.queryItems = items.map { URLQueryItem(name: $0.0, value: $0.1) }
                // In forms, + means a space.
                let form = parts.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
                parts.percentEncodedQuery = form
                let session = privateSession()
                let found = try await Self.text(session, URLRequest(url: try #require(parts.url)))
                #expect(found == "ä b name:a b&c=d | sum:1+1 | město:Plzeň")
                let posted = try await Self.text(session, Self.request(Self.url(port, "/form"), "POST", form))
                #expect(posted == "POST\napplication/x-www-form-urlencoded\n\(form ?? "")")
            }
        }

        @Test("H2: methods", arguments: ["DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
        func h2(_ method: String) async throws {
            var routes = HTTPServerRoutes()
            routes.on("*", "/") { try await Self.echo($0) }
            routes.on("HEAD", "/") { _ in HTTPServerResponse(fields: ["X-Method": "HEAD"]) }
            routes.on("OPTIONS", "/") { _ in HTTPServerResponse(status: 204, fields: ["Allow": "HEAD"]) }
            try await TestServer.run(routes: routes) { _, port in
                let body = ["PUT", "PATCH"].contains(method) ? "content" : nil
                let (data, response) = try await privateSession().data(
                    for: Self.request(Self.url(port, "/"), method, body))
                let http = try #require(response as? HTTPURLResponse)
                switch method {
                case "HEAD": #expect(data.isEmpty && http.value(forHTTPHeaderField: "X-Method") == "HEAD")
                case "OPTIONS": #expect(data.isEmpty && http.statusCode == 204)
                default: #expect(String(decoding: data, as: UTF8.self).hasPrefix(method + "\n"))
                }
            }
        }

        @Test("H3, H4: status, fields and content of a response; an error status is no failure of the transport")
        func h3() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/missing") { _ in
                HTTPServerResponse(status: 404, fields: ["X-Reason": "gone"], body: .data(Data("no such page".utf8)))
            }
            try await TestServer.run(routes: routes) { _, port in
                let (data, response) = try await privateSession().data(from: Self.url(port, "/missing"))
                let http = try #require(response as? HTTPURLResponse)
                #expect(http.statusCode == 404 && http.value(forHTTPHeaderField: "x-reason") == "gone")
                #expect(String(data: data, encoding: .utf8) == "no such page")
            }
            let error = await failure { _ = try await privateSession().data(from: Self.url(1, "/")) }
            #expect(error?.code == .cannotConnectToHost && error?.failingURL != nil)
        }

        @Test("H5: a blocking and an asynchronous form; the activity of a task is visible")
        func h5() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in .text("hello") }
            try await TestServer.run(routes: routes) { _, port in
                let request = URLRequest(url: try Self.url(port, "/"))
                let blocking = await withCheckedContinuation { done in
                    Thread.detachNewThread {
                        var response: URLResponse?
                        let data = try? NSURLConnection.sendSynchronousRequest(request, returning: &response)
                        done.resume(returning: (response as? HTTPURLResponse)?.statusCode == 200 ? data : nil)
                    }
                }
                #expect(blocking == Data("hello".utf8))
                let ended = Gate()
                let task = privateSession().dataTask(with: request) { _, _, _ in ended.open() }
                #expect(task.state == .suspended && task.progress.fractionCompleted == 0)
                task.resume()
                #expect(task.state != .suspended)
                await ended.wait()
                while task.state != .completed { await Task.yield() }
                #expect(task.progress.isFinished)
            }
        }

        @Test(
            "H6, H7: the messages of a connection; a redirect is followed, changed or refused",
            arguments: Redirecting.allCases)
        func h6(_ choice: Redirecting) async throws {
            var routes = HTTPServerRoutes()
            routes.get("/start") { _ in .redirect(to: "/end", status: 302) }
            routes.get("/{name}") { .text($0.parameters["name"] ?? "") }
            try await TestServer.run(routes: routes) { _, port in
                let delegate = CookbookDelegate(choice)
                try await delegate.load(URLRequest(url: Self.url(port, "/start")))
                let end: [String] =
                    switch choice {
                    case .follow: ["response 200", "data end", "finished"]
                    case .change: ["response 200", "data other", "finished"]
                    case .refuse: ["response 302", "finished"]
                    }
                #expect(delegate.events.filter { !["data ", "stores"].contains($0) } == ["send", "redirect"] + end)
            }
            let delegate = CookbookDelegate(choice)
            try await delegate.load(URLRequest(url: Self.url(1, "/")))
            #expect(delegate.events == ["send", "failed"])
        }

        @Test("H8: a response that may be stored is stored, refused or changed", arguments: Storing.allCases)
        func h8(_ choice: Storing) async throws {
            let requests = Counter()
            var routes = HTTPServerRoutes()
            routes.get("/{name}") { _ in
                requests.increment()
                return HTTPServerResponse(
                    fields: ["Cache-Control": "max-age=3600"], body: .data(Data("answer \(requests.value)".utf8)))
            }
            try await TestServer.run(routes: routes) { _, port in
                // Use a unique path: an older test run may have left a response for this port in the shared cache.
                let request = URLRequest(url: try Self.url(port, "/\(UUID())"))
                let first = CookbookDelegate(storing: choice)
                try await first.load(request)
                #expect(first.events.contains("data answer 1") && first.events.contains("stores"))
                let second = CookbookDelegate(storing: choice)
                try await second.load(request)
                switch choice {
                case .store: #expect(second.events.contains("data answer 1"))
                case .change: #expect(second.events.contains("data changed"))
                case .refuse: #expect(second.events.contains("data answer 2"))
                }
            }
        }

        @Test("H9: each part of a repeated response begins with a response", arguments: [false, true])
        func h9(_ isMalformed: Bool) async throws {
            let parts = "--next\r\nContent-Type: text/plain\r\n\r\none\r\n--next\r\n"
            let rest = isMalformed ? "bad field\r\n\r\n" : "content-type: text/html\r\n\r\ntwo\r\n--next--\r\n"
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in
                HTTPServerResponse(
                    fields: ["Content-Type": "multipart/x-mixed-replace; boundary=next"],
                    body: .stream { writer in
                        try await writer.write(parts)
                        try await writer.write(rest)
                    })
            }
            try await TestServer.run(routes: routes) { _, port in
                let request = URLRequest(url: try Self.url(port, "/"))
                let delegate = CookbookDelegate()
                try await delegate.load(request)
                let first = ["send", "response 200", "response 200", "data one"]
                #expect(
                    delegate.events == first + (isMalformed ? ["failed"] : ["response 200", "data two", "finished"]))
                guard !isMalformed else {
                    let code = await failureCode { _ = try await privateSession().data(for: request) }
                    #expect(code == .cannotParseResponse)
                    return
                }
                let (data, response) = try await privateSession().data(for: request)
                #expect(data == Data("two".utf8) && response.mimeType == "text/html")
                let (bytes, whole) = try await privateSession().bytes(for: request)
                let content = try await bytes.reduce(into: Data()) { $0.append($1) }
                #expect(content == Data((parts + rest).utf8) && whole.mimeType == "multipart/x-mixed-replace")
            }
        }

        @Test("H10: requests at the same time do not mix their content")
        func h10() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/{name}") { request in
                .text(String(repeating: "\(request.parameters["name"] ?? "") ", count: 2_000))
            }
            try await TestServer.run(routes: routes) { _, port in
                let session = privateSession()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<40 {
                        group.addTask {
                            let text = try await Self.text(session, URLRequest(url: Self.url(port, "/\(number)")))
                            #expect(text == String(repeating: "\(number) ", count: 2_000))
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }

        @Test("H11, H14: content of several kinds in both directions, with its type")
        func h11() async throws {
            struct Album: Codable, Equatable {
                var title: String
                var tracks: Int
            }
            let album = Album(title: "Æ", tracks: 9)
            let binary = Data((0...255).map { UInt8($0) })
            var routes = HTTPServerRoutes()
            routes.get("/json") { _ in try .json(album) }
            routes.get("/binary") { _ in .content(binary, type: "image/png") }
            routes.get("/xml") { _ in .content(Data("<a><b>x</b></a>".utf8), type: "application/xml; charset=utf-8") }
            routes.post("/echo") { try await Self.echo($0) }
            try await TestServer.run(routes: routes) { _, port in
                let session = privateSession()
                let (json, ofJSON) = try await session.data(from: Self.url(port, "/json"))
                #expect(
                    try JSONDecoder().decode(Album.self, from: json) == album && ofJSON.mimeType == "application/json")
                #expect(try await session.data(from: Self.url(port, "/binary")).0 == binary)
                let (xml, ofXML) = try await session.data(from: Self.url(port, "/xml"))
                #expect(String(decoding: xml, as: UTF8.self) == "<a><b>x</b></a>")
                #expect(ofXML.mimeType == "application/xml" && ofXML.textEncodingName == "utf-8")
                for type in ["application/json", "multipart/form-data; boundary=b", nil] {
                    var request = Self.request(try Self.url(port, "/echo"), "POST", "{}")
                    if let type { request.setValue(type, forHTTPHeaderField: "Content-Type") }
                    let expected = type ?? "application/x-www-form-urlencoded"
                    #expect(try await Self.text(session, request) == "POST\n\(expected)\n{}")
                }
            }
        }

        @Test("H12: https checks the server; a challenge is answered")
        func h12() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/") { request in
                request.fields["Authorization"] == "Basic dTpw"
                    ? .text("in")
                    : HTTPServerResponse(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            let parameters = NWParameters(tls: try HTTPAuthority().serverOptions(["h2"]))
            try await TestServer.run(using: parameters, routes: routes) { _, port in
                let url = try #require(URL(string: "https://127.0.0.1:\(port)/"))
                let code = await failureCode { _ = try await privateSession().data(from: url) }
                #expect(code == .serverCertificateHasUnknownRoot)
                let delegate = EventDelegate { challenge in
                    let trust = challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) }
                    return (.useCredential, trust ?? URLCredential(user: "u", password: "p", persistence: .forSession))
                }
                let session = privateSession(delegate)
                defer { session.invalidateAndCancel() }
                #expect(try await session.data(from: url).0 == Data("in".utf8))
                #expect(
                    delegate.events.filter { $0.hasPrefix("challenge") } == [
                        "challenge ServerTrust 0", "challenge HTTPBasic 0",
                    ])
            }
        }

        @Test("H13: a request without an answer runs out of time or is cancelled", arguments: [true, false])
        func h13(_ isCancelled: Bool) async throws {
            let arrived = Gate()
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in
                arrived.open()
                // Wait forever. Only the cancellation of the request's task ends this wait.
                let (never, source) = AsyncStream<Void>.makeStream()
                for await _ in never {}
                withExtendedLifetime(source) {}
                return .text("late")
            }
            try await TestServer.run(routes: routes) { _, port in
                var request = URLRequest(url: try Self.url(port, "/"))
                if !isCancelled { request.timeoutInterval = 0.3 }
                let load = Task { [request] in try await privateSession().data(for: request) }
                if isCancelled {
                    await arrived.wait()
                    load.cancel()
                }
                #expect(await failureCode { _ = try await load.value } == (isCancelled ? .cancelled : .timedOut))
            }
        }
    }
}
