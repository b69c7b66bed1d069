import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

/// Records the events of one request, and keeps the stream that an upgrade creates.
private final class UpgradeRecorder: HTTPResponseObserver {
    private let list = LockedValue<[String]>([])
    private let kept = LockedValue<HTTPUpgradedStream?>(nil)

    var events: [String] { list.withLock { list in list } }
    var stream: HTTPUpgradedStream? { kept.withLock { kept in kept } }

    func release() { kept.withLock { kept in kept = nil } }
    func note(_ event: String) { list.withLock { list in list.append(event) } }

    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        note("responded \(head.status)")
    }
    func received(_ content: Data) { note("received \(content.count)") }
    func upgraded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ stream: HTTPUpgradedStream) {
        note("upgraded \(head.fields.firstValue(of: "Upgrade") ?? "") \(connection.isReused)")
        kept.withLock { kept in kept = stream }
    }
    func handedOver(_ stream: HTTPUpgradedStream?) {
        note("handed over \(stream != nil)")
        kept.withLock { kept in kept = stream }
    }
    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        switch result {
        case .success: note("ended")
        case .failure(let failure): note("failed \(failure)")
        }
    }
}

/// A response observer that expects no protocol upgrade.
private final class PlainRecorder: HTTPResponseObserver {
    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {}
    func received(_ content: Data) {}
    func ended(_ result: Result<FieldSection, HTTPFailure>) {}
}

@Suite("HTTP upgrades (RFC 9110 §7.8)")
struct HTTPUpgradeTests {
    private let clock = ManualClock()
    private let dialer = FakeDialer()
    private let engine: HTTPEngine
    private let recorder = UpgradeRecorder()
    private static let accepted = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"

    init() { engine = HTTPEngine(dialer, clock) }

    private func request(_ uri: String = "http://a.test/", isUpgrade: Bool = true) throws -> HTTPRequestValue {
        var request = try #require(HTTPRequestValue(uri: uri))
        request.fields.append("Upgrade", "x")
        request.fields.append("Connection", "Upgrade")
        request.isUpgrade = isUpgrade
        return request
    }

    // RFC 9110 §15.2.2.
    @Test("The connection and the bytes after the head go to the observer, and leave the engine")
    func handOver() throws {
        engine.start(try request(), observer: recorder)
        let transport = try #require(dialer.transports.first)
        transport.connect()
        #expect(transport.sent == "GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
        transport.deliver(Self.accepted + "rest")
        #expect(recorder.events == ["upgraded x false"])
        #expect(engine.connectionCount == 0)
        #expect(engine.core.exchangeCount == 0)
        let stream = try #require(recorder.stream)
        // Without a request from the observer, nothing is read from the connection.
        #expect(transport.wanted == nil)
        for text in ["rest", "more"] {
            stream.receive(atMost: 10) { [recorder] arrival in
                recorder.note(String(decoding: arrival.content ?? Data(), as: UTF8.self))
            }
            if text == "more" { transport.deliver(text) }
            #expect(recorder.events.last == text)
        }
        stream.send(Data("out".utf8)) { _ in }
        #expect(transport.sent.hasSuffix("out"))
        engine.shutDown()
        #expect(!transport.isClosed)
        stream.close(isInterrupted: false)
        #expect(transport.isClosed)
    }

    // MARK: In the middle of a response

