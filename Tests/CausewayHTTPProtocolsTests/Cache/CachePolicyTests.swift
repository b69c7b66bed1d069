import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("Rules of the HTTP cache (RFC 9111, RFC 5861)")
struct CachePolicyTests {
    /// A time in seconds since 1970.
    static let start = 1_790_000_000

    func fields(_ text: String) -> FieldSection {
        var fields = FieldSection()
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields.append(String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        return fields
    }

    func stored(_ text: String, request: String = "", status: Int = 200) -> StoredResponse {
        StoredResponse(
            status: status, fields: fields(text), request: fields(request), requestTime: Self.start,
            responseTime: Self.start)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var request: String
        var response: String
        var age: Int
        var expected: CachePolicy.Decision
        var testDescription: String { "\(request) | \(response) | \(age) s" }

        init(_ request: String, _ response: String, _ age: Int, _ expected: CachePolicy.Decision) {
            (self.request, self.response, self.age, self.expected) = (request, response, age, expected)
        }
    }

    static let fresh = "Cache-Control: max-age=60\nETag: \"a\""
    static let rows = [
        // Responses without any information about their freshness
        Row("", "Date: Thu, 01 Jan 2026 00:00:00 GMT", 0, .forward),
        Row("Cache-Control: max-stale", "X-Note: 1", 9, .reuse),
        Row("Cache-Control: only-if-cached", "X-Note: 1", 9, .refuse),
        Row("", "Cache-Control: stale-while-revalidate=20", 9, .reuse),
        Row("", fresh, 59, .reuse), Row("", fresh, 60, .validate), Row("", "Cache-Control: max-age=60", 60, .forward),
        Row("Cache-Control: no-cache", fresh, 1, .validate), Row("Pragma: no-cache", fresh, 1, .validate),
        Row("Pragma: no-cache\nCache-Control: max-age=9", fresh, 1, .reuse),
        Row("Cache-Control: max-age=10", fresh, 11, .validate), Row("Cache-Control: max-age=0", fresh, 0, .validate),
        Row("Cache-Control: min-fresh=50", fresh, 11, .validate),
        Row("Cache-Control: min-fresh=50", fresh, 9, .reuse),
        Row("Cache-Control: max-stale=10", fresh, 70, .reuse),
        Row("Cache-Control: max-stale=10", fresh, 71, .validate),
        Row("Cache-Control: max-stale", fresh, 9_999, .reuse),
        Row("Cache-Control: max-stale", fresh + "\nCache-Control: must-revalidate", 61, .validate),
        Row("Cache-Control: max-stale", fresh + "\nCache-Control: no-cache", 1, .validate),
        Row("Cache-Control: only-if-cached", fresh, 1, .reuse),
        Row("Cache-Control: only-if-cached", fresh, 61, .refuse),
        Row("Cache-Control: max-age=0", fresh + "\nCache-Control: immutable", 1, .reuse),
        Row("Cache-Control: max-age=0", fresh + "\nCache-Control: immutable", 61, .validate),
        Row("Cache-Control: no-cache", fresh + "\nCache-Control: immutable", 1, .validate),
        Row("", fresh + "\nCache-Control: stale-while-revalidate=30", 90, .reuseAndValidate),
        Row("", fresh + "\nCache-Control: stale-while-revalidate=30", 91, .validate),
        Row("", "Cache-Control: max-age=60, stale-while-revalidate=30", 61, .reuse),
        Row("", fresh + "\nCache-Control: stale-while-revalidate=30, must-revalidate", 61, .validate),
        Row("If-None-Match: \"b\"", fresh, 1, .forward), Row("If-Modified-Since: x", fresh, 1, .forward),
        Row("If-Range: \"a\"\nRange: bytes=0-1", fresh, 1, .forward),
        Row("Range: bytes=0-1", fresh, 1, .reuse), Row("Range: bytes=0-1", fresh, 61, .forward),
        Row("", fresh + "\nAge: 60", 0, .validate), Row("", fresh + "\nAge: 50, 70", 5, .reuse),
        Row("", fresh + "\nAge: old", 5, .reuse),
        // The clock was set back after the response was stored. So the age of the response is unknown.
        Row("", fresh, -1, .validate), Row("", "Cache-Control: max-age=99999999999\nETag: \"a\"", -100, .validate),
    ]

    // This test checks RFC 9111 §4, §4.2, §5.2.1, §5.2.1.1-5.2.1.4, §5.2.1.7, §5.2.2.1, §5.2.2.2, §5.2.2.4, §5.4.
    @Test("How a stored response answers a request", arguments: rows)
    func decisions(_ row: Row) {
        #expect(CachePolicy.decide(fields(row.request), stored(row.response), at: Self.start + row.age) == row.expected)
    }

    // RFC 9111 §5.2.1.7.
    @Test("Without a stored response, only-if-cached refuses")
    func withoutResponse() {
        #expect(CachePolicy.decideWithoutResponse(fields("Cache-Control: only-if-cached")) == .refuse)
        #expect(CachePolicy.decideWithoutResponse(fields("")) == .forward)
    }

    // RFC 9111 §3, §3.5, §5.2.1.5, §5.2.2.3, §5.2.2.5, §5.2.2.7, §5.3; RFC 9110 §9.2.3.
    @Test(
        "What is stored",
        arguments: [
            ("GET", "", 200, "", true), ("HEAD", "", 200, "", false),
            ("POST", "", 200, "Cache-Control: max-age=9", false),
            ("GET", "Cache-Control: no-store", 200, "Cache-Control: max-age=9", false),
            ("GET", "", 200, "Cache-Control: no-store", false), ("GET", "", 200, "Vary: a, *", false),
            ("GET", "", 302, "", false), ("GET", "", 302, "Cache-Control: max-age=9", true),
            ("GET", "", 302, "Expires: 0", true), ("GET", "", 500, "Cache-Control: private", true),
            ("GET", "", 304, "Cache-Control: max-age=9", false), ("GET", "", 101, "Cache-Control: max-age=9", false),
            ("GET", "", 206, "Cache-Control: max-age=9", false), ("GET", "Range: bytes=0-1", 206, "", true),
            ("GET", "", 200, "Cache-Control: no-store, must-understand", true),
            ("GET", "", 299, "Cache-Control: max-age=9, must-understand", false),
            ("GET", "Authorization: x", 200, "Cache-Control: private", true),
        ])
    func storing(_ row: (method: String, request: String, status: Int, response: String, expected: Bool)) {
        let isStorable = CachePolicy.isStorable(
            method: row.method, request: fields(row.request), status: row.status, fields: fields(row.response))
        #expect(isStorable == row.expected)
    }

    @Test("More than 64 names in Vary prevent storing, and in no-cache they count as all fields", arguments: [64, 65])
    func manyNames(count: Int) {
        let names = (0..<count).map { "x\($0)" }.joined(separator: ",")
        let isStorable = CachePolicy.isStorable(
            method: "GET", request: fields(""), status: 200, fields: fields("Vary: \(names)"))
        let control = CacheControl(fields("Cache-Control: no-cache=\"\(names)\""))
        #expect(isStorable == (count == 64))
        #expect(control.unusableFields.count == (count == 64 ? 64 : 0))
        #expect(control.flags.contains(.noCache) == (count == 65))
    }

    // Stale responses: RFC 9111 §4.2.4.
    @Test(
        "stale-if-error of the response or the request",
        arguments: [
            ("", "Cache-Control: max-age=0, stale-if-error=9", 9, true),
            ("", "Cache-Control: max-age=0, stale-if-error=9", 10, false), ("", "Cache-Control: max-age=0", 0, false),
            ("Cache-Control: stale-if-error=5", "Cache-Control: max-age=0", 5, true),
            ("Cache-Control: stale-if-error=5", "Cache-Control: max-age=0, must-revalidate", 5, false),
            ("Cache-Control: no-cache", "Cache-Control: max-age=0, stale-if-error=9", 1, false),
        ])
    func staleIfError(_ row: (request: String, response: String, age: Int, expected: Bool)) {
        let permits = CachePolicy.permitsStaleAfterError(
            fields(row.request), stored(row.response), at: Self.start + row.age)
        #expect(permits == row.expected)
    }

    // RFC 9111 §4.4; RFC 9110 §9.2.1.
    @Test("What a response to a method that is not safe makes invalid")
    func invalidation() {
        let uri = "http://a.example/dir/x?q"
        let located = fields("Location: ../y\nContent-Location: http://other.example/dir/z")
        #expect(
            CachePolicy.invalidated(method: "POST", uri: uri, status: 201, fields: located)
                == [uri, "http://a.example/y"])
        #expect(CachePolicy.invalidated(method: "POST", uri: uri, status: 404, fields: located).isEmpty)
        #expect(CachePolicy.invalidated(method: "GET", uri: uri, status: 200, fields: located).isEmpty)
        #expect(CachePolicy.invalidated(method: "PURGE", uri: uri, status: 303, fields: fields("")) == [uri])
    }

