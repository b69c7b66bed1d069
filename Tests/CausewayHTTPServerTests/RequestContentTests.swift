import FoundationEssentials
import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: content of requests")
struct RequestContentTests {
    private enum Color: String, Codable { case red, green }
    private struct Paint: Codable { var color: Color }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let type: String?
        let content: String
        let status: Int
    }

    static let rows = [
        Row(testDescription: "JSON", type: "application/json", content: "{\"color\":\"red\"}", status: 200),
        Row(
            testDescription: "JSON with a character set", type: "Application/JSON; charset=utf-8",
            content: "{\"color\":\"red\"}", status: 200),
        Row(
            testDescription: "a type based on JSON", type: "application/vnd.paint+json",
            content: "{\"color\":\"red\"}", status: 200),
        Row(testDescription: "text", type: "text/plain", content: "{\"color\":\"red\"}", status: 415),
        Row(testDescription: "no type", type: nil, content: "{\"color\":\"red\"}", status: 415),
        Row(testDescription: "a malformed type", type: "json", content: "{\"color\":\"red\"}", status: 415),
        Row(testDescription: "cut off", type: "application/json", content: "{\"color\":", status: 400),
        Row(testDescription: "nothing", type: "application/json", content: "", status: 400),
        Row(testDescription: "another value", type: "application/json", content: "{\"color\":1}", status: 400),
        Row(
            testDescription: "as long as the limit", type: "application/json",
            content: "{\"color\":\"green\"}   ", status: 200),
        Row(
            testDescription: "beyond the limit", type: "application/json", content: "{\"color\":\"green\"}    ",
            status: 413),
    ]

    // RFC 9110 §15.5.14, §15.5.16.
    @Test("Decoding checks the type, the length and the value", arguments: rows)
    func decodes(_ row: Row) async {
        var routes = HTTPServerRoutes()
        routes.post("/") { request in .text(try await request.decode(Paint.self, upTo: 20).color.rawValue) }
        var fields = HTTPServerFields()
        fields["Content-Type"] = row.type
        let request = HTTPServerRequest(method: "POST", target: "/", fields: fields, body: Data(row.content.utf8))
        let response: HTTPServerResponse
        do { response = try await routes.respond(to: request) } catch { response = .error(error) }
        #expect(response.status == row.status)
    }

    @Test(
        "The reason of a refusal is one short line that a terminal can show, for any content",
        arguments: ["a\\nGET / 200", "\\u001b[31m", String(repeating: "x", count: 10_000)])
    func reason(_ value: String) async throws {
        let request = HTTPServerRequest(
            method: "POST", target: "/", fields: ["Content-Type": "application/json"],
            body: Data("{\"color\":\"\(value)\"}".utf8))
        let error = await #expect(throws: HTTPServerError.self) { _ = try await request.decode(Paint.self) }
        let message = try #require(error?.message)
        #expect(error?.status == 400 && message.hasPrefix("malformed JSON: "))
        #expect(message.utf8.count < 400 && message.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
    }
}
