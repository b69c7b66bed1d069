import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP server: one connection of HTTP/1")
struct HTTPServerConnectionTests {
    private static let get = "GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test("A request and its response, in pieces of any size", arguments: [1, 2, 7, .max])
    func exchange(_ size: Int) throws {
        var served = ServedConnection()
        let events = served.receive(Self.get, inPiecesOf: size)
        #expect(events.count == 1)
        let head = try #require(events.heads.first)
        #expect(head.method == "GET")
        #expect(head.target == "/a?b")
        #expect(head.authority == "h")
        #expect(!head.hasContent)
        #expect(try served.respond() == [.closed(1, isComplete: true)])
        #expect(served.takeText() == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }

    @Test("Content stops at the limit of unread bytes until the program takes it")
    func backPressure() throws {
        var served = ServedConnection { $0.unreadByteCount = 10 }
        var events = served.receive(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 25\r\n\r\n" + String(repeating: "x", count: 25))
        #expect(events.content.count == 10)
        events = served.change { $0.took(10, of: 1) }
        #expect(events.content.count == 10)
        events = served.change { $0.took(10, of: 1) }
        #expect(events.content.count == 5)
        #expect(events.last == .finished(1, trailers: FieldSection()))
    }

    @Test("Pipelined requests wait for the response before them")
    func pipelining() throws {
        var served = ServedConnection()
        #expect(served.receive(Self.get + Self.get).heads.count == 1)
        #expect(try served.respond().heads.count == 1)
        #expect(try served.respond(2) == [.closed(2, isComplete: true)])
    }

    @Test("A target in absolute form names the authority (RFC 9112 §3.2.2)")
    func absoluteForm() throws {
        var served = ServedConnection()
        let head = try #require(served.receive("GET http://x.test:81/p?q HTTP/1.1\r\nHost: h\r\n\r\n").heads.first)
        #expect(head.target == "/p?q")
        #expect(head.authority == "x.test:81")
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let status: Int
        let request: String
        var testDescription: String { "\(status)" }
    }

    static let refusals: [Refusal] = [
        Refusal(status: 400, request: "GET / HTTP/1.1\r\n\r\n"),
        Refusal(
            status: 400, request: "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
        ),
        Refusal(status: 400, request: "\u{16}\u{3}\u{1}\u{2}\r\n\r\n"),
        Refusal(status: 411, request: "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Refusal(status: 413, request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n"),
        Refusal(status: 414, request: "GET /\(String(repeating: "x", count: 50)) HTTP/1.1\r\nHost: h\r\n\r\n"),
        Refusal(status: 414, request: "GET /\(String(repeating: "x", count: 500))"),
        Refusal(status: 417, request: "POST / HTTP/1.1\r\nHost: h\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\n"),
        Refusal(status: 431, request: "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 500))\r\n\r\n"),
        Refusal(status: 501, request: "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        Refusal(status: 505, request: "GET / HTTP/2.5\r\nHost: h\r\n\r\n"),
    ]

    // RFC 9110 §15.5.1, §15.5.12, §15.5.14, §15.5.15, §15.5.18, §15.6.2, §15.6.6.
    @Test("Refused requests never reach the program", arguments: refusals)
    func refuses(_ refusal: Refusal) {
        var served = ServedConnection { limits in
            limits.headByteCount = 400
            limits.targetByteCount = 40
            limits.contentByteCount = 100
            limits.requiresContentLength = true
        }
        let events = served.receive(refusal.request)
        #expect(events == [.ended(isInterrupted: false)])
        let text = served.takeText()
        #expect(text.hasPrefix("HTTP/1.1 \(refusal.status) "), "\(text)")
        #expect(text.contains("Connection: close\r\n"))
    }

    @Test(
        "Chunked content that is too long is cut at the limit, and the connection closes after the response",
        arguments: [1, 5, .max])
    func tooLong(_ size: Int) throws {
        var served = ServedConnection { $0.contentByteCount = 4 }
        let chunked =
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n3\r\nghi\r\n"
        let events = served.receive(chunked, inPiecesOf: size)
        #expect(events.content == "abcd")
        #expect(events.filter { $0 == .refusedContent(1) }.count == 1)
        let end = try served.respond(status: 413)
        #expect(end == [.closed(1, isComplete: true), .ended(isInterrupted: false)])
        #expect(served.takeText().contains("Connection: close\r\n"))
    }

    @Test("Status 100 is sent when the program reads, and not if it responds first (RFC 9110 §10.1.1)")
    func expectContinue() throws {
        let request = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        var reading = ServedConnection()
        _ = reading.receive(request)
        #expect(reading.takeText().isEmpty)
        _ = reading.change { $0.requestContent(1) }
        #expect(reading.takeText() == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(reading.receive("hi").content == "hi")
        var refusing = ServedConnection()
        _ = refusing.receive(request)
        #expect(try refusing.respond(status: 403).last == .ended(isInterrupted: false))
        #expect(!refusing.takeText().contains("100"))
    }

    @Test("The last permitted request closes the connection")
    func requestLimit() throws {
        var served = ServedConnection { $0.requestCount = 2 }
        _ = served.receive(Self.get + Self.get + Self.get)
        _ = try served.respond()
        #expect(try served.respond(2) == [.closed(2, isComplete: true), .ended(isInterrupted: false)])
    }

    @Test("An upgrade turns the request into a tunnel for both directions")
    func upgrade() throws {
        var served = ServedConnection()
        _ = served.receive("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nearly")
        let events = try served.change { try $0.upgrade(1, FieldSection()) }
        #expect(events.content == "early")
        #expect(served.receive("later").content == "later")
        _ = served.takeText()
        _ = try served.change { try $0.send(1, ByteChain(Array("raw".utf8))) }
        #expect(served.takeText() == "raw")
        #expect(served.change { $0.inputEnded() } == [.finished(1, trailers: FieldSection())])
        #expect(try served.change { try $0.finish(1) } == [.closed(1, isComplete: true), .ended(isInterrupted: false)])
    }

    @Test("A successful response to CONNECT without content ends the connection")
    func emptyTunnel() throws {
        var served = ServedConnection()
        _ = served.receive("CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n")
        let events = try served.change { try $0.respond(1, 200, FieldSection(), .none) }
        #expect(events == [.closed(1, isComplete: true), .ended(isInterrupted: false)])
    }

    @Test("An interrupted response ends the connection without an end of the content")
    func interrupt() throws {
        var served = ServedConnection()
        _ = served.receive(Self.get)
        _ = try served.change { try $0.respond(1, 200, FieldSection(), .unknown) }
        let events = served.change { $0.interrupt(1) }
        #expect(events == [.closed(1, isComplete: false), .ended(isInterrupted: true)])
        #expect(throws: HTTPServerRefusal.closed) { try served.machine.send(1, ByteChain([1])) }
    }

    @Test("Shutting down ends an idle connection at once, and a busy one after its response")
    func shutDown() throws {
        var idle = ServedConnection()
        _ = idle.receive(Self.get)
        _ = try idle.respond()
        #expect(idle.change { $0.shutDown(at: .zero) } == [.ended(isInterrupted: false)])
        var busy = ServedConnection()
        _ = busy.receive(Self.get)
        #expect(busy.change { $0.shutDown(at: .zero) }.isEmpty)
        #expect(try busy.respond().last == .ended(isInterrupted: false))
        #expect(busy.takeText().contains("Connection: close\r\n"))
    }
}
