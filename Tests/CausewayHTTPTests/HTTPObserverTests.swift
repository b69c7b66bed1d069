import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

/// An observer that records the events of one request as text.
private final class EventRecorder: HTTPResponseObserver {
    private let list = LockedValue<[String]>([])
    private let reaction: LockedValue<(@Sendable (String) -> Void)?> = LockedValue(nil)

    var events: [String] { list.withLock { list in list } }

    /// Sets a closure that runs each time an event is recorded.
    func react(_ body: @escaping @Sendable (String) -> Void) { reaction.withLock { reaction in reaction = body } }

    private func note(_ event: String) {
        list.withLock { list in list.append(event) }
        reaction.withLock { reaction in reaction }?(event)
    }

    func informed(_ head: HTTPResponseHead) { note("informed \(head.status)") }
    func sent(_ count: Int) { note("sent \(count)") }
    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        note("responded \(head.status) \(connection.details.protocolName) \(connection.isReused)")
    }
    func received(_ content: Data) { note("received \(content.count)") }
    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        switch result {
        case .success: note("ended")
        case .failure(let failure): note("failed \(failure)")
        }
    }
}

@Suite("HTTP response observer")
struct HTTPObserverTests {
    private let clock = ManualClock()
    private let dialer = FakeDialer()
    private let engine: HTTPEngine
    private let recorder = EventRecorder()

    init() { engine = HTTPEngine(dialer, clock) }

    private func start(_ body: HTTPRequestBody = .none, method: String = "GET") throws -> HTTPRequestHandle {
        let request = try #require(HTTPRequestValue(method: method, uri: "http://a.test/"))
        return engine.start(request, body: body, observer: recorder)
    }

    @Test("The handle is known before the request starts, and stops the first content")
    func prepared() throws {
        let request = try #require(HTTPRequestValue(uri: "http://a.test/"))
        let handle = engine.start(request, observer: recorder) { handle in
            #expect(dialer.transports.isEmpty)
            handle.setReading(false)
        }
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        var delivered = 0
        while delivered < 1_000_000, let wanted = transport.wanted {
            delivered += wanted
            transport.deliver(HTTPArrival(content: Data(count: wanted)))
        }
        #expect(delivered <= 64 << 10)
        handle.setReading(true)
        #expect(transport.wanted != nil)
    }

    @Test("Events arrive in order, and the second request reuses the connection")
    func order() throws {
        _ = try start(.data(Data("abc".utf8)), method: "PUT")
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        transport.deliver("ok")
        _ = try start()
        transport.deliver("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(
            recorder.events == [
                "sent 3", "informed 103", "responded 200 http/1.1 false", "received 2", "ended",
                "responded 204 http/1.1 true", "ended",
            ])
        #expect(engine.core.exchangeCount == 0)
    }

    @Test("Content that the server refuses instead of sending status 100 is not reported as sent")
    func refusedContent() throws {
        var request = try #require(HTTPRequestValue(method: "PUT", uri: "http://a.test/"))
        request.fields.append("Expect", "100-continue")
        _ = engine.start(request, body: .data(Data("abc".utf8)), observer: recorder)
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        #expect(recorder.events == ["responded 417 http/1.1 false", "ended"])
    }

    @Test("A cancellation within an event is reported after this event, once")
    func cancelWithin() throws {
        let handle = try start()
        recorder.react { event in
            guard event.hasPrefix("responded") else { return }
            handle.cancel()
            handle.cancel()
            #expect(self.recorder.events.count == 1)
        }
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
        #expect(recorder.events == ["responded 200 http/1.1 false", "failed cancelled"])
        #expect(transport.isClosed)
        #expect(engine.core.exchangeCount == 0)
    }

    @Test("A request that cannot be sent ends at once")
    func refused() throws {
        _ = try start(method: "CONNECT")
        #expect(recorder.events.count == 1)
        engine.shutDown()
        _ = try start()
        #expect(recorder.events.last == "failed closed")
        #expect(engine.core.exchangeCount == 0)
    }

    @Test("While reading is stopped, the connection does not read")
    func reading() throws {
        let handle = try start()
        let transport = try #require(dialer.transports.first)
        transport.connect()
        recorder.react { event in if event.hasPrefix("responded") { handle.setReading(false) } }
        transport.deliver("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        // One receive call was still pending when reading was paused, and it completes now. Its content waits until
        // reading continues.
        transport.deliver("fo")
        #expect(recorder.events.count == 1)
        #expect(transport.wanted == nil)
        handle.setReading(true)
        #expect(recorder.events.last == "received 2")
        #expect(transport.wanted == 64 << 10)
        transport.deliver("ur")
        #expect(recorder.events.last == "ended")
    }

    @Test("Long content is sent in pieces, and each is reported")
    func pieces() throws {
        _ = try start(.data(Data(count: 150_000)), method: "POST")
        try #require(dialer.transports.first).connect()
        #expect(recorder.events == ["sent 65536", "sent 65536", "sent 18928"])
    }

    @Test("Content that is sent again is subtracted first")
    func again() throws {
        _ = try start()
        let old = try #require(dialer.transports.first)
        old.connect()
        old.deliver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        _ = try start(.data(Data("abc".utf8)), method: "PUT")
        old.deliver(HTTPArrival(isEnd: true))
        try #require(dialer.transports.last).connect()
        #expect(recorder.events.dropFirst(2) == ["sent 3", "sent -3", "sent 3"])
    }
}
