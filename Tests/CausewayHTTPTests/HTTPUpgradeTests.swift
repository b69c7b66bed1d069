import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

/// Records the events of one request, and keeps the stream of an upgrade.
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
    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        switch result {
        case .success: note("ended")
        case .failure(let failure): note("failed \(failure)")
        }
    }
}

/// An observer that expects no upgrade.
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

    @Test("The connection and the bytes after the head go to the observer, and leave the engine")
    func handOver() throws {
        engine.start(try request(), observer: recorder)
        let transport = try #require(dialer.transports.first)
        transport.connect()
        #expect(transport.sent.hasSuffix("Host: a.test\r\n\r\n"))
        transport.deliver(Self.accepted + "rest")
        #expect(recorder.events == ["upgraded x false"])
        #expect(engine.connectionCount == 0)
        #expect(engine.core.exchangeCount == 0)
        let stream = try #require(recorder.stream)
        // The connection is not read before the observer wants bytes.
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
