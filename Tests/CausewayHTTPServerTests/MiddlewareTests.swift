import CausewaySystem
import FoundationEssentials
import Testing

@testable import CausewayHTTPServer

/// What middleware and handlers have seen, in order.
private final class Trace: Sendable {
    private let steps = LockedValue<[String]>([])

    func add(_ step: String) { steps.withLock { $0.append(step) } }

    /// Returns the steps since the last call.
    func take() -> [String] {
        steps.withLock { steps in
            defer { steps = [] }
            return steps
        }
    }

    /// Returns middleware that adds a step before the handler and one behind it.
    func middleware(_ name: String) -> HTTPServer.Middleware {
        { [self] request, next in
            add("\(name) in")
            defer { add("\(name) out") }
            return try await next(request)
        }
    }
}

@Suite("HTTP server: middleware")
struct MiddlewareTests {
    private struct Bug: Error {}

    @Test("Requests pass the table's middleware, then that of each group, in order; responses the other way round")
    func order() async {
        let trace = Trace()
        var routes = HTTPServerRoutes()
        routes.get("/plain") { _ in
            trace.add("plain")
            return .text("plain")
        }
        routes.use(trace.middleware("one"))
        routes.use(trace.middleware("two"))
        routes.group("/group") { group in
            group.get("/inside") { _ in
                trace.add("inside")
                return .text("inside")
            }
            group.use(trace.middleware("three"))
            group.group("/deep") { deep in
                deep.use(trace.middleware("four"))
                deep.get("/down") { _ in .text("down") }
            }
        }
        #expect(await routes.answer("GET", "/plain") == "200 plain")
        #expect(trace.take() == ["one in", "two in", "plain", "two out", "one out"])
        #expect(await routes.answer("GET", "/group/inside") == "200 inside")
        #expect(
            trace.take() == ["one in", "two in", "three in", "inside", "three out", "two out", "one out"])
        #expect(await routes.answer("GET", "/group/deep/down") == "200 down")
        #expect(
            trace.take() == [
                "one in", "two in", "three in", "four in", "four out", "three out", "two out", "one out",
            ])
    }

    static let refusals: [(method: String, target: String, status: Int, steps: [String])] = [
        ("GET", "/none", 404, ["table in", "table out"]), ("GET", "/%zz", 400, ["table in", "table out"]),
        ("OPTIONS", "*", 204, ["table in", "table out"]), ("DELETE", "/open", 405, ["table in", "table out"]),
        ("GET", "/group/none/here", 404, ["table in", "table out"]),
        ("DELETE", "/group/7", 405, ["table in", "group in", "group out", "table out"]),
        ("OPTIONS", "/group/7", 204, ["table in", "group in", "group out", "table out"]),
        ("HEAD", "/group/7", 200, ["table in", "group in", "group out", "table out"]),
    ]

    @Test("Middleware also sees requests for which there is no route or no method", arguments: refusals)
    func unmatched(_ row: (method: String, target: String, status: Int, steps: [String])) async {
        let trace = Trace()
        var routes = HTTPServerRoutes()
        routes.use(trace.middleware("table"))
        routes.get("/open") { _ in .text("open") }
        routes.group("/group") { group in
            group.use(trace.middleware("group"))
            group.get("/{id}") { _ in .text("inside") }
        }
        #expect(await routes.response(row.method, row.target).status == row.status)
        #expect(trace.take() == row.steps)
    }

    @Test("Middleware answers without the handler, changes requests and responses, and sees parameters and errors")
    func changes() async {
        var routes = HTTPServerRoutes()
        routes.use { request, next in
            do {
                return try await next(request)
            } catch is Bug {
                return .text("mended", status: 503)
            }
        }
        routes.group("/users") { users in
            users.use { request, next in
                guard request.parameters["id"] != "0" else { return .text("reserved", status: 403) }
                var request = request
                request.parameters = ["id": "<\(request.parameters["id"] ?? "")>"]
                var response = try await next(request)
                response.fields["X-Seen"] = "yes"
                return response
            }
            users.get("/{id}") { .text($0.parameters["id"] ?? "-") }
            users.get("/{id}/bug") { _ in throw Bug() }
        }
        #expect(await routes.answer("GET", "/users/0") == "403 reserved")
        #expect(await routes.answer("GET", "/users/7") == "200 <7>")
        #expect(await routes.response("GET", "/users/7").fields["X-Seen"] == "yes")
        #expect(await routes.answer("GET", "/users/7/bug") == "503 mended")
    }

    @Test("Middleware that changes the whole content reads it with a limit")
    func content() async throws {
        var routes = HTTPServerRoutes()
        routes.use { request, next in
            var response = try await next(request)
            let text = String(decoding: try await response.body.collect(upTo: 10), as: UTF8.self)
            response.body = .data(Data(text.uppercased().utf8))
            return response
        }
        routes.get("/short") { _ in
            HTTPServerResponse(
                body: .stream { writer in
                    try await writer.write("ab")
                    try await writer.write(Data("cd".utf8))
                })
        }
        routes.get("/long") { _ in .text("more than ten bytes") }
        #expect(await routes.answer("GET", "/short") == "200 ABCD")
        #expect(await routes.response("GET", "/long").status == 500)
    }

    @Test("The response to an error has its status and message, and hides what is not for clients")
    func errors() async throws {
        let refusal = HTTPServerResponse.error(HTTPServerError(status: 418, "short and stout"))
        #expect(refusal.status == 418)
        #expect(try await refusal.body.collect(upTo: 100) == Data("short and stout\n".utf8))
        let failure = HTTPServerResponse.error(Bug())
        #expect(failure.status == 500)
        #expect(try await failure.body.collect(upTo: 100) == Data("Internal Server Error\n".utf8))
    }
}
