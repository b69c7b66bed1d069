import Testing

@testable import CausewayWire

/// Reads a message head in pieces of `pieceLength` bytes. Returns the reader and the number of bytes that it consumed.
private func read(
    _ bytes: [UInt8], _ kind: HeadReader.Kind, pieceLength: Int = .max, limits: HeadReader.Limits = .init()
) throws(HTTPSyntaxError) -> (reader: HeadReader, consumed: Int) {
    var reader = HeadReader(kind, limits: limits)
    var consumed = 0
    var rest = bytes[...]
    while !rest.isEmpty, !reader.isComplete {
        let piece = rest.prefix(pieceLength)
        let count = try reader.take(piece)
        consumed += count
        rest = rest.dropFirst(count)
    }
    return (reader, consumed)
}

private func error(
    _ text: String, _ kind: HeadReader.Kind, pieceLength: Int = .max, limits: HeadReader.Limits = .init()
) -> HTTPSyntaxError? {
    do throws(HTTPSyntaxError) {
        _ = try read(Array(text.utf8), kind, pieceLength: pieceLength, limits: limits)
        return nil
    } catch {
        return error
    }
}

@Suite("Heads of requests and responses (RFC 9112 §2-5)")
struct HeadReaderTests {
    private let request = "POST /a?b=c HTTP/1.1\r\nHost: example.com\r\nX:  y z\t \r\nEmpty:\r\n\r\nbody"

    @Test("A request, in pieces of every length", arguments: 1...40)
    func readsRequest(pieceLength: Int) throws {
        var (reader, consumed) = try read(Array(request.utf8), .request, pieceLength: pieceLength)
        #expect(reader.isComplete && consumed == request.utf8.count - 4 && reader.byteCount == consumed)
        let finished = reader.finishRequest()
        let head = try #require(finished)
        #expect(head.method == "POST" && head.target == "/a?b=c" && head.version == .http11)
        #expect(head.fields == section(("Host", "example.com"), ("X", "y z"), ("Empty", "")))
        #expect(!reader.isComplete && !reader.hasBegun && reader.finishRequest() == nil)
    }

    @Test("The same reader reads the next head")
    func next() throws {
        var reader = HeadReader(.response)
        for status in [100, 200] {
            let bytes = Array("HTTP/1.1 \(status) x\r\nA: b\r\n\r\n".utf8)
            #expect(try reader.take(bytes[...]) == bytes.count)
            #expect(reader.finishResponse()?.status == status)
        }
    }

    static let responses: [(String, Int, String, HTTPVersion)] = [
        ("HTTP/1.1 200 OK", 200, "OK", .http11), ("HTTP/1.0 404 Not Found", 404, "Not Found", .http10),
        ("HTTP/1.1 200 ", 200, "", .http11), ("HTTP/1.1 200", 200, "", .http11),
        ("HTTP/1.1 999 \tx  ", 999, "\tx  ", .http11),
        ("HTTP/1.7 100 Für", 100, "Für", HTTPVersion(major: 1, minor: 7)),
    ]

    @Test("Status lines", arguments: responses)
    func statusLine(_ row: (String, Int, String, HTTPVersion)) throws {
        for pieceLength in [1, 2, 3, 100] {
            var (reader, _) = try read(Array("\(row.0)\r\n\r\n".utf8), .response, pieceLength: pieceLength)
            let finished = reader.finishResponse()
            let head = try #require(finished)
            #expect(head.status == row.1 && head.reason == row.2 && head.version == row.3 && head.fields.isEmpty)
        }
    }