    // RFC 9111 §3.2, §4.3.4; RFC 9110 §15.4.5.
    @Test("Status 304 updates fields, but not those of the content")
    func freshening() {
        var response = stored("ETag: \"a\"\nContent-Length: 9\nX: 1\nX: 2\nY: 1\nAge: 50\nCache-Control: max-age=1")
        let update = fields("Content-Length: 0\nX: 3\nCache-Control: max-age=100\nConnection: Z\nZ: 1")
        response.freshen(with: update, requestTime: Self.start + 60, responseTime: Self.start + 60)
        #expect(response.fields.firstValue(of: "Content-Length") == "9")
        #expect(response.fields.values(of: "X") == ["3"])
        #expect(response.fields.firstValue(of: "Y") == "1")
        #expect(!response.fields.contains("Z"))
        #expect(response.age(at: Self.start + 61) == 1)
        #expect(response.staleness(at: Self.start + 61) == -99)
    }

    // RFC 9111 §4.3.4, §4.3.5.
    @Test("Which 304 confirms the response, and which HEAD describes it")
    func confirmation() {
        let response = stored("ETag: W/\"a\"\nContent-Length: 9")
        #expect(response.isConfirmed(by: fields("ETag: \"a\"")))
        #expect(response.isConfirmed(by: fields("")))
        #expect(!response.isConfirmed(by: fields("ETag: \"b\"")))
        #expect(response.matches(headOf: fields("Content-Length: 9")))
        #expect(!response.matches(headOf: fields("Content-Length: 8")))
        #expect(!response.matches(headOf: fields("ETag: \"b\"")))
    }

