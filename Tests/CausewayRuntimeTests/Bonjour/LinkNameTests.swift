import CausewayRuntime
import CausewayWire
import Testing

@Suite("Names that are resolved on the link (RFC 6762 §3, §4)")
struct LinkNameTests {
    // RFC 6762 §22.1.
    @Test(
        "C1 C2 C6: names in local, and those of link-local addresses, are resolved on the link only",
        arguments: [
            "printer.local", "PRINTER.LOCAL.", "a.b.local", "7.8.254.169.in-addr.arpa", "1.0.8.e.f.ip6.arpa",
            "0.9.e.f.ip6.arpa", "0.A.e.f.ip6.arpa", "0.b.e.f.ip6.arpa",
        ])
    func link(_ text: String) throws {
        let name = try #require(DNSName(text))
        #expect(name.isOfLink)
    }

    @Test(
        "C3: all others are resolved by name servers",
        arguments: ["example.com", "local.example", "xlocal", "1.168.192.in-addr.arpa", "7.e.f.ip6.arpa", "."])
    func others(_ text: String) throws {
        let name = try #require(DNSName(text))
        #expect(!name.isOfLink)
    }

    @Test("An invalid name or type of a watch is reported")
    func mistakes() {
        #expect(throws: RecordWatch.Mistake.name) { _ = try RecordWatch(name: "a..b", type: "A") }
        #expect(throws: RecordWatch.Mistake.type) { _ = try RecordWatch(name: "a.local", type: "NOPE") }
    }
}
