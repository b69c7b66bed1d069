import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Destinations of a proxy")
struct ProxyRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var rule: String
        var host: String
        var port: UInt16
        var isMatch: Bool
        var testDescription: String { "\(rule) and \(host):\(port)" }

        init(_ rule: String, _ host: String, _ isMatch: Bool) { self.init(rule, host, 443, isMatch) }

        init(_ rule: String, _ host: String, _ port: UInt16, _ isMatch: Bool) {
            (self.rule, self.host, self.port, self.isMatch) = (rule, host, port, isMatch)
        }
    }

    static let rows: [Row] = [
        Row("example.com", "example.com", true), Row("example.com", "a.b.EXAMPLE.com", true),
        Row("example.com", "notexample.com", false), Row("example.com", "com", false),
        Row(".example.com", "example.com", true), Row("*.example.com", "www.example.com", true),
        Row("bücher.example", "xn--bcher-kva.example", true), Row("example.com.", "example.com", true),
        Row("*", "anything.test", true), Row("*", "192.0.2.1", true),
        Row("example.com:8080", "example.com", 8_080, true), Row("example.com:8080", "example.com", 80, false),
        Row("192.0.2.7", "192.0.2.7", true), Row("192.0.2.7", "192.0.2.8", false),
        Row("10.0.0.0/8", "10.255.0.1", true), Row("10.0.0.0/8", "11.0.0.1", false),
        Row("10.0.0.0/8", "10.example.com", false), Row("0.0.0.0/0", "203.0.113.9", true),
        Row("fd00::/8", "fd77:8::1", true), Row("fd00::/8", "fe80::1", false),
        Row("::1", "::1", true), Row("[::1]:80", "::1", 80, true), Row("[::1]:80", "::1", 81, false),
        Row("10.0.0.0/8", "::ffff:10.1.2.3", true), Row("::ffff:10.1.2.3", "10.1.2.3", true),
        Row("192.0.2.0/24", "2001:db8::1", false), Row("::ffff:10.0.0.0/104", "10.1.2.3", true),
        Row("::ffff:10.0.0.0/104", "::ffff:10.1.2.3", true), Row("::ffff:10.0.0.0/104", "11.0.0.1", false),
        Row("::ffff:0:0/96", "192.0.2.1", true), Row("::/0", "2001:db8::1", true), Row("::/0", "192.0.2.1", false),
    ]

    private func destination(_ host: String, _ port: UInt16) -> TunnelDestination {
        if let address = InternetAddress(literal: host) { return TunnelDestination(.address(address), port: port) }
        return TunnelDestination(.name(host), port: port)
    }

    @Test(arguments: rows)
    func matches(_ row: Row) throws {
        let rule = try #require(ProxyRule(row.rule))
        #expect(rule.matches(destination(row.host, row.port)) == row.isMatch)
    }

    @Test(
        "Invalid words are not rules",
        arguments: [
            "", "10.0.0.0/33", "fd00::/129", "10.0.0.0/-1", "a:b", "[::1", "[::1]x", "x/8", "a b", ".",
            "10.0.0.0/+8", "10.0.0.0/", "a:+80", "a:-0", "a:", "[::1]:+80", "a:\u{301}80", "[::1]\u{301}:80",

        ])
    func nonsense(_ word: String) {
        #expect(ProxyRule(word) == nil)
    }
}

@Suite("Proxies in text form")
struct ProxyAddressTests {
    @Test("Schemes, ports and credentials")
    func reads() throws {
        let plain = try ProxyAddress("proxy.example:3128")
        #expect((plain.kind, plain.host, plain.port) == (.http, "proxy.example", 3_128))
        #expect(plain.credential == nil)
        #expect(try ProxyAddress("http://proxy.example").port == 80)
        #expect(try ProxyAddress("HTTPS://proxy.example/").kind == .https)
        #expect(try ProxyAddress("https://proxy.example/").port == 443)
        let socks = try ProxyAddress("socks5h://m%C3%BCller:p%40ss%3a@[2001:db8::1]:9999/x?y")
        #expect((socks.kind, socks.host, socks.port) == (.socks, "2001:db8::1", 9_999))
        #expect(socks.credential == TunnelCredential(username: "müller", password: "p@ss:"))
        #expect(try ProxyAddress("socks://10.0.0.1").port == 1_080)
    }

    @Test(
        "Text without a proxy is refused",
        arguments: ["", "http://", "http://:80", "http://a:0", "http://a:x", "http://a:+80", "http://u%2@h"])
    func malformed(_ text: String) {
        #expect(throws: ProxyAddress.Problem.malformed) { try ProxyAddress(text) }
    }