    // RFC 9111 §4.1; RFC 9110 §12.5.5.
    @Test("The newest response that the fields select answers; secrets are kept as digests")
    func selection() {
        let request = "X: 1,  2\nCookie: secret\nAccept-Language: EN, de"
        let response = stored("Vary: X, Cookie, Accept-Language", request: request)
        #expect(response.isSelected(by: fields("X: 1\nX: 2\nCookie: secret\nAccept-Language: de, en")))
        #expect(!response.isSelected(by: fields("X: 2, 1\nCookie: secret\nAccept-Language: de, en")))
        #expect(!response.isSelected(by: fields("X: 1, 2\nCookie: other\nAccept-Language: de, en")))
        #expect(!response.isSelected(by: fields("X: 1, 2")))
        #expect(response.isSelected(by: fields("X: 1, 2"), isLenient: true))
        #expect(!response.selecting.contains { $0.value?.contains("secret") == true })
        #expect(!stored("Vary: *").isSelected(by: fields(""), isLenient: true))
        let user = stored("", request: "Authorization: Basic eDp5")
        #expect(!user.isSelected(by: fields("")))
        #expect(user.isSelected(by: fields("Authorization: Basic eDp5")))
        #expect(StoredResponse.index(in: [user, response], for: fields("")) == nil)
    }

    @Test(
        "Ranges of a complete and of a partial response",
        arguments: [
            ("bytes=0-1", 0..<2, nil), ("bytes=4-", 4..<10, 0..<4), ("bytes=-2", 8..<10, nil),
            ("bytes=9-99", 9..<10, nil),
            ("bytes=5-6", 5..<7, 1..<3), ("bytes=4-7", 4..<8, 0..<4), ("bytes=3-7", 3..<8, nil),
            ("bytes=4-8", 4..<9, nil),
            ("bytes=10-", nil, nil), ("bytes=0-1,3-4", nil, nil), ("lines=0-1", nil, nil),
        ] as [(String, Range<Int>?, Range<Int>?)])
    func ranges(_ row: (text: String, complete: Range<Int>?, partial: Range<Int>?)) {
        let request = fields("Range: \(row.text)")
        #expect(stored("").positions(for: request, count: 10) == row.complete)
        var part = stored("Content-Range: bytes 4-7/10", status: 206)
        let isKnown = part.notePart(of: fields("Range: bytes=4-7"), count: 4)
        #expect(isKnown)
        #expect(part.positions(for: request) == row.partial)
    }

    // RFC 9111 §3.3.
    @Test("A part of unknown position is not stored")
    func unknownPart() {
        for text in ["", "Content-Range: bytes 4-7/*", "Content-Range: bytes 4-5/10", "Content-Range: x"] {
            var part = stored(text, status: 206)
            let isKnown = part.notePart(of: fields("Range: bytes=4-7"), count: 4)
            #expect(!isKnown)
        }
        var coded = stored("Content-Range: bytes 4-7/10\nContent-Encoding: gzip", status: 206)
        let isKnown = coded.notePart(of: fields("Range: bytes=4-7"), count: 4)
        #expect(!isKnown)
    }