    /// Starts a request, and delivers the beginning of its response.
    private func respond(_ text: String) throws -> (HTTPRequestHandle, FakeTransport) {
        let handle = engine.start(try #require(HTTPRequestValue(uri: "http://a.test/")), observer: recorder)
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver(text)
        return (handle, transport)
    }

    private func read(_ stream: HTTPUpgradedStream, _ limit: Int = 10) {
        stream.receive(atMost: limit) { [recorder] arrival in
            let text = String(decoding: arrival.content ?? Data(), as: UTF8.self)
            recorder.note(text + (arrival.isEnd ? "." : "") + (arrival.error == nil ? "" : "!"))
        }
    }

    @Test("A response that ends with the connection is handed over; the pending receive belongs to the stream")
    func middle() throws {
        let (handle, transport) = try respond("HTTP/1.1 200 OK\r\n\r\nabc")
        #expect(transport.wanted != nil)
        handle.handOver()
        #expect(recorder.events == ["responded 200", "received 3", "handed over true"])
        #expect(engine.connectionCount == 0 && engine.core.exchangeCount == 0)
        let stream = try #require(recorder.stream)
        transport.deliver("0123456789ab")
        #expect(transport.wanted == nil)
        read(stream)
        read(stream)
        #expect(Array(recorder.events.dropFirst(3)) == ["0123456789", "ab"])
        read(stream)
        #expect(transport.wanted == 10)
        transport.deliver(HTTPArrival(isEnd: true))
        #expect(recorder.events.last == ".")
        stream.sendEnd { _ in }
        #expect(transport.sent.hasSuffix("<end>"))
        handle.cancel()
        #expect(!transport.isClosed)
        stream.close(isInterrupted: false)
        #expect(transport.isClosed)
    }

    @Test("A reader can wait for the pending receive")
    func pending() throws {
        let (handle, transport) = try respond("HTTP/1.1 200 OK\r\n\r\nabc")
        handle.handOver()
        let stream = try #require(recorder.stream)
        read(stream, 2)
        #expect(recorder.events.last == "handed over true")
        transport.deliver("xyz")
        #expect(recorder.events.last == "xy")
        read(stream)
        #expect(recorder.events.last == "z")
    }

    @Test("Content that was not delivered, and the end, go to the stream", arguments: [true, false])
    func paused(_ isClean: Bool) throws {
        let (handle, transport) = try respond("HTTP/1.1 200 OK\r\n\r\n")
        handle.setReading(false)
        transport.deliver(HTTPArrival(content: Data("abc".utf8), isEnd: isClean, error: isClean ? nil : .posix(.EIO)))
        let before = recorder.events.count
        handle.handOver()
        let stream = try #require(recorder.stream)
        read(stream, 2)
        read(stream)
        read(stream)
        let after = recorder.events.dropFirst(before + 1).joined()
        #expect(after == (isClean ? "abc.." : "abc!!"))
        #expect(engine.connectionCount == 0)
    }

    @Test(
        "Other responses are not handed over",
        arguments: ["Content-Length: 9\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"])
    func refusesHandOver(_ rest: String) throws {
        let (handle, transport) = try respond("HTTP/1.1 200 OK\r\n\(rest)")
        handle.handOver()
        #expect(recorder.events == ["responded 200", "received 3", "handed over false"])
        transport.deliver(HTTPArrival(isEnd: true))
        #expect(recorder.events.last?.hasPrefix("failed") == true)
        handle.handOver()
        #expect(recorder.events.filter { $0.hasPrefix("handed") }.count == 1)
    }

    @Test("A released stream closes its connection", arguments: [true, false])
    func release(_ expectsUpgrade: Bool) throws {
        engine.start(try request(), observer: expectsUpgrade ? recorder : PlainRecorder())
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver(Self.accepted)
        #expect(transport.isClosed == !expectsUpgrade)
        recorder.release()
        #expect(transport.isClosed)
    }

    @Test("A request that ended before the switch closes the connection")
    func cancelled() throws {
        let handle = engine.start(try request(), observer: recorder)
        let transport = try #require(dialer.transports.first)
        transport.connect()
        handle.cancel()
        #expect(transport.isClosed)
        transport.deliver(Self.accepted)
        #expect(recorder.events == ["failed cancelled"])
    }

    @Test("Another status is a response, and the next attempt uses the connection again")
    func refused() throws {
        engine.start(try request(), observer: recorder)
        let transport = try #require(dialer.transports.first)
        transport.connect()
        transport.deliver("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno")
        #expect(recorder.events == ["responded 401", "received 2", "ended"])
        engine.start(try request(), observer: recorder)
        transport.deliver(Self.accepted)
        #expect(recorder.events.last == "upgraded x true")
        #expect(dialer.transports.count == 1)
    }

    @Test("An upgrade offers no HTTP/2 and shares no connection with other requests")
    func version() throws {
        let uri = "https://a.test/"
        engine.start(try #require(HTTPRequestValue(uri: uri)), observer: recorder)
        for _ in 0..<2 { engine.start(try request(uri), observer: recorder) }
        #expect(dialer.offers == [true, false, false])
    }

    @Test("An upgrade moves to a new HTTP/1.1 connection if a reused one was closed")
    func stale() throws {
        engine.start(try request("https://a.test/"), observer: recorder)
        let old = try #require(dialer.transports.first)
        old.connect("http/1.1")
        old.deliver("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
        engine.start(try request("https://a.test/"), observer: recorder)
        old.deliver(HTTPArrival(isEnd: true))
        let new = try #require(dialer.transports.dropFirst().first)
        new.connect("http/1.1")
        new.deliver(Self.accepted)
        #expect(recorder.events.last == "upgraded x false")
        #expect(dialer.offers == [false, false])
    }

    @Test("Upgrade without the consent of the observer is not sent")
    func misuse() throws {
        engine.start(try request(isUpgrade: false), observer: recorder)
        #expect(dialer.transports.isEmpty)
        #expect(recorder.events.count == 1)
        #expect(recorder.events.first?.hasPrefix("failed invalidRequest") == true)
    }
}
