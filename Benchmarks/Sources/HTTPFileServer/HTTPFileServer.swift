import Causeway
import CausewayHTTPServer
import FoundationEssentials

/// An HTTP server for benchmarks. It serves the files of a directory. `/memory` returns 1 KiB from memory, and
/// `/zeros/N` returns N zero bytes.
///
/// `/sink` and `/slow-sink` count the bytes of an upload. `/slow-sink` pauses for two seconds after 1 MiB, and again
/// after each further quarter of the content.
///
/// usage: HTTPFileServer DIRECTORY PORT [CERTIFICATE KEY]
@main
struct HTTPFileServer {
    static func main() async throws {
        let words = CommandLine.arguments
        guard [3, 5].contains(words.count), let port = UInt16(words[2]) else {
            fatalError("usage: HTTPFileServer DIRECTORY PORT [CERTIFICATE KEY]")
        }
        let parameters = HTTPServer.defaultParameters
        if words.count == 5 {
            let options = NWProtocolTLS.Options()
            let identity = try SecIdentity(certificateFile: words[3], keyFile: words[4])
            if let identity = sec_identity_create(identity) {
                sec_protocol_options_set_local_identity(options.securityProtocolOptions, identity)
            }
            parameters.defaultProtocolStack.applicationProtocols = [options]
        }
        var configuration = HTTPServer.Configuration()
        configuration.maximumContentLength = nil
        let server = try HTTPServer(
            using: parameters, on: .init(integerLiteral: port), configuration: configuration,
            routes: try routes(HTTPServerDirectory(words[1])))
        try await server.run()
    }

    private static func routes(_ files: HTTPServerDirectory) -> HTTPServerRoutes {
        let text = String(repeating: "x", count: 1_024)
        var routes = HTTPServerRoutes()
        routes.get("/memory") { _ in .text(text) }
        routes.get("/zeros/{count}") { request in
            let count = request.parameters["count"].flatMap { Int($0) } ?? 0
            return HTTPServerResponse(body: .stream(length: count) { writer in try await write(count, to: writer) })
        }
        routes.put("/sink") { request in try await counted(request, pauses: false) }
        routes.put("/slow-sink") { request in try await counted(request, pauses: true) }
        routes.get("/{path...}") { request in
            try await files.respond(to: request, path: request.parameters["path"] ?? "")
        }
        return routes
    }

    private static func write(_ count: Int, to writer: HTTPServerBodyWriter) async throws {
        let piece = Data(count: 64 << 10)
        var left = count
        while left > 0 {
            let next = min(left, piece.count)
            try await writer.write(next == piece.count ? piece : piece.prefix(next))
            left -= next
        }
    }

    /// Responds with the content's byte count.
    private static func counted(_ request: HTTPServerRequest, pauses: Bool) async throws -> HTTPServerResponse {
        let quarter =
            request.queryItems.first { $0.name == "bytes" }.flatMap { Int($0.value) }.map { $0 / 4 } ?? 1 << 28
        var count = 0
        var pause = pauses ? 1 << 20 : Int.max
        for try await piece in request.body {
            count += piece.count
            if count >= pause {
                pause += quarter
                try await Task.sleep(for: .seconds(2))
            }
        }
        return .text("\(count)")
    }
}
