import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

/// A store that offers the same alternative service for every origin. After a connection to this service has failed, it
/// offers none.
private final class OneAlternative: AlternativeChoosing {
    let service = AlternativeService(protocolName: "h2", host: "b.test", port: 8_443)
    let events = LockedValue<[String]>([])

    func alternative(for origin: HTTPOrigin) -> AlternativeService? {
        events.withLock { $0.contains("failed") } ? nil : service
    }

    func reached(_ service: AlternativeService, of origin: HTTPOrigin) {
        events.withLock { $0.append("reached \(origin.host)") }
    }

    func failed(_ service: AlternativeService, of origin: HTTPOrigin) { events.withLock { $0.append("failed") } }
}

@Suite("Alternative services in the engine (RFC 7838)")
struct AlternativeEngineTests {
    private let clock = ManualClock()
    private let dialer = FakeDialer()
    private let memory = OneAlternative()
    private let core: HTTPEngineCore

    init() {
        var configuration = HTTPEngine.Configuration()
        configuration.alternatives = memory
        core = HTTPEngineCore(dialer, clock, configuration)
    }

    private func request(_ uri: String = "https://a.test/") throws -> TestRequest {
        TestRequest(core, try #require(HTTPRequestValue(method: "GET", uri: uri)))
    }

    @Test("A connection leads to the alternative, and serves the requests of the origin")
    func used() async throws {
        let first = try request()
        #expect(dialer.alternatives == [memory.service])
        let server = HTTP2TestServer(dialer.transports[0], clock)
        try server.respond(1, "")
        #expect(try await first.head().status == 200)
        let second = try request()
        server.run()
        try server.respond(3, "")
        #expect(try await second.head().status == 200)
        #expect(dialer.transports.count == 1 && memory.events.withLock { $0 } == ["reached a.test"])
        // The alternative service was reached in time. So the time limit is over, and the connection must stay open.
        clock.advance(by: .seconds(5))
        #expect(!dialer.transports[0].isClosed)
    }

    @Test(
        "An alternative that fails, waits, does not answer or speaks another protocol is replaced by the origin",
        arguments: ["failed", "waiting", "silent", "http/1.1", "none"])
    func replaced(_ end: String) async throws {
        let first = try request()
        switch end {
        case "failed": dialer.transports[0].report(.failed(.tls(-9_807)))
        case "waiting": dialer.transports[0].report(.waiting(.posix(.ENETDOWN)))
        case "silent": clock.advance(by: .seconds(5))
        default: dialer.transports[0].connect(end == "none" ? nil : end)
        }
        #expect(dialer.transports[0].isClosed)
        #expect(dialer.alternatives == [memory.service, nil] && dialer.offers == [true, true])
        #expect(memory.events.withLock { $0 } == ["failed"])
        let server = HTTP2TestServer(dialer.transports[1], clock)
        try server.respond(1, "")
        #expect(try await first.head().status == 200)
    }

    @Test("If the origin fails as well, the request fails; late events of the alternative have no effect")
    func bothFail() async throws {
        let first = try request()
        dialer.transports[0].report(.failed(.posix(.ECONNREFUSED)))
        dialer.transports[0].report(.failed(.posix(.ECONNREFUSED)))
        clock.advance(by: .seconds(6))
        dialer.transports[1].report(.failed(.posix(.EHOSTUNREACH)))
        guard case .failure(.cannotConnect(.posix(.EHOSTUNREACH))) = await first.reader.awaitHead() else {
            Issue.record("no failure")
            return
        }
        #expect(dialer.transports.count == 2 && core.connectionCount == 0)
    }

    @Test("Plain origins have no alternatives; an engine that shuts down connects no more")
    func unused() throws {
        _ = try request("http://a.test/")
        #expect(dialer.alternatives == [nil])
        _ = try request()
        core.shutDown()
        dialer.transports[1].report(.failed(.posix(.ECONNREFUSED)))
        clock.advance(by: .seconds(9))
        #expect(dialer.transports.count == 2)
    }
}
