import FoundationEssentials
import Testing

@testable import CausewayHTTPServer

extension HTTPServerRoutes {
    /// Returns the status and the text that a client would get, without a client.
    func answer(_ method: String, _ target: String) async -> String {
        let found = await response(method, target)
        let content = (try? await found.body.collect(upTo: 1_000)) ?? Data()
        return "\(found.status) \(String(decoding: content, as: UTF8.self))"
    }

    /// Returns the response that a server would send.
    func response(_ method: String, _ target: String) async -> HTTPServerResponse {
        do {
            return try await respond(to: HTTPServerRequest(method: method, target: target))
        } catch {
            return .error(error)
        }
    }
}

@Suite("HTTP server: routes")
struct HTTPServerRoutesTests {
    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"]

    // RFC 9110 §9.3.2, §9.3.7, §10.2.1, §15.5.6.
    @Test("Each method has a route, and a path without it names those that it has", arguments: methods)
    func method(_ method: String) async {
        var routes = HTTPServerRoutes()
        routes.get("/get") { _ in .text("GET") }
        routes.head("/head") { _ in .text("HEAD") }
        routes.post("/post") { _ in .text("POST") }
        routes.put("/put") { _ in .text("PUT") }
        routes.patch("/patch") { _ in .text("PATCH") }
        routes.delete("/delete") { _ in .text("DELETE") }
        routes.options("/options") { _ in .text("OPTIONS") }
        routes.on("PURGE", "/purge") { _ in .text("PURGE") }
        for path in Self.methods {
            let response = await routes.response(method, "/\(path.lowercased())")
            let isAnswered = method == path || method == "HEAD" && path == "GET"
            #expect(response.status == (isAnswered ? 200 : method == "OPTIONS" ? 204 : 405), "\(path)")
            guard !isAnswered else { continue }
            let others = path == "GET" ? ["GET", "HEAD", "OPTIONS"] : path == "OPTIONS" ? [path] : [path, "OPTIONS"]
            #expect(response.fields["Allow"] == others.joined(separator: ", "), "\(path)")
        }
    }

    @Test("A route for HEAD answers instead of that for GET, whichever was added first", arguments: [true, false])
    func head(_ isFirst: Bool) async {
        var routes = HTTPServerRoutes()
        if isFirst { routes.head("/") { _ in .text("head") } }
        routes.get("/") { _ in .text("get") }
        if !isFirst { routes.head("/") { _ in .text("head") } }
        #expect(await routes.answer("HEAD", "/") == "200 head")
        #expect(await routes.answer("GET", "/") == "200 get")
        #expect(await routes.response("POST", "/").fields["Allow"]?.contains("HEAD, HEAD") == false)
    }

    @Test("Routes that share the place of a parameter each have its name")
    func names() async {
        var routes = HTTPServerRoutes()
        routes.get("/users/{id}") { .text("id \($0.parameters["id"] ?? "-") \($0.parameters["name"] ?? "-")") }
        routes.get("/users/{name}/posts") {
            .text("name \($0.parameters["id"] ?? "-") \($0.parameters["name"] ?? "-")")
        }
        routes.get("/files/{path...}") { .text("path \($0.parameters["path"] ?? "-")") }
        routes.put("/files/{target...}") { .text("target \($0.parameters["target"] ?? "-")") }
        #expect(await routes.answer("GET", "/users/7") == "200 id 7 -")
        #expect(await routes.answer("GET", "/users/7/posts") == "200 name - 7")
        #expect(await routes.answer("GET", "/files/a/b") == "200 path a/b")
        #expect(await routes.answer("PUT", "/files/a/b") == "200 target a/b")
    }

    @Test("A request without a route gets 404, 204 for the whole server, and 400 for a malformed path")
    func unmatched() async {
        var routes = HTTPServerRoutes()
        routes.get("/a") { _ in .text("a") }
        #expect(await routes.response("GET", "/b").status == 404)
        #expect(await routes.response("GET", "/a/").status == 404)
        #expect(await routes.response("OPTIONS", "*").status == 204)
        #expect(await routes.response("GET", "/%zz").status == 400)
        routes.fallback = { request in .text("none at \(request.path)", status: 410) }
        #expect(await routes.answer("GET", "/b") == "410 none at /b")
        #expect(await routes.answer("CONNECT", "h:80") == "410 none at h:80")
    }
}

@Suite("HTTP server: groups of routes")
struct RouteGroupTests {
    private static func grouped() -> HTTPServerRoutes {
        var routes = HTTPServerRoutes()
        routes.get("/about") { _ in .text("about") }
        routes.group("/api") { api in
            api.get("") { _ in .text("the api") }
            api.get("/") { _ in .text("the api's root") }
            api.get("/users/{id}") { .text("user \($0.parameters["id"] ?? "-")") }
            api.group("/teams/{team}/") { team in
                team.get("/members/{id}") {
                    .text("member \($0.parameters["id"] ?? "-") of \($0.parameters["team"] ?? "-")")
                }
                team.get("/files/{path...}") {
                    .text("file \($0.parameters["path"] ?? "-") of \($0.parameters["team"] ?? "-")")
                }
            }
            api.group { plain in plain.get("/plain") { _ in .text("plain") } }
        }
        routes.post("/api/users/{name}") { .text("made \($0.parameters["name"] ?? "-")") }
        return routes
    }

    @Test(
        "The routes of a group follow its prefix",
        arguments: [
            ("GET", "/about", "200 about"), ("GET", "/api", "200 the api"), ("GET", "/api/", "200 the api's root"),
            ("GET", "/api/users/7", "200 user 7"), ("GET", "/api/teams/red/members/7", "200 member 7 of red"),
            ("GET", "/api/teams/red/files/a/b", "200 file a/b of red"), ("GET", "/api/plain", "200 plain"),
            ("POST", "/api/users/ann", "200 made ann"), ("GET", "/users/7", "404 Not Found\n"),
            ("GET", "/api/teams/red", "404 Not Found\n"),
        ])
    func routes(_ method: String, _ target: String, _ answer: String) async {
        #expect(await Self.grouped().answer(method, target) == answer)
    }

    @Test("Routes of a group and of its table for one path are those of the path")
    func joined() async {
        let response = await Self.grouped().response("DELETE", "/api/users/7")
        #expect(response.status == 405)
        #expect(response.fields["Allow"] == "GET, POST, HEAD, OPTIONS")
    }

    @Test("The fallback of the longest prefix answers")
    func fallbacks() async {
        var routes = HTTPServerRoutes()
        routes.fallback = { _ in .text("table", status: 404) }
        routes.group("/a") { group in
            group.get("/x") { _ in .text("x") }
            group.fallback = { _ in .text("a", status: 404) }
            group.group("/{id}/b") { inner in
                inner.use { request, next in
                    var response = try await next(request)
                    response.status = 410
                    return response
                }
                inner.fallback = { .text("b \($0.parameters["id"] ?? "-")") }
            }
        }
        #expect(await routes.answer("GET", "/a/x") == "200 x")
        #expect(await routes.answer("GET", "/a/7/b/c") == "410 b 7")
        #expect(await routes.answer("GET", "/a/7/c") == "404 a")
        #expect(await routes.answer("GET", "/a") == "404 a")
        #expect(await routes.answer("GET", "/b") == "404 table")
    }
}
