import CausewayWire
import Testing

@Suite("Service types (RFC 6335 §5.1, RFC 6763 §7)")
struct DNSServiceTypeTests {
    // Valid service types: RFC 6763 §4.1.2, §7.1.
    @Test(
        "C79 C95 C96: valid types",
        arguments: [
            ("_http._tcp", []), ("_x._udp.", []), ("_a-1._TCP", []), ("_abcdefghijklmno._tcp", []),
            ("_androidtvremote2._tcp", []),
            ("_ipp._tcp,_color,_duplex", ["_color", "_duplex"]),
        ])
    func right(_ text: String, _ subtypes: [String]) throws {
        let type = try DNSServiceType(text)
        #expect(type.subtypes == subtypes)
        #expect(type.name.labels.reduce(0) { count, _ in count + 1 } == 2)
    }

    @Test(
        "C79 C95 C96: invalid types, and the reason",
        arguments: [
            ("http._tcp", .form), ("_http", .form), ("_http._sctp", .form), ("_http._tcp.local", .form), ("", .form),
            ("_ipp._tcp,", .form), ("_._tcp", .length), ("_" + String(repeating: "a", count: 63) + "._tcp", .length),
            ("_a_b._tcp", .character),
            ("_1._tcp", .character), ("_-a._tcp", .character), ("_a-._tcp", .character), ("_a--b._tcp", .character),
            ("_é._tcp", .character),
        ] as [(String, DNSServiceType.Mistake)])
    func wrong(_ text: String, _ mistake: DNSServiceType.Mistake) {
        #expect(throws: mistake) { try DNSServiceType(text) }
    }

    // Long service types: RFC 6763 §7.2.
    @Test("A type of more than 15 characters is allowed, and marked as exceeding the limit of RFC 6335")
    func long() throws {
        #expect(try DNSServiceType("_androidtvremote2._tcp").exceedsLimit)
        #expect(try !DNSServiceType("_abcdefghijklmno._tcp").exceedsLimit)
    }

    @Test(
        "Types of real devices that RFC 6335 does not allow can be browsed",
        arguments: ["_nvstream_dbd._tcp", "_androidtvremote2._tcp", "_a--b._udp", "_1._tcp", "_é._tcp", "_x._tcp,_sub"])
    func browsed(_ text: String) throws {
        #expect(try DNSServiceType(browsing: text).name.labels.reduce(0) { count, _ in count + 1 } == 2)
    }

    @Test("Invalid types cannot be browsed", arguments: ["_._tcp", "http._tcp", "_http", "_a\u{7}._tcp"])
    func notBrowsed(_ text: String) {
        #expect(throws: DNSServiceType.Mistake.self) { try DNSServiceType(browsing: text) }
    }
}
