import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("The server's side of an HTTP/1.1 connection (RFC 9112)")
struct HTTP1ServerTests {
    static let requests: [(String, [String])] = [
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", ["GET / none", "finished"]),
        (
            "\r\nPOST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
            ["POST /a length(3)", "content abc", "finished"]
        ),
        ("POST / HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n\r\n", ["POST / none", "finished"]),
        (
            "POST / HTTP/1.1\r\nHost: h:1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n",
            ["POST / chunked", "content abc", "finished A: b"]
        ),
        ("GET / HTTP/1.0\r\n\r\n", ["GET / none", "finished"]),
        ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", ["OPTIONS * none", "finished"]),
        ("GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n", ["GET http://h/a none", "finished"]),
        ("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", ["CONNECT h:443 none", "finished"]),
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\nx", ["GET / length(1)", "content x", "finished"]),
    ]

    @Test("Requests, in pieces of every length", arguments: requests)
    func reads(_ row: (String, [String])) {
        for pieceLength in Array(1...20) + [.max] {
            var server = TracedServer()
            server.receive(row.0, pieceLength: pieceLength)
            #expect(server.trace.all == row.1, "pieces of \(pieceLength)")
            #expect(server.server.outputCount == 0)
        }
    }

    /// Ambiguous requests that other implementations may interpret differently. For each request, the expected failure
    /// and response status.
    static let refused: [(String, String, Int)] = [
        (
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "framing(\"Content-Length\")", 400
        ),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5,6\r\n\r\n", "framing(\"Content-Length\")", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\n", "framing(\"Content-Length\")", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5_0\r\n\r\n", "framing(\"Content-Length\")", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \u{B}5\r\n\r\n", "syntax(invalid field value at byte 42)", 400),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551621\r\n\r\n", "framing(\"Content-Length\")",
            400
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "framing(\"Content-Length with Transfer-Encoding\")", 400
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n",
            "framing(\"Content-Length with Transfer-Encoding\")", 400
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
            "framing(\"Transfer-Encoding\")", 400
        ),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", "framing(\"Transfer-Encoding\")", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", "framing(\"Transfer-Encoding\")", 400),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "framing(\"Transfer-Encoding\")", 400
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-encoding: x\r\n\r\n",
            "framing(\"Transfer-Encoding\")", 400
        ),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "unsupportedCoding", 501),
        (
            "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
            "framing(\"Transfer-Encoding in HTTP/1.0\")", 400
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n",
            "syntax(invalid field name at byte 43)", 400
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\n Transfer-Encoding: chunked\r\n\r\n",
            "syntax(invalid folded line at byte 26)", 400
        ),
        ("POST / HTTP/1.1\r\n Host: h\r\n\r\n", "syntax(invalid folded line at byte 17)", 400),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nX: a\rTransfer-Encoding: chunked\r\n\r\n",
            "syntax(invalid field value at byte 30)", 400
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n",
            "syntax(invalid line end at byte 30)", 400
        ),
        ("POST / HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n", "syntax(invalid field value at byte 30)", 400),
        ("GET / HTTP/1.1\r\n\r\n", "invalidRequest(\"Host\")", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "invalidRequest(\"Host\")", 400),
        ("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "invalidRequest(\"Host\")", 400),
        ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", "invalidRequest(\"Host\")", 400),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "invalidRequest(\"Host\")", 400),
        ("GET a HTTP/1.1\r\nHost: h\r\n\r\n", "invalidRequest(\"target\")", 400),
        ("GET * HTTP/1.1\r\nHost: h\r\n\r\n", "invalidRequest(\"target\")", 400),
        ("GET 1ttp://h/ HTTP/1.1\r\nHost: h\r\n\r\n", "invalidRequest(\"target\")", 400),
        ("GET 10.0.0.1:80 HTTP/1.1\r\nHost: h\r\n\r\n", "invalidRequest(\"target\")", 400),
        ("CONNECT /a HTTP/1.1\r\nHost: h\r\n\r\n", "invalidRequest(\"target\")", 400),
        ("CONNECT h:1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", "framing(\"body of CONNECT\")", 400),
        ("GET / HTTP/3.0\r\n", "syntax(invalid HTTP version at byte 6)", 505),
        ("GET /\r\n", "syntax(invalid target at byte 5)", 400),
        ("\u{16}\u{3}\u{1}\n", "syntax(invalid line end at byte 3)", 400),
    ]

