import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Responses on an HTTP/1.1 connection (RFC 9112 §6)")
struct HTTP1ServerSendingTests {
    /// Returns a server that received a request without a body.
    private func asked(_ method: String = "GET", _ version: String = "1.1", _ extra: String = "") -> TracedServer {
        var server = TracedServer()
        let target = method == "CONNECT" ? "h:1" : "/"
        server.receive("\(method) \(target) HTTP/\(version)\r\nHost: h\r\n\(extra)\r\n")
        return server
    }

    /// Each row contains these values in order: the request's method, version and fields, the response's status and
    /// body length, the encoded response, and whether the connection persists. The response content is `abc`.
    static let responses: [(String, String, String, Int, HTTP1BodyLength, String, Bool)] = [
        ("GET", "1.1", "", 200, .length(3), "HTTP/1.1 200 \r\nContent-Length: 3\r\n\r\nabc", true),
        ("GET", "1.1", "", 200, .none, "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", true),
        (
            "GET", "1.1", "", 200, .chunked, "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            true
        ),
        ("GET", "1.1", "", 200, .untilEnd, "HTTP/1.1 200 \r\nConnection: close\r\n\r\nabc", false),
        ("GET", "1.0", "", 200, .chunked, "HTTP/1.1 200 \r\nConnection: close\r\n\r\nabc", false),
        (
            "GET", "1.0", "", 200, .length(3), "HTTP/1.1 200 \r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
            false
        ),
        (
            "GET", "1.0", "Connection: keep-alive\r\n", 200, .length(3),
            "HTTP/1.1 200 \r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc", true
        ),
        (
            "GET", "1.1", "Connection: close\r\n", 200, .length(3),
            "HTTP/1.1 200 \r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc", false
        ),
        ("HEAD", "1.1", "", 200, .length(3), "HTTP/1.1 200 \r\nContent-Length: 3\r\n\r\n", true),
        ("HEAD", "1.1", "", 200, .chunked, "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n", true),
        ("HEAD", "1.1", "", 200, .none, "HTTP/1.1 200 \r\n\r\n", true),
        ("GET", "1.1", "", 204, .none, "HTTP/1.1 204 \r\n\r\n", true),
        ("GET", "1.1", "", 204, .length(3), "HTTP/1.1 204 \r\n\r\n", true),
        ("GET", "1.1", "", 304, .length(3), "HTTP/1.1 304 \r\nContent-Length: 3\r\n\r\n", true),
        ("GET", "1.1", "", 205, .none, "HTTP/1.1 205 \r\nContent-Length: 0\r\n\r\n", true),
        ("CONNECT", "1.1", "", 403, .length(3), "HTTP/1.1 403 \r\nContent-Length: 3\r\n\r\nabc", true),
    ]

    // Response framing: RFC 9112 §9.3; RFC 9110 §15.3.5.
    @Test("Framing and persistence", arguments: responses)
    func framing(_ row: (String, String, String, Int, HTTP1BodyLength, String, Bool)) throws {
        var server = asked(row.0, row.1, row.2)
        try server.server.respond(HTTPResponseHead(status: row.3), body: row.4)
        if row.4 != .none {
            try server.server.sendContent(Array("abc".utf8)[...])
            try server.server.sendEnd()
        }
        #expect(server.server.takeOutput().text == row.5)
        server.takeEvents()
        #expect(server.trace.all.last == (row.6 ? "finished" : "ended"))
        #expect(server.server.isIdle == row.6)
    }

    // RFC 9112 §9.6; RFC 9110 §7.6.1.
    @Test("A response with Connection: close is the last one")
    func closing() throws {
        var server = asked()
        try server.server.respond(HTTPResponseHead(status: 204, fields: fields(("Connection", "close"))))
        #expect(server.server.takeOutput().text == "HTTP/1.1 204 \r\nConnection: close\r\n\r\n")
        server.takeEvents()
        #expect(server.trace.all.last == "ended")
        server = asked()
        server.server.finish()
        try server.server.respond(HTTPResponseHead(status: 204))
        #expect(server.server.takeOutput().text == "HTTP/1.1 204 \r\nConnection: close\r\n\r\n")
    }

