import Testing

@testable import CausewayHTTPProtocols

@Suite("Server-sent events: reconnection (WHATWG HTML §9.2.3)")
struct EventReconnectionTests {
    @Test("Status and content type")
    func verdicts() {
        var reconnection = EventReconnection()
        #expect(reconnection.responded(status: 200, mediaType: "text/event-stream") == .open)
        #expect(reconnection.responded(status: 204, mediaType: nil) == .stop)
        #expect(reconnection.responded(status: 200, mediaType: "text/html") == .fail)
        #expect(reconnection.responded(status: 200, mediaType: nil) == .fail)
        for status in [201, 205, 404, 500] {
            #expect(reconnection.responded(status: status, mediaType: "text/event-stream") == .fail)
        }
    }

    @Test("Failures double the time up to a minute; an event stream resets it")
    func backoff() {
        var reconnection = EventReconnection()
        #expect(reconnection.delay(afterFailure: false) == .seconds(3))
        let delays = (0..<7).map { _ in reconnection.delay(afterFailure: true) }
        #expect(delays == [3, 6, 12, 24, 48, 60, 60].map { .seconds($0) })
        _ = reconnection.responded(status: 200, mediaType: "text/event-stream")
        #expect(reconnection.delay(afterFailure: true) == .seconds(3))
    }

    @Test("The server's time is bounded")
    func bounds() {
        var reconnection = EventReconnection()
        for (milliseconds, time) in [(0, 0.1), (250, 0.25), (90_000, 90), (Int.max, 3_600)] {
            reconnection.setTime(milliseconds: milliseconds)
            #expect(reconnection.delay(afterFailure: false) == .seconds(time))
            #expect(reconnection.delay(afterFailure: true) == .seconds(time))
            _ = reconnection.responded(status: 200, mediaType: "text/event-stream")
        }
    }
}