    // This test checks RFC 9112 §3.2, §6.1, §6.2, §6.3, §11.2; RFC 9110 §2.5, §7.2, §15.5.1, §15.6.2, §15.6.6.
    @Test("Requests that could be smuggled are refused, in one piece and byte by byte", arguments: refused)
    func refuses(_ row: (String, String, Int)) {
        for pieceLength in [1, 3, .max] {
            var server = TracedServer()
            server.receive(row.0 + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n", pieceLength: pieceLength)
            server.end()
            #expect(server.trace.all == ["ended " + row.1], "pieces of \(pieceLength)")
            let response = server.server.takeOutput().text
            #expect(response.hasPrefix("HTTP/1.1 \(row.2) ") && response.hasSuffix("\r\nContent-Length: 0\r\n\r\n"))
            #expect(response.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test("Heads that are too long are refused with status 431")
    func tooLong() {
        var server = TracedServer()
        server.receive("GET / HTTP/1.1\r\nA: " + String(repeating: "x", count: 64 << 10))
        #expect(server.trace.all == ["ended syntax(more bytes in the head than 65536)"])
        #expect(server.server.takeOutput().text.hasPrefix("HTTP/1.1 431 "))
    }

    @Test("The stream may end between requests only")
    func ends() {
        for (text, line) in [
            ("", "ended"), ("GET / HT", "ended endedEarly(received: 0, expected: nil)"),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab",
                "ended endedEarly(received: 2, expected: Optional(5))"
            ),
        ] {
            var server = TracedServer()
            server.receive(text)
            server.end()
            #expect(server.trace.all.last == line && server.server.outputCount == 0)
        }
    }

    // RFC 9112 §9.3.2.
    @Test("Pipelined requests are decoded one after the other")
    func pipelining() throws {
        var server = TracedServer()
        server.receive("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3")
        server.end()
        #expect(server.trace.all == ["GET /1 none", "finished"])
        try server.server.respond(HTTPResponseHead(status: 204))
        server.takeEvents()
        #expect(server.trace.all == ["GET /1 none", "finished", "GET /2 none", "finished"])
        try server.server.respond(HTTPResponseHead(status: 200), body: .length(1))
        server.takeEvents()
        try server.server.sendContent([0x61])
        try server.server.sendEnd()
        server.takeEvents()
        #expect(server.trace.all.last == "ended endedEarly(received: 0, expected: nil)")
        #expect(
            server.server.takeOutput().text
                == "HTTP/1.1 204 \r\n\r\nHTTP/1.1 200 \r\nContent-Length: 1\r\n\r\na")
    }

    @Test("Aborting is reported once, and finishing an idle connection ends it")
    func endings() {
        var server = TracedServer()
        server.server.abort()
        server.server.abort()
        server.receive("GET / HTTP/1.1\r\n\r\n")
        #expect(server.trace.all == ["ended aborted"] && server.server.outputCount == 0)
        server = TracedServer()
        server.server.finish()
        server.takeEvents()
        server.server.finish()
        server.takeEvents()
        #expect(server.trace.all == ["ended"])
    }

    @Test("Content is delivered without a copy, and limited")
    func slices() {
        var server = TracedServer()
        let bytes = Array("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc".utf8)
        server.server.received(bytes[...])
        _ = server.server.nextEvent(atMost: 0)
        #expect(server.server.nextEvent(atMost: 0) == nil)
        #expect(server.server.nextEvent(atMost: 2) == .content(bytes[(bytes.count - 3)..<(bytes.count - 1)]))
    }
}
