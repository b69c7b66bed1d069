import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("HTTP Strict Transport Security (RFC 6797)")
struct StrictTransportTests {
    private func policy(_ values: String...) -> StrictTransportPolicy? {
        var fields = FieldSection()
        for value in values { fields.append("strict-transport-security", value) }
        return StrictTransportPolicy(fields)
    }

    @Test("Grammar (§6.1)")
    func grammar() {
        #expect(policy("max-age=31536000")?.maxAge == 31_536_000)
        #expect(policy(" MAX-AGE = \"7\" ; includeSubDomains ")?.includesSubdomains == true)
        #expect(policy("includesubdomains;;max-age=0;")?.maxAge == 0)
        #expect(policy("max-age=1; preload; x=\"a;b\"")?.includesSubdomains == false)
        #expect(policy("max-age=99999999999999999999999")?.maxAge == 3_155_760_000)
        // The first field line counts (§8.1).
        #expect(policy("max-age=1", "max-age=2")?.maxAge == 1)
        for text in [
            "", "includeSubDomains", "max-age", "max-age=", "max-age=-1", "max-age=1.5", "max-age=1 2", "max-age=\"",
            "max-age=1; max-age=2", "max-age=1; x; X", "max-age=1, includeSubDomains", "=1; max-age=1", "max-age=\"\"",
        ] { #expect(policy(text) == nil, "\(text)") }
    }

    private func hosts(_ host: String, _ value: String = "max-age=100", isSecure: Bool = true) throws
        -> StrictTransportHosts
    {
        var hosts = StrictTransportHosts()
        hosts.note(try #require(policy(value)), of: HTTPOrigin(isSecure: isSecure, host: host), at: 1_000)
        return hosts
    }

    @Test("Hosts are known by name, until their policy expires (§8.1, §8.2)")
    func known() throws {
        var known = try hosts("a.example")
        #expect(known.contains("a.example", at: 1_099) && known.contains("A.EXAMPLE.", at: 1_000))
        #expect(!known.contains("a.example", at: 1_100))
        #expect(!known.contains("b.a.example", at: 1_000) && !known.contains("example", at: 1_000))
        known.note(try #require(policy("max-age=0")), of: HTTPOrigin(isSecure: true, host: "a.example"), at: 1_001)
        #expect(known.isEmpty)
    }

    @Test("Subdomains, if the policy includes them")
    func subdomains() throws {
        let known = try hosts("a.example", "max-age=100; includeSubDomains")
        #expect(known.contains("c.b.a.example", at: 1_000) && known.contains("a.example", at: 1_000))
        #expect(!known.contains("ba.example", at: 1_000) && !known.contains("example", at: 1_000))
    }

    @Test("Plain connections and addresses declare nothing", arguments: ["127.0.0.1", "[::1]", "1.2.3.4.", ""])
    func ignored(_ host: String) throws {
        #expect(try hosts(host).isEmpty)
        #expect(try hosts("a.example", isSecure: false).isEmpty)
    }

    @Test(
        "Targets (§8.3)",
        arguments: [
            ("http://a.example/x?q", "https://a.example/x?q"), ("http://a.example:80/", "https://a.example/"),
            ("http://a.example:8080/", "https://a.example:8080/"), ("ws://a.example/", "wss://a.example/"),
            ("https://a.example/", nil), ("http://b.example/", nil), ("ftp://a.example/", nil),
        ] as [(String, String?)])
    func targets(_ target: String, _ expected: String?) throws {
        let known = try hosts("a.example")
        #expect(known.secured(try #require(URIReference(target)), at: 1_000)?.description == expected)
    }

    @Test("The number of hosts is bounded; those that expire first are forgotten")
    func bounded() throws {
        var known = StrictTransportHosts()
        for number in 0..<10_000 {
            let brief = try #require(policy("max-age=\(number + 1)"))
            known.note(brief, of: HTTPOrigin(isSecure: true, host: "h\(number).example"), at: 0)
        }
        #expect(known.count <= StrictTransportHosts.maximumCount)
        #expect(known.contains("h9999.example", at: 0) && !known.contains("h0.example", at: 0))
    }
}
