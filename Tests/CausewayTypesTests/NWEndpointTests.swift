import CausewayTypes
import Foundation
import Testing

@Suite("NWEndpoint")
struct NWEndpointTests {
    static let ethernet = NWInterface(name: "eth7", index: 7, type: .wiredEthernet)

    @Test(
        "Text becomes an address if possible, otherwise a name",
        arguments: [
            ("192.0.2.1", .ipv4(IPv4Address(bits: 0xc000_0201))), ("127.1", .ipv4(.loopback)),
            ("::1", .ipv6(.loopback)), ("::ffff:127.0.0.1", .ipv4(.loopback)),
            ("::2", .ipv6(IPv6Address(high: 0, low: 2))),
            ("example.com", .name("example.com", nil)), ("", .name("", nil)), ("[::1]", .name("[::1]", nil)),
            ("1.2.3.4.5", .name("1.2.3.4.5", nil)), ("host%nonesuch", .name("host%nonesuch", nil)),
            ("fe80::1%nonesuch", .name("fe80::1%nonesuch", nil)), ("50%", .name("50%", nil)), ("%", .name("%", nil)),
            ("1.2.3.4%1", .name("1.2.3.4%1", nil)), ("bücher.example", .name("bücher.example", nil)),
        ] as [(String, NWEndpoint.Host)])
    func host(text: String, expected: NWEndpoint.Host) {
        #expect(NWEndpoint.Host(text) == expected)
        #expect(NWEndpoint.Host(stringLiteral: text) == expected)
        #expect(expected.interface == nil)
    }

    @Test("A host keeps the interface in its text")
    func scopedHost() throws {
        let interface = try loopbackInterface()
        #expect(NWEndpoint.Host("printer.local%lo") == .name("printer.local", interface))
        #expect(NWEndpoint.Host("a%b%lo") == .name("a%b", interface))
        #expect(NWEndpoint.Host("fe80::1%lo") == .ipv6(IPv6Address(high: 0xfe80 << 48, low: 1, interface: interface)))
        #expect(NWEndpoint.Host("::ffff:127.0.0.1%lo") == .ipv4(IPv4Address(bits: 0x7f00_0001, interface: interface)))
        for text in ["printer.local%lo", "fe80::1%lo", "127.0.0.1%lo"] {
            let host = NWEndpoint.Host(text)
            #expect(host.interface == interface)
            #expect("\(host)" == text)
            #expect(NWEndpoint.hostPort(host: host, port: 1).interface == interface)
        }
    }

    @Test(
        "Endpoints print as Apple's tools print them",
        arguments: [
            (.hostPort(host: "example.com", port: 443), "example.com:443"),
            (.hostPort(host: "192.0.2.1", port: .http), "192.0.2.1:80"),
            (.hostPort(host: "2001:db8::1", port: 65535), "2001:db8::1.65535"),
            (
                .hostPort(host: .ipv6(IPv6Address(high: 0xfe80 << 48, low: 1, interface: ethernet)), port: 1),
                "fe80::1%eth7.1"
            ),
            (.hostPort(host: .name("printer", ethernet), port: .any), "printer%eth7:0"),
            (.service(name: "Lab", type: "_ipp._tcp", domain: "local.", interface: nil), "Lab._ipp._tcplocal."),
            (
                .service(name: "Lab", type: "_ipp._tcp.", domain: "local.", interface: ethernet),
                "Lab._ipp._tcp.local.%eth7"
            ),
            (.unix(path: "/run/x.sock"), "/run/x.sock"),
        ] as [(NWEndpoint, String)])
    func prints(endpoint: NWEndpoint, expected: String) {
        #expect("\(endpoint)" == expected)
        #expect(endpoint.txtRecord == nil)
    }

