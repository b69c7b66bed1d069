import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: paths")
struct PercentCodingTests {
    @Test(
        "Escapes are decoded once, and malformed ones are refused",
        arguments: [
            ("plain", "plain"), ("a%20b", "a b"), ("%252e", "%2e"), ("%C3%A9", "é"), ("%", nil), ("%2", nil),
            ("%zz", nil), ("%ff", nil), ("a+b", "a+b"), ("%00", "\u{0}"),
        ] as [(String, String?)])
    func decodes(_ text: String, _ expected: String?) {
        #expect(PercentCoding.decoded(text) == expected)
    }

    @Test("Encoding and decoding are inverse")
    func encodes() {
        for text in ["a b/c?d#e%", "é漢\u{1}", ""] {
            #expect(PercentCoding.decoded(PercentCoding.encoded(text)) == text)
        }
    }

    @Test("The items of a form")
    func form() {
        let items = PercentCoding.formItems("a=1&b&c=x+y%21&=z&d==&%")
        #expect(items.map(\.name) == ["a", "b", "c", "", "d", "%"])
        #expect(items.map(\.value) == ["1", "", "x y!", "z", "=", ""])
    }

    @Test(
        "Media types by the end of a name",
        arguments: [
            ("a.HTML", "text/html; charset=utf-8"), ("d.x/README", MediaTypes.unknown),
            (".json", MediaTypes.unknown),
            ("a.tar.gz", "application/gzip"),
        ])
    func mediaTypes(_ name: String, _ type: String) {
        #expect(MediaTypes.type(ofFile: name) == type)
    }
}
