import Testing

@testable import CausewayWire

/// Returns a section with these fields.
func section(_ fields: (String, String)...) -> FieldSection {
    var section = FieldSection()
    for (name, value) in fields { section.append(name, value) }
    return section
}

@Suite("Fields of a message (RFC 9110 §5)")
struct FieldSectionTests {
    // Order and names of fields: RFC 9110 §5.2, §5.3.
    @Test("Fields keep their order and case, and names compare without case")
    func order() {
        let fields = section(("Host", "h"), ("Accept", "a"), ("ACCEPT", "b"), ("X-Empty", ""))
        #expect(fields.count == 4 && fields.byteCount == 4 + 1 + 6 + 1 + 6 + 1 + 7)
        #expect(fields.map { String(decoding: $0.name, as: UTF8.self) } == ["Host", "Accept", "ACCEPT", "X-Empty"])
        #expect(fields.values(of: "accept") == ["a", "b"])
        #expect(fields.firstValue(of: "aCCept") == "a" && fields.firstValue(of: "X-Empty") == "")
        #expect(fields.firstValue(of: "Accep") == nil && fields.values(of: "").isEmpty)
        #expect(fields.contains("HOST") && !fields.contains("Hos") && !fields.contains("Hosts"))
        #expect(fields.index(of: "accept", from: 2) == 2 && fields.index(of: "accept", from: 3) == nil)
        #expect(fields.index(of: "accept", from: 9) == nil)
    }

    @Test("Identical sections have the same bytes, also the same case")
    func identical() {
        let fields = section(("Host", "h"), ("Accept", "a"))
        #expect(fields.isIdentical(to: section(("Host", "h"), ("Accept", "a"))))
        #expect(!fields.isIdentical(to: section(("host", "h"), ("Accept", "a"))))
        #expect(!fields.isIdentical(to: section(("Host", "h"), ("Accep", "ta"))))
        #expect(!fields.isIdentical(to: section(("Host", "h"))) && FieldSection().isIdentical(to: FieldSection()))
    }

    @Test("Fields are removed by a condition")
    func removingByCondition() {
        var fields = section(("Host", "h"), ("Accept", "a"), ("host", "b"))
        #expect(fields.hasName(withLengths: 1 << 6) && !fields.hasName(withLengths: 1 << 5 | 1 << 7))
        fields.removeAll { $0.isName("HOST", at: $1) }
        #expect(fields == section(("Accept", "a")) && fields.byteCount == 7)
    }

    @Test("A head is recognized by all of its bytes", arguments: ["A: 1", "Abc: 12345", "Abcdefgh: 12345678901234567"])
    func decodedCount(field: String) throws {
        let bytes = Array("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8)
        var reader = HeadReader(.response)
        _ = try reader.take(bytes[...])
        let head = reader.finishResponse()
        let fields = try #require(head).fields
        #expect(fields.decodedCount(ifStartOf: bytes.span) == bytes.count)
        #expect(fields.decodedCount(ifStartOf: (bytes + [1]).span) == bytes.count)
        #expect(fields.decodedCount(ifStartOf: Array(bytes.dropLast()).span) == nil)
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 0x20
            #expect(fields.decodedCount(ifStartOf: other.span) == nil)
        }
        #expect(FieldSection().decodedCount(ifStartOf: bytes.span) == nil)
    }

    @Test("A field can be inserted before all others")
    func prepending() {
        var fields = section(("A", "1"), ("B", "22"))
        fields.prepend("Host", "h")
        #expect(fields == section(("Host", "h"), ("A", "1"), ("B", "22")) && fields.byteCount == 10)
        fields.append("C", "")
        #expect(fields.firstValue(of: "host") == "h" && fields.firstValue(of: "B") == "22" && fields.count == 4)
    }

    @Test("Setting bytes replaces all fields of a name")
    func settingBytes() {
        var fields = section(("ETag", "1"), ("A", "a"), ("etag", "2"))
        fields.set("ETag", bytes: [0x22, 0xFF, 0x22])
        #expect(fields.count == 2 && fields.byteCount == 2 + 4 + 3 && fields.onlyBytes(of: "A") == [0x61])
        #expect(fields.onlyBytes(of: "etag") == [0x22, 0xFF, 0x22] && fields.onlyBytes(of: "b") == nil)
        fields.append("a", "")
        #expect(fields.onlyBytes(of: "A") == nil)
    }

