import Testing

@testable import CausewayWire

/// The result of decoding a chunked body.
private struct Decoded: Equatable {
    var content = ""
    var trailers: FieldSection?
    var error: HTTPSyntaxError?
    var consumed = 0
}

private func decode(_ text: String, pieceLength: Int = .max, limits: HeadReader.Limits = .init()) -> Decoded {
    var decoder = ChunkDecoder(limits: limits)
    var decoded = Decoded()
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    defer { precondition(decoder.hasEnded == (decoded.trailers != nil)) }
    while !rest.isEmpty, decoded.trailers == nil {
        var piece = rest.prefix(pieceLength)
        let count = piece.count
        do throws(HTTPSyntaxError) {
            while let element = try decoder.next(&piece) {
                switch element {
                case .content(let content): bytes += content
                case .end(let trailers): decoded.trailers = trailers
                }
            }
        } catch {
            decoded.error = error
            break
        }
        decoded.consumed += count - piece.count
        rest = rest.dropFirst(count - piece.count)
        if decoded.trailers == nil { precondition(piece.isEmpty) }
    }
    decoded.content = String(decoding: bytes, as: UTF8.self)
    return decoded
}

@Suite("The chunked transfer coding (RFC 9112 §7.1)")
struct ChunkTests {
    static let bodies: [(String, String, FieldSection)] = [
        ("0\r\n\r\n", "", FieldSection()), ("5\r\nhello\r\n0\r\n\r\n", "hello", FieldSection()),
        ("3\r\nabc\r\n2\r\nde\r\n000\r\n\r\n", "abcde", FieldSection()),
        ("A\r\n0123456789\r\n0a\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", FieldSection()),
        ("3;a=b;c=\"d;e\"\r\nabc\r\n0;last\r\n\r\n", "abc", FieldSection()),
        ("3 ; a\r\nabc\r\n0 \t\r\n\r\n", "abc", FieldSection()), ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n", FieldSection()),
        ("1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n", "a", section(("A", "b"), ("C", "d"))),
        ("0000000000000001\r\na\r\n0\r\n\r\n", "a", FieldSection()),
    ]

    @Test("Bodies, in pieces of every length; bytes after the end stay", arguments: bodies)
    func wellFormed(_ row: (String, String, FieldSection)) {
        for pieceLength in Array(1...24) + [.max] {
            let decoded = decode(row.0 + "next", pieceLength: pieceLength)
            #expect(decoded == Decoded(content: row.1, trailers: row.2, consumed: row.0.utf8.count))
        }
    }

    static let malformed: [(String, HTTPSyntaxError)] = [
        ("\r\n", .invalid("chunk size", at: 0)), ("x\r\n", .invalid("chunk size", at: 0)),
        ("-1\r\n", .invalid("chunk size", at: 0)),
        ("+1\r\n", .invalid("chunk size", at: 0)), (" 1\r\n", .invalid("chunk size", at: 0)),
        ("0x1\r\n", .invalid("chunk size", at: 1)),
        ("1\n", .invalid("chunk size", at: 1)), ("1\rx", .invalid("chunk size", at: 2)),
        ("1 2\r\n", .invalid("chunk size", at: 2)),
        ("1g\r\n", .invalid("chunk size", at: 1)), ("1,\r\n", .invalid("chunk size", at: 1)),
        ("1;a\nb\r\n", .invalid("chunk extension", at: 3)), ("1;a\u{0}\r\n", .invalid("chunk extension", at: 3)),
        ("1;a\rb\r\n", .invalid("chunk size", at: 4)), ("8000000000000000\r\n", .invalid("chunk size", at: 15)),
        ("00000000000000001\r\n", .invalid("chunk size", at: 16)), ("1\r\nab\r\n", .invalid("end of a chunk", at: 4)),
        ("1\r\na\n", .invalid("end of a chunk", at: 4)), ("1\r\na\rb", .invalid("end of a chunk", at: 5)),
        ("0\r\nA b\r\n\r\n", .invalid("field name", at: 4)), ("0\r\n A: b\r\n\r\n", .invalid("folded line", at: 3)),
        ("0\r\nA: b\n\r\n", .invalid("line end", at: 7)), ("0\r\n\n", .invalid("line end", at: 3)),
    ]

