import CausewayHTTPProtocols
import CausewayWire
import Testing

@Suite("HTTP server: slow clients, under a virtual clock")
struct HTTPServerSlowClientTests {
    private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    private static let post = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"

    @Test("A client that sends nothing is disconnected without a response")
    func silent() {
        var served = ServedConnection()
        #expect(served.advance(by: .seconds(19)).isEmpty)
        #expect(served.advance(by: .seconds(1)) == [.ended(isInterrupted: false)])
        #expect(served.takeText().isEmpty)
    }

    // Slow request heads: RFC 9110 §15.5.9.
    @Test("A head that drips in gets status 408 at the deadline, however often bytes arrive")
    func slowHead() {
        var served = ServedConnection()
        var events: [HTTPServerConnection.Event] = []
        for _ in 0..<30 where events.isEmpty {
            events = served.receive("G") + served.advance(by: .seconds(1))
        }
        #expect(events == [.ended(isInterrupted: false)])
        #expect(served.now == .seconds(20))
        #expect(served.takeText().hasPrefix("HTTP/1.1 408 "))
    }

    @Test("The second head has its own time, from its first byte")
    func secondHead() throws {
        var served = ServedConnection()
        _ = served.receive(Self.get)
        _ = try served.respond()
        _ = served.takeText()
        #expect(served.advance(by: .seconds(60)).isEmpty)
        _ = served.receive("GET")
        #expect(served.advance(by: .seconds(19)).isEmpty)
        #expect(served.advance(by: .seconds(1)) == [.ended(isInterrupted: false)])
        #expect(served.takeText().hasPrefix("HTTP/1.1 408 "))
    }

    @Test("An idle connection closes after its time")
    func idle() throws {
        var served = ServedConnection()
        _ = served.receive(Self.get)
        _ = try served.respond()
        #expect(served.advance(by: .seconds(74)).isEmpty)
        #expect(served.advance(by: .seconds(1)) == [.ended(isInterrupted: false)])
    }

    @Test("Content below the minimum rate gets status 408; at the rate it may take forever")
    func slowContent() {
        var slow = ServedConnection()
        _ = slow.receive(Self.post)
        var events: [HTTPServerConnection.Event] = []
        var seconds = 0
        while events.allSatisfy({ if case .content = $0 { true } else { false } }), seconds < 100 {
            events = slow.receive(String(repeating: "x", count: 250)) + slow.change { $0.took(250, of: 1) }
            events += slow.advance(by: .seconds(1))
            seconds += 1
        }
        // A client that sends at half of the minimum rate uses up its time allowance at half the usual speed.
        #expect((38...42).contains(seconds), "\(seconds)")
        #expect(events.suffix(2) == [.closed(1, isComplete: false), .ended(isInterrupted: false)])
        #expect(slow.takeText().hasPrefix("HTTP/1.1 408 "))
        var steady = ServedConnection()
        _ = steady.receive(Self.post)
        for _ in 0..<150 {
            _ = steady.receive(String(repeating: "x", count: 600))
            let events = steady.change { $0.took(600, of: 1) } + steady.advance(by: .seconds(1))
            #expect(events.isEmpty)
        }
    }

    @Test("Time in which the program does not read does not count against the client")
    func slowProgram() {
        var served = ServedConnection()
        _ = served.receive(Self.post + "x")
        #expect(served.advance(by: .seconds(1_000)).isEmpty)
        _ = served.change { $0.took(1, of: 1) }
        #expect(served.advance(by: .seconds(19)).isEmpty)
        #expect(!served.advance(by: .seconds(2)).isEmpty)
    }

    @Test("A client that stalls in content that the program does not read is disconnected after the response")
    func stallsAfterResponse() throws {
        var served = ServedConnection()
        _ = served.receive(Self.post + "x")
        let closed = try served.respond(status: 404)
        #expect(closed == [.closed(1, isComplete: true)])
        let early = served.advance(by: .seconds(19))
        #expect(early.isEmpty)
        let ended = served.advance(by: .seconds(2))
        #expect(ended == [.ended(isInterrupted: false)])
    }

    @Test("A client that does not read its response is disconnected")
    func slowReader() throws {
        var served = ServedConnection()
        _ = served.receive(Self.get)
        _ = try served.respond()
        _ = served.change { $0.sending() }
        #expect(served.advance(by: .seconds(15)).isEmpty)
        _ = served.change { $0.sent(1_000, hasMore: true, at: .seconds(15)) }
        #expect(served.advance(by: .seconds(6)).isEmpty)
        #expect(served.advance(by: .seconds(2)).last == .ended(isInterrupted: true))
    }

    @Test("Without a minimum rate no client is too slow")
    func noRate() {
        var served = ServedConnection { $0.minimumRate = 0 }
        _ = served.receive(Self.post)
        #expect(served.advance(by: .seconds(100_000)).isEmpty)
    }

    @Test("Late, early and repeated timers are harmless")
    func timers() {
        var served = ServedConnection()
        _ = served.receive(Self.get)
        for time in [0, 1, 1, 0, 5] {
            #expect(served.change { $0.advance(to: .seconds(time)) }.isEmpty)
        }
    }

    @Test("The time since which a connection waits for a request")
    func waitStart() throws {
        var served = ServedConnection()
        #expect(served.machine.waitStart == .zero)
        _ = served.advance(by: .seconds(5))
        _ = served.receive("GET / HTTP/1.1\r\n")
        #expect(served.machine.waitStart == .zero)
        _ = served.receive("Host: h\r\n\r\n")
        #expect(served.machine.waitStart == nil)
        _ = served.advance(by: .seconds(5))
        _ = try served.respond()
        #expect(served.machine.waitStart == .seconds(10))
        _ = served.advance(by: .seconds(5))
        _ = served.receive("G")
        #expect(served.machine.waitStart == .seconds(15))
    }
}
