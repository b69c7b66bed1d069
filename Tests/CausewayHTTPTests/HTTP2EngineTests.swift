import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

@Suite("HTTP/2 in the engine")
struct HTTP2EngineTests {
    private let clock = ManualClock()
    private let dialer = FakeDialer()
    private let core: HTTPEngineCore

    init() { core = HTTPEngineCore(dialer, clock, HTTPEngine.Configuration()) }

    private func request(_ path: String = "/", _ method: String = "GET") throws -> HTTPRequestValue {
        try #require(HTTPRequestValue(method: method, uri: "https://a.test\(path)"))
    }

    /// Starts a request and establishes its connection.
    private func open(
        _ request: HTTPRequestValue, _ body: HTTPRequestBody = .none,
        _ change: (inout HTTP2Configuration) -> Void = { _ in }
    ) throws -> (TestRequest, HTTP2TestServer) {
        let first = TestRequest(core, request, body)
        return (first, HTTP2TestServer(try #require(dialer.transports.last), clock, change))
    }

    private func text(_ request: TestRequest) async throws -> String {
        _ = try await request.head()
        var all = Data()
        while let piece = try await request.piece() { all += piece }
        return String(decoding: all, as: UTF8.self)
    }

    @Test("Requests wait for the first connection, and one connection carries all of them")
    func multiplexing() async throws {
        let requests = try (0..<20).map { TestRequest(core, try request("/\($0)")) }
        #expect(dialer.offers == [true])
        let server = HTTP2TestServer(try #require(dialer.transports.first), clock)
        #expect(server.requests.map(\.head.path) == (0..<20).map { "/\($0)" })
        #expect(server.requests.allSatisfy { $0.head.authority == "a.test" && $0.head.scheme == "https" })
        for (id, head) in server.requests.reversed() { try server.respond(id, "body of \(head.path)") }
        for (number, request) in requests.enumerated() {
            #expect(try await request.head().version == .http2)
            #expect(try await text(request) == "body of /\(number)")
        }
        #expect(dialer.transports.count == 1)
        #expect(core.exchangeCount == 0)
    }

    @Test("If the server chooses HTTP/1.1, waiting requests get up to six connections", arguments: ["http/1.1", nil])
    func http1(_ name: String?) throws {
        let requests = try (0..<10).map { TestRequest(core, try request("/\($0)")) }
        try #require(dialer.transports.first).connect(name)
        #expect(dialer.transports.count == 6)
        #expect(dialer.transports[0].sent.hasPrefix("GET /0 HTTP/1.1\r\n"))
        withExtendedLifetime(requests) {}
    }

    @Test("Cancellation resets the stream and keeps the connection")
    func cancellation() async throws {
        let (first, server) = try open(try request())
        first.handle.cancel()
        server.run()
        #expect(server.lastReset == .cancel)
        let second = TestRequest(core, try request("/2"))
        server.run()
        try server.respond(3, "ok")
        #expect(try await text(second) == "ok")
        #expect(dialer.transports.count == 1)
    }

    @Test("A reader that stops closes the window, and the content follows when it reads")
    func backPressure() async throws {
        let total = 1 << 20
        var configuration = HTTPEngine.Configuration()
        configuration.http2.settings.initialWindowSize = 256 << 10
        let core = HTTPEngineCore(dialer, clock, configuration)
        let slow = TestRequest(core, try request())
        let server = HTTP2TestServer(try #require(dialer.transports.first), clock)
        try server.machine.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        try server.machine.send(1, ByteChain([UInt8](repeating: 7, count: total)), endsStream: true)
        server.run()
        #expect(server.machine.queuedByteCount(of: 1) >= total - (256 << 10) - (128 << 10))
        // A slow stream does not delay another stream of the same connection.
        let fast = TestRequest(core, try request("/fast"))
        server.run()
        try server.respond(3, "fast")
        #expect(try await text(fast) == "fast")
        _ = try await slow.head()
        var received = 0
        while let piece = try await slow.piece() {
            #expect(piece.count <= 16 << 10)
            received += piece.count
            server.run()
        }
        #expect(received == total)
    }

    @Test("Content of a request is requested as the server's windows permit")
    func upload() async throws {
        let source = TestBodySource()
        let (upload, server) = try open(try request("/", "POST"), .stream(source, length: nil))
        var given = 0
        while source.isPulled, given < 256 << 10 {
            source.supply(16 << 10)
            given += 16 << 10
            server.run()
        }
        // The server consumes no content. The flow-control windows are 1 MiB for the stream and 16 MiB for the
        // connection, so they do not stop the sender here.
        #expect(given == 256 << 10)
        var trailers = FieldSection()
        trailers.append("x-end", "yes")
        source.supply(.end(trailers))
        server.run()
        #expect(server.content(of: 1).count == given)
        #expect(server.events.contains { if case .trailers(1, trailers) = $0 { true } else { false } })
        try server.respond(1, "ok")
        #expect(try await text(upload) == "ok")
    }

    @Test("A server that takes nothing stops the source")
    func blockedUpload() async throws {
        let source = TestBodySource()
        let (upload, server) = try open(try request("/", "POST"), .stream(source, length: 1 << 20)) { configuration in
            configuration.settings.initialWindowSize = 65_535
        }
        var given = 0
        while source.isPulled {
            source.supply(16 << 10)
            given += 16 << 10
            server.run()
        }
        #expect(given <= 65_535 + HTTP2ConnectionDriver.outputLimit + (16 << 10))
        while given < 1 << 20 {
            server.take(16 << 10, of: 1)
            guard source.isPulled else { continue }
            source.supply(16 << 10)
            given += 16 << 10
        }
        source.supply(.end(FieldSection()))
        for _ in 0..<4 { server.take(1 << 20, of: 1) }
        #expect(server.content(of: 1).count == 1 << 20)
        try server.respond(1, "")
        #expect(try await upload.head().status == 200)
    }

    @Test("A transport that takes nothing stops the source too")
    func blockedTransport() throws {
        let source = TestBodySource()
        let (upload, server) = try open(try request("/", "POST"), .stream(source, length: nil))
        let transport = try #require(dialer.transports.first)
        transport.holdSends(true)
        var given = 0
        while source.isPulled {
            source.supply(16 << 10)
            given += 16 << 10
        }
        #expect(given <= 2 * HTTP2ConnectionDriver.outputLimit + (16 << 10))
        transport.holdSends(false)
        #expect(source.isPulled)
        withExtendedLifetime((upload, server)) {}
    }

    @Test("A complete response ends the request although the server did not take its content")
    func earlyResponse() async throws {
        let source = TestBodySource()
        let (upload, server) = try open(try request("/", "POST"), .stream(source, length: nil))
        source.supply(100)
        try server.respond(1, "enough")
        #expect(try await text(upload) == "enough")
        #expect(source.isStopped)
        #expect(server.lastReset == .cancel)
        #expect(!(try #require(dialer.transports.first).isClosed))
    }

    @Test("Content of the wrong length fails the request only", arguments: [90, 110])
    func wrongLength(_ count: Int) async throws {
        let source = TestBodySource()
        let (upload, server) = try open(try request("/", "POST"), .stream(source, length: 100))
        source.supply(count)
        source.supply(.end(FieldSection()))
        server.run()
        guard case .failure(.invalidRequest(.misuse)) = await upload.reader.awaitHead() else {
            Issue.record("no failure")
            return
        }
        #expect(server.lastReset == .cancel)
        #expect(!(try #require(dialer.transports.first).isClosed))
    }

    @Test("With Expect, the content waits for status 100, at most for the timeout", arguments: [true, false])
    func expectation(_ answers: Bool) async throws {
        var request = try request("/", "PUT")
        request.fields.append("Expect", "100-continue")
        let (upload, server) = try open(request, .data(Data("content".utf8)))
        #expect(server.content(of: 1).isEmpty)
        if answers { try server.respond(1, status: 100) } else { clock.advance(by: .seconds(1)) }
        server.run()
        #expect(server.content(of: 1) == Array("content".utf8))
        try server.respond(1, "", status: 201)
        #expect(try await upload.head().status == 201)
        #expect(upload.reader.informational.map(\.status) == (answers ? [100] : []))
    }

    @Test("Interim responses and trailers arrive")
    func trailers() async throws {
        let (first, server) = try open(try request())
        try server.respond(1, status: 103, fields: [("link", "</a>")])
        try server.respond(1)
        try server.machine.send(1, ByteChain(Array("body".utf8)))
        var trailers = FieldSection()
        trailers.append("x-end", "yes")
        try server.machine.sendTrailers(1, trailers)
        server.run()
        #expect(try await text(first) == "body")
        #expect(first.reader.informational.map(\.status) == [103])
        #expect(first.reader.trailers == trailers)
    }

    @Test("More than 32 interim responses end the request")
    func interimLimit() async throws {
        let (first, server) = try open(try request())
        for _ in 0..<33 { try? server.respond(1, status: 102) }
        guard
            case .failure(.invalidResponse(.tooManyInformationalResponses(limit: 32))) = await first.reader.awaitHead()
        else {
            Issue.record("no failure")
            return
        }
    }

    @Test(
        "The priority of a request becomes its urgency",
        arguments: [
            (Float(0.5), nil), (0.75, "u=2"), (0.25, "u=5"), (1, "u=0"), (0, "u=6"), (2, "u=0"), (-1, "u=6"),
            (Float.nan, "u=6"),
        ])
    func priority(_ priority: Float, _ value: String?) throws {
        var request = try request()
        request.priority = priority
        let (first, server) = try open(request)
        #expect(server.requests.first?.head.fields.firstValue(of: "priority") == value)
        withExtendedLifetime(first) {}
    }

    @Test("A changed priority reorders waiting requests, and is the urgency of their requests")
    func waitingPriority() throws {
        let requests = try (1...3).map { TestRequest(core, try request("/\($0)")) }
        requests[2].handle.setPriority(1)
        requests[0].handle.setPriority(0)
        let server = HTTP2TestServer(try #require(dialer.transports.first), clock)
        #expect(server.requests.map(\.head.path) == ["/3", "/2", "/1"])
        #expect(server.requests.map { $0.head.fields.firstValue(of: "priority") } == ["u=0", nil, "u=6"])
    }

    @Test("A changed priority of a running request reaches the server; the program's field keeps its other parameter")
    func runningPriority() throws {
        var request = try request()
        request.fields.append("Priority", "u=1, i")
        let (first, server) = try open(request)
        #expect(server.machine.priority(of: 1) == HTTPPriority(urgency: 1, isIncremental: true))
        first.handle.setPriority(0)
        server.run()
        #expect(server.machine.priority(of: 1) == HTTPPriority(urgency: 6, isIncremental: true))
        // After the request's end, a priority change is not sent.
        try server.respond(1, "")
        first.handle.setPriority(1)
        #expect(try #require(dialer.transports.first).takeSent().isEmpty)
    }

    @Test("A request that is sent again keeps its changed priority")
    func repeatedPriority() throws {
        let (first, server) = try open(try request())
        first.handle.setPriority(1)
        server.run()
        server.reset(1, .refusedStream)
        #expect(server.requests.map { $0.head.fields.firstValue(of: "priority") } == [nil, "u=0"])
    }

    @Test("The program's Host becomes the authority, and connection fields are left out")
    func fields() throws {
        var request = try request()
        for (name, value) in [("Host", "b.test"), ("Connection", "x"), ("TE", "trailers"), ("X-A", "1")] {
            request.fields.append(name, value)
        }
        let (first, server) = try open(request)
        let head = try #require(server.requests.first?.head)
        #expect(head.authority == "b.test")
        #expect(head.fields.description.contains("x-a"))
        #expect(head.fields.count == 2)
        withExtendedLifetime(first) {}
    }
}
