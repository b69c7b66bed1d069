import CausewayMarkup
import Foundation
import Testing

@Suite("Feeds")
struct FeedParserTests {
    private static func feed(_ document: String, source: FeedSource = FeedSource(), limits: FeedLimits = FeedLimits())
        throws -> Feed
    {
        try Feed(parsing: Data(document.utf8), source: source, limits: limits)
    }

    @Test("F1: RSS 2.0 gives items with title, description and date, trimmed; missing fields are nil")
    func rss() throws {
        let feed = try Self.feed(
            """
            <rss version="2.0"><channel><title> News </title><link>http://a.example/</link>
            <item><title>
            One </title><description>First</description><pubDate>Thu, 01 Jan 2004 19:48:21 GMT</pubDate></item><item/></channel></rss>
            """)
        #expect(feed.format == .rss20)
        #expect(feed.title?.value == "News")
        #expect(feed.items.count == 2)
        let item = try #require(feed.items.first)
        #expect(item.title?.value == "One")
        #expect(item.summary?.value == "First")
        #expect(item.dates.best == Date(timeIntervalSince1970: 1_072_986_501))
        #expect(feed.items[1].title == nil && feed.items[1].summary == nil && feed.items[1].dates.best == nil)
        #expect(feed.isWellFormed)
    }

    private static let netscapeIdentifiers =
        #"PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd""#

    @Test(
        "The document type tells Netscape's RSS 0.91 from that of UserLand",
        arguments: [
            ("<!DOCTYPE rss \(netscapeIdentifiers)>", "0.91", .rss091Netscape),
            ("<?xml version='1.0'?>\n<!DOCTYPE rss \(netscapeIdentifiers) [<!ENTITY a 'b'>]>", "0.91", .rss091Netscape),
            ("<!DOCTYPE rss SYSTEM 'http://my.netscape.com/publish/formats/rss-0.91.dtd'>", "0.91", .rss091Netscape),
            ("", "0.91", .rss091), ("<!DOCTYPE rss>", "0.91", .rss091),
            ("<!DOCTYPE rss [<!ENTITY a '-//Netscape Communications//DTD RSS 0.91//EN'>]>", "0.91", .rss091),
            ("<!DOCTYPE rss \(netscapeIdentifiers)>", "2.0", .rss20),
        ] as [(String, String, FeedFormat)])
    func rss091(type: String, version: String, format: FeedFormat) throws {
        let document = type + "<rss version='\(version)'><channel><title>a</title></channel></rss>"
        let feed = try Self.feed(document)
        #expect(feed.format == format && feed.isWellFormed)
        var parser = FeedParser()
        for byte in document.utf8 { parser.append(CollectionOfOne(byte)) }
        #expect(try parser.finish() == feed)
    }

    @Test("F4: the items before a violation are kept, and the violation has its place")
    func malformed() throws {
        let feed = try Self.feed("<rss version='2.0'><channel>\n<item><title>a</title></item>\n<item><title>b</tit")
        #expect(feed.items.map { $0.title?.value } == ["a", "b"])
        #expect(feed.problems.first?.description == "line 3, column 15: the document ends inside of markup")
    }

    @Test(
        "F4: what is no feed is an error",
        arguments: ["", "  \n", "<html><body>x</body></html>", "text", "{\"a\":1}", "[1]"])
    func noFeed(document: String) {
        #expect(throws: FeedError.self) { try Self.feed(document) }
    }

    @Test("F5: a map of tags makes another vocabulary readable")
    func tagMap() throws {
        var limits = FeedLimits()
        limits.tagMap = ["news": "rss", "story": "item", "headline": "title", "when": "pubdate"]
        let feed = try Self.feed(
            "<news><story><headline>a</headline><when>2004-01-01</when></story></news>", limits: limits)
        #expect(feed.items.first?.title?.value == "a")
        #expect(feed.items.first?.dates.published?.date != nil)
    }

