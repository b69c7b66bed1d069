import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

/// Records the events of one request as text. The test can set a closure that runs during an event.
private final class PathObserver: HTTPResponseObserver {
    private struct State {
        var events: [String] = []
        var isBusy = false
        var isNested = false
    }

    private let state = LockedValue(State())
    private let reaction: LockedValue<(@Sendable (String) -> Void)?> = LockedValue(nil)

    var events: [String] { state.withLock { state in state.events } }
    /// Whether an event was reported before the handling of another event had ended.
    var isNested: Bool { state.withLock { state in state.isNested } }

    func react(_ body: @escaping @Sendable (String) -> Void) { reaction.withLock { reaction in reaction = body } }

    private func note(_ event: String) {
        state.withLock { state in
            if state.isBusy { state.isNested = true }
            state.isBusy = true
            state.events.append(event)
        }
        reaction.withLock { reaction in reaction }?(event)
        state.withLock { state in state.isBusy = false }
    }

    func waits(_ reason: NWError) { note("waits") }
    func sent(_ count: Int) { note("sent \(count)") }
    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        note("responded \(head.status)")
    }
    func received(_ content: Data) { note("received \(content.count)") }
    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        switch result {
        case .success: note("ended")
        case .failure(let failure): note("failed \(failure)")
        }
    }
}

@Suite("Requests without a usable path")
struct PathWaitTests {
    private let clock = ManualClock()
    private let dialer = FakeDialer()
    private let core: HTTPEngineCore

    init() { core = HTTPEngineCore(dialer, clock, HTTPEngine.Configuration()) }

    private func request(_ path: String, _ method: String = "GET", waits: Bool = true) throws -> HTTPRequestValue {
        var request = try #require(HTTPRequestValue(method: method, uri: "http://a.test\(path)"))
        request.waitsForPath = waits
        return request
    }

    private func start(_ request: HTTPRequestValue, _ observer: PathObserver, _ body: HTTPRequestBody = .none) {
        core.start(core.makeExchange(request, body, observer, isBuffered: false))
    }

    @Test("Waiting requests are notified or fail, and so are requests that come while their attempt waits")
    func waits() throws {
        let (patient, hasty, late) = (PathObserver(), PathObserver(), PathObserver())
        start(try request("/1"), patient)
        start(try request("/2", waits: false), hasty)
        let transport = try #require(dialer.transports.first)
        transport.report(.waiting(.posix(.ENETDOWN)))
        #expect(patient.events == ["waits"])
        #expect(hasty.events.count == 1 && hasty.events[0].hasPrefix("failed"))
        start(try request("/3"), late)
        #expect(late.events == ["waits"])
        transport.connect()
        #expect(transport.sent.hasPrefix("GET /1 "))
        #expect(patient.events == ["waits"] && late.events == ["waits"])
    }

    @Test("A request that gets a connection while another request is notified neither fails nor is notified")
    func assigned() async throws {
        let first = TestRequest(core, try request("/first"))
        let busy = try #require(dialer.transports.first)
        busy.connect()
        let patient = PathObserver()
        start(try request("/patient"), patient)
        let waiting = try #require(dialer.transports.last)
        var urgent = try request("/urgent", waits: false)
        urgent.priority = 1
        let second = TestRequest(core, urgent)
        patient.react { event in
            // The first request was answered, so its connection becomes free. The request with the highest priority
            // gets this connection.
            if event == "waits" { busy.deliver("HTTP/1.1 204 No Content\r\n\r\n") }
        }
        waiting.report(.waiting(.posix(.ENETDOWN)))
        #expect(try await first.head().status == 204)
        #expect(patient.events == ["waits"])
        #expect(busy.sent.contains("GET /urgent "))
        busy.deliver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(try await second.head().status == 200)
    }

    @Test("A request that is sent again is notified after its observer received the return of its content")
    func sentAgain() async throws {
        let first = TestRequest(core, try request("/first"))
        let reused = try #require(dialer.transports.first)
        reused.connect()
        reused.deliver("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(try await first.head().status == 204)
        let (again, other) = (PathObserver(), PathObserver())
        start(try request("/again", "PUT"), again, .data(Data("abc".utf8)))
        start(try request("/other"), other)
        let waiting = try #require(dialer.transports.last)
        again.react { event in if event == "sent -3" { waiting.report(.waiting(.posix(.ENETDOWN))) } }
        reused.deliver(HTTPArrival(isEnd: true))
        #expect(again.events == ["sent 3", "sent -3", "waits"] && !again.isNested)
        #expect(other.events == ["waits"])
    }
}
