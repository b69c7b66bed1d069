import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

/// Tests the end of streams and the end of connections.
@Suite("HTTP/2 in the engine: ends")
struct HTTP2EngineEndTests {
    private let clock = ManualClock()
    private let dialer = FakeDialer()
    private let core: HTTPEngineCore

    init() { core = HTTPEngineCore(dialer, clock, HTTPEngine.Configuration()) }

    private func request(_ path: String = "/", _ method: String = "GET") throws -> HTTPRequestValue {
        try #require(HTTPRequestValue(method: method, uri: "https://a.test\(path)"))
    }

    private func open(
        _ request: HTTPRequestValue, _ body: HTTPRequestBody = .none
    ) throws -> (TestRequest, HTTP2TestServer) {
        let first = TestRequest(core, request, body)
        return (first, HTTP2TestServer(try #require(dialer.transports.last), clock))
    }

    private func failure(_ request: TestRequest) async -> HTTPFailure? {
        if case .failure(let failure) = await request.reader.awaitHead() { failure } else { nil }
    }

    // RFC 9113 §8.7.
    @Test("A refused stream is retried for any method", arguments: ["GET", "POST"])
    func refused(_ method: String) async throws {
        let (first, server) = try open(try request("/", method), .data(Data("x".utf8)))
        server.reset(1, .refusedStream)
        #expect(server.requests.map(\.id) == [1, 3])
        try server.respond(3, "")
        #expect(try await first.head().status == 200)
    }

    @Test("A stream that is refused six times fails")
    func refusedForever() async throws {
        let (first, server) = try open(try request())
        for number in 0..<6 { server.reset(HTTP2StreamID(1 + 2 * number), .refusedStream) }
        guard case .reset(.refusedStream) = await failure(first) else {
            Issue.record("no failure")
            return
        }
        #expect(server.requests.count == 6)
    }

    @Test("A request above the last stream of GOAWAY moves to a new connection, the others end on the old one")
    func goAway() async throws {
        let (first, server) = try open(try request("/1", "POST"))
        let second = TestRequest(core, try request("/2", "POST"))
        server.run()
        server.sendRaw(.goAway(lastStreamID: 1, .noError))
        #expect(dialer.transports.count == 2)
        let other = HTTP2TestServer(dialer.transports[1], clock)
        #expect(other.requests.map(\.head.path) == ["/2"])
        try other.respond(1, "")
        #expect(try await second.head().status == 200)
        try server.respond(1, "")
        #expect(try await first.head().status == 200)
        #expect(dialer.transports[0].isClosed)
        #expect(!dialer.transports[1].isClosed)
    }

    @Test(
        "A server that ends each connection after one request gets 30 in turn; one that takes none gets one six times"
    )
    func goAwayAlways() async throws {
        let requests = try (0..<30).map { TestRequest(core, try request("/\($0)", "POST")) }
        for number in 0..<30 {
            let server = HTTP2TestServer(try #require(dialer.transports.last), clock)
            server.sendRaw(.goAway(lastStreamID: 1, .noError))
            try server.respond(1, "")
            #expect(dialer.transports.count == min(30, number + 2))
        }
        for request in requests { #expect(try await request.head().status == 200) }
        let unlucky = TestRequest(core, try request())
        for _ in 0..<6 {
            HTTP2TestServer(try #require(dialer.transports.last), clock).sendRaw(.goAway(lastStreamID: 0, .noError))
        }
        guard case .reset(.refusedStream) = await failure(unlucky) else {
            Issue.record("no failure")
            return
        }
        #expect(dialer.transports.count == 36)
    }

    // The end of stream identifiers: RFC 9113 §5.1.1.
    @Test("A connection without stream identifiers closes after its request, and the next request gets another")
    func lastStream() async throws {
        var configuration = HTTPEngine.Configuration()
        configuration.http2.firstStreamID = .largestStream
        let core = HTTPEngineCore(dialer, clock, configuration)
        let first = TestRequest(core, try request("/1"))
        let server = HTTP2TestServer(try #require(dialer.transports.last), clock)
        let second = TestRequest(core, try request("/2"))
        let other = HTTP2TestServer(try #require(dialer.transports.dropFirst().first), clock)
        #expect(server.requests.map(\.head.path) == ["/1"] && other.requests.map(\.head.path) == ["/2"])
        try server.respond(.largestStream, "")
        #expect(try await first.head().status == 200)
        #expect(dialer.transports[0].isClosed)
        try other.respond(.largestStream, "")
        #expect(try await second.head().status == 200)
    }

    @Test("A request without a response moves to a new connection if it is idempotent", arguments: ["GET", "POST"])
    func lost(_ method: String) async throws {
        let (first, server) = try open(try request())
        try server.respond(1, "")
        #expect(try await first.head().status == 200)
        let second = TestRequest(core, try request("/2", method))
        dialer.transports[0].deliver(HTTPArrival(isEnd: true))
        #expect(dialer.transports[0].isClosed)
        guard method == "GET" else {
            guard case .noResponse = await failure(second) else {
                Issue.record("no failure")
                return
            }
            return
        }
        let other = HTTP2TestServer(try #require(dialer.transports.dropFirst().first), clock)
        try other.respond(1, "")
        #expect(try await second.head().status == 200)
    }

    @Test("A connection that ends inside the content reports both lengths after the content")
    func short() async throws {
        let (first, server) = try open(try request())
        try server.respond(1, fields: [("content-length", "10")])
        try server.machine.send(1, ByteChain(Array("12345".utf8)))
        server.run()
        #expect(try await first.head().status == 200)
        dialer.transports[0].deliver(HTTPArrival(error: .posix(.ECONNRESET)))
        #expect(try await first.piece() == Data("12345".utf8))
        do {
            _ = try await first.piece()
            Issue.record("no failure")
        } catch HTTPFailure.connectionLost(received: 5, expected: 10, .posix(.ECONNRESET)?) {}
        #expect(core.connectionCount == 0)
        #expect(core.exchangeCount == 0)
    }

    @Test("Content that waits for the reader outlives its connection")
    func heldContent() async throws {
        let (first, server) = try open(try request())
        let total = 1 << 20
        try server.machine.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        try server.machine.send(1, ByteChain([UInt8](repeating: 1, count: total)), endsStream: true)
        server.run()
        dialer.transports[0].deliver(HTTPArrival(isEnd: true))
        #expect(core.connectionCount == 0)
        _ = try await first.head()
        var received = 0
        while let piece = try await first.piece() { received += piece.count }
        #expect(received == total)
        #expect(core.exchangeCount == 0)
    }

    @Test(
        "A reset ends the request with its code", arguments: [HTTP2ErrorCode.internalError, .enhanceYourCalm, .noError])
    func reset(_ code: HTTP2ErrorCode) async throws {
        let (first, server) = try open(try request())
        server.reset(1, code)
        guard case .reset(code) = await failure(first) else {
            Issue.record("no failure")
            return
        }
        #expect(!dialer.transports[0].isClosed)
    }

    @Test("HTTP_1_1_REQUIRED moves a request to HTTP/1.1", arguments: [true, false])
    func requiresHTTP1(_ ofStream: Bool) async throws {
        let (first, server) = try open(try request("/", "POST"))
        if ofStream {
            server.reset(1, .http11Required)
        } else {
            server.sendRaw(.goAway(lastStreamID: 1, .http11Required))
            dialer.transports[0].deliver(HTTPArrival(isEnd: true))
        }
        #expect(dialer.offers == [true, false])
        let other = try #require(dialer.transports.last)
        other.connect("http/1.1")
        #expect(other.sent.hasPrefix("POST / HTTP/1.1\r\n"))
        other.deliver("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(try await first.head().status == 204)
    }

    @Test("A violation of the protocol ends the connection and is not retried")
    func violation() async throws {
        let (first, server) = try open(try request())
        server.sendRaw(.pushPromise(2, []))
        guard case .violation(let violation) = await failure(first) else {
            Issue.record("no failure")
            return
        }
        #expect(violation.code == .protocolError)
        #expect(dialer.transports[0].isClosed)
        #expect(dialer.transports.count == 1)
        #expect(server.events.contains { if case .goAway(.protocolError, _, _) = $0 { true } else { false } })
    }

    @Test("A malformed response ends only its request")
    func malformed() async throws {
        let (first, server) = try open(try request())
        // The response has no `:status` field.
        server.sendRaw(.headers(HTTP2HeadersFrame([], endsHeaders: true, endsStream: true)), on: 1)
        guard case .violation = await failure(first) else {
            Issue.record("no failure")
            return
        }
        #expect(!dialer.transports[0].isClosed)
    }

    @Test("The server's limit of streams is respected, and the rest gets another connection")
    func streamLimit() async throws {
        let first = TestRequest(core, try request("/1"))
        let server = HTTP2TestServer(dialer.transports[0], clock) { $0.settings.maxConcurrentStreams = 1 }
        let second = TestRequest(core, try request("/2"))
        server.run()
        #expect(server.requests.map(\.head.path) == ["/1"])
        #expect(dialer.transports.count == 2)
        try server.respond(1, "")
        #expect(try await first.head().status == 200)
        #expect(try await first.piece() == nil)
        server.run()
        #expect(server.requests.map(\.head.path) == ["/1", "/2"])
        try server.respond(3, "")
        #expect(try await second.head().status == 200)
    }

    @Test("A dead connection is found by a ping, and its request moves to a new one")
    func ping() async throws {
        let (first, server) = try open(try request())
        try server.respond(1, "")
        #expect(try await first.head().status == 200)
        clock.advance(by: .seconds(11))
        let second = TestRequest(core, try request("/2"))
        #expect(!dialer.transports[0].isClosed)
        // The server no longer answers.
        clock.advance(by: .seconds(10))
        #expect(dialer.transports[0].isClosed)
        let other = HTTP2TestServer(try #require(dialer.transports.dropFirst().first), clock)
        try other.respond(1, "")
        #expect(try await second.head().status == 200)
    }

    @Test("An answered ping keeps the connection")
    func answeredPing() async throws {
        let (first, server) = try open(try request())
        try server.respond(1, "")
        #expect(try await first.head().status == 200)
        clock.advance(by: .seconds(11))
        let second = TestRequest(core, try request("/2"))
        server.run()
        clock.advance(by: .seconds(20))
        #expect(!dialer.transports[0].isClosed)
        try server.respond(3, "")
        #expect(try await second.head().status == 200)
    }

    @Test("An idle connection is closed with GOAWAY after its timeout")
    func idleTimeout() async throws {
        let (first, server) = try open(try request())
        try server.respond(1, "")
        #expect(try await first.head().status == 200)
        clock.advance(by: .seconds(60))
        server.run()
        #expect(dialer.transports[0].isClosed)
        #expect(server.events.contains { if case .goAway(.noError, _, _) = $0 { true } else { false } })
        #expect(core.connectionCount == 0)
    }

    @Test("The end of the engine ends requests, held content included")
    func shutDown() async throws {
        let (first, server) = try open(try request())
        try server.machine.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        try server.machine.send(1, ByteChain([UInt8](repeating: 1, count: 1 << 20)), endsStream: true)
        server.run()
        _ = try await first.head()
        core.shutDown()
        #expect(dialer.transports[0].isClosed)
        #expect(core.exchangeCount == 0)
        await #expect(throws: HTTPFailure.self) { while try await first.piece() != nil {} }
    }

    @Test("With prior knowledge, plain http uses HTTP/2 without negotiation")
    func priorKnowledge() async throws {
        var configuration = HTTPEngine.Configuration()
        configuration.usesPriorKnowledge = { $0.host == "a.test" }
        let core = HTTPEngineCore(dialer, clock, configuration)
        let requests = try (0..<3).map {
            TestRequest(core, try #require(HTTPRequestValue(uri: "http://a.test/\($0)")))
        }
        #expect(dialer.transports.count == 1)
        let server = HTTP2TestServer(dialer.transports[0], clock)
        #expect(server.requests.map(\.head.scheme) == ["http", "http", "http"])
        for number in 0..<3 { try server.respond(HTTP2StreamID(2 * number + 1), "") }
        for request in requests { #expect(try await request.head().status == 200) }
        let other = TestRequest(core, try #require(HTTPRequestValue(uri: "http://b.test/")))
        dialer.transports[1].connect()
        #expect(dialer.transports[1].sent.hasPrefix("GET / HTTP/1.1"))
        withExtendedLifetime(other) {}
    }
}
