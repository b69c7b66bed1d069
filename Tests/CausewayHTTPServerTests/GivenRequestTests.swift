import CausewayTypes
import FoundationEssentials
import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: requests without a client")
struct GivenRequestTests {
    private struct User: Codable, Equatable { var name: String }

    @Test("A request has what its maker states")
    func values() async throws {
        let request = HTTPServerRequest(
            method: "PUT", target: "/a%20b?c=d&e", fields: ["Host": "h:80", "X": "1"], body: Data("content".utf8),
            from: .hostPort(host: "192.0.2.1", port: 7), isSecure: true)
        #expect(request.method == "PUT" && request.path == "/a%20b" && request.query == "c=d&e")
        #expect(request.queryItems.map(\.name) == ["c", "e"])
        #expect(request.fields["x"] == "1" && request.authority == "h:80" && request.version == "HTTP/1.1")
        #expect(request.isSecure && request.remoteEndpoint == .hostPort(host: "192.0.2.1", port: 7))
        #expect(request.body.length == 7 && request.body.trailers == nil)
        #expect(try await request.body.collect(upTo: 7) == Data("content".utf8))
        #expect(try await request.body.collect(upTo: 7).isEmpty)
        #expect(request.body.trailers?.isEmpty == true)
    }

    @Test("A request without content is at its end")
    func empty() async throws {
        let request = HTTPServerRequest(target: "/")
        #expect(request.method == "GET" && request.query == nil && request.authority == nil && !request.isSecure)
        #expect(request.body.length == 0 && request.body.trailers?.isEmpty == true)
        #expect(try await request.body.collect(upTo: 0).isEmpty)
    }

    @Test("A request with JSON has its type")
    func json() async throws {
        let request = try HTTPServerRequest(target: "/users", fields: ["X": "1"], json: User(name: "Ann"))
        #expect(request.method == "POST" && request.fields["X"] == "1")
        #expect(request.fields.values(of: "Content-Type") == ["application/json"])
        #expect(try await request.json(User.self) == User(name: "Ann"))
    }

    @Test(
        "An interim response without a client needs a status as with one",
        arguments: [(100, false), (101, false), (103, true), (199, true), (200, false)])
    func inform(_ status: Int, _ isInterim: Bool) {
        let request = HTTPServerRequest(target: "/")
        let isSent = (try? request.inform(status)) != nil
        #expect(isSent == isInterim)
    }

    @Test("A form is read from the content")
    func form() async throws {
        let content = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n"
        let request = HTTPServerRequest(
            method: "POST", target: "/", fields: ["Content-Type": "multipart/form-data; boundary=b"],
            body: Data(content.utf8))
        let form = try #require(request.form)
        #expect(try await form.collect(upTo: 10).map(\.text) == ["1"])
    }
}
