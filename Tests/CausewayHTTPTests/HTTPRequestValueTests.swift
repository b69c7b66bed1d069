import Causeway
import CausewayProtocols
import Testing

@testable import CausewayHTTP

@Suite("Request values")
struct HTTPRequestValueTests {
    @Test(
        "Host leaves out the default port and the zone",
        arguments: [
            ("http://Example.COM/a?b#c", "example.com", "/a?b"), ("http://host.test:8080", "host.test:8080", "/"),
            ("https://host.test:443/", "host.test", "/"), ("https://host.test:80/", "host.test:80", "/"),
            ("http://[::1]:8080/", "[::1]:8080", "/"), ("http://[fe80::1%25eth0]/x", "[fe80::1]", "/x"),
            ("http://host.test./", "host.test", "/"),
        ])
    func host(_ uri: String, _ host: String, _ target: String) throws {
        let request = try #require(HTTPRequestValue(uri: uri))
        #expect(request.head.fields.values(of: "Host") == [host])
        #expect(request.target == target)
    }

    @Test("The program's Host stays")
    func ownHost() throws {
        var request = try #require(HTTPRequestValue(uri: "http://a.test/"))
        request.fields.append("host", "b.test")
        #expect(request.head.fields.values(of: "Host") == ["b.test"])
    }

    @Test(
        "Other schemes and invalid ports are refused",
        arguments: ["ftp://a/", "/a", "http://a:0/", "http://a:65536/", "http:///"])
    func invalid(_ uri: String) { #expect(HTTPRequestValue(uri: uri) == nil) }

    @Test(
        "An IPv6 literal is an address",
        arguments: [
            ("[::1]", "::1"), ("[2001:db8::5]", "2001:db8::5"), ("[fe80::1%25eth0]", "fe80::1%eth0"),
            ("a.test", "a.test"),
        ])
    func literal(_ text: String, _ expected: String) {
        #expect(HTTPOrigin.host(text) == NWEndpoint.Host(expected))
    }
}
