import CausewayWire
import Testing

@Suite("Service instances (RFC 6763 §4.1)")
struct DNSServiceInstanceTests {
    @Test(
        "A PTR target is a service if it has one label before the requested type",
        arguments: [
            ("Page._http._tcp.local", "Page", "local."), ("a\\.b._HTTP._tcp.local", "a.b", "local."),
            ("Page._http._tcp.example.com", "Page", "example.com."), ("a.b._http._tcp.local", nil, ""),
            ("_http._tcp.local", nil, ""), ("Page._ipp._tcp.local", nil, ""), ("Page._http._tcp", nil, ""),
            ("Page._sub._http._tcp.local", nil, ""), (".", nil, ""),
        ] as [(String, String?, String)])
    func target(_ row: (text: String, label: String?, domain: String)) throws {
        let instance = DNSServiceInstance(try #require(DNSName(row.text)), of: "_http._tcp")
        #expect(instance?.label == row.label)
        if row.label != nil { #expect(instance?.domain.description == row.domain) }
    }

    // Service instance names: RFC 6763 §4.3.
    @Test(
        "A service's full name is parsed, with and without escapes",
        arguments: [
            ("Page._http._tcp.local", "Page", "_http._tcp.", "local."),
            ("Page._http._tcp", "Page", "_http._tcp.", "local."),
            ("My\\032page._http._tcp.local.", "My page", "_http._tcp.", "local."),
            ("v1.2 test._ipp._udp.example.com", "v1.2 test", "_ipp._udp.", "example.com."),
        ])
    func text(_ row: (text: String, label: String, type: String, domain: String)) throws {
        let instance = try #require(DNSServiceInstance(text: row.text))
        #expect(instance.label == row.label)
        #expect(instance.type.description == row.type)
        #expect(instance.domain.description == row.domain)
        #expect(DNSServiceInstance(try #require(instance.name), of: instance.type) == instance)
    }

    @Test(
        "Other names are refused",
        arguments: ["_http._tcp.local", "example.com", "a._tcp.local", "", "a..b._http._tcp"])
    func none(_ text: String) {
        #expect(DNSServiceInstance(text: text) == nil)
    }
}