    @Test("F6: CDATA, entities and namespaces are read, and the titles of parts stay in their parts")
    func namespaces() throws {
        let feed = try Self.feed(
            """
            <rss version="2.0" xmlns:x="http://purl.org/rss/1.0/modules/content/" xmlns:d="http://purl.org/dc/elements/1.1/"><channel>
            <title>Channel</title><image><title>Image</title><url>/i.png</url></image>
            <item><title><![CDATA[A &amp; B]]></title><d:creator>Ann</d:creator><x:encoded>&lt;p&gt;x&lt;/p&gt;</x:encoded></item>
            </channel></rss>
            """, source: FeedSource(base: "http://a.example/feed"))
        #expect(feed.title?.value == "Channel")
        #expect(feed.image?.title == "Image" && feed.image?.href == "http://a.example/i.png")
        let item = try #require(feed.items.first)
        #expect(item.title?.plainText == "A & B")
        #expect(item.author == "Ann")
        #expect(item.contents.first?.value == "<p>x</p>")
    }

    @Test("Atom 1.0 in pieces of every size equals the whole")
    func pieces() throws {
        let document = Array(
            """
            <?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://a.example/"><title>é</title>
            <entry><id>urn:1</id><link href="b"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><b>x</b></div></content></entry></feed>
            """.utf8)
        let whole = try Feed(parsing: Data(document))
        #expect(whole.items.first?.link == "http://a.example/b")
        #expect(whole.items.first?.contents.first?.value == "<b>x</b>")
        for size in [1, 2, 3, 5, 16] {
            var parser = FeedParser()
            for start in stride(from: 0, to: document.count, by: size) {
                parser.append(document[start..<min(document.count, start + size)])
            }
            #expect(try parser.finish() == whole)
        }
    }

    @Test("JSON Feed 1.1 is read, a damaged one up to the damage")
    func json() throws {
        let document =
            #"{"version":"https://jsonfeed.org/version/1.1","title":"t\u00e9","items":[{"id":1,"url":"/1","tags":["a"]},{"id":"2"}"#
        let feed = try Self.feed(document + "]}", source: FeedSource(base: "http://a.example/"))
        #expect(feed.format == .json11 && feed.title?.value == "té" && feed.isWellFormed)
        #expect(feed.items.map(\.id) == ["1", "2"])
        #expect(feed.items[0].link == "http://a.example/1" && feed.items[0].categories.first?.term == "a")
        let damaged = try Self.feed(document)
        #expect(damaged.items.count == 2)
        #expect(damaged.problems.first?.line == 1)
    }

    @Test("Long titles are cut, and the place is noted")
    func longTitle() throws {
        var parser = FeedParser()
        parser.append("<rss version='2.0'><channel><title>".utf8)
        for _ in 0..<64 { parser.append([UInt8](repeating: 0x61, count: 16 * 1024)) }
        parser.append("</title><item><title>b</title></item></channel></rss>".utf8)
        let feed = try parser.finish()
        let count = try #require(feed.title?.value.utf8.count)
        #expect(count >= 64 * 1024 && count < 128 * 1024)
        #expect(feed.problems.first?.message.contains("was cut") == true)
        #expect(feed.items.first?.title?.value == "b")
    }

    @Test("The bounds of items and texts hold")
    func bounds() throws {
        var limits = FeedLimits()
        limits.items = 3
        limits.totalByteCount = 1000
        let item = "<item><description>\(String(repeating: "a", count: 400))</description></item>"
        let feed = try Self.feed("<rss version='2.0'>\(String(repeating: item, count: 10))</rss>", limits: limits)
        #expect(feed.items.count <= 3)
        #expect(feed.items.reduce(0) { $0 + ($1.summary?.value.utf8.count ?? 0) } <= 1600)
    }

    /// A document, and the expected languages of its items.
    struct LanguageRow: Sendable, CustomTestStringConvertible {
        let document: String
        let languages: [String?]

        var testDescription: String { String(document.prefix(60)) }
    }

