import CausewayHTTPProtocols
import CausewayWire
import Testing

@testable import CausewayURLLoading

@Suite("The fields of repeated requests")
struct RequestTargetTests {
    private func section(_ fields: (String, String)...) -> FieldSection {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return section
    }

    private func target() throws -> RequestTarget { try #require(RequestTarget("https://example.com/a")) }

    /// Header fields of several requests. Each set differs only slightly from the set before it.
    private var rows: [FieldSection] {
        [
            FieldSection(), section(("Accept", "a")), section(("Accept", "a")), section(("ACCEPT", "a")),
            section(("Accept", "b")), section(("Accept", "b"), ("Authorization", "one")),
            section(("Accept", "b"), ("Authorization", "two")), section(("Accept", "b")),
            section(("Authorization", "two")), section(("Host", "other")), section(("Connection", "close")),
            section(("X", String(repeating: "x", count: RequestTarget.maximumRemembered))), FieldSection(),
        ]
    }

    @Test("The fields are always those of a first request, in any order of requests")
    func own() throws {
        let target = try target()
        for own in rows + rows.reversed() {
            let result = target.fields(completing: own)
            #expect(result.isIdentical(to: try self.target().fields(completing: own)))
            #expect(result.values(of: "Authorization") == own.values(of: "Authorization"))
            #expect(result.firstValue(of: "Accept") == own.firstValue(of: "Accept") ?? "*/*")
            #expect(result.values(of: "Host") == [own.firstValue(of: "Host") ?? "example.com"])
            #expect(result.contains("User-Agent") && !result.contains("Connection"))
        }
        #expect(target.fields(completing: FieldSection()).isIdentical(to: target.usualFields))
    }

    @Test("Cookies are those of the request, and are not kept for one without")
    func cookies() throws {
        let target = try target()
        for own in rows {
            let fields = target.fields(completing: own)
            for text in ["a=1", "a=1", "a=2"] {
                var expected = fields
                expected.append("Cookie", text)
                #expect(target.fields(fields, addingCookies: text).isIdentical(to: expected))
            }
            #expect(!target.fields(completing: own).contains("Cookie"))
        }
    }

    @Test("Conditions are those of the stored response")
    func conditions() throws {
        let target = try target()
        let stored = [
            section(("ETag", "\"1\"")), section(("ETag", "\"2\"")), section(("Last-Modified", "\"2\"")),
            section(("ETag", "\"2\""), ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")), FieldSection(),
        ].map { StoredResponse(status: 200, fields: $0, request: FieldSection(), requestTime: 0, responseTime: 0) }
        for own in rows {
            for stored in stored + stored.reversed() {
                var expected = own
                stored.addConditions(to: &expected)
                #expect(target.fields(own, addingConditionsOf: stored) == expected)
            }
        }
    }

    @Test("Equal results share their storage, which later comparisons need")
    func sharing() throws {
        let target = try target()
        let own = section(("Accept", "a"))
        let remembered = RememberedFields<Bool>()
        #expect(remembered.result(for: own, true) == nil)
        var filled = remembered
        filled.keep(target.usualFields, for: own, true)
        #expect(filled.result(for: section(("Accept", "a")), true) != nil)
        #expect(filled.result(for: own, false) == nil && filled.result(for: section(("accept", "a")), true) == nil)
        filled.keep(section(("X", String(repeating: "x", count: 5000))), for: FieldSection(), true)
        #expect(filled.result(for: FieldSection(), true) == nil)
    }
}
