import CausewayWire
import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

@Suite("Alternative services (RFC 7838)")
struct AlternativeServicesTests {
    private static let origin = HTTPOrigin(isSecure: true, host: "a.example")

    private static func field(_ lines: String...) -> AlternativeServicesField? {
        var fields = FieldSection()
        for line in lines { fields.append("alt-svc", line) }
        return AlternativeServicesField(fields)
    }

    private static func text(_ field: AlternativeServicesField?) -> String {
        guard case .entries(let entries)? = field else { return field == .clear ? "clear" : "none" }
        return entries.map { entry in
            "\(entry.service.protocolName)|\(entry.service.host)|\(entry.service.port)|\(entry.maxAge)\(entry.persists ? "|p" : "")"
        }.joined(separator: " ")
    }

    static let values: [(String, String)] = [
        ("h2=\":8000\"", "h2||8000|86400"),
        ("h2=\"alt.example.com:8000\"; ma=60; persist=1", "h2|alt.example.com|8000|60|p"),
        ("h2=\"new.example.org:80\", h3=\":443\"; ma=9", "h2|new.example.org|80|86400 h3||443|9"), ("clear", "clear"),
        ("h2=\":1\", clear", "clear"), ("Clear", "none"), ("", "none"), ("h2", "none"), ("h2=:80", "none"),
        // Protocol names are percent-encoded.
        ("w%3Dx%3Ay#z=\":80\"", "w=x:y#z||80|86400"), ("%00=\":80\"", "none"), ("h%2=\":80\"", "none"),
        ("h%+2=\":80\"", "none"),
        // Unknown parameters are ignored. Values of `persist` other than 1 are ignored too. An invalid age (`ma`) makes
        // the alternative invalid.
        ("h2=\":80\"; x=y; persist=2; ma=\"5\"", "h2||80|5"), ("h2=\":80\";ma=x", "none"), ("h2=\":80\";ma=-1", "none"),
        ("h2=\":80\";ma=99999999999999999999999", "h2||80|31536000"), ("h2=\":80\" x", "none"),
        ("h2=\":0\"", "none"), ("h2=\":65536\"", "none"), ("h2=\":\"", "none"), ("h2=\"a\"", "none"),
        ("h2=\"A.Example:1\"", "h2|a.example|1|86400"), ("h2=\"[::1]:1\"", "h2|[::1]|1|86400"),
        ("h2=\"a@b:1\"", "none"), ("h2=\"a/b:1\"", "none"), ("h2=\"a:1:1\"", "none"), ("h2=\"a b:1\"", "none"),
        ("bad, h2=\":80\"", "h2||80|86400"),
    ]

    @Test("Field values", arguments: values)
    func parsed(_ value: String, _ expected: String) { #expect(Self.text(Self.field(value)) == expected) }

    @Test("Lines are one list, whose length is bounded")
    func lines() {
        #expect(Self.text(Self.field("h2=\":1\"", "h3=\":2\"")) == "h2||1|86400 h3||2|86400")
        let many = (1...50).map { "h2=\":\($0)\"" }.joined(separator: ", ")
        guard case .entries(let entries)? = Self.field(many) else { return #expect(Bool(false)) }
        #expect(entries.count == AlternativeServicesField.maximumCount)
    }

    @Test("An alternative is used until its age, less the age of the response, has passed")
    func ages() throws {
        var services = AlternativeServices()
        services.note(try #require(Self.field("h3=\":443\", h2=\":8443\"; ma=60")), of: Self.origin, age: 10, at: 1_000)
        let service = AlternativeService(protocolName: "h2", port: 8_443)
        #expect(services.alternative(for: Self.origin, at: 1_049) == service)
        #expect(services.alternative(for: Self.origin, at: 1_050) == nil)
        // The client remembers an alternative service over QUIC, but does not choose it by default.
        #expect(services.alternatives(for: Self.origin, at: 1_050).map(\.protocolName) == ["h3"])
        #expect(services.alternative(for: Self.origin, protocols: ["h3"], at: 1_050)?.port == 443)
        #expect(services.alternative(for: HTTPOrigin(isSecure: true, host: "b.example"), at: 1_000) == nil)
        services.note(try #require(Self.field("h2=\":1\"; ma=0")), of: Self.origin, at: 1_000)
        #expect(services.isEmpty)
    }

    @Test("Only secure origins have alternatives; their own place is none")
    func origins() throws {
        var services = AlternativeServices()
        services.note(
            try #require(Self.field("h2=\":8443\"")), of: HTTPOrigin(isSecure: false, host: "a.example"), at: 0)
        #expect(services.isEmpty)
        services.note(try #require(Self.field("h2=\":443\", h2=\"a.example:443\"")), of: Self.origin, at: 0)
        #expect(services.alternative(for: Self.origin, at: 0) == nil && services.count == 1)
        services.note(try #require(Self.field("h2=\"b.example:443\"")), of: Self.origin, at: 0)
        #expect(services.alternative(for: Self.origin, at: 0)?.host == "b.example")
        services.note(.clear, of: Self.origin, at: 0)
        #expect(services.isEmpty)
    }

    @Test("An alternative that fails pauses, longer each time; the next one is used, then the origin")
    func failures() throws {
        var services = AlternativeServices()
        let field = try #require(Self.field("h2=\":1\", h2=\":2\""))
        services.note(field, of: Self.origin, at: 0)
        let first = AlternativeService(protocolName: "h2", port: 1)
        services.failed(first, of: Self.origin, at: 0)
        #expect(services.alternative(for: Self.origin, at: 299)?.port == 2)
        #expect(services.alternative(for: Self.origin, at: 300)?.port == 1)
        services.failed(first, of: Self.origin, at: 300)
        // If the server announces the failed alternative again, the client still does not use it.
        services.note(field, of: Self.origin, at: 301)
        #expect(services.alternative(for: Self.origin, at: 899)?.port == 2)
        services.failed(AlternativeService(protocolName: "h2", port: 2), of: Self.origin, at: 400)
        #expect(services.alternative(for: Self.origin, at: 401) == nil)
        services.succeeded(first, of: Self.origin)
        #expect(services.alternative(for: Self.origin, at: 401)?.port == 1)
        for _ in 0..<100 { services.failed(first, of: Self.origin, at: 401) }
        services.failed(AlternativeService(protocolName: "h9", port: 1), of: Self.origin, at: 401)
        services.misdirected(Self.origin)
        #expect(services.isEmpty)
    }

    @Test("A change of the network keeps persistent alternatives only; the number of origins is bounded")
    func bounds() throws {
        var services = AlternativeServices()
        services.note(try #require(Self.field("h2=\":1\", h2=\":2\"; persist=1")), of: Self.origin, at: 0)
        services.failed(AlternativeService(protocolName: "h2", port: 2), of: Self.origin, at: 0)
        services.networkChanged()
        #expect(services.alternatives(for: Self.origin, at: 0).map(\.port) == [2])
        #expect(services.alternative(for: Self.origin, at: 0)?.port == 2)
        for number in 0..<3_000 {
            let field = try #require(Self.field("h2=\":1\"; ma=\(1_000 + number)"))
            services.note(field, of: HTTPOrigin(isSecure: true, host: "\(number).example"), at: 0)
            #expect(services.count <= AlternativeServices.maximumCount)
        }
        #expect(services.alternative(for: HTTPOrigin(isSecure: true, host: "2999.example"), at: 0) != nil)
        #expect(services.alternative(for: HTTPOrigin(isSecure: true, host: "0.example"), at: 0) == nil)
    }
}
