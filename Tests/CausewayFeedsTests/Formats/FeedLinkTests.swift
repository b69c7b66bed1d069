import CausewayMarkup
import Foundation
import Testing

@Suite("Unsafe links in feeds")
struct FeedLinkTests {
    private static func feed(_ document: String) throws -> Feed {
        try Feed(parsing: Data(document.utf8), source: FeedSource(base: "http://a.example/"))
    }

    private static func atom(_ entry: String) throws -> FeedItem? {
        try feed("<feed xmlns='http://www.w3.org/2005/Atom'><entry>\(entry)</entry></feed>").items.first
    }

    @Test(
        "A link of XML is decoded once: what looks like a character reference then is text",
        arguments: [
            ("javascript&amp;colon;x", "http://a.example/javascript&colon;x"),
            ("javascript&amp;#58;x", "http://a.example/javascript&#58;x"),
            ("java&amp;Tab;script:x", ""), ("javascript&#58;x", ""), ("java&#9;script:x", ""),
            ("java&#10;script&#x3A;x", ""),
            ("feed:javascript:x", ""), ("http://b.example/?a&amp;copy=1", "http://b.example/?a&copy=1"),
        ])
    func xml(written: String, link: String) throws {
        let rss = try Self.feed(
            "<rss version='2.0'><channel><item><link>\(written)</link><comments>\(written)</comments></item></channel></rss>"
        )
        #expect(rss.items.first?.links.first?.href == link)
        #expect(rss.items.first?.comments == link)
        #expect(try Self.atom("<link href='\(written)'/>")?.links.first?.href == link)
    }

    @Test("A link of JSON is not decoded")
    func json() throws {
        let feed = try Self.feed(
            #"{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"javascript&colon;x"},{"url":"java\nscript:x"}]}"#
        )
        #expect(feed.items.map { $0.links.map(\.href) } == [["http://a.example/javascript&colon;x"], []])
    }

    @Test(
        "Links in texts of Atom are those that browsers read in them",
        arguments: [
            ("type='html'>&lt;a href=\"javascript&amp;colon;x\"&gt;b&lt;/a&gt;", "<a href=\"\">b</a>"),
            (
                "type='html'>&lt;a href=\"javascript&amp;amp;colon;x\"&gt;b",
                "<a href=\"http://a.example/javascript&amp;colon;x\">b</a>"
            ),
            (
                "type='text/HTML; charset=utf-8'>&lt;a href=\"javascript&amp;colon;x\"&gt;b&lt;/a&gt;",
                "<a href=\"\">b</a>"
            ),
            (
                "type='xhtml'><a href='javascript&amp;colon;x'>b</a>",
                "<a href=\"http://a.example/javascript&amp;colon;x\">b</a>"
            ),
            ("type='xhtml'><a href='javascript&#58;x'>b</a>", "<a href=\"\">b</a>"),
            ("type='xhtml'><b title='a&#13;&#10;c'>b</b>", "<b title=\"a&#13;\nc\">b</b>"),
            ("type='xhtml'><textarea>a<b>c</b></textarea>d", "<textarea>a&lt;b>c&lt;/b></textarea>d"),
        ])
    func texts(content: String, expected: String) throws {
        let text = try #require(try Self.atom("<content \(content)</content>")?.contents.first)
        #expect(text.value == expected)
        #expect(text.isHTML)
    }

    @Test("Chapters and unknown elements have no unsafe links")
    func otherLinks() throws {
        let item = try Self.atom(
            """
            <c:chapters xmlns:c='http://podlove.org/simple-chapters'>
            <c:chapter start='0' title='t' href='javascript:x' image='java&#9;script:x'/></c:chapters>
            <x:one xmlns:x='urn:x' url='javascript:x'/><x:two xmlns:x='urn:x' url='http://b.example/'/>
            """)
        #expect(item?.chapters.map(\.image) == [""] && item?.chapters.map(\.link) == [""])
        #expect(item?.extensions["x_one"] == nil && item?.extensions["x_two"] == "http://b.example/")
    }
}
