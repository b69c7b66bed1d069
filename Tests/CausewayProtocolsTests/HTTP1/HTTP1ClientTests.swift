import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("The client's side of an HTTP/1.1 connection (RFC 9112)")
struct HTTP1ClientTests {
    /// A request method, the bytes that the server sends, and the expected events.
    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        let bytes: String
        let events: [String]
        var testDescription: String { method + " " + bytes }

        init(_ bytes: String, _ events: String..., method: String = "GET") {
            self.method = method
            self.bytes = bytes
            self.events = events
        }
    }

    /// Responses after which the server keeps the connection open.
    static let complete: [Row] = [
        Row(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "responded 200 length(5)", "content hello",
            "finished, reusable"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "responded 200 length(0)", "finished, reusable"),
        Row(
            "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nab", "responded 200 length(2)",
            "content ab", "finished, reusable"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nA: b\r\n\r\n",
            "responded 200 chunked", "content abcde", "finished, reusable A: b"),
        Row("HTTP/1.1 204 No\r\n\r\n", "responded 204 none", "finished, reusable"),
        Row("HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n", "responded 304 none", "finished, reusable"),
        Row("HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n", "responded 304 none", "finished, reusable"),
        Row("HTTP/1.1 205 Reset\r\n\r\n", "responded 205 none", "finished, reusable"),
        Row("HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n", "responded 205 length(0)", "finished, reusable"),
        Row(
            "HTTP/1.1 205 Reset\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "responded 205 chunked",
            "finished, reusable"),
        Row(
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "responded 200 none", "finished, reusable", method: "HEAD"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "responded 200 none", "finished, reusable",
            method: "HEAD"),
        Row("HTTP/1.1 200 OK\r\n\r\n", "responded 200 none", "finished, reusable", method: "HEAD"),
        Row(
            "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 102 W\r\nContent-Length: 3\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
            "informational 103 Link: x", "informational 102 Content-Length: 3", "responded 204 none",
            "finished, reusable"),
        // An HTTP/1.0 connection persists only if the server sends `keep-alive`.
        Row(
            "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", "responded 200 length(1)",
            "content x", "finished, reusable"),
        Row(
            "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "responded 200 length(1)", "content x", "finished", "ended"
        ),
        Row(
            "HTTP/1.1 200 OK\r\nConnection: x, CLOSE\r\nContent-Length: 1\r\n\r\nx", "responded 200 length(1)",
            "content x", "finished", "ended"),
        Row(
            "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            "responded 200 length(0)", "finished", "ended"),
        // A server that sends these fields might also send a body, so the client must not use the connection again.
        Row("HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n", "responded 204 none", "finished", "ended"),
        Row("HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n", "responded 204 none", "finished", "ended"),
        Row(
            "HTTP/1.1 304 Same\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "responded 304 none", "finished",
            "ended"),
        // An intermediary may have forwarded this HTTP/1.0 message without knowledge of its transfer coding (RFC 9112
        // §6.1). So the connection is not reused.
        Row(
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "responded 200 chunked", "content a", "finished", "ended"),
        // The coding name `identity` means that the message has no transfer coding. It comes from RFC 2616 §3.6.
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nx", "responded 200 length(1)",
            "content x", "finished, reusable"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "responded 200 chunked", "content a", "finished, reusable"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "responded 200 chunked",
            "content a", "finished, reusable"),
        Row("HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "responded 200 length(1)", "content x", "finished, reusable"),
        Row(
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "responded 404 length(0)", "finished, reusable",
            method: "CONNECT"),
    ]

    // Complete responses: RFC 9112 §6.3, §7.1.3.
    @Test("Complete responses, in pieces of every length", arguments: complete)
    func completes(_ row: Row) throws {
        for pieceLength in Array(1...20) + [.max] {
            var client = try TracedClient(row.method)
            client.receive(row.bytes, pieceLength: pieceLength)
            #expect(client.trace.all == row.events, "pieces of \(pieceLength)")
            #expect(client.client.isIdle == (row.events.last != "ended"))
        }
    }

    /// Responses after which the server closes the connection.
    static let ending: [Row] = [
        Row("HTTP/1.1 200 OK\r\n\r\nhello", "responded 200 untilEnd", "content hello", "finished", "ended"),
        Row("HTTP/1.0 200 OK\r\n\r\n", "responded 200 untilEnd", "finished", "ended"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello", "responded 200 untilEnd", "content hello",
            "finished", "ended"),
        Row("", "ended endedWithoutResponse"), Row("HTT", "ended endedEarly(received: 0, expected: nil)"),
        Row("HTTP/1.1 200 OK\r\nA: b\r\n\r", "ended endedEarly(received: 0, expected: nil)"),
        Row(
            "HTTP/1.1 100 Continue\r\n\r\n", "informational 100", "ended endedEarly(received: 0, expected: nil)"),
        Row(
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", "responded 200 length(10)", "content hello",
            "ended endedEarly(received: 5, expected: Optional(10))"),
        Row(
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "responded 200 length(10)",
            "ended endedEarly(received: 0, expected: Optional(10))"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "responded 200 chunked", "content hel",
            "ended endedEarly(received: 3, expected: nil)"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", "responded 200 chunked",
            "content a",
            "ended endedEarly(received: 1, expected: nil)"),
    ]

    // This test checks RFC 9112 §8.
    @Test("Responses before the end of the stream, in pieces of every length", arguments: ending)
    func ends(_ row: Row) throws {
        for pieceLength in Array(1...20) + [.max] {
            var client = try TracedClient(row.method)
            client.receive(row.bytes, pieceLength: pieceLength)
            client.end()
            #expect(client.trace.all == row.events, "pieces of \(pieceLength)")
        }
    }

    static let refused: [Row] = [
        Row("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: 5, 05\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: 5 5\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: ,\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "ended framing(\"Content-Length with Transfer-Encoding\")"),
        Row("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", "ended framing(\"Transfer-Encoding\")"),
        Row("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", "ended framing(\"Transfer-Encoding\")"),
        Row("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n", "ended framing(\"Transfer-Encoding\")"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked\r\nContent-Length: 1\r\n\r\n",
            "ended framing(\"Content-Length with Transfer-Encoding\")"),
        Row("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n", "ended framing(\"Transfer-Encoding\")"),
        Row("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;a=b\r\n\r\n", "ended framing(\"Transfer-Encoding\")"),
        Row("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "ended unsupportedCoding"),
        Row("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "ended syntax(invalid field name at byte 18)"),
        Row("HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "ended syntax(invalid folded line at byte 17)"),
        Row("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 0\r\n\r\n", "ended framing(\"Content-Length\")"),
        Row("HTTP/2.0 200 OK\r\n\r\n", "ended syntax(invalid HTTP version at byte 0)"),
        Row(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "responded 200 chunked", "content a",
            "ended syntax(invalid end of a chunk at byte 4)"),
        Row("HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n", "ended unexpectedUpgrade"),
    ]

    @Test("Responses that are refused, in one piece and byte by byte", arguments: refused)
    func refuses(_ row: Row) throws {
        for pieceLength in [1, 2, .max] {
            var client = try TracedClient(row.method)
            client.receive(row.bytes, pieceLength: pieceLength)
            client.end()
            #expect(client.trace.all == row.events, "pieces of \(pieceLength)")
            #expect(client.client.hasEnded && client.client.inputRoom == 0)
        }
    }

    // RFC 9112 §9.2.
    @Test("Bytes after a response prevent reuse, whether they come with it or later")
    func extraBytes() throws {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
        var client = try TracedClient("GET")
        client.receive(response + "HTTP/1.1 200 OK\r\n")
        #expect(client.trace.all == ["responded 200 length(1)", "content x", "finished", "ended"])
        client = try TracedClient("GET")
        client.receive(response)
        client.receive("H")
        #expect(client.trace.all.suffix(2) == ["finished, reusable", "ended unexpectedBytes"])
        #expect(throws: HTTP1Failure.misuse("request on a connection that is not idle")) {
            try client.client.send(
                HTTPRequestHead(method: "GET", target: "/", fields: fields(("Host", "h"))), at: .zero)
        }
    }

    @Test("Content that the owner delivers itself is counted, up to the end of the body")
    func bypass() throws {
        var client = try TracedClient("GET")
        #expect(client.client.bypass(5) == 0, "no head yet")
        client.receive("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nab")
        #expect(client.client.bypass(4) == 4)
        #expect(client.client.bypass(100) == 6)
        #expect(client.client.bypass(100) == 0)
        client.takeEvents()
        #expect(client.trace.all == ["responded 200 length(12)", "content ab", "finished, reusable"])

        client = try TracedClient("GET")
        client.receive("HTTP/1.1 200 OK\r\n\r\n")
        #expect(client.client.bypass(7) == 7)
        client.client.received(Array("x".utf8)[...])
        #expect(client.client.bypass(7) == 0, "earlier input first")
        client.end()
        #expect(client.trace.all == ["responded 200 untilEnd", "content x", "finished", "ended"])

        client = try TracedClient("GET")
        client.receive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(client.client.bypass(7) == 0)
    }

    @Test("A head that the owner does not hand over is decoded from its bytes, in any pieces, and the rest is left")
    func headInPlace() throws {
        let text = Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab".utf8)
        for size in [1, 7, text.count] {
            var client = try TracedClient("GET")
            var (start, events) = (0, 0)
            while start < text.count {
                let piece = text[start..<min(text.count, start + size)]
                let (count, event) = client.client.receivedHead(piece.span)
                if event != nil { events += 1 }
                start += count
                if count == 0 { break }
            }
            #expect(events == 2 && start == text.count - 2)
            #expect(client.client.bypass(2) == 2)
            client.takeEvents()
            #expect(client.trace.all == ["finished, reusable"])
        }
    }

    @Test("A head is not decoded in place before a request, behind earlier bytes, or if it is malformed")
    func noHeadInPlace() throws {
        let text = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        var idle = HTTP1Client()
        #expect(idle.receivedHead(text.span).count == 0)
        var client = try TracedClient("GET")
        client.client.received(Array("HTTP/1.1 2".utf8)[...])
        #expect(client.client.receivedHead(text.span).count == 0)
        client = try TracedClient("GET")
        #expect(client.client.receivedHead(Array("HTTP/1.1 2000 OK\r\n\r\n".utf8).span).event == nil)
        client.takeEvents()
        #expect(client.trace.all.count == 1 && client.trace.all[0].hasPrefix("ended syntax"))
    }

    @Test("A response that ends early is reported with the content that the owner delivered")
    func bypassedLoss() throws {
        var client = try TracedClient("GET")
        client.receive("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
        #expect(client.client.bypass(5) == 5)
        client.end()
        #expect(client.trace.all.last == "ended endedEarly(received: 5, expected: Optional(12))")
    }

    @Test("The end of an idle connection is not a failure, and prevents requests before it is reported")
    func idleEnd() throws {
        var client = try TracedClient("GET")
        client.receive("HTTP/1.1 204 No\r\n\r\n")
        client.client.inputEnded()
        #expect(!client.client.isIdle)
        client.takeEvents()
        #expect(client.trace.all == ["responded 204 none", "finished, reusable", "ended"])
    }

    @Test("The end of the stream with the response prevents reuse")
    func endWithResponse() throws {
        var client = try TracedClient("GET")
        client.client.received(Array("HTTP/1.1 204 No\r\n\r\n".utf8)[...])
        client.end()
        #expect(client.trace.all == ["responded 204 none", "finished", "ended"])
    }

    // RFC 9112 §8, §9.8.
    @Test("A reset is not the end of a body that ends with the connection")
    func uncleanEnd() throws {
        var client = try TracedClient("GET")
        client.receive("HTTP/1.1 200 OK\r\n\r\nhello")
        client.end(isClean: false)
        #expect(
            client.trace.all == [
                "responded 200 untilEnd", "content hello", "ended endedEarly(received: 5, expected: nil)",
            ])
    }

    @Test("32 interim responses are accepted, and 33 are refused")
    func informationalLimit() throws {
        let interim = "HTTP/1.1 103 Hints\r\n\r\n"
        var client = try TracedClient("GET")
        client.receive(String(repeating: interim, count: 32) + "HTTP/1.1 204 No\r\n\r\n")
        #expect(client.trace.all.count == 34 && client.client.isIdle)
        try client.client.send(HTTPRequestHead(method: "GET", target: "/", fields: fields(("Host", "h"))), at: .zero)
        client.receive(String(repeating: interim, count: 33))
        #expect(client.trace.all.last == "ended tooManyInformationalResponses(limit: 32)")
    }

    @Test("After an upgrade and after CONNECT, the rest of the input belongs to the owner")
    func upgrades() throws {
        var client = try TracedClient("GET", ("Upgrade", "x"), ("Connection", "Upgrade"))
        client.receive("HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\nabc")
        client.client.received(Array("de".utf8)[...])
        #expect(client.trace.all == ["upgraded 101"] && client.client.takeRemainingInput().text == "abcde")
        #expect(client.client.hasEnded && client.client.nextEvent() == nil)
        client.client.abort()
        #expect(client.client.nextEvent() == nil)

        client = try TracedClient("CONNECT")
        client.receive("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nabc")
        #expect(client.trace.all == ["upgraded 200"] && client.client.takeRemainingInput().text == "abc")
    }

    @Test("The server may refuse an upgrade")
    func refusedUpgrade() throws {
        var client = try TracedClient("GET", ("Upgrade", "x"))
        client.receive("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        #expect(client.trace.all == ["responded 200 length(1)", "content x", "finished, reusable"])
    }

    // RFC 9112 §9.3.
    @Test("Keep-Alive is reported with the permission to reuse")
    func keepAlive() throws {
        var client = try TracedClient("GET")
        client.client.received(Array("HTTP/1.1 204 No\r\nKeep-Alive: timeout=5, max=3\r\n\r\n".utf8)[...])
        _ = client.client.nextEvent()
        guard case .finished(_, .permitted(let keepAlive)) = client.client.nextEvent() else {
            Issue.record("not reusable")
            return
        }
        #expect(keepAlive.timeout == 5 && keepAlive.maximum == 3)
    }

    @Test("Content is delivered without a copy, and limited")
    func slices() throws {
        var client = try TracedClient("GET")
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef".utf8)
        client.client.received(bytes[...])
        _ = client.client.nextEvent(atMost: 0)
        #expect(client.client.nextEvent(atMost: 0) == nil)
        #expect(client.client.nextEvent(atMost: 4) == .content(bytes[(bytes.count - 6)..<(bytes.count - 2)]))
        guard case .content(let rest) = client.client.nextEvent(atMost: 4) else {
            Issue.record("no content")
            return
        }
        #expect(rest.startIndex == bytes.count - 2 && client.client.receivedCount == 6)
        guard case .finished = client.client.nextEvent(atMost: 0) else {
            Issue.record("no end")
            return
        }
    }

    @Test("Chunks are limited too")
    func chunkLimit() throws {
        for limit in [1, 2, 3, 5] {
            var client = try TracedClient("GET")
            client.client.received(
                Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n".utf8)[...])
            var contents: [Int] = []
            while let event = client.client.nextEvent(atMost: limit) {
                if case .content(let bytes) = event { contents.append(bytes.count) }
            }
            #expect(contents.reduce(0, +) == 6 && contents.allSatisfy { $0 <= limit } && client.client.isIdle)
        }
    }

    @Test("The room for input ends at the limit")
    func inputRoom() throws {
        var client = try TracedClient("GET")
        #expect(client.client.inputRoom == HTTP1Client.inputLimit)
        client.client.received(Array(repeating: 0x41, count: 1000)[...])
        #expect(client.client.inputRoom == HTTP1Client.inputLimit - 1000)
        client.client.received(Array(repeating: 0x41, count: HTTP1Client.inputLimit)[...])
        #expect(client.client.inputRoom == 0)
    }

    @Test("Aborting is reported once")
    func abort() throws {
        var client = try TracedClient("GET")
        client.client.abort()
        client.client.abort()
        client.receive("HTTP/1.1 200 OK\r\n\r\n")
        client.end()
        #expect(client.trace.all == ["ended aborted"] && client.client.outputCount == 0)
    }
}
