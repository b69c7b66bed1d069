import CausewayTLS
import CausewayTypes
import Testing

@Suite("Matching of peer names")
struct ReferenceNameTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let host: String
        let presented: [SubjectAlternativeName]
        let matches: Bool
        let testDescription: String

        init(_ testDescription: String, _ host: String, _ presented: SubjectAlternativeName..., matches: Bool) {
            self.host = host
            self.presented = presented
            self.matches = matches
            self.testDescription = testDescription
        }
    }

    static let loopback: [UInt8] = [127, 0, 0, 1]
    static let loopback6: [UInt8] = Array(repeating: 0, count: 15) + [1]

    static let rows = [
        Row("equal", "example.org", .name("example.org"), matches: true),
        Row("case of the host", "EXAMPLE.org", .name("example.org"), matches: true),
        Row("case of the certificate", "example.org", .name("Example.ORG"), matches: true),
        Row("second of two", "b.example", .name("a.example"), .name("b.example"), matches: true),
        Row("another name", "example.org", .name("example.com"), matches: false),
        Row("a longer name", "example.org", .name("www.example.org"), matches: false),
        Row("a shorter name", "www.example.org", .name("example.org"), matches: false),
        Row("final dot of the host", "example.org.", .name("example.org"), matches: true),
        Row("two final dots", "example.org..", .name("example.org"), matches: false),
        Row("final dot of the certificate", "example.org", .name("example.org."), matches: false),
        Row("wildcard", "www.example.org", .name("*.example.org"), matches: true),
        Row("wildcard in capitals", "www.example.org", .name("*.EXAMPLE.org"), matches: true),
        Row("wildcard for the name itself", "example.org", .name("*.example.org"), matches: false),
        Row("wildcard for two labels", "a.b.example.org", .name("*.example.org"), matches: false),
        Row("wildcard over a top-level label", "example.org", .name("*.org"), matches: false),
        Row("wildcard alone", "example", .name("*"), matches: false),
        Row("wildcard and a dot", "example", .name("*."), matches: false),
        Row("wildcard as a part of a label", "www.example.org", .name("w*.example.org"), matches: false),
        Row("wildcard at the end of a label", "www.example.org", .name("*w.example.org"), matches: false),
        Row("wildcard in the second label", "www.example.org", .name("www.*.org"), matches: false),
        Row("two wildcards", "a.b.example.org", .name("*.*.example.org"), matches: false),
        Row("wildcard over an empty label", "www..org", .name("*..org"), matches: false),
        Row("a host that is a wildcard", "*.example.org", .name("*.example.org"), matches: false),
        Row("underscore", "_dmarc.example.org", .name("_dmarc.example.org"), matches: true),
        Row("international", "b\u{fc}cher.example", .name("xn--bcher-kva.example"), matches: true),
        Row("international in capitals", "B\u{dc}CHER.example", .name("xn--bcher-kva.example"), matches: true),
        Row("international below a wildcard", "b\u{fc}cher.example.org", .name("*.example.org"), matches: true),
        Row("an address", "127.0.0.1", .address(loopback), matches: true),
        Row("another address", "127.0.0.2", .address(loopback), matches: false),
        Row("an address as a name", "127.0.0.1", .name("127.0.0.1"), matches: false),
        Row("a name and its address", "localhost", .address(loopback), matches: false),
        Row("an address below a wildcard", "127.0.0.1", .name("*.0.0.1"), matches: false),
        Row("an IPv6 address", "::1", .address(loopback6), matches: true),
        Row("IPv4 in a longer address", "127.0.0.1", .address(loopback6), matches: false),
        Row("mail address", "example.org", .email("a@example.org"), matches: false),
        Row("URI", "example.org", .uri("https://example.org"), matches: false),
        Row("nothing", "example.org", matches: false),
        Row("zero byte in the certificate", "example.org", .name("example.org\0.evil.test"), matches: false),
        Row("a letter that only looks alike", "example.org", .name("ex\u{430}mple.org"), matches: false),
        Row("the Kelvin sign is not a k", "k.example", .name("\u{212a}.example"), matches: false),
    ]

    // RFC 9525 §6.2-6.4, §6.6, §7.1, §7.3; RFC 5280 §7.2.
    @Test("What matches", arguments: rows)
    func matching(_ row: Row) {
        let reference = ReferenceName(NWEndpoint.Host(row.host))
        #expect((reference?.matches(row.presented) ?? false) == row.matches)
    }

    // Names that cannot be checked: RFC 9525 §6.1, §6.1.1.
    @Test(
        "Names that no certificate can contain",
        arguments: [
            "", ".", "a..b", "-a.example", "a b.example", "a/b", String(repeating: "a", count: 64) + ".example",
        ])
    func unnameable(_ host: String) { #expect(ReferenceName(.name(host, nil)) == nil) }

    // Limit on compared names: RFC 9525 §7.5.
    @Test("The number of examined names is limited")
    func budget() throws {
        let reference = try #require(ReferenceName("last.example"))
        let many = (0..<5_000).map { SubjectAlternativeName.name("n\($0).example") }
        #expect(!reference.matches(many + [.name("last.example")]))
        #expect(reference.matches([.name("last.example")] + many))
    }

    /// The samples of RFC 3492 §7.1 that need no mapping other than lower case.
    @Test(
        "Punycode",
        arguments: [
            (
                "\u{4ed6}\u{4eec}\u{4e3a}\u{4ec0}\u{4e48}\u{4e0d}\u{8bf4}\u{4e2d}\u{6587}",
                "xn--ihqwcrb4cv8a8dqg056pqjye"
            ),
            ("\u{5e7}\u{5d5}\u{5dd}", "xn--9dbq2a"), ("ma\u{f1}ana", "xn--maana-pta"),
            ("3\u{5e74}b\u{7d44}\u{91d1}\u{516b}\u{5148}\u{751f}", "xn--3b-ww4c5e180e575a65lsy2b"),
            ("\u{1f600}", "xn--e28h"),
        ])
    func punycode(_ unicode: String, _ ascii: String) {
        #expect(ReferenceName(.name(unicode + ".example", nil)) == .name(ascii + ".example"))
    }
}
