import CausewayWire
import Testing

@testable import CausewayProtocols

private let host = fields(("Host", "h"))

private func post(_ extra: (String, String)...) -> HTTPRequestHead {
    var fields = host
    for (name, value) in extra { fields.append(name, value) }
    return HTTPRequestHead(method: "POST", target: "/a", fields: fields)
}

@Suite("Requests on an HTTP/1.1 connection (RFC 9112 §6)")
struct HTTP1ClientSendingTests {
    @Test("A body of known length")
    func length() throws {
        var client = TracedClient()
        try client.client.send(post(), body: .length(5), at: .zero)
        #expect(!client.client.hasSentRequest)
        try client.client.sendContent(Array("hel".utf8)[...])
        try client.client.sendContent(Array("lo".utf8)[...])
        try client.client.sendEnd()
        #expect(client.client.hasSentRequest)
        #expect(client.client.takeOutput().text == "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
        #expect(client.client.outputCount == 0)
    }

    @Test("A chunked body with trailers")
    func chunked() throws {
        var client = TracedClient()
        try client.client.send(post(), body: .chunked, at: .zero)
        for piece in ["hello", "", "ab"] { try client.client.sendContent(Array(piece.utf8)[...]) }
        try client.client.sendEnd(trailers: fields(("T", "v")))
        #expect(
            client.client.takeOutput().text
                == "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n2\r\nab\r\n0\r\nT: v\r\n\r\n"
        )
    }

    @Test("Large pieces are sent without a copy")
    func pieces() throws {
        var client = TracedClient()
        let piece = [UInt8](repeating: 1, count: 10_000)
        try client.client.send(post(), body: .length(10_000), at: .zero)
        try client.client.sendContent(piece[...])
        var output = client.client.takeOutput()
        _ = output.popPiece()
        let sent = try #require(output.onlyPiece)
        let isSame = unsafe sent.withUnsafeBufferPointer { one in
            unsafe piece.withUnsafeBufferPointer { unsafe one.baseAddress == $0.baseAddress }
        }
        #expect(isSame)
    }

    @Test("A field of the program that agrees with the body is not repeated")
    func ownLength() throws {
        var client = TracedClient()
        try client.client.send(post(("Content-Length", "2")), body: .length(2), at: .zero)
        #expect(client.client.takeOutput().text == "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n")
        client = TracedClient()
        try client.client.send(post(("Content-Length", "0")), at: .zero)
        #expect(client.client.takeOutput().text.hasSuffix("Content-Length: 0\r\n\r\n") && client.client.hasSentRequest)
    }

    static let unwritable: [(HTTPRequestHead, HTTP1BodyLength, String)] = [
        (post(("Content-Length", "3")), .length(2), "field Content-Length"),
        (post(("Content-Length", "3")), .none, "field Content-Length"),
        (post(("Content-Length", "2"), ("Content-Length", "3")), .length(2), "field Content-Length"),
        (post(("Content-Length", "2")), .chunked, "field Content-Length"),
        (post(("Content-Length", "x")), .length(2), "field Content-Length"),
        (post(("Transfer-Encoding", "chunked")), .chunked, "field Transfer-Encoding"),
        (post(("transfer-encoding", "gzip")), .none, "field Transfer-Encoding"),
        (post(("Host", "other")), .none, "field Host"),
        (HTTPRequestHead(method: "GET", target: "/"), .none, "field Host"),
        (post(("A", "b\r\nC: d")), .none, "value of field A"),
        (HTTPRequestHead(method: "GET\r\n", target: "/", fields: host), .none, "method"),
        (HTTPRequestHead(method: "GET", target: "/ HTTP/1.1\r\nA: b\r\n\r\n", fields: host), .none, "target"),
    ]

    @Test("Requests that cannot be sent leave the connection idle", arguments: unwritable)
    func refuses(_ row: (HTTPRequestHead, HTTP1BodyLength, String)) throws {
        var client = TracedClient()
        #expect(throws: HTTP1Failure.unwritable(.unwritable(row.2))) {
            try client.client.send(row.0, body: row.1, at: .zero)
        }
        #expect(client.client.isIdle && client.client.outputCount == 0)
        try client.client.send(post(), at: .zero)
    }

    @Test("Calls that contradict the state are refused")
    func misuse() throws {
        var client = TracedClient()
        #expect(throws: HTTP1Failure.self) { try client.client.send(post(), body: .untilEnd, at: .zero) }
        let old = HTTPRequestHead(method: "POST", target: "/", version: .http10)
        #expect(throws: HTTP1Failure.self) { try client.client.send(old, body: .chunked, at: .zero) }
        try client.client.send(post(), body: .length(3), at: .zero)
        #expect(throws: HTTP1Failure.self) { try client.client.send(post(), at: .zero) }
        try client.client.sendContent([1, 2])
        #expect(throws: HTTP1Failure.misuse("less content than Content-Length")) { try client.client.sendEnd() }
        #expect(throws: HTTP1Failure.misuse("more content than Content-Length")) {
            try client.client.sendContent([3, 4])
        }
        try client.client.sendContent([3])
        try client.client.sendEnd()
        try client.client.sendEnd()
        #expect(throws: HTTP1Failure.misuse("content after the end of the body")) { try client.client.sendContent([4]) }
    }

    @Test("A response before the end of the request prevents reuse")
    func earlyResponse() throws {
        var client = TracedClient()
        try client.client.send(post(), body: .length(3), at: .zero)
        try client.client.sendContent([1])
        client.receive("HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n")
        #expect(client.trace.all == ["responded 413 length(0)", "finished", "ended"])
        try client.client.sendContent([2])
        #expect(client.client.takeOutput().text.hasSuffix("\r\n\r\n\u{1}"))
    }

    @Test("A request that ends while the response arrives permits reuse")
    func lateRequest() throws {
        var client = TracedClient()
        try client.client.send(post(), body: .length(1), at: .zero)
        client.receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
        try client.client.sendContent([1])
        try client.client.sendEnd()
        client.receive("b")
        #expect(client.trace.all == ["responded 200 length(2)", "content ab", "finished, reusable"])
    }

    @Test("A request with Connection: close is the last one")
    func closing() throws {
        var client = try TracedClient("GET", ("Connection", "close"))
        client.receive("HTTP/1.1 204 No\r\n\r\n")
        #expect(client.trace.all == ["responded 204 none", "finished", "ended"])
    }

    private func expecting() throws -> TracedClient {
        var client = TracedClient()
        try client.client.send(post(("Expect", "100-continue")), body: .length(3), at: .seconds(10))
        _ = client.client.takeOutput()
        try client.client.sendContent([1, 2, 3])
        try client.client.sendEnd()
        return client
    }

    // RFC 9110 §15.2.1.
    @Test("A body waits for status 100 (RFC 9110 §10.1.1)")
    func continued() throws {
        var client = try expecting()
        #expect(client.client.isBodyHeld && client.client.takeOutput().isEmpty && client.client.outputCount == 3)
        #expect(client.client.deadline == .seconds(11) && !client.client.hasSentRequest)
        client.receive("HTTP/1.1 103 Hints\r\n\r\n")
        #expect(client.client.isBodyHeld)
        client.receive("HTTP/1.1 100 Continue\r\n\r\n")
        #expect(client.client.takeOutput().bytes == [1, 2, 3] && client.client.deadline == nil)
        client.receive("HTTP/1.1 204 No\r\n\r\n")
        #expect(client.trace.all.suffix(2) == ["responded 204 none", "finished, reusable"])
    }

    @Test("A body is sent after the timeout without status 100")
    func continueTimeout() throws {
        var client = try expecting()
        client.client.advance(to: .seconds(11) - .nanoseconds(1))
        #expect(client.client.takeOutput().isEmpty)
        client.client.advance(to: .seconds(11))
        client.client.advance(to: .seconds(12))
        #expect(client.client.takeOutput().bytes == [1, 2, 3])
        client.receive("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n")
        #expect(client.client.isIdle)
    }

    @Test("A body that waits for status 100 is not sent after a final response")
    func expectationFailed() throws {
        var client = try expecting()
        client.receive("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")
        #expect(client.trace.all == ["responded 417 length(0)", "finished", "ended"])
        #expect(client.client.outputCount == 0)
        client = TracedClient()
        try client.client.send(post(("Expect", "100-continue")), body: .length(3), at: .zero)
        client.receive("HTTP/1.1 401 No\r\nContent-Length: 9\r\n\r\n")
        _ = client.client.takeOutput()
        try client.client.sendContent([1, 2, 3])
        try client.client.sendEnd()
        #expect(client.client.outputCount == 0 && client.client.deadline == nil)
    }

    @Test("A body that waits for status 100 is discarded when the connection ends")
    func endedWhileHeld() throws {
        var client = try expecting()
        client.client.inputEnded()
        #expect(client.client.nextEvent() == .ended(.endedWithoutResponse))
        #expect(client.client.outputCount == 0 && client.client.takeOutput().isEmpty && !client.client.hasSentRequest)
    }

    @Test("A request without content does not wait")
    func nothingToHold() throws {
        var client = TracedClient()
        try client.client.send(post(("Expect", "100-continue")), body: .length(0), at: .zero)
        #expect(!client.client.isBodyHeld && client.client.deadline == nil)
    }
}
