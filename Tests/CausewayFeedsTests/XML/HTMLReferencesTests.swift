import CausewayMarkup
import Testing

@Suite("HTML character references (WHATWG HTML §13.2.5.72)")
struct HTMLReferencesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let written: String
        let text: String
        /// The value of an attribute, if it is not `text`.
        var attribute: String?

        var testDescription: String { written }
    }

    static let rows: [Row] = [
        Row(written: "a &amp; b", text: "a & b"), Row(written: "a&b&", text: "a&b&"), Row(written: "", text: ""),
        Row(written: "&colon;&Tab;&NewLine;&lpar;&sol;", text: ":\t\n(/"),
        Row(written: "&CounterClockwiseContourIntegral;", text: "\u{2233}"),
        Row(written: "&acE;&fjlig;", text: "\u{223E}\u{333}fj"), Row(written: "&lang;", text: "\u{27E8}"),
        Row(written: "&unknown;&;&#;&#x;&#xg;&", text: "&unknown;&;&#;&#x;&#xg;&"),
        Row(written: "&AMP&Amp;&amP", text: "&&Amp;&amP"), Row(written: "&amp;colon;", text: "&colon;"),
        Row(written: "&#x6A;&#X6a;&#106;&#106", text: "jjjj"), Row(written: "&#x6Axy", text: "jxy"),
        Row(written: "&#0000000000000000000106;", text: "j"), Row(written: "&#9;&#10;&#13;&#1;", text: "\t\n\r\u{1}"),
        Row(
            written: "&#0;&#xD800;&#xDFFF;&#x110000;&#99999999999999999999;",
            text: "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
        Row(written: "&#128;&#x9F;&#x81;", text: "\u{20AC}\u{178}\u{81}"),
        Row(written: "&lt&gt&amp&quot", text: "<>&\""), Row(written: "&lt;&LT;&LT", text: "<<<"),
        Row(written: "&notit;&notin;", text: "\u{AC}it;\u{2209}", attribute: "&notit;\u{2209}"),
        Row(written: "?a&copy=1&copy;=1", text: "?a\u{A9}=1\u{A9}=1", attribute: "?a&copy=1\u{A9}=1"),
        Row(written: "&copyx&copy9&copy-", text: "\u{A9}x\u{A9}9\u{A9}-", attribute: "&copyx&copy9\u{A9}-"),
        Row(written: "&frac12&frac129", text: "\u{BD}\u{BD}9", attribute: "\u{BD}&frac129"),
        Row(written: "&colon", text: "&colon"), Row(written: "javascript&#58x", text: "javascript:x"),
    ]

    @Test("References are decoded as browsers decode them in texts and in attributes", arguments: rows)
    func decodes(_ row: Row) {
        #expect(HTMLReferences.decoded(row.written, isAttribute: false) == row.text)
        #expect(HTMLReferences.decoded(row.written, isAttribute: true) == row.attribute ?? row.text)
        #expect(HTMLReferences.value(row.written) == row.attribute ?? row.text)
    }

    @Test("Line breaks in a value are line feeds, NUL is a replacement character, and references keep theirs")
    func values() {
        #expect(HTMLReferences.value("a\r\nb\rc\nd\r") == "a\nb\nc\nd\n")
        #expect(HTMLReferences.value("a&#13;\r\nb\u{0}&Tab;") == "a\r\nb\u{FFFD}\t")
        #expect(HTMLReferences.value("&\u{0}lt;") == "&\u{FFFD}lt;")
    }
}
