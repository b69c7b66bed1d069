import CausewayMarkup
import Testing

/// Elements of sanitized HTML: browsers must read the elements that the cleaner wrote, and end them in the fragment.
@Suite("Elements of cleaned HTML")
struct HTMLCleanerTreeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let html: String
        let cleaned: String

        init(_ html: String, _ cleaned: String) {
            self.html = html
            self.cleaned = cleaned
        }

        var testDescription: String { html }
    }

    private static let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\">"

    static let textRows: [Row] = [
        Row(
            "<textarea><img title=\"</textarea><img src=x onerror=y>\">",
            "<textarea>&lt;img title=\"</textarea><img src=\"x\" />\">"),
        Row("<textarea>a&lt;b<c", "<textarea>a&lt;b&lt;c</textarea>"),
        Row("<TEXTAREA><!--</textareas></TextArea >b", "<textarea>&lt;!--&lt;/textareas></textarea>b"),
        Row("<textarea/>a<b>c</b>", "<textarea></textarea>a<b>c</b>"),
        Row("<title><img src=\"</title><b>c\"></b>", "&lt;img src=\"<b>c\"></b>"),
        Row("<script><!--</script>a", "a"), Row("<script>'<a title=\"</script>\">", "\">"), Row("<script>a<b>", ""),
        Row("<style>a</styles></style/>b", "b"), Row("<xmp><b>a</b></xmp>", "<b>a</b>"),
        Row(
            "<noscript><p title=\"</noscript><img src=x onerror=y>\"></noscript>",
            "<p title=\"&lt;/noscript&gt;&lt;img src=x onerror=y&gt;\"></p>"),
        Row("<template><b>a</b></template><plaintext>c", "<b>a</b>c"),
        Row("a\u{0}b<b\u{0} title=c>d", "ab<b title=\"c\">d</b>"), Row("<!-- a > b", "b"),
        Row("<a href=\"x", "<a href=\"x\"></a>"),
        Row("<a", "<a></a>"), Row("a<", "a&lt;"), Row("</", "&lt;/"),
    ]

    @Test("Text of elements without tags stays text, and what is cut off is no tag", arguments: textRows)
    func texts(_ row: Row) { check(row) }

    static let foreignRows: [Row] = [
        Row("<svg><style><img title=\"</style><img src=x onerror=y>\"></svg>", "\(svg)</svg><img src=\"x\" />\">"),
        Row("<svg><p>a<style><g title=\"</style><b>\">", "\(svg)</svg><p>a<b>\"></b></p>"),
        Row("<svg><desc><b>a</b><style>b</style></desc><G/><g/></svg>c", "\(svg)<desc>a</desc><g></g></svg>c"),
        Row("<svg><title>a<b></title></svg>", "\(svg)<title>a&lt;b></title></svg>"),
        Row("<svg><g><p>a</svg>b", "\(svg)<g></g></svg><p>ab</p>"), Row("<svg></p><g>a", "\(svg)<g>a</g></svg>"),
        Row("<p><svg><g></p>a", "<p>\(svg)<g></g></svg></p>a"), Row("<svg><section>a<input>", "\(svg)a</svg>"),
        Row("<div><svg></div>a", "<div>\(svg)</svg></div>a"), Row("<svg><math><mi>a", "\(svg)a</svg>"),
        Row("<svg><![CDATA[<img src=x onerror=y>]]></svg>", "\(svg)&lt;![CDATA[</svg><img src=\"x\" />]]>"),
        Row("<svg><script>a</script><circle/></svg>", "\(svg)<circle></circle></svg>"),
        Row(
            "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=y&gt;\">",
            "<math><mtext></mtext></math>"),
        Row(
            "<math><annotation-xml encoding=\"text/html\"><mi>a</mi><p>b</p></annotation-xml></math>",
            "<math><annotation-xml><mi>a</mi></annotation-xml></math><p>b</p>"),
        Row("<math><svg><a>b", "<math>b</math>"), Row("<math><malignmark>a<mi><b>c", "<math>a<mi>c</mi></math>"),
    ]

    @Test("SVG and MathML contain only their own elements, and end before HTML", arguments: foreignRows)
    func foreign(_ row: Row) { check(row) }

    static let endRows: [Row] = [
        Row("</div></p>a</b></form>", "a"), Row("<div><b>a</div>c", "<div><b>a</div>c</b>"),
        Row("<b><p>a</b>c</p>", "<b><p>a</b>c</p>"), Row("<ul><li>a<li>b</ul>c</li>", "<ul><li>a<li>b</ul>c"),
        Row("<p>a<p>b", "<p>a<p>b</p>"), Row("<p><div>a</p>b", "<p><div>ab</div>"), Row("<a>b<a>c", "<a>b<a>c</a>"),
        Row("<h1>a<h2>b</h1>c</h2>", "<h1>a<h2>b</h1>c"), Row("<span><div>a</span></div>", "<span><div>a</div></span>"),
        Row("<form><div><form>a</form>b</div></form>", "<form><div>a</form>b</div>"),
        Row("<form><p>a</form>b</p>", "<form><p>a</form>b"), Row("<button>a<button>b", "<button>a<button>b</button>"),
        Row("<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a<dd>b<dt>c</dl>"), Row("<td><div>a</td>b", "<td><div>a</td>b</div>"),
        Row("<table><div>a<tr><td>b<div>c</td></table></div>d", "<table>a<tr><td>b<div>c</td></table>d"),
        Row("<table><tr><td></div></table></table>a", "<table><tr><td></table>a"),
        Row("<table><table><td>a</table>b</table>", "<table><table><td>a</table>b"),
        Row("<table><caption>a<tr><td>b</caption>c", "<table><caption>a<tr><td>bc</td></tr></table>"),
        Row(
            "<select><option>a<div>b</div><svg><a>c</a></svg></select>d",
            "<select><option>abc</select>d"),
        Row("<select><option>a<input>b</select>", "<select><option>a</select><input />b"),
        Row("<div><select></div><select>a", "<div><select></select>a</div>"),
        Row("<li hidden>a", "<li hidden=\"\">a</li>"), Row("<ul><li>a<li>b", "<ul><li>a<li>b</li></ul>"),
        Row("<span hidden><p>a", "<span hidden=\"\"><p>a</p></span>"), Row("<b><dd>a", "<b><dd>a</dd></b>"),
        Row("<table><tr><td>a", "<table><tr><td>a</td></tr></table>"), Row("<p>a<hr>b</p>", "<p>a<hr />b"),
        Row("<p>a<br>b<img>", "<p>a<br />b<img /></p>"), Row("<p><button><hr></p>a", "<p><button><hr />a</button></p>"),
        Row("<select><option>a", "<select><option>a</option></select>"),
    ]

    @Test("End tags end elements of the fragment only, and all elements end", arguments: endRows)
    func ends(_ row: Row) { check(row) }

    private func check(_ row: Row) { #expect(HTMLCleaner.clean(row.html, base: nil) == row.cleaned) }

    @Test("Elements nested too deep lose their tags and keep their text; paragraphs do not nest")
    func depth() {
        func count(_ tag: String, _ html: String) -> Int { HTMLCleaner.clean(html, base: nil).ranges(of: tag).count }
        for name in ["div", "b", "span", "ul><li"] {
            let html = "a" + String(repeating: "<\(name)>", count: 1000) + "b"
            #expect(HTMLCleaner.clean(html, base: nil).contains("b</"))
            #expect((64...128).contains(count("<\(name)>", html)))
        }
        let svg = "a<svg>" + String(repeating: "<g>", count: 1000) + "b"
        #expect(count("<g>", svg) == 127 && count("</g>", svg) == 127)
        #expect(count("<p>", "a" + String(repeating: "<p>b", count: 1000)) == 1000)
    }

    @Test(
        "Hostile repetitions give a bounded result",
        arguments: [
            "<", "&", "<!--", "<!", "</", "<a ", "<a b='", "&#", "&lt", "<script>", "<textarea>", "<b>", "</b>", "<p>",
            "<li>",
            "<svg>", "<svg><p>", "<table>", "<select>", "<b></i>", "<td><b>", "<a b=\"", "<![CDATA[", "<title></title",
            "<b style='(", "url(", "<a href='&", "\u{0}",
        ])
    func repetitions(_ unit: String) {
        let html = String(repeating: unit, count: 100_000 / unit.utf8.count)
        let cleaned = HTMLCleaner.clean(html, base: "http://a.example/")
        #expect(cleaned.utf8.count <= 6 * html.utf8.count + 8192)
        #expect(HTMLText.plain(html).utf8.count <= html.utf8.count)
    }
}