    @Test("Only letters compare without case")
    func caseOfOtherCharacters() {
        // In each pair, the two characters differ only in bit 5. Upper and lower case letters differ in the same way,
        // but these characters are not letters.
        let fields = section(("a^b", "1"), ("x`y", "2"))
        #expect(!fields.contains("a~b") && !fields.contains("x@y") && fields.contains("A^B"))
    }

    @Test("Removing fields keeps the others")
    func removing() {
        var fields = section(("A", "1"), ("b", "22"), ("a", "3"), ("C", "4"), ("A", "5"))
        fields.removeAll("a")
        #expect(fields == section(("b", "22"), ("C", "4")) && fields.byteCount == 5)
        fields.removeAll("missing")
        #expect(fields.count == 2)
        fields.set("B", "new")
        #expect(fields == section(("C", "4"), ("B", "new")) && fields.byteCount == 6)
    }

    @Test("Sections are equal if names without case, values and order are")
    func equality() {
        #expect(section(("A", "x")) == section(("a", "x")))
        #expect(section(("A", "x")) != section(("a", "X")))
        #expect(section(("A", "1"), ("B", "2")) != section(("B", "2"), ("A", "1")))
        #expect(section(("AB", "c")) != section(("A", "bc")))
        var one = section(("gone", "1"), ("A", "x"))
        one.removeAll("gone")
        #expect(one == section(("A", "x")) && FieldSection() != one)
    }

    @Test("Values that are not UTF-8 are kept as bytes")
    func otherBytes() {
        var fields = FieldSection()
        fields.append(name: "N".utf8, value: [0xE9] as [UInt8])
        #expect(Array(fields[0].value) == [0xE9] && fields.firstValue(of: "n") == "\u{FFFD}")
        var more = section(("A", "1"))
        more.append(contentsOf: fields)
        #expect(more.count == 2 && Array(more[1].value) == [0xE9])
        #expect(section(("A", "1"), ("B", "2")).description == "A: 1\nB: 2")
    }

    static let lists: [([String], [String])] = [
        (["a, b ,c"], ["a", "b", "c"]), (["a", "b"], ["a", "b"]), ([",, a,"], ["a"]), ([""], []), (["\t,"], []),
        (["\"a,b\", c"], ["\"a,b\"", "c"]), (["\"a\\\",b\",c"], ["\"a\\\",b\"", "c"]), (["\"a, b"], ["\"a, b"]),
        (["a b, c"], ["a b", "c"]),
    ]

    @Test("Lists are split at commas outside of quotes (RFC 9110 §5.6.1, §5.6.1.2)", arguments: lists)
    func elements(_ row: ([String], [String])) {
        var fields = FieldSection()
        for value in row.0 { fields.append("L", value) }
        #expect(fields.elements(of: "l") == row.1)
    }

    // Header fields that occur more than once: RFC 9110 §5.2.
    @Test("Elements, single values and combined values")
    func values() {
        let fields = section(("Connection", "keep-alive, Upgrade"), ("connection", "x"), ("Host", "h"))
        #expect(fields.hasElement("UPGRADE", in: "Connection") && fields.hasElement("x", in: "Connection"))
        #expect(!fields.hasElement("keep", in: "Connection") && !fields.hasElement("h", in: "Missing"))
        #expect(fields.onlyValue(of: "host") == "h" && fields.onlyValue(of: "connection") == nil)
        #expect(fields.onlyValue(of: "missing") == nil && fields.combinedValue(of: "missing") == nil)
        #expect(fields.combinedValue(of: "connection") == "keep-alive, Upgrade, x")
    }

    @Test("Token characters are those of RFC 9110 §5.6.2")
    func tokens() {
        let tokens = Set("!#$%&'*+-.^_`|~0123456789".utf8).union(97...122).union(65...90)
        for byte in UInt8.min...UInt8.max {
            #expect(HTTPCharacters.isToken(byte) == tokens.contains(byte), "\(byte)")
            let isValue = byte == 9 || byte >= 32 && byte != 127
            #expect(HTTPCharacters.isFieldValue(byte) == isValue, "\(byte)")
        }
    }
}
