import CausewayMarkup
import Foundation
import Testing

@Suite("Cost of hostile feeds")
struct FeedCostTests {
    /// A hostile document: a feed with one item, followed by many repetitions of a unit.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var head = FeedCostTests.start
        let unit: String
        /// Part of the expected error text if a limit ends parsing. `nil` if the document must be parsed to its end.
        var limit: String?
        /// Tags and attributes that are permitted.
        var markup = 1000

        var testDescription: String { name }
    }

    private static let start = "<rss version='2.0'><channel><title>t</title><item><title>one</title></item>"

    static let rows: [Row] = [
        Row(name: "nested elements", unit: "<a>", limit: "nested elements", markup: 100_000),
        Row(name: "nested items", unit: "<item>", limit: "more than 30 items"),
        Row(name: "elements", unit: "<a></a>", limit: "tags, attributes"),
        Row(name: "empty elements", unit: "<a/>", limit: "tags, attributes"),
        Row(name: "end tags", head: start + "<a><b><c>", unit: "</d>", limit: "tags, attributes"),
        Row(
            name: "attributes", unit: "<a \((0..<100).map { "b\($0)=''" }.joined(separator: " "))/>",
            limit: "tags, attributes"),
        Row(
            name: "attributes that occur twice", unit: "<a \(String(repeating: "b ", count: 100))/>",
            limit: "tags, attributes"),
        Row(name: "one tag of many attributes", head: start + "<a ", unit: "b='' "),
        Row(name: "one long value", head: start + "<a b='", unit: "xxxxxxxx"),
        Row(name: "one comment", head: start + "<!--", unit: "- - > "),
        Row(name: "comments", unit: "<!---->"),
        Row(name: "one CDATA section", head: start + "<item><title><![CDATA[", unit: "]x"),
        Row(name: "CDATA sections", head: start + "<item><title>", unit: "<![CDATA[]]>"),
        Row(name: "one instruction", head: start + "<?a ", unit: "? x"),
        Row(name: "instructions", unit: "<?a?>", limit: "tags, attributes"),
        Row(name: "one declaration", head: "<!DOCTYPE a [", unit: "'[\"'"),
        Row(name: "declarations", unit: "<!DOCTYPE a>", limit: "tags, attributes"),
        Row(name: "common references", head: start + "<item><title>", unit: "&amp;&#65;"),
        Row(name: "unknown references", head: start + "<item><title>", unit: "&x;", limit: "tags, attributes"),
        Row(name: "'<'", head: start + "<item><title>", unit: "<", limit: "tags, attributes"),
        Row(name: "items", unit: "<item></item>", limit: "more than 30 items"),
        Row(
            name: "HTML in texts",
            unit: "<item><description>\(String(repeating: "&lt;b&gt;", count: 100))</description></item>",
            limit: "in texts"),
        Row(
            name: "texts", unit: "<item><description>\(String(repeating: "x", count: 1000))</description></item>",
            limit: "bytes of text"),
        Row(
            name: "people", head: start + "<item>",
            unit: "<author>\(String(repeating: "a@b.c ", count: 100))</author>", limit: "in texts"),
        Row(
            name: "keywords", head: start + "<item>",
            unit: "<keywords>\((0..<64).map { "k\($0)," }.joined())</keywords>", limit: "in texts"),
        Row(
            name: "dates", head: start + "<item>",
            unit: "<pubDate>\(String(repeating: "1 ", count: 48))</pubDate>", limit: "in texts"),
        Row(name: "pictures", unit: "<image><url>x</url></image>", limit: "in texts"),
        Row(
            name: "long attributes", head: start + "<item>",
            unit: "<a b='\(String(repeating: "a/../", count: 800))'/>", limit: "in texts", markup: 300),
        Row(
            name: "positions",
            unit: "<p:point xmlns:p='http://www.georss.org/georss'>\(String(repeating: "1 ", count: 500))</p:point>",
            limit: "in texts"),
    ]

    @Test("A document that exceeds a limit ends, with the limit as a problem and the items before it", arguments: rows)
    func limits(_ row: Row) throws {
        var limits = FeedLimits()
        limits.markup = row.markup
        limits.items = 30
        limits.totalByteCount = 20_000
        var parser = FeedParser(limits: limits)
        parser.append(row.head.utf8)
        let unit = Array(row.unit.utf8)
        let piece = Array(repeatElement(unit, count: 16 * 1024 / unit.count + 1).joined())
        var pieceCount = 0
        while pieceCount < 5, !parser.hasReachedLimit {
            parser.append(piece)
            pieceCount += 1
        }
        #expect(parser.hasReachedLimit == (row.limit != nil))
        guard !row.head.hasPrefix("<!DOCTYPE") else { return }
        let feed = try parser.finish()
        #expect(feed.items.first?.title?.value == "one")
        #expect(feed.items.count <= 30)
        guard let limit = row.limit else { return }
        let problem = try #require(feed.problems.first { $0.message.contains(limit) })
        #expect(problem.message.hasSuffix("the rest of the document is not read"))
        #expect(problem.line == 1 && problem.column > 1)
    }

    /// Describes a document that repeats one unit many times, and the permitted parsing cost for each KiB of the
    /// document.
    struct CheapRow: Sendable, CustomTestStringConvertible {
        let name: String
        let head: String
        let unit: String
        var costPerKibibyte = 1

        var testDescription: String { name }
    }

    private static let long = 60_000

    static let cheapRows: [CheapRow] = [
        CheapRow(name: "characters", head: "<item><title>", unit: "x"),
        CheapRow(name: "'&'", head: "<item><title>", unit: "&"),
        CheapRow(name: "'&' between spaces", head: "<item><description>", unit: " & "),
        CheapRow(name: "'&' before ';'", head: "<item><title>", unit: "&;"),
        CheapRow(name: "'&' outside of texts", head: "", unit: "&"),
        CheapRow(name: "brackets in a CDATA section", head: "<item><title><![CDATA[", unit: "]]x"),
        CheapRow(name: "'?' in an instruction", head: "<?a ", unit: "??x"),
        CheapRow(name: "hyphens in a comment", head: "<!--", unit: "--x"),
        CheapRow(name: "quotation marks in tags", head: "", unit: "<a \(String(repeating: "\"", count: long))>"),
        CheapRow(
            name: "'&' in values", head: "", unit: "<a b='\(String(repeating: "&", count: long))'/>",
            costPerKibibyte: 40),
        CheapRow(
            name: "long values", head: "", unit: "<enclosure url='\(String(repeating: "x", count: long))'/>",
            costPerKibibyte: 40),
        CheapRow(name: "two parts", head: "", unit: "<category>c12345</category>", costPerKibibyte: 400),
        CheapRow(name: "an attribute", head: "", unit: "<enclosure url='http://e/12345'/>", costPerKibibyte: 400),
    ]

    @Test(
        "The cost of a document is proportional to its bytes, and far below them for everything but tags",
        arguments: cheapRows)
    func proportion(_ row: CheapRow) {
        var costs: [Int] = []
        for pieceCount in [4, 16] {
            var parser = FeedParser()
            parser.append((Self.start + row.head).utf8)
            let unit = Array(row.unit.utf8)
            let byteCount = pieceCount * 16 * 1024
            parser.append(Array(repeatElement(unit, count: byteCount / unit.count + 1).joined().prefix(byteCount)))
            #expect(!parser.hasReachedLimit)
            costs.append(parser.cost)
        }
        // Each violation is stored, which adds to the cost. When the list of violations is full, the cost stops
        // growing.
        #expect(costs[1] <= 256 * row.costPerKibibyte + 256)
        #expect(costs[1] <= 4 * costs[0] + 256)
    }

    @Test("A feed within the limits is read to its end, also with as many items as they permit")
    func within() throws {
        var limits = FeedLimits()
        limits.items = 3
        let items = String(repeating: "<item><title>a</title></item>", count: 3)
        let feed = try Feed(parsing: Data("<rss version='2.0'>\(items)</rss>".utf8), limits: limits)
        #expect(feed.items.count == 3)
        #expect(feed.isWellFormed)
    }

    @Test(
        "Elements that a text leaves open do not hide the items after it, also when they are nested too deep to be read"
    )
    func recovery() throws {
        let document = """
            <rss version='2.0'><channel><item><title>a</title><description>\(String(repeating: "<br>", count: 1000))</description></item>
            <item><title>b</title></item></channel></rss>
            """
        let feed = try Feed(parsing: Data(document.utf8))
        #expect(feed.items.map { $0.title?.value } == ["a", "b"])
        #expect(feed.problems.contains { $0.message.contains("too deep") })
    }

    @Test("Attributes and texts of open elements stay within a bound")
    func openElements() throws {
        let value = String(repeating: "v", count: 60_000)
        let document = FeedCostTests.start + String(repeating: "<a b='\(value)'>\(value)", count: 120)
        let feed = try Feed(parsing: Data(document.utf8))
        #expect(feed.items.count == 1)
    }

    @Test("Malformed bytes end the document when there are too many of them")
    func malformedBytes() throws {
        var parser = FeedParser()
        parser.append("<?xml version='1.0' encoding='euc-jp'?>\(Self.start)<item><title>".utf8)
        let piece = [UInt8](repeating: 0xFF, count: 256 * 1024)
        var pieceCount = 0
        while pieceCount < 8, !parser.hasReachedLimit {
            parser.append(piece)
            pieceCount += 1
        }
        #expect(pieceCount == 5)
        let feed = try parser.finish()
        #expect(feed.items.first?.title?.value == "one")
        #expect(feed.problems.contains { $0.message.hasPrefix("too many malformed bytes") })
    }
}
