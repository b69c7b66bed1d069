@testable import CausewayClient
import CausewayURLLoading
import Foundation
import Testing

@Suite("Client: prepared requests that are kept")
struct RecentRequestTests {
    private let client: HTTPClient

    init() throws {
        client = try ScriptedServer { _, _ in try answer("[]") }.client { $0.headers = ["X-Key": "secret"] }
    }

    private var keptCount: Int { client.recent.withLock { $0.count } }

    @Test("A repeated request is prepared once")
    func repeated() async throws {
        let first = try client.prepare(ClientRequest("GET", "users"), accept: nil)
        #expect(try client.prepare(ClientRequest("GET", "users"), accept: nil) === first)
        #expect(try client.prepare("GET", "users", [:], [:], .none, accept: nil) === first)
        #expect(first.urlRequest.url?.absoluteString == "https://api.example/v1/users")
        #expect(first.urlRequest.allHTTPHeaderFields == ["X-Key": "secret"])
        #expect(keptCount == 1)
    }

    @Test("A kept request is used only for the same method, path and media types")
    func differences() throws {
        let requests = [
            try client.prepare(ClientRequest("GET", "a"), accept: nil),
            try client.prepare(ClientRequest("HEAD", "a"), accept: nil),
            try client.prepare(ClientRequest("DELETE", "a"), accept: nil),
            try client.prepare(ClientRequest("get", "a"), accept: nil),
            try client.prepare(ClientRequest("GET", "A"), accept: nil),
            try client.prepare(ClientRequest("GET", "a/"), accept: nil),
            try client.prepare(ClientRequest("GET", "a"), accept: "text/plain"),
        ]
        #expect(Set(requests.map { ObjectIdentifier($0) }).count == requests.count)
        #expect(requests.map(\.urlRequest.httpMethod) == ["GET", "HEAD", "DELETE", "GET", "GET", "GET", "GET"])
        #expect(requests.map { $0.urlRequest.url?.lastPathComponent } == ["a", "a", "a", "a", "A", "a", "a"])
        #expect(requests.last?.urlRequest.value(forHTTPHeaderField: "Accept") == "text/plain")
    }

    /// Requests that must not be remembered. Besides the method and the path, each has another property. This property
    /// can be secret, or it can change the `URLRequest`.
    static let unkept: [@Sendable (inout ClientRequest) -> Void] = [
        { $0 = ClientRequest("GET", "a?token=x") }, { $0.query = ["token": "x"] },
        { $0.headers = ["Authorization": "x"] }, { $0.body = .text("x") },
        { $0.body = .data(Data(), contentType: "x/y") },
        { $0.isIdempotent = false }, { $0.retryPolicy = .never }, { $0.coalesces = false },
        { $0.timeout = .seconds(1) }, { $0.expectedByteCount = 1 },
        { $0.cachePolicy = .reloadIgnoringLocalCacheData }, { $0.host = "other.example" },
        { $0.port = 81 }, { $0.usesTLS = false },
        { $0 = ClientRequest("GET", RequestPath(text: String(repeating: "a", count: 257))) },
    ]

    @Test(
        "A request with parameters, fields, content or rules is neither kept nor answered with a kept one",
        arguments: unkept.indices)
    func special(_ index: Int) throws {
        let plain = try client.prepare(ClientRequest("GET", "a"), accept: nil)
        var request = ClientRequest("GET", "a")
        Self.unkept[index](&request)
        let prepared = try client.prepare(request, accept: nil)
        #expect(prepared !== plain && keptCount == 1)
        #expect(try client.prepare(request, accept: nil) !== prepared)
        #expect(try client.prepare(ClientRequest("GET", "a"), accept: nil) === plain)
    }

    @Test(
        "The idle timeout of a request is that of its URL request, in seconds",
        arguments: [(nil, 60), (.seconds(5), 5), (.milliseconds(1_500), 1.5)] as [(Duration?, TimeInterval)])
    func timeout(_ timeout: Duration?, _ seconds: TimeInterval) throws {
        var request = ClientRequest("GET", "a")
        request.timeout = timeout
        #expect(try client.prepare(request, accept: nil).urlRequest.timeoutInterval == seconds)
    }

