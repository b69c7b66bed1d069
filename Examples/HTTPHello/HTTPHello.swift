// Shows an HTTP server with routes, streamed content and server-sent events: swift run HTTPHello 8080
import Causeway
import CausewayHTTPServer
import Foundation

@main
enum HTTPHello {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count <= 1, let port = NWEndpoint.Port(words.first ?? "8080") else {
            print("usage: HTTPHello [PORT]")
            exit(64)
        }
        var routes = HTTPServerRoutes()
        routes.get("/hello/{name}") { .text("Hello, \($0.parameters["name"] ?? "")!\n") }
        routes.post("/count") { request in
            var count = 0
            for try await piece in request.body { count += piece.count }
            return .text("\(count) bytes\n")
        }
        routes.get("/ticks") { _ in
            .events { events in
                for tick in 1... {
                    try await events.send("\(tick)")
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }
        try await HTTPServer(at: .loopback(port: port), routes: routes).run { print("Listening on port \($0)") }
    }
}
