import CausewayMarkup
import Testing

@Suite("Cleaned HTML")
struct HTMLCleanerTests {
    @Test(
        "Unsafe parts are removed",
        arguments: [
            ("a<script>b</script>c", "ac"), ("<a href=\"javascript:x()\">b</a>", "<a href=\"\">b</a>"),
            ("<a href=' java\nscript:x()'>b</a>", "<a href=\"\">b</a>"),
            ("<a href='&#106;avascript:x()'>b</a>", "<a href=\"\">b</a>"),
            ("<p onclick='x()' title='y'>z", "<p title=\"y\">z</p>"), ("<iframe src=x></iframe>a", "a"),
            ("a<!-- <b> -->c", "ac"),
            ("<scr<script>ipt>a</script>b", "b"), ("<SCRIPT>a</ScRiPt >b", "b"), ("<b>a", "<b>a</b>"),
            ("a < b", "a &lt; b"), ("a & b", "a &amp; b"),
            ("<img src='x' alt='\"<'>", "<img alt=\"&quot;&lt;\" src=\"http://a.example/b/x\" />"),
            ("<style>p{}</style>a", "a"),
            ("<p style='background:url(javascript:x)'>a", "<p>a</p>"),
            ("<p style='color:red;position:fixed'>a", "<p style=\"color: red;\">a</p>"),
            ("<p style='color:expression(x)'>a", "<p>a</p>"), ("<p style='c\\6flor:red'>a", "<p>a</p>"),
            ("<br></br><hr/>", "<br /><hr />"),
        ])
    func cleans(html: String, expected: String) {
        #expect(HTMLCleaner.clean(html, base: "http://a.example/b/c") == expected)
    }

    @Test(
        "An animation in SVG keeps its target only if every value of the target is safe",
        arguments: [
            ("attributeName='href' to='javascript:x()'", "to=\"javascript:x()\""),
            ("attributeName='xlink:href' to='a'", "to=\"a\""), ("attributeName='hr&#101;f' to='a'", "to=\"a\""),
            ("attributeName='onclick' to='x()'", "to=\"x()\""),
            ("attributeName='fill' to='red'", "attributeName=\"fill\" to=\"red\""),
        ])
    func animations(attributes: String, expected: String) {
        let html = "<svg><a><set \(attributes)/>b</a></svg>"
        let cleaned = "<svg xmlns=\"http://www.w3.org/2000/svg\"><a><set \(expected)></set>b</a></svg>"
        #expect(HTMLCleaner.clean(html, base: nil) == cleaned)
    }

    @Test("Attributes after the 64th of a tag are dropped, also if those before occur twice")
    func manyAttributes() {
        let html = "<a \(String(repeating: "title=b ", count: 64))href='c' lang=d>e</a> f"
        #expect(HTMLCleaner.clean(html, base: nil) == "<a title=\"b\">e</a> f")
    }

    @Test(
        "Styles lose what can load something, and keep the rest",
        arguments: [
            ("color: red; background: url(a) blue", "color: red; background: blue;"), ("color", ""), (" ; ", ""),
            ("color: url(a", ""), ("color: rgb(1,2,3); position: fixed", "color: rgb(1,2,3);"),
            ("background: URL(1) red", "background: red;"), ("background: &#117;rl&lpar;1) red", "background: red;"),
            ("color&colon;red", "color: red;"), ("background: url&lpar;javascript&colon;x", ""),
            ("margin: 1px 2px;", "margin: 1px 2px;"), ("margin: 123px", ""),
        ])
    func styles(style: String, expected: String) {
        let attribute = expected.isEmpty ? "" : " style=\"\(expected)\""
        #expect(HTMLCleaner.clean("<b style='\(style)'>x</b>", base: nil) == "<b\(attribute)>x</b>")
    }

    @Test("Plain text has no tags, and words stay apart")
    func plain() {
        #expect(HTMLText.plain("<p>a&nbsp;b</p><p>c<b>d</b><script>e</script>&lt;f") == "a b cd<f")
        #expect(HTMLText.plain("a&am<b>p;c</b>&colon;&#0000000000000100;&copy") == "a&amp;c:d\u{A9}")
        #expect(HTMLText.plain("<textarea><b>&amp;</textarea>c") == "<b>& c")
    }

    @Test(
        "References are resolved (RFC 3986 §5.4)",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"), ("g?y#s", "http://a/b/c/g?y#s"), ("#s", "http://a/b/c/d;p?q#s"),
            ("", "http://a/b/c/d;p?q"), ("./..", "http://a/b/"), ("x/./y/../z/.", "http://a/b/c/x/z/"),
            ("x//../y", "http://a/b/c/x/y"), ("...", "http://a/b/c/..."), (".x/..y/", "http://a/b/c/.x/..y/"),
            ("/..", "http://a/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"), ("../../../g", "http://a/g"),
            ("g:h", "g:h"),
            ("http:///x/y", "http://x/y"),
        ])
    func resolves(reference: String, target: String) {
        #expect(Reference.resolve(reference, base: "http://a/b/c/d;p?q") == target)
    }
}
