@testable import CausewayClient
import CausewayHTTPServer
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

/// Returns an HTTP client for a server on the loopback interface.
func loopbackClient(
    _ port: UInt16, _ path: String = "", _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
) throws -> HTTPClient {
    let session = URLSessionConfiguration.ephemeral
    // The timeout is long, so that the test does not fail on a busy computer.
    session.timeoutIntervalForRequest = 7_200
    session.connectionProxyDictionary = [:]
    var configuration = HTTPClient.Configuration(session: session)
    change(&configuration)
    return try HTTPClient(
        baseURL: #require(URL(string: "http://127.0.0.1:\(port)\(path)")), configuration: configuration)
}

/// The number of clients that the shared service has made.
private let madeClients = LockedValue(0)

/// Declares a service in the usual form: all callers share one client.
private enum SharedService {
    static let client: HTTPClient? = {
        madeClients.withLock { $0 += 1 }
        return URL(string: "http://127.0.0.1:9").flatMap { try? HTTPClient(baseURL: $0) }
    }()
}

extension Loopback {
    /// Tests typical uses of a client for one server.
    @Suite("A typed client")
    struct ClientTests {
        struct Track: Codable, Equatable, Sendable {
            var artistName: String
            var trackName: String
            var artworkUrl100: URL?
        }

        struct Found: Codable, Sendable {
            var resultCount: Int
            var results: [Track]
        }

        @Test("M1: a shared instance is made once by many tasks")
        func m1() async {
            await withTaskGroup(of: ObjectIdentifier?.self) { group in
                for _ in 0..<100 { group.addTask { SharedService.client.map { ObjectIdentifier($0) } } }
                var identities: Set<ObjectIdentifier?> = []
                for await identity in group { identities.insert(identity) }
                #expect(identities.count == 1 && !identities.contains(nil))
            }
            #expect(madeClients.withLock { $0 } == 1)
        }

        @Test("M2: get, post, put, patch and delete: the query and the body arrive as they were given")
        func m2() async throws {
            var routes = HTTPServerRoutes()
            routes.on("*", "/v1/users/{name}") { request in
                let body = String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self)
                let query = request.queryItems.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
                return .text("\(request.method) \(request.parameters["name"] ?? "") \(query) \(body)")
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try loopbackClient(port, "/v1/")
                let path: RequestPath = "users/\("a/ä ?&%")"
                let query: RequestParameters = ["q": "1+1=2 & ü"]
                #expect(try await client.get(path, query: query, as: .text) == "GET a/ä ?&% q=1+1=2 & ü ")
                #expect(
                    try await client.post(path, body: .form(["a b": "c&d"]), as: .text) == "POST a/ä ?&%  a+b=c%26d")
                #expect(try await client.put(path, body: .json(["k": 1]), as: .text) == "PUT a/ä ?&%  {\"k\":1}")
                #expect(try await client.patch(path, body: .text("x"), as: .text) == "PATCH a/ä ?&%  x")
                #expect(try await client.delete(path, as: .text) == "DELETE a/ä ?&%  ")
                #expect(try await client.head(path).status == 200)
            }
        }

        @Test("M3: a stream is parsed while it arrives, and a refused one keeps its content")
        func m3() async throws {
            let gate = Gate()
            var routes = HTTPServerRoutes()
            routes.get("/events") { _ in
                HTTPServerResponse(
                    fields: ["Content-Type": "application/xml"],
                    body: .stream { writer in
                        try await writer.write(Data("<a>\n<b/>\n".utf8))
                        await gate.wait()
                        try await writer.write(Data("</a>\n".utf8))
                    })
            }
            routes.get("/none") { _ in HTTPServerResponse(status: 410, body: .data(Data("gone".utf8))) }
            try await TestServer.run(routes: routes) { _, port in
                defer { gate.open() }
                let client = try loopbackClient(port)
                let lines = try await client.stream(ClientRequest("GET", "events")) { response, bytes in
                    var lines = [response.mimeType ?? ""]
                    for try await line in bytes.lines {
                        lines.append(line)
                        // Now that this part has arrived, let the server send the rest.
                        if line == "<b/>" { gate.open() }
                    }
                    return lines
                }
                #expect(lines == ["application/xml", "<a>", "<b/>", "</a>"] && client.activeCallCount == 0)
                let error = await clientFailure { try await client.stream(ClientRequest("GET", "none")) { _, _ in } }
                #expect(error?.status == 410 && error?.content == Data("gone".utf8))
            }
        }

        @Test("M7: a response that is not accepted keeps its status, fields and content")
        func m4() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/page") { _ in .text("<p>login</p>") }
            try await TestServer.run(routes: routes) { _, port in
                let client = try loopbackClient(port)
                let type = await clientFailure { _ = try await client.get("page") as [Int] }
                #expect(type?.code == .unacceptableContentType && type?.content == Data("<p>login</p>".utf8))
                let missing = await clientFailure { _ = try await client.get("x") as [Int] }
                #expect(
                    missing?.code == .unacceptableStatus && missing?.status == 404 && missing?.content.isEmpty == false)
            }
            let down = try loopbackClient(1) { $0.retryPolicy = .never }
            let error = await clientFailure { try await down.get("a", as: .none) }
            #expect(error?.code == .transport && (error?.underlying as? URLError)?.code == .cannotConnectToHost)
        }

        @Test("M9: a search in the form of the iTunes service, against a local one")
        func m9() async throws {
            let fixture = Found(
                resultCount: 1,
                results: [
                    Track(
                        artistName: "Jóhann", trackName: "A & B", artworkUrl100: URL(string: "http://a.example/1.jpg"))
                ])
            let json = try JSONEncoder().encode(fixture)
            var routes = HTTPServerRoutes()
            routes.get("/search") { request in
                let items = Dictionary(request.queryItems.map { ($0.name, $0.value) }) { first, _ in first }
                guard items == ["term": "jack & johnson", "entity": "song", "limit": "5"] else {
                    return HTTPServerResponse(status: 400)
                }
                return HTTPServerResponse(
                    fields: ["Content-Type": "text/javascript; charset=utf-8"], body: .data(json))
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try loopbackClient(port)
                let query: RequestParameters = ["term": "jack & johnson", "entity": "song", "limit": 5]
                let found: Found = try await client.get("search", query: query)
                #expect(found.results == fixture.results)
            }
        }

        @Test("M6, M8: a task starts when it is resumed, completes once on its queue, and can be cancelled")
        func m6() async throws {
            let (gate, count) = (Gate(), RequestCount())
            var routes = HTTPServerRoutes()
            routes.get("/{number}") { request in
                count.add()
                if request.parameters["number"] == "2" { await gate.wait() }
                return .text("hello")
            }
            try await TestServer.run(routes: routes) { _, port in
                defer { gate.open() }
                let client = try loopbackClient(port)
                let queue = DispatchQueue(label: "test")
                func task(_ path: RequestPath) -> (ClientTask, AsyncStream<Result<ClientResponse<String>, any Error>>) {
                    let (results, feed) = AsyncStream.makeStream(of: Result<ClientResponse<String>, any Error>.self)
                    let task = client.task(ClientRequest("GET", path), as: .text, queue: queue) { result in
                        dispatchPrecondition(condition: .onQueue(queue))
                        feed.yield(result)
                    }
                    return (task, results)
                }
                let (first, results) = task("1")
                #expect(first.state == .suspended && count.value == 0)
                first.resume()
                first.resume()
                var iterator = results.makeAsyncIterator()
                #expect(
                    try await iterator.next()?.get().value == "hello" && first.state == .completed && count.value == 1)
                let (second, cancelled) = task("2")
                second.resume()
                while count.value < 2 { await Task.yield() }
                second.cancel()
                var others = cancelled.makeAsyncIterator()
                let result = await others.next()
                #expect(throws: CancellationError.self) { try result?.get() }
                let (third, never) = task("3")
                third.cancel()
                third.resume()
                var last = never.makeAsyncIterator()
                let end = await last.next()
                #expect(throws: CancellationError.self) { try end?.get() }
                #expect(count.value == 2 && third.state == .completed)
            }
        }

        @Test("Content that is longer than the limit ends the load")
        func limit() async throws {
            var routes = HTTPServerRoutes()
            routes.get("/{count}") { request in
                HTTPServerResponse(body: .data(Data(count: Int(request.parameters["count"] ?? "") ?? 0)))
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try loopbackClient(port) { $0.maximumContentLength = 100_000 }
                #expect(try await client.get("100000", as: .data).count == 100_000)
                let error = await clientFailure { _ = try await client.get("100001", as: .data) }
                #expect(error?.code == .contentTooLong && error?.status == 200)
            }
        }
    }
}

/// Returns the call's error if it is an `HTTPClientError`; otherwise `nil`.
func clientFailure(_ call: () async throws -> Void) async -> HTTPClientError? {
    do {
        try await call()
        return nil
    } catch {
        return error as? HTTPClientError
    }
}

/// A thread-safe counter for requests.
final class RequestCount: Sendable {
    private let count = LockedValue(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}
