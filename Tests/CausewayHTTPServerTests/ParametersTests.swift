import FoundationEssentials
import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: path parameters")
struct ParametersTests {
    private static let parameters: HTTPServer.Parameters = ["id": "7", "name": "a b", "flag": "true", "id2": "x"]

    @Test("Parameters are read by name, with a default, and in order")
    func values() {
        let parameters = Self.parameters
        #expect(parameters["id"] == "7" && parameters["none"] == nil)
        #expect(parameters["name", default: "-"] == "a b" && parameters["none", default: "-"] == "-")
        #expect(parameters.map(\.name) == ["id", "name", "flag", "id2"] && parameters.count == 4)
        #expect(parameters.map(\.value) == ["7", "a b", "true", "x"])
        #expect(HTTPServer.Parameters().isEmpty)
        #expect(HTTPServer.Parameters(["a", "b", "a"], ["1", "2", "3"])["a"] == "3")
    }

    @Test("Required parameters have their types")
    func types() throws {
        let parameters = Self.parameters
        #expect(try parameters.require("id", as: Int.self) == 7)
        #expect(try parameters.require("id") == UInt8(7))
        #expect(try parameters.require("name", as: String.self) == "a b")
        #expect(try parameters.require("flag", as: Bool.self))
        let length = try parameters.require("name") { $0.isEmpty ? nil : $0.utf8.count }
        #expect(length == 3)
    }

    @Test(
        "A parameter that is missing, or no value of the type, gets 400 with its name and without its content",
        arguments: [
            ("id", "seven<b>"), ("id", ""), ("id", "99999999999999999999"), ("id", "7\r\n"), ("other", "7"),
        ])
    func refusals(_ name: String, _ value: String) {
        let parameters = HTTPServer.Parameters([name], [value])
        let error = #expect(throws: HTTPServerError.self) { _ = try parameters.require("id", as: Int.self) }
        #expect(error?.status == 400 && error?.message == "the parameter 'id' is missing or not valid")
        let converted = #expect(throws: HTTPServerError.self) {
            _ = try parameters.require("id") { text in UInt8(text) }
        }
        #expect(converted?.status == 400)
    }

    @Test("A name is escaped, as it could end the line")
    func name() {
        let error = #expect(throws: HTTPServerError.self) {
            _ = try HTTPServer.Parameters().require("a\nb", as: Int.self)
        }
        #expect(error?.message == "the parameter 'a\\u{A}b' is missing or not valid")
    }

    @Test("A route hands typed parameters to its handler, without their percent-encoding")
    func routed() async {
        var routes = HTTPServerRoutes()
        routes.get("/users/{id}/{name}") { request in
            let id = try request.parameters.require("id", as: Int.self)
            return .text("\(id) \(try request.parameters.require("name", as: String.self))")
        }
        #expect(await routes.answer("GET", "/users/42/a%20b") == "200 42 a b")
        #expect(await routes.answer("GET", "/users/4%32/a") == "200 42 a")
        #expect(await routes.answer("GET", "/users/x/a") == "400 the parameter 'id' is missing or not valid\n")
    }
}