    /// Returns a partial response. The complete representation has ten bytes.
    private func part(_ positions: Range<Int>, _ more: String = "ETag: \"a\"", request: String = "") -> StoredResponse {
        let range = "\(positions.lowerBound)-\(positions.upperBound - 1)"
        var part = stored("Content-Range: bytes \(range)/10\n\(more)", request: request, status: 206)
        let isKnown = part.notePart(of: fields("Range: bytes=\(range)"), count: positions.count)
        #expect(isKnown)
        return part
    }

    // RFC 9111 §3.4; RFC 9110 §8.8.3.2.
    @Test(
        "Parts with the same strong entity tag that overlap or touch are combined (§3.4)",
        arguments: [
            (0..<4, 4..<6, 0..<6, 4, 0), (4..<6, 0..<4, 0..<6, 0, 2), (0..<8, 2..<4, 0..<8, 2, 4),
            (3..<6, 5..<9, 3..<9, 2, 0), (5..<9, 3..<6, 3..<9, 0, 3), (0..<5, 5..<10, 0..<10, 5, 0),
            (0..<10, 3..<4, 0..<10, 3, 6),
        ])
    func combined(_ row: (old: Range<Int>, new: Range<Int>, union: Range<Int>, before: Int, after: Int)) throws {
        let combination = try #require(part(row.new).combination(with: part(row.old)))
        #expect(combination.before == row.before && combination.after == row.after)
        let head = combination.head
        #expect(head.fields.onlyValue(of: "Content-Length") == "\(row.union.count)")
        guard row.union.count < 10 else {
            #expect(head.status == 200 && head.part == nil && !head.fields.contains("Content-Range"))
            return
        }
        #expect(head.status == 206 && head.part?.positions == row.union && head.part?.length == 10)
        let text = "bytes \(row.union.lowerBound)-\(row.union.upperBound - 1)/10"
        #expect(head.fields.onlyValue(of: "Content-Range") == text)
        #expect(head.positions(for: fields("Range: bytes=\(row.union.lowerBound)-"), count: 0) == 0..<row.union.count)
    }

    @Test("Parts that differ, are apart, or add nothing are not combined")
    func notCombined() {
        let new = part(4..<6)
        for old in [
            part(0..<3), part(7..<9), part(4..<6), part(5..<6), part(0..<4, "ETag: \"b\""),
            part(0..<4, "ETag: W/\"a\""),
            part(0..<4, "Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT"),
            part(0..<4, "ETag: \"a\"\nVary: X", request: "X: 1"),
            stored("ETag: \"a\""),
        ] { #expect(new.combination(with: old) == nil) }
        #expect(part(0..<4, "ETag: W/\"a\"").combination(with: part(4..<6, "ETag: W/\"a\"")) == nil)
        #expect(part(0..<4, "").combination(with: part(4..<6, "")) == nil)
    }

    @Test("The fields of the newer part replace those of the older one (RFC 9110 §15.3.7.3)")
    func combinedFields() throws {
        let old = part(0..<4, "ETag: \"a\"\nX: 1\nX: 2\nContent-Type: text/plain\nCache-Control: max-age=9\nAge: 5")
        let new = part(4..<6, "ETag: \"a\"\nX: 3\nCache-Control: max-age=60")
        let head = try #require(new.combination(with: old)).head
        #expect(head.fields.values(of: "X") == ["3"] && head.fields.onlyValue(of: "Content-Type") == "text/plain")
        #expect(head.lifetime == 60 && !head.fields.contains("Age") && head.responseTime == new.responseTime)
    }

    @Test("A saved record is read as it was; every damage is found")
    func records() throws {
        var response = stored("Vary: X\nContent-Range: bytes 0-3/10", request: "X: 1", status: 206)
        let isKnown = response.notePart(of: fields("Range: bytes=0-3"), count: 4)
        #expect(isKnown)
        let content = Array("abcd".utf8)
        let record = CacheRecord(
            key: "GET http://a.example/", url: "http://a.example/", version: "HTTP/1.1", traits: .isHTTP,
            stored: response, attachment: [1, 2],
            content: CacheRecord.Content(count: 4, checksum: CacheChecksum.of(content)))
        let file = try #require(record.serialized()) + content
        let (read, start) = try CacheRecord.parse(file.span.bytes)
        #expect(read == record)
        #expect(Array(file[start...]) == content)
        for count in 0..<file.count {
            let cut = Array(file[..<count])
            #expect(throws: WireError.self) { try CacheRecord.parse(cut.span.bytes) }
        }
        for bit in 0..<file.count * 8 {
            var damaged = file
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: WireError.self) { try CacheRecord.parse(damaged.span.bytes) }
        }
    }
}
