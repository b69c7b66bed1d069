import Causeway
import CausewayHTTPServer
import CausewaySystem
import FoundationEssentials

/// A server on the loopback interface for one test.
enum TestServer {
    /// Runs a server. Passes it and its port to `body`, and stops it afterwards.
    static func run(
        _ medium: Medium = .tcp4, using parameters: NWParameters = HTTPServer.defaultParameters,
        configure: (inout HTTPServer.Configuration) -> Void = { _ in }, routes: HTTPServerRoutes,
        _ body: @Sendable (HTTPServer, UInt16) async throws -> Void
    ) async throws {
        Backend.choose()
        var configuration = HTTPServer.Configuration()
        // Use long timeouts, so that a test does not fail on a busy computer.
        for time in [\HTTPServer.Configuration.headTimeout, \.idleTimeout, \.stallTimeout] {
            configuration[keyPath: time] = .seconds(7_200)
        }
        configure(&configuration)
        parameters.requiredLocalEndpoint = .hostPort(host: medium == .tcp6 ? "::1" : "127.0.0.1", port: .any)
        let server = try HTTPServer(using: parameters, configuration: configuration, routes: routes)
        try await run(server, body)
    }

    /// Runs a server, passes it with its port to `body`, and stops it afterwards.
    static func run(
        _ server: HTTPServer, _ body: @Sendable (HTTPServer, UInt16) async throws -> Void
    ) async throws {
        let (ports, feed) = AsyncStream<UInt16>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await server.run { feed.yield($0.rawValue) }
            }
            for await port in ports {
                try await body(server, port)
                break
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}

/// A client that writes and reads raw bytes.
final class RawClient: Sendable {
    private let socket: RawSocket
    private let input = LockedValue(Data())

    init(_ medium: Medium = .tcp4, port: UInt16) async throws {
        socket = try await RawSocket.connected(to: medium.socketAddress(port: port))
    }

    func write(_ text: String) async throws { try await socket.write(Data(text.utf8)) }

    func write(bytes: [UInt8]) async throws { try await socket.write(Data(bytes)) }

    /// Whether the server does not read, and the kernel takes no more bytes from this client.
    var isStopped: Bool { KernelSocket.isFull(socket.fd) }

    /// Ends the sending direction of this socket.
    func endWriting() { _ = shutdown(socket.fd, CInt(SHUT_WR)) }

    func close() { socket.close() }

    /// Closes the connection with a reset.
    func reset() { socket.reset() }

    /// Reads until the input contains `text`, and returns everything up to its end. Returns what there is at the end of the stream.
    func read(through text: String) async throws -> String {
        while true {
            let found = input.withLock { input -> Data? in
                guard let range = input.firstRange(of: Data(text.utf8)) else { return nil }
                let part = Data(input[..<range.upperBound])
                input = Data(input[range.upperBound...])
                return part
            }
            if let found { return String(decoding: found, as: UTF8.self) }
            let piece = try await socket.read()
            guard !piece.isEmpty else {
                return input.withLock { input in
                    defer { input = Data() }
                    return String(decoding: input, as: UTF8.self)
                }
            }
            input.withLock { $0 += piece }
        }
    }

    /// Reads to the end of the stream.
    func readAll() async throws -> String { try await read(through: "\u{0}no such text\u{0}") }
}
