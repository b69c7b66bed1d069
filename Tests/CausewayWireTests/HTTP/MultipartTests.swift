import Testing

@testable import CausewayWire

@Suite("Multipart forms (RFC 7578, RFC 2046 §5.1)")
struct MultipartTests {
    private static let boundary = MultipartBoundary("b")!

    /// Returns the parts of a multipart body as text, each with its fields and content.
    private static func parts(
        _ text: String, piece: Int = .max, limits: MultipartDecoder.Limits = .init()
    ) throws -> [String] {
        var decoder = MultipartDecoder(boundary, limits: limits)
        var (rest, parts): (ArraySlice<UInt8>, [String]) = (Array(text.utf8)[...], [])
        while !rest.isEmpty {
            var events: [MultipartDecoder.Event] = []
            try decoder.decode(rest.prefix(piece), into: &events)
            for event in events {
                switch event {
                case .part(let fields): parts.append("[\(fields)]")
                case .content(let bytes): parts[parts.count - 1] += String(decoding: bytes, as: UTF8.self)
                case .partEnd: parts[parts.count - 1] += "."
                }
            }
            rest = rest.dropFirst(piece)
        }
        try decoder.finish()
        return parts
    }

    static let bodies: [(String, [String])] = [
        ("--b--", []), ("--b--\r\n", []), ("preamble\r\n--b\r\n\r\nx\r\n--b--epilogue\r\n--b\r\n", ["[]x."]),
        ("--b\r\nA: b\r\nC: d\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--", ["[A: b\nC: d]one.", "[]two."]),
        // Spaces follow the boundary, and the content looks like a delimiter.
        ("--b \t\r\n\r\n\r\n-\r\n--\r\r\n--a\r\n--b--", ["[]\r\n-\r\n--\r\r\n--a."]),
        // Two parts without content. Before the delimiter, the first part has a line end and the second part has none.
        ("--b\r\n\r\n\r\n--b\r\n\r\n--b--", ["[].", "[]."]),
        ("x--b\r\n\r\n--b\r\n\r\n--b--", ["[]."]), ("--b\r\n\r\n-x\r\n--b--", ["[]-x."]),
        ("--b\r\n\r\n--x\r\n--b--", ["[]--x."]), ("--b\r\n\r\n\r\r\n--b--", ["[]\r."]),
    ]

