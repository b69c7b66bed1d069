import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: forms")
struct FormItemsTests {
    @Test("The items of a form")
    func form() {
        let items = FormItems.decoded("a=1&b&c=x+y%21&=z&d==&%")
        #expect(items.map(\.name) == ["a", "b", "c", "", "d", "%"])
        #expect(items.map(\.value) == ["1", "", "x y!", "z", "=", ""])
    }

    @Test("A separator before a combining mark is a separator")
    func combiningMarks() {
        let items = FormItems.decoded("a=\u{301}1&\u{301}b=2")
        #expect(items.map(\.name) == ["a", "\u{301}b"])
        #expect(items.map(\.value) == ["\u{301}1", "2"])
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
