import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("Data URLs (RFC 2397, url-loading.md 24)")
struct DataURLTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String { url }
        var url: String
        var type: String?
        var content: String
    }

    @Test(
        "Media types and data",
        arguments: [
            Row(url: "data:,A%20brief%20note", type: DataURL.defaultMediaType, content: "A brief note"),
            Row(url: "DATA:text/html,<p>", type: "text/html", content: "<p>"),
            Row(url: "data:text/plain;charset=iso-8859-7,x", type: "text/plain;charset=iso-8859-7", content: "x"),
            Row(url: "data:;charset=utf-8,x", type: "text/plain;charset=utf-8", content: "x"),
            Row(url: "data:;base64,aGVsbG8=", type: DataURL.defaultMediaType, content: "hello"),
            Row(url: "data:text/plain;base64,aGVsbG8", type: "text/plain", content: "hello"),
            Row(
                url: "data:text/plain;charset=utf-8;Base64,aGVs%62G8%3D", type: "text/plain;charset=utf-8",
                content: "hello"),
            Row(url: "data:text/plain ; base64,aGVs bG8=", type: "text/plain", content: "hello"),
            Row(url: "data:,", type: DataURL.defaultMediaType, content: ""),
            Row(url: "data:a/b;x=\"1,2\",c", type: "a/b;x=\"1,2\"", content: "c"),
            Row(url: "data:,a,b;base64", type: DataURL.defaultMediaType, content: "a,b;base64"),
            Row(url: "data:,a#fragment", type: DataURL.defaultMediaType, content: "a"),
            Row(url: "data:text/plain;\u{301}base64,x", type: "text/plain;\u{301}base64", content: "x"),
            Row(url: "data:;\u{301}a=b,x", type: "text/plain;\u{301}a=b", content: "x"),
            Row(url: "data:,100%", type: DataURL.defaultMediaType, content: "100%"),
        ])
    func valid(row: Row) {
        let parsed = DataURL(row.url)
        #expect(parsed?.mediaType == row.type)
        #expect(parsed.map { String(decoding: $0.content, as: UTF8.self) } == row.content)
    }

    @Test(
        "Invalid URLs",
        arguments: [
            "data:", "data:text/plain", "data", "http:,x", "data:;base64,a", "data:;base64,aGVs!G8=",
            "data:;base64,aG=VsbG8", "data:;base64,aGVsbG8==",
        ])
    func invalid(url: String) { #expect(DataURL(url) == nil) }

    @Test("Base64 round trip, and padding (RFC 4648 §10)")
    func base64() {
        for (text, encoded) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.encode(Array(text.utf8)) == encoded)
            #expect(Base64.decode(encoded.utf8) == Array(text.utf8))
        }
        let all = (0...255).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(all).utf8) == all)
        #expect(Base64.decode("Zg=".utf8) == nil && Base64.decode("Z".utf8) == nil && Base64.decode("====".utf8) == nil)
    }
}
