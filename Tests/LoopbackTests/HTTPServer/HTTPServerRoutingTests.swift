import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTestKit
import Dispatch
import FoundationEssentials
import Testing

/// The shape of the protocol `Service` of swift-service-lifecycle.
private protocol ServiceShape: Sendable {
    func run() async throws
}

extension HTTPServer: ServiceShape {}

/// Runs tasks on a separate queue.
private final class QueueExecutor: TaskExecutor {
    private static let mark = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "handlers", attributes: .concurrent)

    init() { queue.setSpecific(key: Self.mark, value: true) }

    /// Whether the caller runs on the queue of an executor.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

extension Loopback {
    @Suite("HTTP server: middleware, addresses and executors")
    struct HTTPServerRoutingTests {
        private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

        @Test("A client meets middleware, groups and typed parameters as a test without a client does")
        func client() async throws {
            var routes = HTTPServerRoutes()
            routes.use { request, next in
                var response = try await next(request)
                response.fields["X-Server"] = "causeway"
                return response
            }
            routes.group("/users") { users in
                users.use { request, next in
                    guard request.fields["Authorization"] != nil else { throw HTTPServerError(status: 401) }
                    return try await next(request)
                }
                users.patch("/{id}") { .text("patched \(try $0.parameters.require("id", as: Int.self))") }
            }
            try await TestServer.run(routes: routes) { [routes] _, port in
                let client = try await RawClient(port: port)
                for (target, fields, status) in [
                    ("/users/7", "Authorization: x\r\n", 200), ("/users/x", "Authorization: x\r\n", 400),
                    ("/users/7", "", 401), ("/none", "", 404),
                ] {
                    let content = "PATCH \(target) HTTP/1.1\r\nHost: h\r\n\(fields)Content-Length: 0\r\n\r\n"
                    try await client.write(content)
                    let head = try await client.read(through: "\r\n\r\n")
                    #expect(head.contains("HTTP/1.1 \(status) "), "\(target): \(head)")
                    #expect(head.contains("X-Server: causeway\r\n") == (status == 200))
                    var given = HTTPServerFields()
                    if !fields.isEmpty { given["Authorization"] = "x" }
                    let request = HTTPServerRequest(method: "PATCH", target: target, fields: given)
                    let response: HTTPServerResponse
                    do { response = try await routes.respond(to: request) } catch { response = .error(error) }
                    #expect(response.status == status)
                }
            }
        }

        @Test("A server at loopback, or at any address, serves clients of both IP versions", arguments: [true, false])
        func bothVersions(_ isLoopback: Bool) async throws {
            Backend.choose()
            var routes = HTTPServerRoutes()
            routes.get("/") { .text("from \($0.remoteEndpoint)!") }
            let address: HTTPServer.Address = isLoopback ? .loopback() : .any()
            let server = try HTTPServer(at: address, routes: routes)
            try await TestServer.run(server) { _, port in
                for medium in Medium.internetStreams {
                    let client = try await RawClient(medium, port: port)
                    try await client.write(Self.get("/"))
                    #expect(try await client.read(through: "!").hasPrefix("HTTP/1.1 200 "))
                }
            }
        }

        @Test("A server at one address serves clients of this address only", arguments: Medium.internetStreams)
        func oneAddress(_ medium: Medium) async throws {
            Backend.choose()
            var routes = HTTPServerRoutes()
            routes.get("/") { _ in .text("here!") }
            let host = try #require(medium.loopback)
            let server = try HTTPServer(at: .host(host), routes: routes)
            try await TestServer.run(server) { _, port in
                let client = try await RawClient(medium, port: port)
                try await client.write(Self.get("/"))
                #expect(try await client.read(through: "!").hasPrefix("HTTP/1.1 200 "))
                let other = medium == .tcp4 ? Medium.tcp6 : .tcp4
                await #expect(throws: (any Error).self) { _ = try await RawClient(other, port: port) }
            }
        }

        @Test("A server runs as a service, and ends at once if it was shut down before")
        func service() async throws {
            Backend.choose()
            let server = try HTTPServer(at: .loopback(), routes: HTTPServerRoutes())
            server.shutDown()
            let service: any ServiceShape = server
            try await service.run()
            #expect(server.port == nil)
        }

        @Test("Handlers and the closures of their content run where the configuration says", arguments: [true, false])
        func executor(_ isOwn: Bool) async throws {
            var routes = HTTPServerRoutes()
            routes.post("/") { request in
                var seen = [QueueExecutor.isCurrent]
                let content = try await request.body.collect(upTo: 10)
                seen.append(QueueExecutor.isCurrent)
                let before = seen
                return HTTPServerResponse(
                    body: .stream { writer in
                        try await writer.write(content)
                        try await writer.write("\(before + [QueueExecutor.isCurrent])!")
                    })
            }
            let execution: HTTPServer.HandlerExecution = isOwn ? .executor(QueueExecutor()) : .eventLoop
            try await TestServer.run(configure: { $0.handlerExecution = execution }, routes: routes) { _, port in
                let client = try await RawClient(port: port)
                for _ in 0..<2 {
                    try await client.write("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n")
                    try await client.write("abc")
                    #expect(try await client.read(through: "!").hasSuffix("[\(isOwn), \(isOwn), \(isOwn)]!"))
                }
            }
        }

        @Test("A handler that blocks its thread does not hold up others on an executor with more threads")
        func blocked() async throws {
            let release = DispatchSemaphore(value: 0)
            @Sendable func block() { release.wait() }
            let started = Gate()
            var routes = HTTPServerRoutes()
            routes.get("/blocked") { _ in
                started.open()
                block()
                return .text("released!")
            }
            routes.get("/free") { _ in .text("free!") }
            let execution = HTTPServer.HandlerExecution.executor(QueueExecutor())
            try await TestServer.run(configure: { $0.handlerExecution = execution }, routes: routes) { _, port in
                defer { release.signal() }
                let busy = try await RawClient(port: port)
                try await busy.write(Self.get("/blocked"))
                await started.wait()
                // More clients than there are event loops, so that some share the loop of the first one.
                for _ in 0..<64 {
                    let client = try await RawClient(port: port)
                    try await client.write(Self.get("/free"))
                    #expect(try await client.read(through: "!").hasSuffix("free!"))
                    client.close()
                }
                release.signal()
                #expect(try await busy.read(through: "!").hasSuffix("released!"))
            }
        }
    }
}