    static let badResponses: [(String, HTTPSyntaxError)] = [
        ("SSH-2.0-x\r\n", .invalid("HTTP version", at: 0)), ("HTTQ", .invalid("HTTP version", at: 0)),
        ("http/1.1 200 OK\r\n", .invalid("HTTP version", at: 0)),
        ("HTTP/2.0 200 OK\r\n", .invalid("HTTP version", at: 0)),
        ("HTTP/11 200 OK\r\n", .invalid("HTTP version", at: 0)),
        ("HTTP/1.x 200 OK\r\n", .invalid("HTTP version", at: 0)),
        ("HTTP/1.1\r\n", .invalid("status", at: 8)), ("HTTP/1.1 20\r\n", .invalid("status", at: 8)),
        ("HTTP/1.1  200 OK\r\n", .invalid("status", at: 9)), ("HTTP/1.1 2x0 OK\r\n", .invalid("status", at: 10)),
        ("HTTP/1.1 099 OK\r\n", .invalid("status", at: 9)), ("HTTP/1.1 2000 OK\r\n", .invalid("status", at: 12)),
        ("HTTP/1.1 200 a\u{0}b\r\n", .invalid("reason phrase", at: 14)),
        ("HTTP/1.1 200 a\rb\r\n", .invalid("reason phrase", at: 14)),
        ("\r\nHTTP/1.1 200 OK\r\n", .invalid("HTTP version", at: 0)),
    ]

