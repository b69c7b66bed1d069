import CausewayMarkup
import Testing

/// Links in sanitized HTML: browsers must read the value that was judged.
@Suite("Links of cleaned HTML")
struct HTMLCleanerLinkTests {
    @Test(
        "A scheme is judged after references are decoded and the characters that URL parsers remove are gone",
        arguments: [
            "javascript&colon;x", "javascript&#58;x", "javascript&#58x", "javascript&#x3a;x",
            "javascript&#0000000000058;x",
            "java&Tab;script:x", "java&NewLine;script&colon;x", "java\r\nscript:x", "&#x6A;avascript:x",
            "&#X6Aavascript:x", "&#106avascript:x", "&#14;javascript:x", "\u{1} javascript:x", "JaVaScRiPt&colon;x",
            "java\u{0}script:x", "&lpar;javascript:x", "vbscript&colon;x", "data:text/html,x", "feed:javascript:x",
            "feed&colon;feed:javascript:x", "view-source:javascript:x",
        ])
    func judges(reference: String) {
        for base in [nil, "http://a.example/b/c"] {
            #expect(HTMLCleaner.clean("<a href=\"\(reference)\">b</a>", base: base) == "<a href=\"\">b</a>")
            #expect(HTMLCleaner.clean("<a href='\(reference)", base: base) == "<a href=\"\"></a>")
        }
    }

    @Test(
        "A safe link is escaped again, so that it decodes to the link that was judged",
        arguments: [
            ("javascript&amp;colon;x", "http://a.example/b/javascript&amp;colon;x"),
            ("javascript&#38;colon;x", "http://a.example/b/javascript&amp;colon;x"),
            ("javascript&amp;amp;colon;x", "http://a.example/b/javascript&amp;amp;colon;x"),
            ("javascript&colon", "http://a.example/b/javascript&amp;colon"),
            ("&amp;#106;avascript", "http://a.example/b/&amp;#106;avascript"),
            ("?a=1&b=2&copy=3&amp;d&lt", "http://a.example/b/c?a=1&amp;b=2&amp;copy=3&amp;d&lt;"),
            ("http&colon;//b.example/&quot;&gt;", "http://b.example/&quot;&gt;"),
            ("&Tab; http://b.example/a&NewLine;b ", "http://b.example/ab"),
            ("feed:http://b.example/", "feed:http://b.example/"), ("#a&num;b", "http://a.example/b/c#a#b"),
        ])
    func escaped(reference: String, expected: String) {
        let once = HTMLCleaner.clean("<a href=\"\(reference)\">b</a>", base: "http://a.example/b/c")
        #expect(once == "<a href=\"\(expected)\">b</a>")
        #expect(HTMLCleaner.clean(once, base: nil) == once)
    }

    @Test(
        "All attributes with references are judged, and unknown ones are removed",
        arguments: [
            (
                "<img src='javascript&colon;x' srcset='javascript:x 2x' lowsrc='java&Tab;script:x'>",
                "<img lowsrc=\"\" src=\"\" />"
            ),
            (
                "<video poster='javascript&colon;x' src='data:video/mp4,x'></video>",
                "<video poster=\"\" src=\"\"></video>"
            ),
            (
                "<form action='javascript&colon;x'><button formaction='http://b.example'>b</button></form>",
                "<form action=\"\"><button>b</button></form>"
            ),
            ("<a ping='http://b.example/ javascript&colon;x'>b</a>", "<a ping=\"\">b</a>"),
            ("<a ping='http://b.example/ c'>b</a>", "<a ping=\"http://b.example/ c\">b</a>"),
            ("<i background='javascript&colon;x'>b</i>", "<i background=\"\">b</i>"),
            ("<q cite='javascript&colon;x'>b</q>", "<q cite=\"\">b</q>"),
            ("<a HREF='http://b.example/' href='http://c.example/'>b</a>", "<a href=\"http://b.example/\">b</a>"),
            ("<math href='javascript&colon;x'><mi>b</mi></math>", "<math href=\"\"><mi>b</mi></math>"),
            (
                "<b title='&quot;&lt;b&gt;&#13;&amp;amp;&#0;'>a</b>",
                "<b title=\"&quot;&lt;b&gt;&#13;&amp;amp;\u{FFFD}\">a</b>"
            ),
        ])
    func attributes(html: String, expected: String) {
        #expect(HTMLCleaner.clean(html, base: nil) == expected)
    }

    @Test(
        "SVG loses unsafe links, and namespaces that are not its own",
        arguments: [
            (
                "<a xlink:href='javascript&colon;x'></a>",
                "<a xlink:href=\"\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"></a>"
            ),
            ("<a href='java&Tab;script:x'></a>", "<a href=\"\"></a>"),
            (
                "<use xlink:href='data:image/svg+xml,x' xmlns:xlink='b'/>",
                "<use xlink:href=\"\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"></use>"
            ),
            ("<a xml:base='javascript&colon;' href='x'></a>", "<a href=\"x\" xml:base=\"\"></a>"),
            ("<a xmlns='http://www.w3.org/1999/xhtml' HREF='x'></a>", "<a></a>"),
        ])
    func svg(content: String, expected: String) {
        let start = "<svg xmlns=\"http://www.w3.org/2000/svg\">"
        #expect(HTMLCleaner.clean("<svg xmlns='b'>\(content)</svg>", base: nil) == "\(start)\(expected)</svg>")
    }

    @Test("A plain reference is judged as it is: what looks like a character reference is text")
    func plainReferences() {
        #expect(Reference.isSafe("javascript&colon;x") && Reference.isSafe("java&Tab;script&#58;x/"))
        #expect(!Reference.isSafe("javascript:x&colon;") && !Reference.isSafe(" java\nscript:x"))
        #expect(!Reference.isSafe("feed:javascript:x") && Reference.isSafe("feed:http://a.example/"))
        #expect(Reference.stripped(" \u{1}\ta\r\nb c\u{1F} ") == "ab c" && Reference.stripped(" \n") == "")
    }
}