    @Test("Bodies, in any split", arguments: bodies)
    func decoded(_ text: String, _ expected: [String]) throws {
        for piece in [Int.max, 1, 2, 3, 7] { #expect(try Self.parts(text, piece: piece) == expected) }
    }

    static let damages: [(String, HTTPSyntaxError)] = [
        ("", .invalid("end of the multipart body", at: 0)),
        ("--b\r\n\r\nx", .invalid("end of the multipart body", at: 8)),
        ("--b\r\n\r\nx\r\n--b-", .invalid("end of the multipart body", at: 14)),
        ("--bc\r\n", .invalid("delimiter", at: 3)),
        ("--b-x", .invalid("delimiter", at: 4)), ("--b\n", .invalid("delimiter", at: 3)),
        ("--b --", .invalid("delimiter", at: 4)), ("--b\r\nA: b\r\n c\r\n\r\n", .invalid("folded line", at: 11)),
        ("--b\r\nA\r\n\r\n", .invalid("field name", at: 6)),
        ("--b\r\nA: \(String(repeating: "x", count: 40))\r\n\r\n", .limitExceeded("bytes in the head", limit: 40)),
        ("--b\r\nA:\r\nB:\r\nC:\r\n\r\n", .limitExceeded("fields", limit: 2)),
        ("--b\r\n\r\n\r\n--b\r\n\r\n\r\n--b\r\n", .limitExceeded("parts", limit: 2)),
    ]

    @Test("Damaged and excessive bodies are errors with a position, in any split", arguments: damages)
    func damaged(_ text: String, _ error: HTTPSyntaxError) {
        var limits = MultipartDecoder.Limits()
        (limits.partCount, limits.headByteCount, limits.fieldCount) = (2, 40, 2)
        for piece in [Int.max, 1, 3] {
            #expect(throws: error) { try Self.parts(text, piece: piece, limits: limits) }
        }
    }

    static let names: [(String, String)] = [
        ("a", "a"), ("Größe 😀", "Größe 😀"), (#"a"b"#, "a%22b"), (#"a\b"#, #"a\b"#), ("a%b", "a%b"), ("", ""),
        ("a\u{0}\u{7F}\t", "a%00%7F\t"), ("a; b=\"c", "a; b=%22c"),
    ]

    @Test("Names are escaped as by browsers, and read again", arguments: names)
    func escaped(_ name: String, _ expected: String) throws {
        let part = MultipartPart(name: name, filename: name, mediaType: "text/plain")
        let head = try part.head(after: Self.boundary, isFirst: true)
        #expect(
            String(decoding: head, as: UTF8.self)
                == "--b\r\nContent-Disposition: form-data; name=\"\(expected)\"; filename=\"\(expected)\"\r\nContent-Type: text/plain\r\n\r\n"
        )
        let body = String(
            decoding: head + Array("x".utf8) + MultipartPart.end(Self.boundary, isEmpty: false), as: UTF8.self)
        var (decoder, events) = (MultipartDecoder(Self.boundary), [MultipartDecoder.Event]())
        try decoder.decode(Array(body.utf8)[...], into: &events)
        guard case .part(let fields)? = events.first, !name.contains("\u{0}") else { return }
        #expect(MultipartPart(fields) == part)
    }

    @Test("Line ends of names and values become CRLF; those of file names stay")
    func lineEnds() throws {
        #expect(MultipartPart.withLineEnds("a\nb\rc\r\nd\n\re") == "a\r\nb\r\nc\r\nd\r\n\r\ne")
        let head = try MultipartPart(name: "a\nb", filename: "a\nb").head(after: Self.boundary, isFirst: false)
        #expect(
            String(decoding: head, as: UTF8.self)
                == "\r\n--b\r\nContent-Disposition: form-data; name=\"a%0D%0Ab\"; filename=\"a%0Ab\"\r\n\r\n")
        #expect(throws: HTTPSyntaxError.unwritable("media type")) {
            try MultipartPart(name: "a", mediaType: "a/b\r\nX: y").head(after: Self.boundary, isFirst: true)
        }
    }

    @Test(
        "Descriptions of parts",
        arguments: [
            ("form-data; name=a", "a", nil), ("form-data; name=a%22b", "a\"b", nil),
            ("Form-Data;NAME=\"a\" ; filename=\"x.txt\"", "a", "x.txt"),
            ("form-data; filename*=UTF-8''y; name=\"a\"", "a", nil), ("form-data; name=\"a\\\"", "a\\", nil),
            ("form-data; name=\"%22%0d%0A%zz%2\"", "\"\r\n%zz%2", nil), ("form-data; name=\"1\"; name=\"2\"", "1", nil),
            ("form-data; name=\"f\"; filename=\"a\\\"b.txt\"", "f", "a\"b.txt"),
            ("form-data; name=\"a\\\"b\" ; filename=\"\\\"x\\\"\"", "a\"b", "\"x\""),
            ("form-data; name=\"f\\\"; filename=\"C:\\d\\\"", "f\\", "C:\\d\\"),
            ("attachment; name=\"a\"", nil, nil), ("form-data", nil, nil), ("form-data; name=\"a", nil, nil),
            ("form-data; name=\"a\" x", nil, nil), ("form-data; name", nil, nil),
        ] as [(String, String?, String?)])
    func described(_ value: String, _ name: String?, _ filename: String?) {
        var fields = FieldSection()
        fields.append("content-disposition", value)
        let part = MultipartPart(fields)
        #expect(part?.name == name && part?.filename == filename)
    }

    @Test("Boundaries have permitted characters, and are read from the media type")
    func boundaries() throws {
        for text in ["", " ", "a ", "a\"", "a\r\n", "ä", String(repeating: "a", count: 71)] {
            #expect(MultipartBoundary(text) == nil)
        }
        for text in ["a", "'()+_,-./:=? x", String(repeating: "a", count: 70)] {
            let boundary = try #require(MultipartBoundary(text))
            let type = try #require(MediaType(parsing: boundary.formType))
            #expect(type.essence == "multipart/form-data" && MultipartBoundary.of(type) == boundary)
        }
        #expect(MediaType(parsing: "text/plain; boundary=a").flatMap(MultipartBoundary.of) == nil)
        var random = SystemRandomNumberGenerator()
        let (one, other) = (MultipartBoundary(using: &random), MultipartBoundary(using: &random))
        #expect(one != other && MultipartBoundary(one.text) == one)
    }
}
