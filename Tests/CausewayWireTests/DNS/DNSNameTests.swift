import CausewayWire
import Testing

@Suite("Domain names (RFC 1035 §3.1, RFC 4343, RFC 6763 §4.1.1)")
struct DNSNameTests {
    @Test(
        "C81: text is parsed, and printed in its canonical form",
        arguments: [
            ("example.com", "example.com."), ("example.com.", "example.com."), (".", "."), ("a", "a."),
            (#"Peter\.s\\Mac._http._tcp.local"#, #"Peter\.s\\Mac._http._tcp.local."#),
            ("Küche (2)._ipp._tcp.local.", "Küche (2)._ipp._tcp.local."), (#"\000\127x"#, #"\000\127x."#),
            (#"\255.x"#, #"\255.x."#), ("_a.b-c.D", "_a.b-c.D."),
        ])
    func text(_ text: String, _ expected: String) throws {
        let name = try #require(DNSName(text))
        #expect(name.description == expected)
        #expect(DNSName(name.description) == name)
    }

    @Test(
        "Invalid names are refused",
        arguments: ["", "..", "a..b", ".a", #"a\"#, #"a\25"#, #"a\256"#, #"a\2x5"#, String(repeating: "a", count: 64)])
    func refused(_ text: String) {
        #expect(DNSName(text) == nil)
    }

    // Length limits of names: RFC 6762 §C.
    @Test("C76: a label has at most 63 bytes, and a name 255 without its root")
    func limits() {
        let label = String(repeating: "a", count: 63)
        #expect(DNSName(label)?.wire.count == 65)
        let long = Array(repeating: label, count: 3).joined(separator: ".") + "." + String(repeating: "b", count: 62)
        #expect(DNSName(long)?.wire.count == 256)
        #expect(DNSName(long + "b") == nil)
        #expect(DNSName("x", in: DNSName(long)!) == nil)
        #expect(DNSName(long)!.appending("x") == nil)
    }

    // RFC 6762 §16.
    @Test("C72: names are equal without regard to ASCII case, but not to the case of other letters")
    func folding() {
        let upper: DNSName = "LOCAL.[@{`Z"
        let lower: DNSName = "local.[@{`z"
        #expect(upper == lower)
        #expect(upper.hashValue == lower.hashValue)
        #expect(DNSName("[.x") != DNSName("{.x"))
        #expect(DNSName("É.local") != DNSName("é.local"))
        #expect(DNSName("ab.c") != DNSName("a.bc"))
    }

    @Test("Names have labels and parents")
    func parts() {
        let name: DNSName = "A b._http._tcp.local"
        #expect(name.labels.map { String(decoding: $0, as: UTF8.self) } == ["A b", "_http", "_tcp", "local"])
        #expect(name.isWithin("LOCAL") && name.isWithin(name) && name.isWithin(.root))
        #expect(!name.isWithin("cal") && !DNSName("xlocal").isWithin("local"))
        #expect(name.droppingFirst(2) == "_tcp.local" && name.droppingFirst(9).isRoot)
        #expect(DNSName("A b", in: "_http._tcp.local") == name)
        #expect(DNSName("A b._http").appending("_tcp.local") == name)
        #expect(DNSName.root.firstLabel == nil)
    }
}
