// No `@testable`: these calls see what a program sees.
import CausewayClient
import Foundation
import Testing

@Suite("Client: the API as a program sees it")
struct PublicViewTests {
    private struct User: Codable, Equatable, Sendable {
        var name: String
    }

    @Test("A call without a type sends its method, and returns bytes of any media type")
    func untyped() async throws {
        let server = ScriptedServer { _, number in
            try answer("<p>\(number)</p>", status: 200, ["Content-Type": "text/html"])
        }
        let client = try server.client()
        let got = try await client.get("users", query: ["limit": 1], headers: ["X": "1"])
        let posted = try await client.post("users", body: .json(User(name: "Ann")))
        let put = try await client.put("users/1", body: .text("Ann"))
        let patched = try await client.patch("users/1", body: .text("Bob"))
        let deleted = try await client.delete("users/2")
        let responses: [ClientResponse<Data>] = [got, posted, put, patched, deleted]
        let contents = responses.map { String(decoding: $0.value, as: UTF8.self) }
        #expect(contents == ["<p>1</p>", "<p>2</p>", "<p>3</p>", "<p>4</p>", "<p>5</p>"])
        #expect(responses.allSatisfy { $0.status == 200 && $0.attempts == 1 })
        let methods = server.requests.map { $0.httpMethod ?? "GET" }
        #expect(methods == ["GET", "POST", "PUT", "PATCH", "DELETE"])
        #expect(server.requests.allSatisfy { $0.value(forHTTPHeaderField: "Accept") == nil })
    }

    @Test("The result of a call without a type can be ignored")
    func ignored() async throws {
        let server = ScriptedServer { _, _ in try answer("", status: 204, [:]) }
        let client = try server.client()
        try await client.get("users")
        try await client.post("users", body: .json(User(name: "Ann")))
        try await client.put("users/1", body: .text("Ann"))
        try await client.patch("users/1")
        try await client.delete("users/\(2)")
        #expect(server.requests.count == 5)
    }

    @Test("A call without a type checks the status", arguments: [302, 404, 500])
    func status(_ status: Int) async throws {
        let server = ScriptedServer { _, _ in try answer("no", status: status, [:]) }
        let client = try server.client { $0.retryPolicy.maximumAttempts = 1 }
        let error = await failure { _ = try await client.delete("users/2") }
        #expect(error?.code == .unacceptableStatus && error?.status == status && error?.content == Data("no".utf8))
    }

    @Test("A call whose result has a type decodes JSON")
    func typed() async throws {
        let ann = User(name: "Ann")
        let server = ScriptedServer { _, _ in try answer(#"{"name":"Ann"}"#) }
        let client = try server.client()
        let got: User = try await client.get("users/1")
        let named = try await client.get("users/1", as: User.self)
        let posted: User = try await client.post("users", body: .json(ann))
        let put: User = try await client.put("users/1", body: .json(ann))
        let patched: User = try await client.patch("users/1", body: .json(ann))
        let deleted: User = try await client.delete("users/1")
        #expect([got, named, posted, put, patched, deleted] == Array(repeating: ann, count: 6))
        let bytes = try await client.get("users/1", as: .data)
        #expect(bytes == Data(#"{"name":"Ann"}"#.utf8))
    }

    /// An interceptor as a program writes it, with types of URL loading.
    private struct Signer: RequestInterceptor {
        func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest {
            var request = request
            request.setValue("\(attempt)", forHTTPHeaderField: "X-Attempt")
            return request
        }
    }

    @Test("Without another import, a program names the types of requests, sessions, forms and paths")
    func names() async throws {
        let server = ScriptedServer { _, _ in try answer("", status: 204, [:]) }
        let client = try server.client { configuration in
            let session: URLSessionConfiguration = .ephemeral
            configuration.session = session
            configuration.interceptors = [Signer()]
        }
        var form = MultipartForm()
        form.append("Ann", name: "author")
        let response = try await client.post("users", body: .multipart(form))
        let http: HTTPURLResponse = response.http
        #expect(http.statusCode == 204)
        #expect(server.requests.first?.value(forHTTPHeaderField: "X-Attempt") == "1")
        let reachability: (NWPath) -> Reachability = { Reachability($0) }
        _ = reachability
    }
}
