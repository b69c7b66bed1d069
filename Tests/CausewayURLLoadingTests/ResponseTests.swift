import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("URLResponse and HTTPURLResponse (§7, §20)")
struct ResponseTests {
    let url = URL(string: "https://www.example.com")!

    func response(_ fields: [String: String]) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
    }

    @Test(
        "Content-Disposition gives the file name (RFC 6266)",
        arguments: [
            ("inline", "Unknown"), ("attachment; filename=\"fname.ext\"", "fname.ext"),
            ("attachment; filename=genome.jpeg; modification-date=\"Wed, 12 Feb 1997 16:29:51 -0500\";", "genome.jpeg"),
            ("attachment; filename=\";.ext\"", ";.ext"),
            ("attachment; aa=bb\\; filename=\"wrong.ext\"; filename=\"fname.ext\"; cc=dd", "fname.ext"),
            ("attachment; filename=\"first.ext\"; filename=\"second.ext\"", "first.ext"),
            ("attachment; filename=\"open.ext", "open.ext"),
            ("attachment; filename=\"/a/b/name\"", "_a_b_name"),
            ("attachment; filename=\"a/../b/name\"", "a_.._b_name"),
            ("attachment; filename=\"..\"", "Unknown"),
            ("attachment; filename=plain; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
        ])
    func suggestsFilename(disposition: String, expected: String) throws {
        #expect(try response(["Content-Disposition": disposition]).suggestedFilename == expected)
    }

    @Test("Without a field the last path component is the file name")
    func filenameOfURL() {
        let file = URL(string: "https://example.com/a/report%20b.pdf?x=1")!
        let response = URLResponse(url: file, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        #expect(response.suggestedFilename == "report b.pdf")
        let root = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        #expect(root.suggestedFilename == "Unknown")
    }

    @Test("Content-Type gives media type and charset in lower case")
    func mediaType() throws {
        let one = try response(["Content-Type": "text/HTML; charset=ISO-8859-4"])
        #expect(one.mimeType == "text/html")
        #expect(one.textEncodingName == "iso-8859-4")
        #expect(try response([:]).mimeType == nil)
        #expect(try response(["Content-Type": "text/html"]).textEncodingName == nil)
    }

    @Test("Well-known names have their usual capitals, others keep theirs")
    func capitals() throws {
        let fields = ["location": "/new", "conTent-lenGTH": "123", "x-extra-HEADER": "v"]
        let response = try response(fields)
        #expect(response.expectedContentLength == 123)
        #expect(response.value(forHTTPHeaderField: "LOCATION") == "/new")
        #expect(
            response.allHeaderFields as? [String: String]
                == ["Location": "/new", "Content-Length": "123", "x-extra-HEADER": "v"])
    }

    @Test("Several fields with one name are joined")
    func duplicates() {
        var fields = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)!.fields
        fields.append("vary", "a")
        fields.append("Vary", "b")
        let response = HTTPURLResponse(url: url, statusCode: 200, version: nil, fields: fields, isDecoded: true)
        #expect(response.value(forHTTPHeaderField: "Vary") == "a, b")
        #expect(response.allHeaderFields as? [String: String] == ["Vary": "a, b"])
    }

    @Test(
        "Only digits are a length",
        arguments: [
            ("9", 9), ("0009", 9), ("9223372036854775807", .max), ("9223372036854775808", -1), ("+9", -1), ("-0", -1),
            ("-9", -1), ("", -1), ("9 9", -1),
        ] as [(String, Int64)])
    func length(_ text: String, _ length: Int64) {
        var fields = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)!.fields
        fields.append("Content-Length", text)
        let response = HTTPURLResponse(url: url, statusCode: 200, version: nil, fields: fields, isDecoded: false)
        #expect(response.expectedContentLength == length)
    }

    @Test("The length of decoded content is not known")
    func decodedLength() {
        var fields = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)!.fields
        fields.append("Content-Length", "9")
        for (isDecoded, expected) in [(false, Int64(9)), (true, -1)] {
            let response = HTTPURLResponse(
                url: url, statusCode: 200, version: nil, fields: fields, isDecoded: isDecoded)
            #expect(response.expectedContentLength == expected)
        }
    }

    @Test("Status texts", arguments: [(200, "no error"), (404, "not found"), (299, "success"), (599, "server error")])
    func statusText(status: Int, expected: String) {
        #expect(HTTPURLResponse.localizedString(forStatusCode: status) == expected)
    }

    @Test("Archives keep responses")
    func archives() throws {
        let response = try response(["Content-Type": "text/plain", "X": "1"])
        let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: data)
        #expect(read?.isEqual(response) == true)
        #expect(read?.mimeType == "text/plain")
        #expect((response.copy() as? HTTPURLResponse) === response)
    }
}
