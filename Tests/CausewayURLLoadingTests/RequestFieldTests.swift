import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Line ends in the fields of requests (§7)")
struct RequestFieldTests {
    let url = URL(string: "http://example.com/a")!

    static let refused = [
        "a\r\nSecret: b", "a\nb", "a\rb", "a\u{0}b", "\r\n", "a\r\n", "a\n b", "a\r b", "a\r\n\r\n b", "a\r\n b\n",
        "a\r\n b\u{0}", "a\r\n b\r\nc", "\u{0}",
    ]
    static let folded = [
        ("a\r\n b", "a b"), ("a\r\n\tb", "a b"), ("a \t\r\n \t b", "a b"), ("a\r\n \r\n b", "a b"), ("\r\n a", "a"),
        ("a\r\n ", "a"), ("\r\n ", ""), ("a  b,\r\n  c;\r\n\td", "a  b, c; d"),
        ("\u{E9}\r\n \u{20AC}", "\u{E9} \u{20AC}"),
    ]

    @Test("A value with CR, LF or NUL leaves the field as it was", arguments: refused)
    func refusesValue(_ value: String) {
        var request = URLRequest(url: url)
        let object = NSMutableURLRequest(url: url)
        request.setValue(value, forHTTPHeaderField: "A")
        request.addValue(value, forHTTPHeaderField: "A")
        object.setValue(value, forHTTPHeaderField: "A")
        object.addValue(value, forHTTPHeaderField: "A")
        #expect(request.allHTTPHeaderFields == nil && object.allHTTPHeaderFields == nil)
        request.allHTTPHeaderFields = ["A": value, "B": "1"]
        object.allHTTPHeaderFields = ["A": value, "B": "1"]
        #expect(request.allHTTPHeaderFields == ["B": "1"] && object.allHTTPHeaderFields == ["B": "1"])
        request.setValue(value, forHTTPHeaderField: "b")
        request.addValue(value, forHTTPHeaderField: "b")
        #expect(request.allHTTPHeaderFields == ["B": "1"])
    }

    @Test("A name with CR, LF or NUL sets no field, also in the form of a fold", arguments: refused + ["a\r\n b"])
    func refusesName(_ name: String) {
        var request = URLRequest(url: url)
        request.setValue("v", forHTTPHeaderField: name)
        request.addValue("v", forHTTPHeaderField: name)
        #expect(request.allHTTPHeaderFields == nil)
        request.allHTTPHeaderFields = [name: "v"]
        #expect(request.allHTTPHeaderFields == [:])
    }

    @Test("An empty dictionary of fields stays a dictionary, and does not change what is compared")
    func emptyDictionary() throws {
        let fresh = URLRequest(url: url)
        var request = fresh
        request.setValue(nil, forHTTPHeaderField: "A")
        #expect(request.allHTTPHeaderFields == nil)
        request.allHTTPHeaderFields = [:]
        #expect(request.allHTTPHeaderFields == [:])
        request.setValue("1", forHTTPHeaderField: "A")
        request.setValue(nil, forHTTPHeaderField: "A")
        #expect(request.allHTTPHeaderFields == [:])
        #expect(request == fresh && request.hashValue == fresh.hashValue)
        let archive = try JSONEncoder().encode(ArchivedRequest(request.values))
        #expect(try JSONDecoder().decode(ArchivedRequest.self, from: archive).values.allFields == [:])
        request.allHTTPHeaderFields = ["A": "1"]
        request.allHTTPHeaderFields = nil
        #expect(request.allHTTPHeaderFields == nil)
        let object = NSMutableURLRequest(url: url)
        object.allHTTPHeaderFields = [:]
        #expect(object.allHTTPHeaderFields == [:] && (object.copy() as? NSURLRequest)?.allHTTPHeaderFields == [:])
        #expect((object as URLRequest).allHTTPHeaderFields == [:])
        var added = fresh
        added.addValue("1", forHTTPHeaderField: "A")
        added.setValue(nil, forHTTPHeaderField: "a")
        #expect(added.allHTTPHeaderFields == [:])
    }

    @Test(
        "Well-known names get their usual capitalization, other names stay as they are",
        arguments: [
            ("authorization", "Authorization"), ("content-type", "Content-Type"), ("CONTENT-MD5", "Content-MD5"),
            ("etag", "ETag"), ("x-custom-key", "x-custom-key"), ("X-custom-Key", "X-custom-Key"),
        ])
    func capitalizes(_ name: String, _ expected: String) {
        var (one, two, three) = (URLRequest(url: url), URLRequest(url: url), URLRequest(url: url))
        one.setValue("v", forHTTPHeaderField: name)
        two.addValue("v", forHTTPHeaderField: name)
        three.allHTTPHeaderFields = [name: "v"]
        for request in [one, two, three] {
            #expect(request.allHTTPHeaderFields == [expected: "v"])
            #expect(request.value(forHTTPHeaderField: name) == "v")
        }
    }

    @Test("A folded value is kept, and sent with spaces", arguments: folded)
    func unfolds(_ value: String, _ sent: String) {
        var request = URLRequest(url: url)
        request.addValue(value, forHTTPHeaderField: "A")
        request.setValue("1", forHTTPHeaderField: "B")
        #expect(request.value(forHTTPHeaderField: "A") == value)
        #expect(request.values.unfoldedFields.firstValue(of: "A") == sent)
        #expect(request.values.unfoldedFields.firstValue(of: "B") == "1" && request.values.unfoldedFields.count == 2)
        #expect(!request.curlCommand().contains("\r"))
        request.addValue("c", forHTTPHeaderField: "A")
        #expect(request.value(forHTTPHeaderField: "A") == value + ",c")
    }

    @Test("Fields of the session and of archives obey the same rule")
    func otherSources() throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["A": "a\r\nSecret: b", "B": "1", "C\r\n": "2", "D": "a\r\n b"]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let completed = session.core.completed(URLRequest(url: url))
        #expect(completed.allHTTPHeaderFields == ["B": "1", "D": "a\r\n b"])
        var values = RequestValues(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 1)
        values.fields.append("A", "a\nb")
        values.fields.append("B", "1")
        let archive = try JSONEncoder().encode(ArchivedRequest(values))
        #expect(try JSONDecoder().decode(ArchivedRequest.self, from: archive).values.allFields == ["B": "1"])
    }
}
