// Shows an HTTP server with middleware, a group of routes and typed parameters: swift run ServerMiddleware 8080
import Causeway
import CausewayHTTPServer
import Foundation

struct Note: Codable, Sendable { var text: String }

/// The notes by their numbers.
actor Notes {
    private var notes: [Int: Note] = [:]

    func note(_ number: Int) -> Note? { notes[number] }
    func store(_ note: Note, at number: Int) { notes[number] = note }
}

@main
enum ServerMiddleware {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count <= 1, let port = NWEndpoint.Port(words.first ?? "8080") else {
            print("usage: ServerMiddleware [PORT]")
            exit(64)
        }
        let server = try HTTPServer(at: .loopback(port: port), routes: routes(Notes()))
        try await server.run { print("Listening on port \($0)") }
    }

    static func routes(_ notes: Notes) -> HTTPServerRoutes {
        var routes = HTTPServerRoutes()
        routes.use(report)
        routes.group("/notes/{number}") { group in
            group.use { request, next in
                if request.fields["Authorization"] == "Bearer secret" { return try await next(request) }
                return HTTPServerResponse(status: 401, fields: ["WWW-Authenticate": "Bearer"])
            }
            group.get("") { request in
                let number = try request.parameters.require("number", as: Int.self)
                guard let note = await notes.note(number) else { throw HTTPServerError(status: 404) }
                return try .json(note)
            }
            group.put("") { request in
                let number = try request.parameters.require("number", as: Int.self)
                let note = try await request.decode(Note.self, upTo: 1 << 16)
                await notes.store(note, at: number)
                return HTTPServerResponse(status: 204)
            }
        }
        return routes
    }

    /// Prints each request with the status of its response, also if a handler has thrown an error.
    static func report(
        _ request: HTTPServerRequest, _ next: @escaping HTTPServer.Handler
    ) async throws -> HTTPServerResponse {
        let response: HTTPServerResponse
        do { response = try await next(request) } catch { response = .error(error) }
        print("\(request.method) \(request.path) \(response.status)")
        return response
    }
}
