import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes
import CausewayWire
import Foundation
import Testing

@testable import nw

/// Tests the values of `nw http` without a network.
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

    // MARK: Options of curl

    static let globs: [(String, [String])] = [
        ("h/{a,b}", ["h/a", "h/b"]), ("h/[1-3]", ["h/1", "h/2", "h/3"]), ("h/[08-10]", ["h/08", "h/09", "h/10"]),
        ("h/[1-10:4]", ["h/1", "h/5", "h/9"]), ("h/[a-c].{x,}", ["h/a.x", "h/a.", "h/b.x", "h/b.", "h/c.x", "h/c."]),
        ("[::1]/[5-5]", ["[::1]/5"]), ("h/?q[a]=1", ["h/?q[a]=1"]), ("h/{a}", ["h/{a}"]), ("h/[3-1]", ["h/[3-1]"]),
        (#"h/?{"a":1,"b":2}"#, [#"h/?{"a":1,"b":2}"#]), ("h/[a-", ["h/[a-"]), ("h/[A-z]", ["h/[A-z]"]),
        ("h/[1-2:0]", ["h/[1-2:0]"]), ("", [""]), ("{a,b}{a,b}", ["aa", "ab", "ba", "bb"]),
    ]

    @Test("Patterns in a URL", arguments: globs)
    func glob(_ text: String, _ expected: [String]) {
        let glob = URLGlob(text)
        #expect(glob.count == expected.count)
        #expect(glob.matches.map(\.url) == expected)
    }

    @Test("The number of URLs is known before they are made, and names of files are filled in")
    func globLimits() {
        #expect(URLGlob(String(repeating: "[1-90000]", count: 9)).count == .max)
        #expect(URLGlob("[1-99999999]").count == 1)
        let match = URLGlob.Match(url: "", choices: ["x", "07"])
        #expect(match.filled("#1-#2#3#.#") == "x-07#3#.#")
    }

    @Test(
        "A template of -w",
        arguments: [
            ("%{http_code}", "200"), ("%{response_code} %{size_download}\\n", "200 5\n"), ("100%% %x", "100% %x"),
            ("%header{X-A}|%header{none}", "b|"), ("%{content_type}", "text/plain"), ("%{onerror}x", ""),
            ("%{url_effective} %{num_redirects}", "http://h/b 1"), ("%{redirect_url}%{exitcode}", "0"),
        ])
    func writeOut(_ template: String, _ expected: String) throws {
        #expect(try WriteOut(template).text(Self.transfer()).output == expected)
    }

    private static func transfer() throws -> TransferResult {
        func record(_ path: String, _ status: Int, _ fields: FieldSection) throws -> HTTPExchangeRecord {
            let target = try #require(URIReference("http://h" + path))
            var record = HTTPExchangeRecord(
                request: HTTPRequestHead(method: "GET", target: path, fields: FieldSection()), target: target,
                started: .seconds(status))
            record.response = HTTPResponseHead(status: status, reason: "", fields: fields)
            record.ended = .seconds(status + 1)
            return record
        }
        var fields = FieldSection()
        fields.append("X-A", "b")
        fields.append("Content-Type", "text/plain")
        let start = try #require(URIReference("http://h/a"))
        return TransferResult(
            url: start, records: [try record("/a", 199, FieldSection()), try record("/b", 200, fields)],
            content: HTTPReport.Content(count: 5), failure: nil, retryCount: 0)
    }

    @Test("A variable that -w does not have", arguments: ["%{nothing}", "a %{http_cod} b"])
    func unknownVariable(_ template: String) {
        #expect(throws: WriteOut.InvalidTemplate.self) { try WriteOut(template) }
    }

    @Test("Percent-encoding of --data-urlencode")
    func percentEncoding() {
        #expect(ItemContent.percentEncoded(Array("a b&=ä~*".utf8)) == "a%20b%26%3D%C3%A4~%2A")
        #expect(ItemContent.encoded("a b&=ä~*") == "a+b%26%3D%C3%A4%7E*")
    }

    static let pages: [(type: String, accept: String?, name: String?, isFailure: Bool)] = [
        ("text/html", nil, "data.json", true), ("text/html; charset=utf-8", nil, "a/b.ISO", true),
        ("application/xhtml+xml", nil, "x.tar.gz", true), ("text/html", nil, "page.html", false),
        ("text/html", nil, "page", false), ("text/html", nil, "v1.2", false), ("text/html", nil, nil, false),
        ("application/json", nil, "data.json", false), ("text/html", "application/json", nil, true),
        ("text/html", "application/json, */*;q=0.5", "data.json", false), ("text/html", "text/*", "a.json", false),
    ]

    @Test("A redirect to a web page is a failure if something else was asked for", arguments: pages)
    func redirectedPage(_ row: (type: String, accept: String?, name: String?, isFailure: Bool)) throws {
        var fields = FieldSection()
        fields.append("Content-Type", row.type)
        let head = HTTPResponseHead(status: 200, reason: "OK", fields: fields)
        let (start, end) = (try #require(URIReference("http://h/a")), try #require(URIReference("http://h/login")))
        let failure = RedirectedPage.failure(head, from: start, to: end, accept: row.accept, name: row.name)
        #expect((failure != nil) == row.isFailure)
        #expect(RedirectedPage.failure(head, from: start, to: start, accept: row.accept, name: row.name) == nil)
    }

    @Test("Waits between attempts grow, and a server can ask for longer ones")
    func retries() {
        func head(_ status: Int, _ after: String? = nil) -> HTTPResponseHead {
            var fields = FieldSection()
            if let after { fields.append("Retry-After", after) }
            return HTTPResponseHead(status: status, reason: "", fields: fields)
        }
        var retry = HTTPRetry(limit: 3, delay: nil)
        #expect(retry.wait(after: head(503)) == .seconds(1) && retry.wait(after: head(404)) == nil)
        retry.again()
        #expect(retry.wait(after: head(500)) == .seconds(2) && retry.wait(after: head(429, "30")) == .seconds(30))
        #expect(retry.wait(after: HTTPCommandFailure(.timedOut, "")) == .seconds(2))
        #expect(retry.wait(after: HTTPCommandFailure(.notTrusted, "")) == nil)
        retry.again()
        retry.again()
        #expect(retry.wait(after: head(503)) == nil && retry.wait(after: HTTPCommandFailure(.timedOut, "")) == nil)
        #expect(HTTPRetry(limit: 1, delay: .zero).wait(after: head(503)) == .zero)
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
        "A cookie with a tab is not written: its line would be another cookie",
        arguments: [("n\tm", "v", "/"), ("n", "v\tw", "/"), ("n", "v", "/\tTRUE\t0\tevil\tx")])
    func cookieWithTab(_ name: String, _ value: String, _ path: String) throws {
        let good = Cookie(name: Array("a".utf8), value: Array("\u{2028}".utf8), domain: "a.test", path: "/")
        let bad = Cookie(name: Array(name.utf8), value: Array(value.utf8), domain: "a.test", path: path)
        let read = CookieFile.parse(CookieFile.text([bad, good, bad]))
        #expect(read.map(\.name) == [good.name] && read.map(\.value) == [good.value])
    }

    @Test(
        "Fixed addresses",
        arguments: [
            ("h:80:1.2.3.4", "1.2.3.4"), ("h:80:[::1]", "::1"), ("h:80:::1", "::1"), ("h:0:1.2.3.4", nil),
            ("h:80:x", nil),
        ])
    func fixedAddress(_ text: String, _ address: String?) { #expect(FixedAddress(argument: text)?.address == address) }
}