    @Test("A URL prints completely and has no interface")
    func url() throws {
        let endpoint = NWEndpoint.url(try #require(URL(string: "wss://example.com:8443/chat?x=1")))
        #expect("\(endpoint)" == "wss://example.com:8443/chat?x=1")
        #expect(endpoint.interface == nil)
    }

    @Test("Each case has its interface")
    func interfaces() {
        let service = NWEndpoint.service(name: "a", type: "_b._tcp", domain: "local.", interface: Self.ethernet)
        #expect(service.interface == Self.ethernet)
        #expect(NWEndpoint.hostPort(host: .name("a", Self.ethernet), port: 1).interface == Self.ethernet)
        #expect(NWEndpoint.hostPort(host: "a", port: 1).interface == nil)
        #expect(NWEndpoint.unix(path: "/a").interface == nil)
    }

    @Test("A set finds equal endpoints, and not different ones")
    func hashing() throws {
        let url = try #require(URL(string: "http://a/"))
        let opaque = OS_nw_endpoint()
        let endpoints: [NWEndpoint] = [
            .hostPort(host: "a", port: 1), .hostPort(host: "a", port: 2), .hostPort(host: "b", port: 1),
            .hostPort(host: .name("a", Self.ethernet), port: 1), .hostPort(host: "192.0.2.1", port: 1),
            .hostPort(host: .name("192.0.2.1", nil), port: 1),
            .service(name: "a", type: "_b._tcp", domain: "local.", interface: nil),
            .service(name: "a", type: "_b._udp", domain: "local.", interface: nil),
            .service(name: "a", type: "_b._tcp", domain: "local.", interface: Self.ethernet),
            .unix(path: "a"), .unix(path: "b"), .url(url), .opaque(opaque), .opaque(OS_nw_endpoint()),
        ]
        #expect(Set(endpoints).count == endpoints.count)
        #expect(Set(endpoints).contains(.opaque(opaque)))
        #expect(Set(endpoints).contains(.service(name: "a", type: "_b._tcp", domain: "local.", interface: nil)))
    }

    @Test("An opaque endpoint has a description")
    func opaqueDescription() {
        let endpoint: nw_endpoint_t = OS_nw_endpoint()
        #expect("\(endpoint)" == "opaque endpoint")
        #expect(String(reflecting: endpoint) == "opaque endpoint")
    }

    @Test(
        "Ports from text",
        arguments: [
            ("0", 0), ("80", 80), ("0080", 80), ("65535", 65535), ("65536", nil), ("99999999999999999999", nil),
            ("-1", nil),
            ("+80", nil), (" 80", nil), ("80 ", nil), ("", nil), ("0x50", nil), ("８０", nil), ("80\0", nil),
            ("http", 80), ("https", 443), ("ssh", 22), ("smtp", 25), ("pop3", 110), ("imaps", 993), ("socks", 1080),
            ("http\0", nil), ("no-such-service", nil), ("#", nil),
        ] as [(String, UInt16?)])
    func port(text: String, expected: UInt16?) {
        #expect(NWEndpoint.Port(text)?.rawValue == expected)
    }

    @Test("Port constants, numbers and text")
    func portConstants() {
        let constants: [NWEndpoint.Port] = [.any, .ssh, .smtp, .http, .pop, .imap, .https, .imaps, .socks]
        #expect(constants.map(\.rawValue) == [0, 22, 25, 80, 110, 143, 443, 993, 1080])
        #expect(NWEndpoint.Port(rawValue: 0) == .any)
        #expect(NWEndpoint.Port(rawValue: 65535) == 65535)
        #expect("\(NWEndpoint.Port.https)" == "443")
    }
}

@Suite("Sizes in memory")
struct MemoryLayoutTests {
    @Test("Frequently used values are small")
    func sizes() {
        #expect(MemoryLayout<NWInterface>.size == 8)
        #expect(MemoryLayout<NWInterface?>.size == 8)
        #expect(MemoryLayout<IPv4Address>.size == 16)
        #expect(MemoryLayout<IPv6Address>.size == 24)
        #expect(MemoryLayout<NWEndpoint.Host>.stride <= 32)
        #expect(MemoryLayout<NWEndpoint>.size <= 64)
        #expect(MemoryLayout<NWError>.size <= 8)
    }
}
