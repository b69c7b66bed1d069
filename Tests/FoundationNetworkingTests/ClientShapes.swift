// Typical client code with async functions.
import Foundation
import FoundationNetworking
import Testing

/// An item in the service's data model.
private struct Item: Codable, Equatable, Sendable {
    var id: Int
    var name: String
}

/// An error of the client.
private enum ClientError: Error, Equatable {
    case status(Int)
    case notHTTP
}

/// Program shape 1: a generic client that checks the status and decodes the content.
private struct JSONClient: Sendable {
    var base: URL
    var session: URLSession
    var decoder = JSONDecoder()

    func send<Value: Decodable>(_ path: String, method: String = "GET", body: (some Encodable)? = Item?.none)
        async throws -> Value
    {
        var request = URLRequest(url: base.appendingPathComponent(path))
        request.httpMethod = method
        if let body {
            request.httpBody = try JSONEncoder().encode(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse else { throw ClientError.notHTTP }
        guard (200..<300).contains(http.statusCode) else { throw ClientError.status(http.statusCode) }
        return try decoder.decode(Value.self, from: data)
    }
}

/// Shape 2: an actor that refreshes its access token. All requests that wait for the token share one refresh.
private actor TokenClient {
    private let base: URL
    private let session: URLSession
    private var token: String?
    private var refreshing: Task<String, any Error>?

    init(base: URL, session: URLSession) {
        self.base = base
        self.session = session
    }

    func get(_ path: String) async throws -> Data {
        let first = try await load(path, with: try await validToken())
        guard first.1 == 401 else { return first.0 }
        token = nil
        return try await load(path, with: try await validToken()).0
    }

    private func validToken() async throws -> String {
        if let token { return token }
        if let refreshing { return try await refreshing.value }
        let task = Task { [session, base] in
            let (data, _) = try await session.data(from: base.appendingPathComponent("token"))
            return String(decoding: data, as: UTF8.self)
        }
        refreshing = task
        defer { refreshing = nil }
        let new = try await task.value
        token = new
        return new
    }

    private func load(_ path: String, with token: String) async throws -> (Data, Int) {
        var request = URLRequest(url: base.appendingPathComponent(path))
        request.addValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await session.data(for: request)
        return (data, (response as? HTTPURLResponse)?.statusCode ?? 0)
    }
}

/// Shape 3: a protocol that a URL session and its test double implement.
private protocol Transport: Sendable {
    func data(for request: URLRequest, delegate: (URLSessionTaskDelegate)?) async throws -> (Data, URLResponse)
}

extension URLSession: Transport {}

private struct CannedTransport: Transport {
    func data(for request: URLRequest, delegate: (URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) {
        (
            Data("canned".utf8),
            URLResponse(url: request.url!, mimeType: nil, expectedContentLength: 6, textEncodingName: nil)
        )
    }
}

/// Shape 4: a result builder for requests.
private struct RequestPart {
    var apply: (inout URLRequest) -> Void

    static func header(_ name: String, _ value: String) -> RequestPart {
        RequestPart { $0.setValue(value, forHTTPHeaderField: name) }
    }
    static func method(_ method: String) -> RequestPart { RequestPart { $0.httpMethod = method } }
    static func timeout(_ seconds: TimeInterval) -> RequestPart { RequestPart { $0.timeoutInterval = seconds } }
}

@resultBuilder
private enum RequestBuilder {
    static func buildExpression(_ part: RequestPart) -> [RequestPart] { [part] }
    static func buildBlock(_ parts: [RequestPart]...) -> [RequestPart] { parts.flatMap { $0 } }
    static func buildOptional(_ parts: [RequestPart]?) -> [RequestPart] { parts ?? [] }
}

extension URLRequest {
    fileprivate init(_ url: URL, @RequestBuilder _ parts: () -> [RequestPart]) {
        self.init(url: url)
        for part in parts() { part.apply(&self) }
    }
}

/// Program shape 5: a wrapper that retries after connection errors and server errors.
private func retrying<Value>(_ limit: Int, _ operation: () async throws -> Value) async throws -> Value {
    for attempt in 1... {
        do {
            return try await operation()
        } catch let error as URLError where [.networkConnectionLost, .timedOut].contains(error.code) && attempt < limit
        {
            continue
        } catch ClientError.status(let status) where status >= 500 && attempt < limit {
            await Task.yield()
        }
    }
    throw ClientError.notHTTP
}

/// Shape 6 of the client code to test: an enumeration with a case for each endpoint.
private enum Endpoint {
    case list(page: Int)
    case item(Int)
    case rename(Int, String)

    func request(_ base: URL) throws -> URLRequest {
        var parts = URLComponents(url: base, resolvingAgainstBaseURL: true)!
        switch self {
        case .list(let page):
            parts.path = "/items"
            parts.queryItems = [
                URLQueryItem(name: "page", value: String(page)), URLQueryItem(name: "q", value: "a b&c"),
            ]
        case .item(let id), .rename(let id, _): parts.path = "/items/\(id)"
        }
        var request = URLRequest(url: parts.url!, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 3_600)
        if case .rename(let id, let name) = self {
            request.httpMethod = "PATCH"
            request.httpBody = try JSONEncoder().encode(Item(id: id, name: name))
        }
        return request
    }
}

@Suite("Shapes: async clients")
struct ClientShapes {
    @Test("1: a generic client decodes, encodes and throws for a status", arguments: Place.tested)
    func generic(_ place: Place) async throws {
        let origin = Origin(place) { asked in
            switch (asked.method, asked.path) {
            case ("GET", "/items/7"): .json(#"{"id":7,"name":"seven"}"#)
            case ("POST", "/items"): .json(String(decoding: asked.body, as: UTF8.self), status: 201)
            default: .json("{}", status: 404)
            }
        }
        let client = JSONClient(base: origin.url, session: origin.session())
        let item: Item = try await client.send("items/7")
        #expect(item == Item(id: 7, name: "seven"))
        let made: Item = try await client.send("items", method: "POST", body: Item(id: 8, name: "eight"))
        #expect(made == Item(id: 8, name: "eight"))
        #expect(origin.asked.last?.field("content-type") == "application/json")
        await #expect(throws: ClientError.status(404)) { let _: Item = try await client.send("none") }
    }

    @Test("2: an actor refreshes its token once for many requests", arguments: Place.tested)
    func actor(_ place: Place) async throws {
        let origin = Origin(place) { asked in
            if asked.path == "/token" { return .text("new") }
            return asked.field("Authorization") == "Bearer new" ? .text("secret") : .text("", status: 401)
        }
        let client = TokenClient(base: origin.url, session: origin.session())
        let texts = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<8 { group.addTask { try await client.get("secret") } }
            return try await group.reduce(into: []) { $0.append(String(decoding: $1, as: UTF8.self)) }
        }
        #expect(texts == Array(repeating: "secret", count: 8))
        #expect(origin.asked.count { $0.path == "/token" } == 1)
    }

    @Test("3: a session conforms to a protocol of the program", arguments: Place.tested)
    func transport(_ place: Place) async throws {
        let origin = Origin(place) { _ in .text("real") }
        let request = URLRequest(url: origin.url)
        var texts: [String] = []
        for transport in [origin.session() as any Transport, CannedTransport()] {
            texts.append(String(decoding: try await transport.data(for: request, delegate: nil).0, as: UTF8.self))
        }
        #expect(texts == ["real", "canned"])
    }

    @Test("4: a result builder makes requests", arguments: Place.tested)
    func builder(_ place: Place) async throws {
        let origin = Origin(place) { asked in
            .text("\(asked.method) \(asked.field("X-Key") ?? "-") \(asked.field("X-None") ?? "-")")
        }
        let hasNone = false
        let request = URLRequest(origin.url) {
            RequestPart.method("PUT")
            RequestPart.header("X-Key", "k")
            if hasNone { RequestPart.header("X-None", "n") }
            RequestPart.timeout(3_600)
        }
        #expect(request.timeoutInterval == 3_600)
        let (data, _) = try await origin.session().data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "PUT k -")
    }

    @Test("5: a wrapper tries again after a lost connection and after 503", arguments: Place.tested)
    func retry(_ place: Place) async throws {
        let turns = Box(0)
        let origin = Origin(place) { _ in
            switch turns.change({ turn in
                turn += 1
                return turn
            }) {
            case 1: .failing(.networkConnectionLost)
            case 2: .json("{}", status: 503)
            default: .json(#"{"id":1,"name":"one"}"#)
            }
        }
        let client = JSONClient(base: origin.url, session: origin.session())
        let item: Item = try await retrying(5) { try await client.send("item") }
        #expect(item.name == "one")
        #expect(origin.asked.count == 3)
    }

    @Test("6: endpoints of an enumeration", arguments: Place.tested)
    func endpoints(_ place: Place) async throws {
        let origin = Origin(place) { asked in .text("\(asked.method) \(asked.path)?\(asked.query)") }
        let session = origin.session()
        var lines: [String] = []
        for endpoint in [Endpoint.list(page: 2), .item(3), .rename(3, "x")] {
            lines.append(String(decoding: try await session.data(for: endpoint.request(origin.url)).0, as: UTF8.self))
        }
        #expect(lines == ["GET /items?page=2&q=a%20b%26c", "GET /items/3?", "PATCH /items/3?"])
    }
}
