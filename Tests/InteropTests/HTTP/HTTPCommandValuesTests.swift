import CausewayHTTPProtocols
import CausewayTypes
import Foundation
import Testing

@testable import nw

/// The values of `nw http`, without a network.
@Suite("Values of nw http")
struct HTTPCommandValuesTests {
    static let items: [(String, RequestItem?)] = [
        ("a:b", .field(name: "a", value: "b")), ("a=b:c", .text(name: "a", value: "b:c")),
        ("a:=1", .json(name: "a", value: "1")), ("a==b", .query(name: "a", value: "b")),
        ("a:b=c", .field(name: "a", value: "b=c")), (#"a\:b=c"#, .text(name: "a:b", value: "c")),
        (#"a\=b:c"#, .field(name: "a=b", value: "c")), ("a=", .text(name: "a", value: "")), ("a", nil), ("=b", nil),
        ("", nil),
    ]

    @Test("Items", arguments: items)
    func item(_ word: String, _ expected: RequestItem?) { #expect(RequestItem(word) == expected) }

    @Test(
        "A method before the URL",
        arguments: [
            (["u"], nil, "u"), (["POST", "u"], "POST", "u"), (["post", "u"], "POST", "u"),
            (["localhost", "a=b"], nil, "localhost"),
            (["M-SEARCH", "u"], "M-SEARCH", "u"), (["GET"], nil, "GET"),
        ] as [([String], String?, String)])
    func words(_ words: [String], _ method: String?, _ url: String) throws {
        let parsed = try #require(RequestWords(words))
        #expect(parsed.method == method && parsed.url == url)
    }

    @Test(
        "A URL without a scheme",
        arguments: [
            ("h/p", "http://h/p"), (":80/p", "http://localhost:80/p"), ("https://h", "https://h"),
            ("[::1]:8", "http://[::1]:8"),
        ])
    func absolute(_ text: String, _ expected: String) { #expect(RequestWords.absolute(text) == expected) }

    @Test("Items become JSON and a form")
    func contents() {
        let items = ["a=x\"\\\n\u{1}", "b:=[1, 2]", "C:d", "e==f g"].compactMap(RequestItem.init)
        #expect(ItemContent.json(items) == Data(#"{"a": "x\"\\\n\u0001", "b": [1, 2]}"#.utf8))
        #expect(ItemContent.json([.json(name: "a", value: "{")]) == nil)
        #expect(ItemContent.form([.text(name: "ä", value: "1+1 &")]) == Data("%C3%A4=1%2B1+%26".utf8))
        #expect(ItemContent.query(items) == "e=f+g")
    }

    static let documents: [(String, String)] = [
        (
            #"{"a":1,"b":[true,null],"c":{}}"#,
            "{\n    \"a\": 1,\n    \"b\": [\n        true,\n        null\n    ],\n    \"c\": {}\n}"
        ),
        ("[ ]", "[]"), ("[[],[ {} ]]", "[\n    [],\n    [\n        {}\n    ]\n]"),
        (#"{"a":"x,{y:\"z\\"}"#, "{\n    \"a\": \"x,{y:\\\"z\\\\\"\n}"), ("1 \n 2", "1\n2"), ("\"a b\"", "\"a b\""),
        ("]]", "\n]\n]"),
        ("not json", "not\njson"),
    ]

    @Test("JSON is indented, in any split", arguments: documents)
    func indented(_ text: String, _ expected: String) {
        var whole = JSONIndenter()
        #expect(String(decoding: whole.format(text.utf8), as: UTF8.self) == expected)
        var split = JSONIndenter()
        #expect(String(decoding: text.utf8.flatMap { split.format([$0]) }, as: UTF8.self) == expected)
    }

    @Test("The depth of JSON does not bound memory or width")
    func deep() {
        var indenter = JSONIndenter()
        let output = indenter.format([UInt8](repeating: UInt8(ascii: "["), count: 100_000))
        #expect(output.count <= 100_000 * (JSONIndenter.maximumIndentation + 2))
    }

    @Test("Text for a terminal has no control characters")
    func terminalText() {
        var content = TerminalContent(type: "text/plain")
        var text = content.text(Data("a\u{1B}[2J\r\n\tb\u{9B}".utf8))
        #expect(text.text == "a\\u{1B}[2J\n")
        text = content.finish()
        #expect(text.text == "    b\\u{9B}\n")
    }

    @Test("A long line is split between characters", arguments: ["a", "é", "€", "😀"])
    func longLine(_ character: String) {
        var content = TerminalContent(type: nil)
        let line = String(repeating: character, count: TerminalContent.lineLimit)
        var output = ""
        let bytes = Array(line.utf8)
        for start in stride(from: 0, to: bytes.count, by: 1_001) {
            output += content.text(Data(bytes[start..<min(bytes.count, start + 1_001)])).text
        }
        #expect(output + content.finish().text == line + "\n")
    }

    @Test("Cookie files are read and written as by curl")
    func cookieFile() throws {
        let text =
            "# Netscape HTTP Cookie File\n\n#HttpOnly_.a.test\tTRUE\t/p\tTRUE\t9\tn\tv\nb.test\tFALSE\t/\tFALSE\t0\tx\ty=z\n"
        let cookies = CookieFile.parse(text + "# comment\nshort\tline\n")
        try #require(cookies.count == 2)
        #expect(cookies[0].domain == "a.test" && !cookies[0].isHostOnly && cookies[0].isHTTPOnly && cookies[0].isSecure)
        #expect(cookies[0].expires == .seconds(9) && cookies[1].expires == nil && cookies[1].isHostOnly)
        #expect(CookieFile.text(cookies) == text)
    }

    @Test(
        "Fixed addresses",
        arguments: [
            ("h:80:1.2.3.4", "1.2.3.4"), ("h:80:[::1]", "::1"), ("h:80:::1", "::1"), ("h:0:1.2.3.4", nil),
            ("h:80:x", nil),
        ])
    func fixedAddress(_ text: String, _ address: String?) { #expect(FixedAddress(argument: text)?.address == address) }
}