    @Test("An unknown scheme is distinguished from a syntax error")
    func unknown() {
        #expect(throws: ProxyAddress.Problem.unknownKind("socks4")) { try ProxyAddress("socks4://a") }
    }

    @Test(
        "The URL of a PAC script is not a proxy, and neither is its server",
        arguments: [
            "http://wpad.example/proxy.pac", "https://u:p@h/a/b.PAC?x#y", "http://wpad/wpad.dat", "h/proxy.pac",
            "http://h/wpad.dat#x",
        ])
    func scripts(_ text: String) throws {
        #expect(throws: ProxyAddress.Problem.unknownKind("pac")) { try ProxyAddress(text) }
        #expect(throws: ProxyAddress.Problem.unknownKind("pac+http")) { try ProxyAddress("pac+http://h/x") }
        #expect(try ProxyAddress("http://proxy.pac:3128").host == "proxy.pac", "a host may have this name")
    }

    @Test("A delimiter before a combining mark is a delimiter")
    func combiningMarks() throws {
        let address = try ProxyAddress("http://user:\u{301}secret@proxy.example/\u{301}x")
        #expect((address.host, address.port) == ("proxy.example", 80))
        #expect(address.credential?.username == "user")
        #expect(address.credential?.password.unicodeScalars.first == "\u{301}")
        #expect(throws: ProxyAddress.Problem.unknownKind("socks4")) { try ProxyAddress("socks4://\u{301}a") }
        #expect(InternetAddress(literal: "fe80::1%\u{301}x") == nil)
        #expect(throws: ProxyAddress.Problem.unknownKind("pac")) { try ProxyAddress("h/\u{301}x.pac?\u{301}") }
    }

    @Test("A credential is never printed")
    func secrecy() throws {
        let address = try ProxyAddress("http://user:hunter2@proxy.example")
        var dumped = ""
        dump(address, to: &dumped)
        for text in ["\(address)", String(reflecting: address), dumped] {
            #expect(!text.contains("hunter2") && !text.contains("user"))
        }
    }
}

@Suite("Proxies from the environment")
struct ProxyEnvironmentTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var scheme: String
        var variables: [String: String]
        var expected: String?
    }

    static let rows: [Row] = [
        Row(testDescription: "nothing", scheme: "https", variables: [:], expected: nil),
        Row(
            testDescription: "by scheme", scheme: "https", variables: ["HTTPS_PROXY": "s", "HTTP_PROXY": "p"],
            expected: "s"),
        Row(testDescription: "a secure WebSocket", scheme: "wss", variables: ["https_proxy": "s"], expected: "s"),
        Row(
            testDescription: "clear text", scheme: "HTTP", variables: ["HTTPS_PROXY": "s", "HTTP_PROXY": "p"],
            expected: "p"),
        Row(
            testDescription: "lower case first", scheme: "https", variables: ["HTTPS_PROXY": "A", "https_proxy": "a"],
            expected: "a"),
        Row(testDescription: "all", scheme: "ftp", variables: ["ALL_PROXY": "x", "HTTP_PROXY": "p"], expected: "x"),
        Row(
            testDescription: "the own variable before all_proxy", scheme: "http",
            variables: ["ALL_PROXY": "x", "http_proxy": "p"],
            expected: "p"),
        Row(
            testDescription: "an empty value means none", scheme: "http",
            variables: ["http_proxy": "", "ALL_PROXY": "x"],
            expected: "x"),
        Row(
            testDescription: "HTTP_PROXY of a CGI program is ignored", scheme: "http",
            variables: ["HTTP_PROXY": "evil", "REQUEST_METHOD": "GET"], expected: nil),
        Row(testDescription: "a script", scheme: "https", variables: ["auto_proxy": "u"], expected: "u"),
        Row(
            testDescription: "a proxy before a PAC script", scheme: "https",
            variables: ["auto_proxy": "u", "ALL_PROXY": "x"], expected: "x"),
    ]

    @Test(arguments: rows)
    func chooses(_ row: Row) {
        #expect(ProxyEnvironment(row.variables).choice(forScheme: row.scheme)?.value == row.expected)
    }

    @Test("A PAC script is distinguished from a proxy")
    func scripts() {
        #expect(ProxyEnvironment(["auto_proxy": "u"]).choice(forScheme: "http")?.isScript == true)
        #expect(ProxyEnvironment(["all_proxy": "u"]).choice(forScheme: "http")?.isScript == false)
    }

    @Test("Exceptions are split at commas and blanks, and invalid ones are dropped")
    func exceptions() {
        let environment = ProxyEnvironment(["NO_PROXY": "a.test, .b.test 10.0.0.0/8,,10.0.0.0/99", "no_proxy": ""])
        #expect(environment.exceptions == ["a.test", ".b.test", "10.0.0.0/8"])
    }
}