    @Test("Malformed status lines, in one piece and byte by byte", arguments: badResponses)
    func badStatusLine(_ row: (String, HTTPSyntaxError)) {
        for pieceLength in [1, 3, 100] { #expect(error(row.0, .response, pieceLength: pieceLength) == row.1) }
    }

    static let badRequests: [(String, HTTPSyntaxError)] = [
        ("GET / HTTP/1.1 \r\n", .invalid("HTTP version", at: 6)),
        ("GET / HTTP/1.1x\r\n", .invalid("HTTP version", at: 6)),
        ("GET / HTTP/2.0\r\n", .invalid("HTTP version", at: 6)),
        ("GET / http/1.1\r\n", .invalid("HTTP version", at: 6)),
        ("GET /\r\n", .invalid("target", at: 5)), ("GET  / HTTP/1.1\r\n", .invalid("target", at: 4)),
        ("GET\t/ HTTP/1.1\r\n", .invalid("method", at: 3)), (" GET / HTTP/1.1\r\n", .invalid("method", at: 0)),
        ("G(T / HTTP/1.1\r\n", .invalid("method", at: 1)), ("GET /a#b HTTP/1.1\r\n", .invalid("target", at: 6)),
        ("GET /ü HTTP/1.1\r\n", .invalid("target", at: 5)), ("GET /a\u{0} HTTP/1.1\r\n", .invalid("target", at: 6)),
        ("GET / b HTTP/1.1\r\n", .invalid("HTTP version", at: 6)), ("GET\r\n", .invalid("method", at: 3)),
        ("GET / HTTP/1.1\n", .invalid("line end", at: 14)), ("GET / HTTP/1.1\r\r\n", .invalid("HTTP version", at: 6)),
    ]

    @Test("Malformed request lines, in one piece and byte by byte", arguments: badRequests)
    func badRequestLine(_ row: (String, HTTPSyntaxError)) {
        for pieceLength in [1, 3, 100] { #expect(error(row.0, .request, pieceLength: pieceLength) == row.1) }
    }

    /// Invalid field lines, with the expected errors. In each test, the request line `G / HTTP/1.1` comes first. It has
    /// 14 bytes, including its line end.
    static let badFields: [(String, HTTPSyntaxError)] = [
        ("A: b\r\n c\r\n", .invalid("folded line", at: 20)), (" A: b\r\n", .invalid("folded line", at: 14)),
        ("A: b\r\n\tc\r\n", .invalid("folded line", at: 20)), ("A : b\r\n", .invalid("field name", at: 15)),
        ("A\t: b\r\n", .invalid("field name", at: 15)), ("nothing\r\n", .invalid("field name", at: 21)),
        (": b\r\n", .invalid("field name", at: 14)), ("A(b): c\r\n", .invalid("field name", at: 15)),
        ("Ä: c\r\n", .invalid("field name", at: 14)), ("A: b\u{0}c\r\n", .invalid("field value", at: 18)),
        ("A: b\rc\r\n", .invalid("field value", at: 18)), ("A: b\r\r\n", .invalid("field value", at: 18)),
        ("A: b\u{7}\r\n", .invalid("field value", at: 18)), ("A: \u{7F}\r\n", .invalid("field value", at: 17)),
        ("A: b\n", .invalid("line end", at: 18)), ("A: b\r\n\n", .invalid("line end", at: 20)),
        ("A\u{0}: b\r\n", .invalid("field name", at: 15)),
    ]

    // RFC 9110 §5.1, §5.5.
    @Test("Malformed fields, in one piece and byte by byte", arguments: badFields)
    func badField(_ row: (String, HTTPSyntaxError)) {
        for pieceLength in [1, 5, 100] {
            #expect(error("G / HTTP/1.1\r\n" + row.0, .request, pieceLength: pieceLength) == row.1)
        }
    }

    @Test("Bytes above ASCII and tabs are permitted in values, and only spaces at the ends are removed")
    func values() throws {
        let bytes = Array("HTTP/1.1 200 OK\r\nA:\t\u{E9} b\t \r\n\r\n".utf8)
        var (reader, _) = try read(bytes, .response)
        #expect(reader.finishResponse()?.fields == section(("A", "é b")))
    }

    @Test("Line feeds without carriage return, in responses only (RFC 9112 §2.2)")
    func bareLineFeeds() throws {
        for pieceLength in [1, 100] {
            let text = "HTTP/1.1 200 OK\nA: b\r\nC: d\n\nx"
            var (reader, consumed) = try read(Array(text.utf8), .response, pieceLength: pieceLength)
            #expect(
                reader.finishResponse()?.fields == section(("A", "b"), ("C", "d")) && consumed == text.utf8.count - 1)
        }
        #expect(error("HTTP/1.1 200 OK\nA: b\rc\n", .response) == .invalid("field value", at: 20))
        #expect(error("A: b\n", .trailers) == .invalid("line end", at: 4))
    }

    /// Pairs: a section with folded field lines, and the expected value of its last field.
    static let foldedFields: [(String, String)] = [
        ("A: one\r\n two", "one   two"), ("A: one \t\r\n\t two \r\n three\t", "one      two    three"),
        ("A:\r\n one", "one"), ("A: one\r\n \t", "one"), ("A: one\r\n \r\n two", "one      two"),
        ("A: one\n two", "one  two"), ("A:\r\n ", ""), ("A: one\r\n B: two", "one   B: two"),
    ]

    @Test("Spaces replace the line ends of folded fields, in responses only (RFC 9112 §5.2)", arguments: foldedFields)
    func foldedField(_ row: (String, String)) throws {
        for pieceLength in [1, 5, 100] {
            let text = "HTTP/1.1 200 OK\r\nX: y\r\n\(row.0)\r\nC: d\r\n\r\n"
            var (reader, _) = try read(Array(text.utf8), .response, pieceLength: pieceLength)
            #expect(reader.finishResponse()?.fields == section(("X", "y"), ("A", row.1), ("C", "d")))
        }
    }

    @Test("A folded line needs a field before it, and its characters are checked")
    func badFoldedField() {
        #expect(error("HTTP/1.1 200 OK\r\n A: b\r\n", .response) == .invalid("folded line", at: 17))
        #expect(error("HTTP/1.1 200 OK\r\nA: b\r\n c\u{0}\r\n", .response) == .invalid("field value", at: 25))
        #expect(error("A: b\r\n c\r\n", .trailers) == .invalid("folded line", at: 6))
    }

    @Test("Empty lines before a request are ignored, up to four (RFC 9112 §2.2)")
    func emptyLines() throws {
        let line = "GET / HTTP/1.1\r\n\r\n"
        for count in 0...4 {
            let text = String(repeating: "\r\n", count: count) + line
            for pieceLength in [1, 2, 100] {
                var (reader, consumed) = try read(Array(text.utf8), .request, pieceLength: pieceLength)
                #expect(reader.finishRequest()?.target == "/" && consumed == text.utf8.count)
            }
        }
        #expect(error(String(repeating: "\r\n", count: 5) + line, .request) == .invalid("start line", at: 0))
    }

    // This test checks RFC 9110 §2.3, §5.4, §17.5.
    @Test("The length of a head is limited, exactly", arguments: [1, 7, 4096])
    func byteLimit(pieceLength: Int) throws {
        let start = "GET / HTTP/1.1\r\nA: "
        var limits = HeadReader.Limits()
        for limit in [64 << 10, 100] {
            limits.byteCount = limit
            let fill = limit - start.utf8.count - 4
            let fitting = start + String(repeating: "x", count: fill) + "\r\n\r\n"
            var (reader, _) = try read(Array(fitting.utf8), .request, pieceLength: pieceLength, limits: limits)
            #expect(reader.finishRequest()?.fields.byteCount == fill + 1)
            let longer = start + String(repeating: "x", count: fill + 1) + "\r\n\r\n"
            let expected = HTTPSyntaxError.limitExceeded("bytes in the head", limit: limit)
            #expect(error(longer, .request, pieceLength: pieceLength, limits: limits) == expected)
        }
        #expect(HeadReader.Limits().byteCount == 64 << 10 && HeadReader.Limits().fieldCount == 1_000)
    }

    @Test("The number of fields is limited, exactly")
    func fieldLimit() throws {
        let thousand = "HTTP/1.1 200 OK\r\n" + String(repeating: "a:b\r\n", count: 1_000)
        var (reader, _) = try read(Array((thousand + "\r\n").utf8), .response)
        #expect(reader.finishResponse()?.fields.count == 1_000)
        let expected = HTTPSyntaxError.limitExceeded("fields", limit: 1_000)
        for pieceLength in [1, 1 << 20] {
            #expect(error(thousand + "a:b\r\n\r\n", .response, pieceLength: pieceLength) == expected)
        }
    }

    @Test("A trailer section has no first line")
    func trailers() throws {
        for pieceLength in 1...8 {
            var (reader, consumed) = try read(Array("A: b\r\nC: d\r\n\r\nx".utf8), .trailers, pieceLength: pieceLength)
            #expect(reader.isComplete && consumed == 14 && reader.finishFields() == section(("A", "b"), ("C", "d")))
            (reader, consumed) = try read(Array("\r\nx".utf8), .trailers, pieceLength: pieceLength)
            #expect(reader.isComplete && consumed == 2 && reader.finishFields().isEmpty)
        }
    }

    @Test("A complete reader consumes nothing more, and an incomplete one has no head")
    func states() throws {
        var (reader, _) = try read(Array("GET / HTTP/1.1\r\n\r\n".utf8), .request)
        #expect(try reader.take([1, 2]) == 0 && reader.finishResponse() == nil)
        var (part, _) = try read(Array("GET / HTTP/1.1\r\n\r".utf8), .request)
        #expect(!part.isComplete && part.hasBegun && part.finishRequest() == nil)
    }
}

@Suite("Writing heads (RFC 9112 §3, §4)")
struct HeadEncodingTests {
    @Test("A request and a response")
    func heads() throws {
        let fields = section(("Host", "h"), ("X", ""))
        var bytes: [UInt8] = [1]
        try HTTPRequestHead(method: "GET", target: "/a?b", fields: fields).encode(into: &bytes)
        #expect(bytes == [1] + Array("GET /a?b HTTP/1.1\r\nHost: h\r\nX: \r\n\r\n".utf8))
        bytes = []
        try HTTPResponseHead(status: 404, reason: "Not Found", version: .http10, fields: fields).encode(into: &bytes)
        #expect(bytes == Array("HTTP/1.0 404 Not Found\r\nHost: h\r\nX: \r\n\r\n".utf8))
        bytes = []
        try HTTPResponseHead(status: 200).encode(into: &bytes)
        #expect(bytes == Array("HTTP/1.1 200 \r\n\r\n".utf8))
        #expect(fields.encodedCount == "Host: h\r\nX: \r\n\r\n".utf8.count)
    }

