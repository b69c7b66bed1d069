import Testing

@testable import CausewayWire

@Suite("Parts of field values (RFC 9110 §5.6)")
struct FieldValueTests {
    // This test checks RFC 9110 §5.6.3, §5.6.4, §5.6.6.
    @Test("Tokens, quoted strings and numbers")
    func reader() {
        var reader = FieldValueReader("abc=\"x\\\"y\\\\\" ; 12")
        #expect(reader.token().map { Array($0) } == Array("abc".utf8) && reader.take("="))
        #expect(reader.token() == nil && reader.tokenOrQuotedString() == Array("x\"y\\".utf8))
        reader.skipSpace()
        #expect(!reader.take(",") && reader.take(";"))
        reader.skipSpace()
        #expect(reader.quotedString() == nil && reader.number() == 12 && reader.isAtEnd && reader.number() == nil)
        var open = FieldValueReader("\"abc")
        #expect(open.quotedString() == nil && open.rest.count == 4)
        open = FieldValueReader("\"abc\\\"")
        #expect(open.quotedString() == nil)
        let takes = open.take("é")
        #expect(!takes)
    }

    // Large numbers in fields: RFC 9111 §1.2.2.
    @Test(
        "Numbers that do not fit become the largest one",
        arguments: [
            ("9223372036854775807", Int.max), ("9223372036854775806", .max - 1), ("99999999999999999999", .max),
            ("007", 7),
        ])
    func numbers(_ row: (String, Int)) {
        var reader = FieldValueReader(row.0)
        #expect(reader.number() == row.1 && reader.isAtEnd)
    }

    @Test("Text is quoted unless it is a token")
    func quoting() {
        #expect(FieldValueReader.quoted("abc") == "abc" && FieldValueReader.quoted("") == "\"\"")
        #expect(FieldValueReader.quoted("a \"b\" \\") == "\"a \\\"b\\\" \\\\\"")
        #expect(FieldValueReader.quoted("a\r\nb") == nil && FieldValueReader.quoted("é") == "\"é\"")
        for text in ["abc", "a \"b\" \\", "", ";,="] {
            var reader = FieldValueReader(FieldValueReader.quoted(text) ?? "")
            #expect(reader.tokenOrQuotedString() == Array(text.utf8))
        }
    }

    static let types: [(String, String, String?)] = [
        ("text/html; charset=utf-8", "text/html", "utf-8"), ("Text/HTML;Charset=\"UTF-8\"", "text/html", "utf-8"),
        ("text/html", "text/html", nil), ("text/html;", "text/html", nil),
        ("text/html ; charset = \"a\\b\"; x", "text/html", "ab"),
        ("application/vnd.api+json;v=1; charset=x; charset=y", "application/vnd.api+json", "x"),
        ("text/plain; ;;charset=a", "text/plain", "a"), ("text/plain; x=\"a;charset=b\"", "text/plain", nil),
        ("text/plain; charset=", "text/plain", nil), ("text/plain; charset=\"open", "text/plain", "open"),
    ]

    @Test("Media types (RFC 9110 §8.3.1)", arguments: types)
    func mediaTypes(_ row: (String, String, String?)) throws {
        let type = try #require(MediaType(parsing: row.0))
        #expect(type.essence == row.1 && type.charset == row.2)
    }

