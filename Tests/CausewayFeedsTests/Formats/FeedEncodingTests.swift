import CausewayMarkup
import Foundation
import Testing

@Suite("Encodings of feeds (RFC 7303 §3)")
struct FeedEncodingTests {
    private static func document(_ encoding: String?) -> String {
        let declaration = encoding.map { "<?xml version=\"1.0\" encoding=\"\($0)\"?>" } ?? ""
        return declaration + "<rss version=\"2.0\"><channel><title>Ж</title></channel></rss>"
    }

    /// Returns the document with the test letter encoded as `letter`.
    private static func bytes(_ text: String, letter: [UInt8]) -> Data {
        let parts = text.split(separator: "Ж")
        return Data(parts[0].utf8) + letter + Data(parts[1].utf8)
    }

    @Test(
        "The declaration names the encoding",
        arguments: [
            ("windows-1251", [0xC6]), ("koi8-r", [0xF6]), ("ISO-8859-5", [0xB6]), ("utf-8", [0xD0, 0x96]),
            ("gb2312", [0xA7, 0xA8]),
        ]
            as [(String, [UInt8])])
    func declared(name: String, letter: [UInt8]) throws {
        let feed = try Feed(parsing: Self.bytes(Self.document(name), letter: letter))
        #expect(feed.title?.value == "Ж")
        #expect(feed.isWellFormed)
    }

    @Test("A byte order mark, then the charset of the response, then the declaration")
    func order() throws {
        let source = FeedSource(address: nil, contentType: "application/xml; charset=\"windows-1251\"")
        let feed = try Feed(parsing: Self.bytes(Self.document("koi8-r"), letter: [0xC6]), source: source)
        #expect(feed.title?.value == "Ж" && feed.encoding == "windows-1251")
        let marked = Data([0xEF, 0xBB, 0xBF]) + Data(Self.document("koi8-r").utf8)
        #expect(try Feed(parsing: marked, source: source).title?.value == "Ж")
    }

    /// A document, and the places that state its encoding.
    struct OrderRow: Sendable, CustomTestStringConvertible {
        let name: String
        var charset: String?
        var declared: String?
        var mark: [UInt8] = []
        /// The test letter's bytes in this encoding.
        let letter: [UInt8]
        let title: String
        let encoding: String
        var problem: String?

        var testDescription: String { name }
    }

    static let orders: [OrderRow] = [
        OrderRow(
            name: "mark, charset and declaration", charset: "koi8-r", declared: "koi8-r", mark: [0xEF, 0xBB, 0xBF],
            letter: [0xD0, 0x96], title: "Ж", encoding: "utf-8"),
        OrderRow(
            name: "two marks", mark: [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF], letter: [0xD0, 0x96], title: "Ж",
            encoding: "utf-8"),
        OrderRow(
            name: "charset and declaration", charset: "koi8-r", declared: "windows-1251", letter: [0xF6], title: "Ж",
            encoding: "koi8-r"),
        OrderRow(
            name: "unknown charset", charset: "none", declared: "windows-1251", letter: [0xC6], title: "Ж",
            encoding: "windows-1251"),
        OrderRow(
            name: "charset UTF-8 of a document that is not", charset: "UTF-8", declared: "windows-1251", letter: [0xC6],
            title: "Ж", encoding: "windows-1251", problem: "the document is in encoding windows-1251, not in utf-8"),
        OrderRow(
            name: "charset UTF-8 of a document that is", charset: "utf-8", declared: "windows-1251",
            letter: [0xD0, 0x96], title: "Ж", encoding: "utf-8"),
        OrderRow(
            name: "charset US-ASCII of a document in UTF-8", charset: "us-ascii", letter: [0xD0, 0x96], title: "Ж",
            encoding: "utf-8", problem: "the document is in encoding utf-8, not in us-ascii"),
        OrderRow(
            name: "charset US-ASCII, and another declaration", charset: "us-ascii", declared: "koi8-r", letter: [0xF6],
            title: "Ж", encoding: "koi8-r", problem: "the document is in encoding koi8-r, not in us-ascii"),
        OrderRow(name: "nothing, UTF-8", letter: [0xD0, 0x96], title: "Ж", encoding: "utf-8"),
        OrderRow(
            name: "nothing, windows-1252", letter: [0x93, 0xE9], title: "\u{201C}é", encoding: "windows-1252",
            problem: "bytes that are malformed in encoding utf-8"),
        OrderRow(
            name: "UTF-8 with one other byte", letter: [0xD0, 0x96, 0xE9], title: "Жé", encoding: "utf-8",
            problem: "bytes that are malformed in encoding utf-8"),
        OrderRow(name: "ISO8859_5", declared: "ISO8859_5", letter: [0xB6], title: "Ж", encoding: "iso8859_5"),
        OrderRow(name: "x-cp1251", declared: "x-cp1251", letter: [0xC6], title: "Ж", encoding: "x-cp1251"),
        OrderRow(name: "win-1251", charset: "win-1251", letter: [0xC6], title: "Ж", encoding: "win-1251"),
        OrderRow(name: "ISO_8859-1", declared: "ISO_8859-1", letter: [0x93], title: "\u{201C}", encoding: "iso_8859-1"),
    ]

    @Test(
        "The mark, the charset, the declaration, UTF-8 and windows-1252 name the encoding in this order",
        arguments: orders)
    func order(_ row: OrderRow) throws {
        let document = Data(row.mark) + Self.bytes(Self.document(row.declared), letter: row.letter)
        let source = FeedSource(address: nil, contentType: row.charset.map { "text/xml; charset=\($0)" })
        for size in [Int.max, 1, 7] {
            var parser = FeedParser(source: source)
            var rest = document[...]
            while !rest.isEmpty {
                parser.append(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            let feed = try parser.finish()
            #expect(feed.title?.value == row.title)
            #expect(feed.encoding == row.encoding)
            #expect(feed.problems.map(\.message) == (row.problem.map { [$0] } ?? []))
        }
    }

    @Test("UTF-16 and UTF-32 are found by their byte order marks and by their zero bytes")
    func wide() throws {
        for (encoding, mark) in [
            (String.Encoding.utf16LittleEndian, [0xFF, 0xFE] as [UInt8]), (.utf16BigEndian, [0xFE, 0xFF]),
            (.utf16BigEndian, []),
            (.utf16LittleEndian, []), (.utf32LittleEndian, [0xFF, 0xFE, 0, 0]), (.utf32BigEndian, []),
        ] {
            let data = Data(mark) + (try #require(Self.document("utf-16").data(using: encoding)))
            let feed = try Feed(parsing: data)
            #expect(feed.title?.value == "Ж")
            #expect(feed.isWellFormed)
        }
    }

    @Test("Malformed bytes are read as windows-1252, and an unknown encoding as UTF-8; both are noted")
    func malformed() throws {
        let feed = try Feed(parsing: Self.bytes(Self.document(nil), letter: [0x93, 0xE9]))
        #expect(feed.title?.value == "\u{201C}é")
        #expect(!feed.isWellFormed)
        let unknown = try Feed(parsing: Data(Self.document("x-nothing").utf8))
        #expect(unknown.title?.value == "Ж")
        #expect(unknown.problems.first?.message == "encoding x-nothing is not known")
    }
}