    // Malformed chunked bodies: RFC 9112 §7.1.3.
    @Test("Malformed bodies, in one piece and byte by byte", arguments: malformed)
    func refused(_ row: (String, HTTPSyntaxError)) {
        for pieceLength in [1, 2, .max] { #expect(decode(row.0, pieceLength: pieceLength).error == row.1) }
    }

    @Test("Every proper prefix of a body is incomplete, not malformed")
    func prefixes() {
        for (text, _, _) in Self.bodies {
            for count in 0..<text.utf8.count {
                let decoded = decode(String(decoding: text.utf8.prefix(count), as: UTF8.self))
                #expect(decoded.error == nil && decoded.trailers == nil)
            }
        }
    }

    @Test("The largest size that fits is accepted")
    func largest() {
        #expect(decode("7fffffffffffffff\r\nabc").content == "abc")
        #expect(decode("7FFFFFFFFFFFFFFF\r\nabc").error == nil)
    }

    // RFC 9112 §7.1.1.
    @Test("The extensions of one chunk are limited, exactly")
    func extensionLimit() {
        let limit = ChunkDecoder.maximumExtensionCount
        let fitting = "1;" + String(repeating: "x", count: limit - 1) + "\r\na\r\n0\r\n\r\n"
        #expect(decode(fitting).content == "a" && decode(fitting).error == nil)
        let longer = "1;" + String(repeating: "x", count: limit) + "\r\n"
        for pieceLength in [1, .max] {
            let decoded = decode(longer, pieceLength: pieceLength)
            #expect(decoded.error == .limitExceeded("bytes in a chunk extension", limit: limit))
        }
        #expect(decode("1" + String(repeating: " ", count: limit + 1)).error != nil)
    }

    @Test("Extensions may exceed the content of the body by a fixed amount")
    func extensionExcess() {
        let chunk = "1;" + String(repeating: "x", count: 999) + "\r\na\r\n"
        let sixteen = String(repeating: chunk, count: 16)
        #expect(decode(sixteen).error == nil)
        let expected = HTTPSyntaxError.limitExceeded(
            "bytes in chunk extensions", limit: ChunkDecoder.maximumExtensionExcess)
        #expect(decode(sixteen + chunk).error == expected)
        // Only the extension bytes in excess of the content bytes count toward the limit.
        let balanced =
            "3E8;" + String(repeating: "x", count: 999) + "\r\n" + String(repeating: "y", count: 1000) + "\r\n"
        #expect(decode(String(repeating: balanced, count: 100)).error == nil)
    }

    // RFC 9112 §7.1.2; RFC 9110 §6.5.
    @Test("Trailer sections have the limits of heads")
    func trailerLimit() {
        var limits = HeadReader.Limits()
        limits.byteCount = 20
        #expect(decode("0\r\nA: 0123456789abc\r\n\r\n", limits: limits).trailers != nil)
        let expected = HTTPSyntaxError.limitExceeded("bytes in the head", limit: 20)
        #expect(decode("0\r\nA: 0123456789abcd\r\n\r\n", limits: limits).error == expected)
        #expect(decode("0\r\nA: b\n\r\n", limits: limits).error == .invalid("line end", at: 7))
    }

    @Test("Content is returned without a copy")
    func slices() throws {
        var decoder = ChunkDecoder()
        let bytes = Array("5\r\nhello\r\n".utf8)
        var rest = bytes[...]
        guard case .content(let content) = try decoder.next(&rest) else {
            Issue.record("no content")
            return
        }
        #expect(content.startIndex == 3 && content.endIndex == 8)
    }

    @Test("Written bodies are decoded to the same content and trailers")
    func writing() throws {
        var output: [UInt8] = []
        try ChunkEncoding.appendEnd(isFirst: true, to: &output)
        #expect(output == Array("0\r\n\r\n".utf8))
        output = []
        for (index, piece) in ["hello", "", "0123456789abcdefg"].enumerated() {
            ChunkEncoding.appendSize(piece.utf8.count, isFirst: index == 0, to: &output)
            output += piece.utf8
        }
        try ChunkEncoding.appendEnd(section(("T", "v")), isFirst: false, to: &output)
        let text = String(decoding: output, as: UTF8.self)
        #expect(text == "5\r\nhello\r\n11\r\n0123456789abcdefg\r\n0\r\nT: v\r\n\r\n")
        for pieceLength in [1, 5, .max] {
            let decoded = decode(text, pieceLength: pieceLength)
            #expect(decoded.content == "hello0123456789abcdefg" && decoded.trailers == section(("T", "v")))
        }
    }

    @Test("Sizes are written in hexadecimal", arguments: [1, 9, 10, 15, 16, 255, 256, 0x12345, Int.max])
    func sizes(_ size: Int) {
        var output: [UInt8] = []
        ChunkEncoding.appendSize(size, isFirst: true, to: &output)
        #expect(output == Array((String(size, radix: 16) + "\r\n").utf8))
        #expect(output.count + 2 <= ChunkEncoding.maximumSizeCount)
    }

    @Test("Trailer fields that cannot be written leave the output unchanged")
    func unwritable() {
        var output: [UInt8] = [1]
        #expect(throws: HTTPSyntaxError.unwritable("value of field A")) {
            try ChunkEncoding.appendEnd(section(("A", "\r\nB: c")), isFirst: true, to: &output)
        }
        #expect(output == [1])
    }
}
