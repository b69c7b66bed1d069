import CausewayProtocols
import CausewaySystem
import CausewayTypes
import FoundationEssentials
import Testing

@testable import CausewayHTTP

@Suite("HTTP engine")
struct HTTPEngineTests {
    private let clock = ManualClock()
    private let dialer = FakeDialer()
    private let core: HTTPEngineCore

    init() {
        core = HTTPEngineCore(dialer, clock, HTTPEngine.Configuration())
    }

    private func request(_ method: String = "GET") throws -> HTTPRequestValue {
        try #require(HTTPRequestValue(method: method, uri: "http://a.test/x"))
    }

    @Test("A request is sent when the connection is ready, and the connection is used again")
    func reuse() async throws {
        let first = TestRequest(core, try request())
        let transport = try #require(dialer.transports.first)
        #expect(transport.sent.isEmpty)
        transport.connect()
        #expect(transport.sent == "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        transport.deliver("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(try await first.head().status == 200)
        #expect(try await first.piece() == Data("ok".utf8))
        #expect(try await first.piece() == nil)
        _ = TestRequest(core, try request())
        #expect(dialer.transports.count == 1)
        #expect(transport.sent.hasSuffix("\r\n\r\nGET /x HTTP/1.1\r\nHost: a.test\r\n\r\n"))
    }

    @Test("Host is the first field, before those of the program (RFC 9110 §7.2)")
    func hostFirst() throws {
        var value = try request()
        value.fields.append("Accept", "*/*")
        let named = value.head.fields
        #expect(named.map { String(decoding: $0.name, as: UTF8.self) } == ["Host", "Accept"])
        value.fields.append("Host", "b.test")
        #expect(value.head.fields == value.fields)
    }

    @Test("At most 64 KiB wait for the reader")
    func backPressure() async throws {
        let exchange = TestRequest(core, try request())
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        var delivered = 0
        while let wanted = transport.wanted {
            delivered += wanted
            transport.deliver(HTTPArrival(content: Data(count: wanted)))
        }
        #expect(delivered == 64 << 10)
        _ = try await exchange.piece()
        #expect(transport.wanted != nil)
        // The reader's buffer is full. Until the reader takes content, the time does not count as idle time.
        #expect(exchange.handle.exchange.nextLimit(at: .seconds(50))?.time ?? .zero >= .seconds(60))
    }

    @Test("An idempotent request moves to a new connection if a reused one was closed", arguments: ["GET", "POST"])
    func stale(_ method: String) async throws {
        let first = TestRequest(core, try request())
        let old = try #require(dialer.transports.first)
        old.connect()
        old.deliver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(try await first.head().status == 200)
        let second = TestRequest(core, try request(method))
        old.deliver(HTTPArrival(isEnd: true))
        #expect(old.isClosed)
        guard method == "GET" else {
            #expect(dialer.transports.count == 1)
            guard case .failure(.noResponse) = await second.reader.awaitHead() else {
                Issue.record("no failure")
                return
            }
            return
        }
        let new = try #require(dialer.transports.dropFirst().first)
        new.connect()
        #expect(new.sent == "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        new.deliver("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(try await second.head().status == 204)
    }

    @Test("A connection that the server closes while it is idle is not used again")
    func idleClose() async throws {
        _ = TestRequest(core, try request())
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(core.connectionCount == 1)
        transport.deliver(HTTPArrival(isEnd: true))
        #expect(transport.isClosed)
        #expect(core.connectionCount == 0)
    }

    @Test("Deadline and idle timeout end a request and close its connection", arguments: [true, false])
    func limits(_ hasDeadline: Bool) async throws {
        var request = try request()
        if hasDeadline { request.deadline = .seconds(2) } else { request.idleTimeout = .seconds(2) }
        let exchange = TestRequest(core, request)
        let transport = try #require(dialer.transports.first)
        clock.advance(by: .seconds(1))
        transport.connect()
        clock.advance(by: .seconds(1))
        guard hasDeadline else {
            // The request was sent after the idle timeout had begun. Sending counts as progress, so the timeout began
            // again.
            #expect(!transport.isClosed)
            clock.advance(by: .seconds(1))
            guard case .failure(.timedOut) = await exchange.reader.awaitHead() else {
                Issue.record("no failure")
                return
            }
            #expect(transport.isClosed)
            return
        }
        guard case .failure(.deadlineExceeded) = await exchange.reader.awaitHead() else {
            Issue.record("no failure")
            return
        }
        #expect(transport.isClosed)
    }

    @Test("A failed attempt fails the request with the reason")
    func connectFailure() async throws {
        let exchange = TestRequest(core, try request())
        try #require(dialer.transports.first).report(.failed(.posix(.ECONNREFUSED)))
        guard case .failure(.cannotConnect(let error)) = await exchange.reader.awaitHead() else {
            Issue.record("no failure")
            return
        }
        #expect(error == .posix(.ECONNREFUSED))
        #expect(core.connectionCount == 0)
    }

    @Test("Cancellation closes the connection of a sent request")
    func cancellation() async throws {
        let exchange = TestRequest(core, try request())
        let transport = try #require(dialer.transports.first)
        transport.connect()
        exchange.handle.cancel()
        #expect(transport.isClosed)
        #expect(core.connectionCount == 0)
    }
}