    @Test(
        "An item has the language that it names",
        arguments: [
            LanguageRow(
                document: """
                    <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><language>en</language>
                    <item><dc:language>de</dc:language></item><item><language>fr</language></item><item/></channel></rss>
                    """,
                languages: ["de", "fr", nil]),
            LanguageRow(
                document: """
                    <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><entry xml:lang="pt_BR"/><entry/>
                    <entry><source><dc:language xmlns:dc="http://purl.org/dc/elements/1.1/">it</dc:language></source></entry></feed>
                    """,
                languages: ["pt-BR", nil, nil]),
            LanguageRow(
                document:
                    #"{"version":"https://jsonfeed.org/version/1.1","language":"en","items":[{"language":"de"},{}]}"#,
                languages: ["de", nil]),
        ])
    func languages(_ row: LanguageRow) throws {
        let feed = try Self.feed(row.document)
        #expect(feed.items.map(\.language) == row.languages)
        #expect(feed.language == "en")
    }

    @Test("Items and feeds have the thumbnails and credits of Media RSS")
    func media() throws {
        let feed = try Self.feed(
            """
            <rss version="2.0" xmlns:m="http://search.yahoo.com/mrss/" xml:base="http://a.example/"><channel>
            <m:credit role="Publisher">P</m:credit><m:thumbnail url="f.png"/>
            <item><m:group><m:content url="v.mp4"><m:thumbnail url="1.png" width="75" height="50" time="12:05:01.123"/></m:content>
            <m:thumbnail url="javascript:x"/><m:thumbnail url="2.png" width="wide"/>
            <m:credit role="Producer" scheme="urn:ebu"> Ann B </m:credit><m:credit>C</m:credit><m:credit/></m:group></item>
            </channel></rss>
            """)
        let item = try #require(feed.items.first)
        #expect(
            item.media.thumbnails == [
                FeedThumbnail(href: "http://a.example/1.png", width: 75, height: 50, time: "12:05:01.123"),
                FeedThumbnail(href: "http://a.example/2.png"),
            ])
        #expect(
            item.media.credits == [
                FeedCredit(name: "Ann B", role: "producer", scheme: "urn:ebu"),
                FeedCredit(name: "C", scheme: "urn:ebu"),
            ])
        #expect(item.image?.href == "http://a.example/1.png" && item.image?.width == 75)
        #expect(feed.media.thumbnails.map(\.href) == ["http://a.example/f.png"])
        #expect(feed.media.credits == [FeedCredit(name: "P", role: "publisher", scheme: "urn:ebu")])
    }

    @Test(
        "A person is read from the forms of RSS",
        arguments: [
            ("a@b.example (Ann B)", "Ann B", "a@b.example"), ("Ann B <mailto:a@b.example>", "Ann B", "a@b.example"),
            ("a@b.example", nil, "a@b.example"), ("Ann B", "Ann B", nil), ("Ann @ b", "Ann @ b", nil),
            ("a@b@c.example Ann", "a@b@c.example Ann", nil), ("Änn  B, a@b.example", "Änn B,", "a@b.example"),
        ] as [(String, String?, String?)])
    func people(text: String, name: String?, mail: String?) throws {
        let written = text.replacing("<", with: "&lt;")
        let feed = try Self.feed("<rss version='2.0'><channel><item><author>\(written)</author></item></channel></rss>")
        #expect(feed.items.first?.people.authors == [FeedPerson(name: name, email: mail)])
    }

    @Test(
        "An escape in JSON has four hexadecimal digits",
        arguments: [("\\u0041", "A"), ("\\u+041", "\u{FFFD}+041"), ("\\u-000", "\u{FFFD}-000")])
    func jsonEscapes(escape: String, text: String) throws {
        let feed = try Self.feed("{\"items\":[],\"title\":\"\(escape)\"}")
        #expect(feed.title?.value == text)
    }

    @Test(
        "A violation of JSON has its line and column",
        arguments: [("{\"items\":[]\n\n x", 3, 2), ("{\"items\":[],x", 1, 13)])
    func jsonPlace(document: String, line: Int, column: Int) throws {
        let problem = try #require(try Self.feed(document).problems.first)
        #expect(problem.line == line && problem.column == column)
    }
}
