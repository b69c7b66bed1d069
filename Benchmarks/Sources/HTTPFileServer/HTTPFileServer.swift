import CausewayHTTPServer

/// Serves the files of a directory, and 1 KiB from memory at `/memory`.
///
/// usage: HTTPFileServer DIRECTORY PORT
@main
struct HTTPFileServer {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let port = UInt16(words[2]) else { fatalError("usage: HTTPFileServer DIRECTORY PORT") }
        let files = try HTTPServerDirectory(words[1])
        let text = String(repeating: "x", count: 1_024)
        var routes = HTTPServerRoutes()
        routes.get("/memory") { _ in .text(text) }
        routes.get("/{path...}") { request in
            try await files.respond(to: request, path: request.parameters["path"] ?? "")
        }
        let server = try HTTPServer(on: .init(integerLiteral: port), routes: routes)
        try await server.run()
    }
}
