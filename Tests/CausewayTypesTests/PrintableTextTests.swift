import CausewayTypes
import Testing

@Suite("Printable text")
struct PrintableTextTests {
    @Test(
        "Control characters are shown as escapes",
        arguments: [
            ("plain", "Printer", "Printer"), ("letters of other scripts", "Küche 印刷", "Küche 印刷"),
            ("escape sequence", "red\u{1B}[31m", "red\\u{1B}[31m"), ("bell", "a\u{07}", "a\\u{7}"),
            ("line break", "a\nforged", "a\\u{A}forged"), ("carriage return", "a\rb", "a\\u{D}b"),
            ("carriage return and line break are one character", "a\r\nb", "a\\u{D}\\u{A}b"),
            ("delete", "a\u{7F}", "a\\u{7F}"), ("one-character CSI", "\u{9B}2J", "\\u{9B}2J"),
            ("line separator", "a\u{2028}b", "a\\u{2028}b"), ("right-to-left text", "\u{202E}txt", "\\u{202E}txt"),
            ("family emoji", "👨\u{200D}👩", "👨\u{200D}👩"), ("hidden joiner", "a\u{200D}b", "a\\u{200D}b"),
            ("combining mark after a control character", "\u{1B}\u{301}", "\\u{1B}\u{301}"),
        ])
    func escapes(_ row: (name: String, foreign: String, expected: String)) {
        #expect(PrintableText(foreign: row.foreign).text == row.expected, "\(row.name)")
        let interpolated: PrintableText = "<\(row.foreign)>"
        #expect(interpolated.text == "<\(row.expected)>", "\(row.name)")
        #expect(PrintableText(foreign: row.expected).text == row.expected, "escaping twice: \(row.name)")
    }

    @Test("Literals keep their line breaks, interpolated values do not")
    func literals() {
        let name = "a\nb"
        let text: PrintableText = "one\n\(name) \(7) \(1.5)\n\("two" as PrintableText)"
        #expect(text.text == "one\na\\u{A}b 7 1.5\ntwo")
    }

    @Test("A line of a report cannot start another one")
    func lines() {
        #expect(PrintableText(lines: ["name: a\nforged: b", "second"]).text == "name: a\\u{A}forged: b\nsecond")
        #expect(
            ["a", "b"].map { PrintableText(foreign: $0 + "\r") }.joined(separator: "\n").text == "a\\u{D}\nb\\u{D}")
    }

    @Test("A JSON document keeps its value and contains no control characters")
    func document() {
        let json = "{\n  \"name\" : \"ü \u{9B}2J \u{7F} \u{202E} \u{E0001}\"\n}"
        let text = PrintableText(document: json).text
        #expect(text == "{\n  \"name\" : \"ü \\u009b2J \\u007f \\u202e \\udb40\\udc01\"\n}")
    }

    @Test("Padding counts the visible characters")
    func padding() {
        #expect(PrintableText(foreign: "\u{7}").padded(to: 7).text == "\\u{7}  ")
        #expect(("long" as PrintableText).padded(to: 2).text == "long")
    }
}