    static let badRequests: [(HTTPRequestHead, String)] = [
        (HTTPRequestHead(method: "GET / HTTP/1.1\r\nX:", target: "/"), "method"),
        (HTTPRequestHead(method: "", target: "/"), "method"),
        (HTTPRequestHead(method: "G\u{0}T", target: "/"), "method"),
        (HTTPRequestHead(method: "GÉT", target: "/"), "method"),
        (HTTPRequestHead(method: "GET", target: ""), "target"),
        (HTTPRequestHead(method: "GET", target: "/a b"), "target"),
        (HTTPRequestHead(method: "GET", target: "/a\r\nX: y"), "target"),
        (HTTPRequestHead(method: "GET", target: "/a\u{0}"), "target"),
        (HTTPRequestHead(method: "GET", target: "/#a"), "target"),
        (HTTPRequestHead(method: "GET", target: "/é"), "target"),
        (HTTPRequestHead(method: "GET", target: "/", version: .http2), "version"),
        (HTTPRequestHead(method: "GET", target: "/", fields: section(("A", "b\r\nC: d"))), "value of field A"),
        (HTTPRequestHead(method: "GET", target: "/", fields: section(("A", "b\nC"))), "value of field A"),
        (HTTPRequestHead(method: "GET", target: "/", fields: section(("A", "b\rC"))), "value of field A"),
        (HTTPRequestHead(method: "GET", target: "/", fields: section(("O", ""), ("A", "\u{0}"))), "value of field A"),
        (HTTPRequestHead(method: "GET", target: "/", fields: section(("O", ""), ("", "a"))), "name of field 1"),
        (HTTPRequestHead(method: "GET", target: "/", fields: section(("A:", "b"))), "name of field 0"),
        (HTTPRequestHead(method: "GET", target: "/", fields: section(("A\r\nB", "b"))), "name of field 0"),
    ]