    @Test("A request for a URL is not kept")
    func links() throws {
        let url = try #require(URL(string: "https://api.example/v1/a?page=2"))
        let prepared = try client.prepare(ClientRequest("GET", url: url), accept: nil)
        #expect(prepared.urlRequest.url == url && keptCount == 0)
    }

    @Test("A path that must not be sent fails each time, and is not kept")
    func mistakes() {
        for _ in 0..<2 {
            #expect(throws: HTTPClientError.self) { try client.prepare(ClientRequest("GET", "a/../b"), accept: nil) }
        }
        #expect(keptCount == 0)
    }

    @Test("The number of kept requests is bounded, and each is prepared as without the others")
    func bound() throws {
        for number in 0..<1_000 {
            let prepared = try client.prepare(ClientRequest("GET", "\(number)"), accept: nil)
            #expect(prepared.urlRequest.url?.absoluteString == "https://api.example/v1/\(number)")
            #expect(try client.prepare(ClientRequest("GET", "\(number)"), accept: nil) === prepared)
            #expect(keptCount <= RecentRequests.capacity)
        }
        #expect(keptCount > RecentRequests.capacity / 2)
    }

    @Test("Clients do not share kept requests")
    func bases() throws {
        let other = try ScriptedServer { _, _ in try answer() }.client("https://other.example/v2")
        _ = try client.prepare(ClientRequest("GET", "a"), accept: nil)
        let prepared = try other.prepare(ClientRequest("GET", "a"), accept: nil)
        #expect(prepared.urlRequest.url?.absoluteString == "https://other.example/v2/a")
        #expect(prepared.urlRequest.allHTTPHeaderFields == nil)
    }

    @Test("Many tasks get the requests that they ask for")
    func concurrency() async throws {
        let server = ScriptedServer { request, _ in
            let path = request.url?.lastPathComponent ?? ""
            return try answer("[\(path)]")
        }
        let client = try server.client()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<2_000 {
                group.addTask { try await client.get("\(number % 50)") as [Int] == [number % 50] }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("A changed request of an interceptor does not change the kept one")
    func interceptors() async throws {
        let server = ScriptedServer { _, number in try answer("[\(number)]") }
        let client = try server.client {
            $0.interceptors = [TokenInterceptor(token: "t") { _ in "u" }]
        }
        for number in 1...2 { #expect(try await client.get("a") == [number]) }
        #expect(server.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == ["Bearer t", "Bearer t"])
        let kept = try client.prepare("GET", "a", [:], [:], .none, accept: MediaTypeSet.json.acceptField)
        #expect(kept.urlRequest.value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test("Requests are equal for sharing if all values of their URL requests are equal")
    func equality() throws {
        func prepared(_ change: (inout ClientRequest) -> Void = { _ in }) throws -> PreparedRequest {
            var request = ClientRequest("GET", "a")
            request.headers = ["X-A": "1", "X-B": "2"]
            change(&request)
            return try client.prepare(request, accept: nil)
        }
        let (one, same) = (try prepared(), try prepared())
        #expect(one !== same && one == same && one.hashValue == same.hashValue && one.isShareable)
        #expect(try prepared { $0.headers["X-A"] = "2" } != one)
        #expect(try prepared { $0.headers["X-C"] = "3" } != one)
        #expect(try prepared { $0.query = ["a": 1] } != one)
        #expect(try prepared { $0.timeout = .seconds(5) } != one)
        #expect(try prepared { $0.cachePolicy = .reloadIgnoringLocalCacheData } != one)
        #expect(try prepared { $0.port = 81 } != one)
        #expect(try prepared { $0.method = "HEAD" } != one)
        #expect(try !prepared { $0.method = "PUT" }.isShareable && !prepared { $0.body = .text("x") }.isShareable)
    }
}
