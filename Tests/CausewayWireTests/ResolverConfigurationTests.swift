import CausewayTypes
import CausewayWire
import Testing

@Suite("resolv.conf")
struct ResolverConfigurationTests {
    typealias NameServer = ResolverConfiguration.NameServer

    private static let one = NameServer(.ipv4(IPv4Address(bits: 0xC000_0235)))
    private static let two = NameServer(.ipv6(IPv6Address(high: 0x2001_0DB8_0000_0000, low: 0x35)))

    struct ServerRow: Sendable, CustomTestStringConvertible {
        let text: String
        let expected: [NameServer]
        var testDescription: String { text }
    }

    static let serverRows: [ServerRow] = [
        ServerRow(text: "", expected: []),
        ServerRow(text: "nameserver 192.0.2.53", expected: [one]),
        ServerRow(text: "nameserver\t192.0.2.53  \nnameserver 2001:db8::35\n", expected: [one, two]),
        ServerRow(text: "nameserver 192.0.2.53\r\nnameserver 2001:db8::35\r\n", expected: [one, two]),
        ServerRow(text: "nameserver 192.0.2.53 # the first", expected: [one]),
        ServerRow(text: "# nameserver 192.0.2.53\n;nameserver 192.0.2.53", expected: []),
        ServerRow(text: " nameserver 192.0.2.53", expected: []),
        ServerRow(text: "nameserver192.0.2.53\nnameservers 192.0.2.53\nNAMESERVER 192.0.2.53", expected: []),
        ServerRow(text: "nameserver\nnameserver dns.example\nnameserver 192.0.2.53%eth0", expected: []),
        ServerRow(
            text: "nameserver fe80::1%eth0",
            expected: [NameServer(.ipv6(IPv6Address(high: 0xFE80 << 48, low: 1)), zone: "eth0")]),
        ServerRow(
            text: "nameserver fe80::1%",
            expected: [NameServer(.ipv6(IPv6Address(high: 0xFE80 << 48, low: 1)))]),
        ServerRow(
            text: (1...5).map { "nameserver 192.0.2.\($0)" }.joined(separator: "\n"),
            expected: (1...5).map { NameServer(.ipv4(IPv4Address(bits: 0xC000_0200 + $0))) }),
    ]

    @Test("Servers", arguments: serverRows)
    func servers(_ row: ServerRow) {
        #expect(ResolverConfiguration(parsing: row.text).nameServers == row.expected)
    }

    struct SearchRow: Sendable, CustomTestStringConvertible {
        let text: String
        let expected: [String]
        var testDescription: String { text }
    }

    static let searchRows: [SearchRow] = [
        SearchRow(text: "search example.com  corp.example", expected: ["example.com", "corp.example"]),
        SearchRow(text: "domain example.com", expected: ["example.com"]),
        SearchRow(text: "domain example.com\nsearch a.example b.example", expected: ["a.example", "b.example"]),
        SearchRow(text: "search a.example b.example\ndomain example.com", expected: ["example.com"]),
        SearchRow(text: "search a.example\nsearch b.example", expected: ["b.example"]),
        SearchRow(text: "search .", expected: []),
        SearchRow(text: "search a.example\ndomain", expected: ["a.example"]),
    ]

    @Test("Search domains: the last line counts", arguments: searchRows)
    func search(_ row: SearchRow) {
        #expect(ResolverConfiguration(parsing: row.text).searchDomains == row.expected)
    }

    @Test("Options are parsed and clamped, and unknown ones are ignored")
    func options() {
        var expected = ResolverConfiguration.Options()
        #expect(ResolverConfiguration(parsing: "options debug ndots: timeout:x attempts:-1 :3").options == expected)
        #expect(ResolverConfiguration(parsing: "options ndots:+5 timeout:+9 attempts:-0").options == expected)

        expected.dotThreshold = 5
        expected.timeout = .seconds(1)
        expected.attempts = 3
        expected.rotates = true
        expected.usesEDNS = true
        #expect(
            ResolverConfiguration(parsing: "options ndots:5 timeout:1\noptions attempts:3 rotate edns0").options
                == expected)

        let extreme = ResolverConfiguration(parsing: "options ndots:99 timeout:999 attempts:99").options
        #expect(extreme.dotThreshold == 15)
        #expect(extreme.timeout == .seconds(30))
        #expect(extreme.attempts == 5)

        let rest = ResolverConfiguration(parsing: "options use-vc single-request no-aaaa trust-ad").options
        #expect(rest.usesTCP && rest.asksSequentially && rest.skipsIPv6 && rest.trustsAuthenticatedData)
    }

    @Test("Random text never traps", arguments: 0..<200)
    func noise(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let pieces = [
            "nameserver", "search", "options", " ", "\t", "\n", "\r", "%", ":", "#", ";", "::1", "\0", "é", "ndots:9",
        ]
        let text = (0..<60).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        let configuration = ResolverConfiguration(parsing: text)
        #expect(configuration.nameServers.count <= 60)
        #expect((0...15).contains(configuration.options.dotThreshold))
    }
}