    // RFC 9112 §11.1.
    @Test("Requests that would change the meaning of the message are refused", arguments: badRequests)
    func badRequest(_ row: (HTTPRequestHead, String)) {
        var bytes: [UInt8] = [7]
        #expect(throws: HTTPSyntaxError.unwritable(row.1)) { try row.0.encode(into: &bytes) }
        #expect(bytes == [7])
    }

    @Test("Responses that would change the meaning of the message are refused")
    func badResponses() {
        for (head, name) in [
            (HTTPResponseHead(status: 99), "status"), (HTTPResponseHead(status: 1000), "status"),
            (HTTPResponseHead(status: 200, reason: "a\r\nB: c"), "reason phrase"),
            (HTTPResponseHead(status: 200, fields: section(("A", "\n"))), "value of field A"),
        ] {
            var bytes: [UInt8] = []
            #expect(throws: HTTPSyntaxError.unwritable(name)) { try head.encode(into: &bytes) }
            #expect(bytes.isEmpty)
        }
    }

    @Test("A written head is read as it was")
    func roundTrip() throws {
        let fields = section(("A", "b, c"), ("Set-Cookie", "x=y; Path=/"), ("A", "é"))
        var bytes: [UInt8] = []
        let request = HTTPRequestHead(method: "M-SEARCH", target: "*", version: .http10, fields: fields)
        try request.encode(into: &bytes)
        var reader = HeadReader(.request)
        #expect(try reader.take(bytes[...]) == bytes.count && reader.finishRequest() == request)
    }
}
