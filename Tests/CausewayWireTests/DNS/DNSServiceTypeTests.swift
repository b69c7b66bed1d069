import CausewayWire
import Testing

@Suite("Service types (RFC 6335 §5.1, RFC 6763 §7)")
struct DNSServiceTypeTests {
    @Test(
        "C79 C95 C96: types that are right",
        arguments: [
            ("_http._tcp", []), ("_x._udp.", []), ("_a-1._TCP", []), ("_abcdefghijklmno._tcp", []),
            ("_ipp._tcp,_color,_duplex", ["_color", "_duplex"]),
        ])
    func right(_ text: String, _ subtypes: [String]) throws {
        let type = try DNSServiceType(text)
        #expect(type.subtypes == subtypes)
        #expect(type.name.labels.reduce(0) { count, _ in count + 1 } == 2)
    }

    @Test(
        "C79 C95 C96: types that are wrong, and why",
        arguments: [
            ("http._tcp", .form), ("_http", .form), ("_http._sctp", .form), ("_http._tcp.local", .form), ("", .form),
            ("_ipp._tcp,", .form), ("_._tcp", .length), ("_abcdefghijklmnop._tcp", .length), ("_a_b._tcp", .character),
            ("_1._tcp", .character), ("_-a._tcp", .character), ("_a-._tcp", .character), ("_a--b._tcp", .character),
            ("_é._tcp", .character),
        ] as [(String, DNSServiceType.Mistake)])
    func wrong(_ text: String, _ mistake: DNSServiceType.Mistake) {
        #expect(throws: mistake) { try DNSServiceType(text) }
    }
}
