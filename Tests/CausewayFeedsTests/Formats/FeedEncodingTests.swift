import CausewayFeedFormats
import Foundation
import Testing

@Suite("Encodings of feeds (RFC 7303 §3)")
struct FeedEncodingTests {
    private static func document(_ encoding: String?) -> String {
        let declaration = encoding.map { "<?xml version=\"1.0\" encoding=\"\($0)\"?>" } ?? ""
        return declaration + "<rss version=\"2.0\"><channel><title>Ж</title></channel></rss>"
    }

    /// Returns the document with the letter in the encoding.
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
