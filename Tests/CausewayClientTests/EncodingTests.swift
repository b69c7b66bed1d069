@testable import CausewayClient
import CausewayURLLoading
import Foundation
import Testing

@Suite("Client: URLs of requests")
struct EncodingTests {
    private static func url(
        _ path: RequestPath, _ query: RequestParameters = [:], base: String = "https://api.example/v1"
    ) throws -> String {
        let url = try #require(URL(string: base))
        let base = try #require(BaseURL(url))
        return try base.url(of: .path(path), query: query).absoluteString
    }

    @Test(
        "M1: a path is appended to the base URL",
        arguments: [
            ("https://api.example", "users", "https://api.example/users"),
            ("https://api.example/", "/users", "https://api.example/users"),
            ("https://api.example/v1", "users/7", "https://api.example/v1/users/7"),
            ("https://api.example/v1/", "/users/", "https://api.example/v1/users/"),
            ("https://api.example/v1/", "", "https://api.example/v1/"),
            ("https://api.example/v1", "", "https://api.example/v1"),
            ("http://[::1]:8080/a%20b", "c", "http://[::1]:8080/a%20b/c"),
            ("HTTPS://u:p@api.example", "c", "https://u:p@api.example/c"),
            ("https://api.example/v1?key=1", "c", "https://api.example/v1/c?key=1"),
        ])
    func base(_ base: String, _ path: String, _ expected: String) throws {
        #expect(try Self.url(RequestPath(text: path), base: base) == expected)
    }

    @Test("A literal is written as in a URL, a value is data", arguments: ["a/b", "ä ?#&=+%", "..a", "%2e"])
    func values(_ value: String) throws {
        let encoded = try #require(value.addingPercentEncoding(withAllowedCharacters: Self.unreserved))
        #expect(try Self.url("x/\(value)/y") == "https://api.example/v1/x/\(encoded)/y")
        #expect(try Self.url("x?q=\(value)&r=\(1)") == "https://api.example/v1/x?q=\(encoded)&r=1")
        #expect(try Self.url("x", ["q": value]) == "https://api.example/v1/x?q=\(encoded)")
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    @Test(
        "Literals are encoded where a URL demands it",
        arguments: [
            ("a b", "a%20b"), ("a%20b", "a%20b"), ("100%", "100%25"), ("%zz", "%25zz"), ("é", "%C3%A9"),
            ("a;b=c", "a;b=c"),
            ("a#b", "a%23b"), ("a\\b", "a%5Cb"), ("a\r\nHost: x", "a%0D%0AHost:%20x"),
            ("s?q=a b&x=[1]", "s?q=a%20b&x=%5B1%5D"),
            ("//evil.example/x", "/evil.example/x"),
        ])
    func literals(_ literal: String, _ expected: String) throws {
        #expect(try Self.url(RequestPath(stringLiteral: literal)) == "https://api.example/v1/" + expected)
    }

    @Test("A path from text keeps only its slashes")
    func text() throws {
        #expect(try Self.url(RequestPath(text: "a?b/c#d/%41")) == "https://api.example/v1/a%3Fb/c%23d/%2541")
        // In a path, a slash before a combining mark still counts as a slash.
        #expect(try Self.url(RequestPath(text: "a/\u{301}b")) == "https://api.example/v1/a/%CC%81b")
        #expect(throws: HTTPClientError.self) { try Self.url(RequestPath(text: "../\u{301}b")) }
    }

    @Test(
        "A path that would reach another resource is refused",
        arguments: [
            RequestPath(text: "a/../b"), "\("..")/b", "a/\("."):/\("..")", "a/%2e%2E/b", ".%2e", "users/\("")",
            "users/\("")/photos", ".", "a/%2E", "../", "a/./b",
        ])
    func traversal(_ path: RequestPath) {
        #expect(throws: HTTPClientError.self) { try Self.url(path) }
    }

    @Test(
        "Dots inside a segment are permitted",
        arguments: ["a/...", "a/.b", "b./a", "%2E%2e%2e", ".%2f", "a//b", "a.json"])
    func dots(_ path: RequestPath) throws { #expect(try Self.url(path) == "https://api.example/v1/\(path)") }

    @Test("M2: parameters in a query and in a form")
    func parameters() {
        let missing: String? = nil
        let parameters: RequestParameters = [
            "term": "AC/DC & friends", "n": 5, "ok": true, "x": 0.5, "tag": ["a", "b"], "none": missing, "e=": "~*+ü",
        ]
        #expect(
            parameters.query
                == "term=AC%2FDC%20%26%20friends&n=5&ok=true&x=0.5&tag=a&tag=b&e%3D=~%2A%2B%C3%BC")
        #expect(
            parameters.form == "term=AC%2FDC+%26+friends&n=5&ok=true&x=0.5&tag=a&tag=b&e%3D=%7E*%2B%C3%BC")
    }

    @Test(
        "A URL of a response is used only for the origin of the client",
        arguments: [
            ("https://api.example/next?p=2", true), ("https://API.example:443/x", true),
            ("http://api.example/x", false),
            ("https://api.example:444/x", false), ("https://evil.example/x", false),
            ("https://api.example.evil/x", false),
            ("https://api.example@evil.example/x", false), ("ftp://api.example/x", false),
        ])
    func origins(_ text: String, _ isAllowed: Bool) throws {
        let root = try #require(URL(string: "https://api.example/v1"))
        let base = try #require(BaseURL(root))
        let target = ClientRequest.Target.url(try #require(URL(string: text)))
        let url = try? base.url(of: target, query: [:])
        #expect((url != nil) == isAllowed)
        if let url { #expect(url.host() == "api.example") }
    }

    @Test("A base URL must be absolute", arguments: ["/v1", "api.example", "file:///etc", "https:///x", "mailto:a@b"])
    func badBase(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: HTTPClientError.self) { try HTTPClient(baseURL: url) }
    }

    @Test("Fields of a request replace those of the client, and the curl command has them all")
    func fields() async throws {
        let server = ScriptedServer { _, _ in try answer() }
        let client = try server.client { $0.headers = ["X-Key": "1", "Accept": "a/b", "Authorization": "secret"] }
        var request = ClientRequest("POST", "a b", query: ["q": "x y"])
        request.headers = ["x-key": "2"]
        request.body = .form(["n": "ü"])
        _ = try await client.send(request, as: .none)
        let sent = try #require(server.requests.first)
        #expect(sent.value(forHTTPHeaderField: "X-Key") == "2" && sent.value(forHTTPHeaderField: "Accept") == "a/b")
        #expect(sent.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
        #expect(sent.httpBody == Data("n=%C3%BC".utf8))
        let curl = try client.curlCommand(for: request)
        #expect(curl.contains("https://api.example/v1/a%20b?q=x%20y") && curl.contains("n=%C3%BC"))
        #expect(!curl.contains("secret"))
        #expect(try client.curlCommand(for: request, showsSecrets: true).contains("secret"))
    }
}