    @Test(
        "Text that is not a media type",
        arguments: ["", "text", "text/", "/html", "text html", "text/html x", "te,xt/html"])
    func badMediaTypes(_ text: String) { #expect(MediaType(parsing: text) == nil) }

    static let dispositions: [(String, String, String?)] = [
        ("attachment; filename=a.txt", "attachment", "a.txt"),
        ("Attachment; FileName=\"a b.txt\"", "attachment", "a b.txt"),
        ("attachment", "attachment", nil), ("inline; filename=\"a\\\"b\"", "inline", "a\"b"),
        ("attachment; filename=\"euro.txt\"; filename*=UTF-8''%e2%82%ac%20rates", "attachment", "€ rates"),
        ("attachment; filename*=utf-8'en'%c3%a9; filename=e", "attachment", "é"),
        ("attachment; filename*=iso-8859-1''%A3", "attachment", "£"),
        ("attachment; filename*=UTF-8''%zz; filename=b", "attachment", "b"),
        ("attachment; filename*=UTF-8''%ff; filename=b", "attachment", "b"),
        ("attachment; filename*=x''a; filename=b", "attachment", "b"),
        ("attachment; filename*=a", "attachment", nil), ("attachment; filename=a b.txt", "attachment", "a b.txt"),
        ("attachment; filename=\"../../etc/passwd\"", "attachment", "passwd"),
        ("attachment; filename=\"C:\\\\x\\\\y.txt\"", "attachment", "y.txt"),
        ("attachment; filename=\"..\"", "attachment", nil), ("attachment; filename=\"a/\"", "attachment", "a"),
        ("attachment; filename=\"/\"", "attachment", nil),
        ("attachment; filename*=UTF-8''a%00%0ab%2Fc%7F", "attachment", "c"),
        ("filename=a", "", "a"), ("", "", nil), ("; filename=a", "", "a"),
        ("attachment; filename=\"a.txt", "attachment", "a.txt"),
        ("attachment; filename=\"a\\\"b; c.txt", "attachment", "a\"b; c.txt"),
        ("attachment; filename=\"", "attachment", nil),
        ("attachment; filename=a; filename=b", "attachment", "a"),
        ("attachment; filename=\"a\"; filename=\"b\"", "attachment", "a"),
        ("attachment; x=y\\; filename=a; filename=b", "attachment", "b"),
        ("attachment; filename=\"a;b\"; x=y", "attachment", "a;b"), ("attachment; filename=é", "attachment", "é"),
    ]

    @Test("Content-Disposition (RFC 6266)", arguments: dispositions)
    func disposition(_ row: (String, String, String?)) {
        let disposition = ContentDisposition(parsing: row.0)
        #expect(disposition.type == row.1 && disposition.filename == row.2)
    }

    @Test("A file name in ISO-8859-1, and extended values (RFC 8187)")
    func encodings() {
        let value: [UInt8] = Array("inline; filename=\"".utf8) + [0xE9] + Array("\"".utf8)
        #expect(ContentDisposition(parsing: value[...]).filename == "é")
        #expect(ExtendedValue.encoded("a b%'€\u{1}") == "UTF-8''a%20b%25%27%E2%82%AC%01")
        #expect(ExtendedValue.text(Array(ExtendedValue.encoded("a b%'€*\u{1}").utf8)) == "a b%'€*\u{1}")
        #expect(ExtendedValue.text(Array("UTF-8''%4".utf8)) == nil && ExtendedValue.text(Array("UTF-8''".utf8)) == "")
    }

    static let ranges: [(String, [ByteRange]?)] = [
        ("bytes=0-499", [.from(0, through: 499)]), ("bytes=500-", [.from(500, through: nil)]),
        ("Bytes=-500", [.suffix(500)]),
        ("bytes=0-0, -1 ,2-3", [.from(0, through: 0), .suffix(1), .from(2, through: 3)]), ("bytes=5-4", nil),
        ("bytes=", nil),
        ("bytes=-", nil), ("bytes=a-b", nil), ("bytes=1", nil), ("lines=1-2", nil), ("bytes 1-2", nil),
        ("bytes=1-2x", nil),
        ("bytes=1-99999999999999999999", [.from(1, through: .max)]), ("", nil),
        ("bytes=" + String(repeating: "0-0,", count: 65), nil),
    ]

    @Test("Range (RFC 9110 §14.2)", arguments: ranges)
    func range(_ row: (String, [ByteRange]?)) { #expect(ByteRange.parse(row.0) == row.1) }

    @Test("Ranges are written as they are parsed, and cover these positions")
    func rangePositions() {
        let ranges: [ByteRange] = [.from(0, through: 4), .from(9, through: nil), .suffix(3)]
        #expect(ByteRange.text(ranges) == "bytes=0-4,9-,-3" && ByteRange.parse(ByteRange.text(ranges)) == ranges)
        #expect(ranges.map { $0.positions(in: 10) } == [0..<5, 9..<10, 7..<10])
        #expect(ByteRange.from(10, through: nil).positions(in: 10) == nil)
        #expect(ByteRange.from(2, through: .max).positions(in: 10) == 2..<10)
        #expect(ByteRange.from(0, through: .max).positions(in: .max) == 0..<Int.max)
        #expect(ByteRange.suffix(0).positions(in: 10) == nil && ByteRange.suffix(99).positions(in: 10) == 0..<10)
        #expect(ByteRange.from(0, through: nil).positions(in: 0) == nil && ByteRange.suffix(1).positions(in: 0) == nil)
    }

    static let contentRanges: [(String, ContentRange?)] = [
        ("bytes 0-499/1234", ContentRange(positions: 0..<500, length: 1234)),
        ("bytes 5-9/*", ContentRange(positions: 5..<10, length: nil)),
        ("bytes */1234", ContentRange(positions: nil, length: 1234)),
        ("BYTES  0-0/1", ContentRange(positions: 0..<1, length: 1)),
        ("bytes */*", nil), ("bytes 5-4/9", nil), ("bytes 0-9/9", nil), ("bytes=0-1/2", nil), ("bytes 0-1", nil),
        ("items 0-1/2", nil),
        ("bytes 0-1/2x", nil), ("bytes -1/2", nil), ("bytes 0-/2", nil), ("bytes 0-9223372036854775807/*", nil),
        ("", nil), ("bytes", nil),
    ]

    @Test("Content-Range (RFC 9110 §14.4)", arguments: contentRanges)
    func contentRange(_ row: (String, ContentRange?)) {
        #expect(ContentRange(parsing: row.0) == row.1)
        if let range = row.1 { #expect(ContentRange(parsing: range.text) == range) }
    }

    @Test("Keep-Alive")
    func keepAlive() {
        let both = KeepAlive(section(("Keep-Alive", "timeout=5, max=100")))
        #expect(both.timeout == 5 && both.maximum == 100)
        let quirky = KeepAlive(section(("keep-alive", "Timeout = 7,x,max=a,=3,max"), ("Keep-Alive", "max=2")))
        #expect(quirky.timeout == 7 && quirky.maximum == 2)
        let none = KeepAlive(FieldSection())
        #expect(none.timeout == nil && none.maximum == nil)
    }

    @Test("Retry-After (RFC 9110 §10.2.3)")
    func retryAfter() {
        #expect(RetryAfter(parsing: "120", now: 0) == .delay(120))
        #expect(RetryAfter(parsing: " 99999999999999999999 ", now: 0) == .delay(.max))
        let date = RetryAfter(parsing: "Fri, 31 Dec 1999 23:59:59 GMT", now: 0)
        #expect(date == .date(946_684_799) && date?.delay(now: 946_684_790) == 9 && date?.delay(now: 946_684_800) == 0)
        #expect(date?.delay(now: .min) == 0 && RetryAfter.delay(3).delay(now: 9) == 3)
        for text in ["", "-1", "1.5", "1 s", "soon"] { #expect(RetryAfter(parsing: text, now: 0) == nil) }
    }
}
