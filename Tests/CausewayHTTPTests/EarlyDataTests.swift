import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP
@testable import CausewayHTTPProtocols

@Suite("HTTP engine: early data (RFC 8446 §2.3, RFC 8470)")
struct EarlyDataTests {
    private let clock = ManualClock()
    private static let head = "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n"

    private func engine(_ applicationProtocol: String?, usesEarlyData: Bool = true) -> (HTTPEngineCore, FakeDialer) {
        let dialer = FakeDialer(earlyProtocol: applicationProtocol)
        var configuration = HTTPEngine.Configuration()
        configuration.usesEarlyData = usesEarlyData
        return (HTTPEngineCore(dialer, clock, configuration), dialer)
    }

    private func request(_ method: String = "GET") throws -> HTTPRequestValue {
        try #require(HTTPRequestValue(method: method, uri: "https://a.test/x"))
    }

    @Test("A safe request is sent before the handshake, and answered after it", arguments: ["", "http/1.1"])
    func sends(_ applicationProtocol: String) async throws {
        let (core, dialer) = engine(applicationProtocol)
        let first = TestRequest(core, try request())
        let transport = try #require(dialer.transports.first)
        #expect(transport.early == Self.head && transport.sent.isEmpty)
        // Before the handshake ends, the engine does not know the connection's properties. Until then, it must not read
        // from the connection.
        #expect(transport.wanted == nil)
        transport.connect(applicationProtocol.isEmpty ? nil : applicationProtocol)
        transport.deliver("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(try await first.head().status == 200)
        #expect(try await first.piece() == Data("ok".utf8))
        // The handshake is complete. Further requests on this connection are sent normally, not as early data.
        _ = TestRequest(core, try request("POST"))
        #expect(dialer.transports.count == 1 && transport.sent.hasPrefix("POST /x"))
    }

    @Test(
        "Only requests without effect and without content are early, and only where the session says so",
        arguments: 0..<5)
    func refuses(_ kind: Int) async throws {
        let (core, dialer) = engine(kind == 0 ? nil : "http/1.1", usesEarlyData: kind != 1)
        var value = try request(kind == 2 ? "DELETE" : "GET")
        if kind == 3 { value.route = .withoutEarlyData }
        let first = TestRequest(core, value, kind == 4 ? .data(Data("x".utf8)) : .none)
        let transport = try #require(dialer.transports.first)
        #expect(transport.early == nil && transport.sent.isEmpty)
        transport.connect("http/1.1")
        #expect(!transport.sent.isEmpty)
        transport.deliver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(try await first.head().status == 200)
    }

    @Test("Further requests over HTTP/2 wait for the handshake")
    func streams() async throws {
        let (core, dialer) = engine("h2")
        let first = TestRequest(core, try request())
        let transport = try #require(dialer.transports.first)
        let early = try #require(transport.earlyData)
        #expect(early.starts(with: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        let second = TestRequest(core, try request("POST"), .data(Data("money".utf8)))
        #expect(transport.earlyData == early && transport.sent.contains("money"))
        var server = HTTP2Connection(.server)
        server.started(at: .zero)
        transport.connect("h2")
        server.received((Array(early) + transport.takeSent())[...], at: .zero)
        for id in [HTTP2StreamID(1), 3] { try server.respond(id, HTTP2ResponseHead(status: 204), endsStream: true) }
        if let output = server.nextOutput() { transport.deliver(HTTPArrival(content: Data(output.bytes))) }
        #expect(try await first.head().status == 204)
        #expect(try await second.head().status == 204)
        #expect(dialer.transports.count == 1)
    }

    @Test(
        "After a failed handshake the request is sent again without early data, and then fails with the reason",
        arguments: [false, true])
    func fails(_ waits: Bool) async throws {
        let (core, dialer) = engine("http/1.1")
        let first = TestRequest(core, try request())
        let lost = try #require(dialer.transports.first)
        lost.report(waits ? .waiting(.posix(.ENETDOWN)) : .failed(.posix(.ECONNRESET)))
        #expect(lost.isClosed && dialer.transports.count == 2)
        let next = dialer.transports[1]
        #expect(next.early == nil)
        next.report(.failed(.posix(.ECONNREFUSED)))
        guard case .failure(.cannotConnect(.posix(.ECONNREFUSED))) = await first.reader.awaitHead() else {
            Issue.record("another result")
            return
        }
        #expect(core.connectionCount == 0 && core.exchangeCount == 0)
    }

    @Test(
        "A server that chooses another protocol gets the request over another connection",
        arguments: ["h2", "http/1.1"])
    func changes(_ applicationProtocol: String) async throws {
        let (core, dialer) = engine(applicationProtocol)
        let first = TestRequest(core, try request())
        let lost = try #require(dialer.transports.first)
        lost.connect(applicationProtocol == "h2" ? "http/1.1" : "h2")
        #expect(lost.isClosed && dialer.transports.count == 2)
        let next = dialer.transports[1]
        next.connect()
        #expect(next.early == nil && next.sent == Self.head)
        next.deliver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(try await first.head().status == 200)
    }

    @Test("A request that is cancelled during the handshake closes its connection")
    func cancels() async throws {
        let (core, dialer) = engine("http/1.1")
        let first = TestRequest(core, try request())
        let transport = try #require(dialer.transports.first)
        first.handle.cancel()
        #expect(transport.isClosed && core.connectionCount == 0 && core.exchangeCount == 0)
        guard case .failure(.cancelled) = await first.reader.awaitHead() else {
            Issue.record("another result")
            return
        }
    }

    @Test("Closing the transport ends a pending receive with ECANCELED, and each later one at once")
    func closes() {
        let base = FakeTransport(earlyProtocol: "http/1.1")
        let transport = EarlyTransport(base, PoolConnectionID(slot: 0, serial: 1), protocolName: "http/1.1")
        let errors = LockedValue<[NWError?]>([])
        transport.receive(atMost: 1) { arrival in errors.withLock { errors in errors.append(arrival.error) } }
        #expect(errors.withLock { $0 } == [])
        transport.close(isInterrupted: false)
        #expect(errors.withLock { $0 } == [.posix(.ECANCELED)] && base.isClosed)
        transport.receive(atMost: 1) { arrival in errors.withLock { errors in errors.append(arrival.error) } }
        #expect(errors.withLock { $0 } == [.posix(.ECANCELED), .posix(.ECANCELED)])
    }
}