    @Test("Responses that cannot be sent leave the request unanswered")
    func unwritable() throws {
        let long = fields(("Content-Length", "9"))
        let rows: [(HTTPResponseHead, HTTP1BodyLength)] = [
            (HTTPResponseHead(status: 200, fields: fields(("A", "\r\n"))), .none),
            (HTTPResponseHead(status: 200, fields: long), .length(3)),
            (HTTPResponseHead(status: 200, fields: fields(("Transfer-Encoding", "chunked"))), .chunked),
            (HTTPResponseHead(status: 204, fields: long), .length(9)), (HTTPResponseHead(status: 1000), .none),
            (HTTPResponseHead(status: 205), .length(3)), (HTTPResponseHead(status: 205), .chunked),
            (HTTPResponseHead(status: 100), .none), (HTTPResponseHead(status: 101), .none),
        ]
        var server = asked()
        for (head, length) in rows {
            #expect(throws: HTTP1Failure.self, "\(head)") { try server.server.respond(head, body: length) }
        }
        #expect(server.server.outputCount == 0)
        try server.server.respond(HTTPResponseHead(status: 204))
        #expect(throws: HTTP1Failure.misuse("response without request")) {
            try server.server.respond(HTTPResponseHead(status: 204))
        }
    }

    @Test("The content has the stated length")
    func misuse() throws {
        var server = asked()
        try server.server.sendContent([1])
        #expect(server.server.outputCount == 0)
        try server.server.respond(HTTPResponseHead(status: 200), body: .length(2))
        #expect(throws: HTTP1Failure.misuse("less content than Content-Length")) { try server.server.sendEnd() }
        #expect(throws: HTTP1Failure.misuse("more content than Content-Length")) {
            try server.server.sendContent([1, 2, 3])
        }
    }

    @Test("Interim responses precede the response, except to HTTP/1.0 clients")
    func informing() throws {
        var server = asked()
        try server.server.inform(HTTPResponseHead(status: 103, fields: fields(("Link", "x"))))
        try server.server.respond(HTTPResponseHead(status: 204))
        #expect(server.server.takeOutput().text == "HTTP/1.1 103 \r\nLink: x\r\n\r\nHTTP/1.1 204 \r\n\r\n")
        server = asked("GET", "1.0")
        try server.server.inform(HTTPResponseHead(status: 103))
        #expect(server.server.outputCount == 0)
        for status in [101, 200] {
            #expect(throws: HTTP1Failure.self) { try server.server.inform(HTTPResponseHead(status: status)) }
        }
    }

    @Test("Trailers follow chunks")
    func trailers() throws {
        var server = asked()
        try server.server.respond(HTTPResponseHead(status: 200), body: .chunked)
        #expect(throws: HTTP1Failure.unwritable(.unwritable("value of field A"))) {
            try server.server.sendEnd(trailers: fields(("A", "\n")))
        }
        try server.server.sendEnd(trailers: fields(("A", "b")))
        #expect(server.server.takeOutput().text.hasSuffix("\r\n\r\n0\r\nA: b\r\n\r\n"))
        #expect(server.server.isIdle)
    }

    @Test("The server upgrades after the request, and the rest of the input belongs to the owner")
    func upgrading() throws {
        for method in ["GET", "CONNECT"] {
            var server = asked(method, "1.1", "Upgrade: x\r\n")
            server.server.received(Array("rest".utf8)[...])
            try server.server.respond(HTTPResponseHead(status: method == "GET" ? 101 : 200))
            server.takeEvents()
            #expect(server.trace.all.last == "upgraded" && server.server.takeRemainingInput().text == "rest")
            #expect(server.server.takeOutput().text == "HTTP/1.1 \(method == "GET" ? 101 : 200) \r\n\r\n")
            server.server.abort()
            #expect(server.server.hasEnded && server.server.nextEvent() == nil)
        }
    }

    private let upload = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"

    @Test("The client waits for status 100 (RFC 9110 §10.1.1)")
    func continuing() throws {
        var server = TracedServer()
        server.receive(upload + "Expect: 100-Continue\r\n\r\n")
        #expect(server.server.awaitsContinue)
        try server.server.inform(HTTPResponseHead(status: 100, reason: "Continue"))
        #expect(!server.server.awaitsContinue && server.server.takeOutput().text == "HTTP/1.1 100 Continue\r\n\r\n")
        server.receive("hello")
        #expect(server.trace.all == ["POST / length(5)", "content hello", "finished"])
    }

    @Test("The connection ends if the response precedes a body that the client may not send")
    func notContinuing() throws {
        var server = TracedServer()
        server.receive(upload + "Expect: 100-continue\r\n\r\n")
        try server.server.respond(HTTPResponseHead(status: 417))
        server.takeEvents()
        #expect(server.trace.all == ["POST / length(5)", "ended"])
    }

    @Test("A client that does not wait clears the expectation")
    func impatient() throws {
        var server = TracedServer()
        server.receive(upload + "Expect: 100-continue\r\n\r\nhe")
        #expect(!server.server.awaitsContinue)
    }

    @Test("The rest of a request is discarded after the response")
    func draining() throws {
        var server = TracedServer()
        server.receive(upload + "\r\nhe")
        try server.server.respond(HTTPResponseHead(status: 204))
        server.receive("lloGET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(server.trace.all == ["POST / length(5)", "content he", "GET /2 none", "finished"])
    }

    @Test("A long rest of a request ends the connection")
    func drainLimit() throws {
        var configuration = HTTP1Server.Configuration()
        configuration.drainLimit = 4
        var server = TracedServer(configuration: configuration)
        server.receive(upload + "\r\n")
        try server.server.respond(HTTPResponseHead(status: 204))
        server.receive("hello")
        #expect(server.trace.all == ["POST / length(5)", "ended"])
    }

    @Test("A request that is malformed after the response began ends the connection without another response")
    func lateError() throws {
        var server = TracedServer()
        server.receive("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        try server.server.respond(HTTPResponseHead(status: 200), body: .chunked)
        _ = server.server.takeOutput()
        server.receive("x")
        #expect(server.trace.all == ["POST / chunked", "ended syntax(invalid chunk size at byte 0)"])
        #expect(server.server.outputCount == 0)
    }

    @Test("A timeout after the end sends nothing")
    func lateTimeout() {
        var server = HTTP1Server()
        server.received(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)[...])
        while server.nextEvent() != nil {}
        server.abort()
        #expect(server.nextEvent() == .ended(.aborted))
        server.timedOut()
        #expect(server.outputCount == 0 && server.nextEvent() == nil)
    }

    @Test("A late timeout has no effect on a request that is complete")
    func timeoutAfterRequest() throws {
        var server = TracedServer()
        server.receive("GET / HTTP/1.1\r\nHost: h\r\nUpgrade: x\r\n\r\n")
        server.server.timedOut()
        #expect(server.server.outputCount == 0)
        try server.server.respond(HTTPResponseHead(status: 101))
        server.server.timedOut()
        server.takeEvents()
        #expect(server.trace.all == ["GET / none", "finished", "upgraded"])
    }

    @Test("Client and server exchange messages of every framing")
    func together() throws {
        var (client, server) = (TracedClient(), TracedServer())
        for length in [HTTP1BodyLength.length(3), .chunked, .none] {
            let request = HTTPRequestHead(method: "POST", target: "/", fields: fields(("Host", "h")))
            try client.client.send(request, body: length, at: .zero)
            if length != .none { try client.client.sendContent(Array("abc".utf8)[...]) }
            try client.client.sendEnd()
            server.receive(client.client.takeOutput().text, pieceLength: 5)
            try server.server.respond(HTTPResponseHead(status: 200, reason: "OK"), body: length)
            if length != .none { try server.server.sendContent(Array("xyz".utf8)[...]) }
            try server.server.sendEnd()
            client.receive(server.server.takeOutput().text, pieceLength: 5)
            server.takeEvents()
        }
        #expect(
            client.trace.all == [
                "responded 200 length(3)", "content xyz", "finished, reusable", "responded 200 chunked", "content xyz",
                "finished, reusable", "responded 200 length(0)", "finished, reusable",
            ])
        #expect(
            server.trace.all == [
                "POST / length(3)", "content abc", "finished", "POST / chunked", "content abc", "finished",
                "POST / none",
                "finished",
            ])
    }
}
