import Testing

@testable import CausewayHTTPProtocols

@Suite("Public suffixes (https://publicsuffix.org/list, RFC 6265bis §5.7)")
struct PublicSuffixTests {
    /// A few rules of each kind. Some rules are not in alphabetical order.
    private static let list = PublicSuffixList(
        parsing: Array(
            """
            // A comment
            com
            biz

            uk.com
            ac
            com.ac
            *.mm
            jp
            ac.jp
            kyoto.jp
            ide.kyoto.jp
            *.kobe.jp
            !city.kobe.jp
            *.ck
            !www.ck
            us
            ak.us
            k12.ak.us   this is ignored
            cn
            公司.cn
            中国
            blogspot.com
            *.compute.example.com
            *.*.bad
            a..b
            """.utf8))

    struct Row: Sendable, CustomTestStringConvertible {
        var host: String
        /// The registrable domain; `nil` if the host is itself a public suffix.
        var domain: String?
        var testDescription: String { host }

        init(_ host: String, _ domain: String?) {
            self.host = host
            self.domain = domain
        }
    }

    static let rows: [Row] = [
        Row("com", nil), Row("example.com", "example.com"), Row("WWW.Example.COM", "example.com"),
        Row("www.example.com.", "example.com"), Row("example", nil), Row("example.example", "example.example"),
        Row("b.example.example", "example.example"), Row("a.b.example.example", "example.example"),
        Row("biz", nil), Row("domain.biz", "domain.biz"), Row("a.b.domain.biz", "domain.biz"),
        Row("uk.com", nil), Row("example.uk.com", "example.uk.com"), Row("a.b.example.uk.com", "example.uk.com"),
        Row("test.ac", "test.ac"), Row("mm", nil), Row("c.mm", nil), Row("b.c.mm", "b.c.mm"), Row("a.b.c.mm", "b.c.mm"),
        Row("jp", nil), Row("test.jp", "test.jp"), Row("www.test.jp", "test.jp"), Row("ac.jp", nil),
        Row("test.ac.jp", "test.ac.jp"), Row("www.test.ac.jp", "test.ac.jp"), Row("kyoto.jp", nil),
        Row("test.kyoto.jp", "test.kyoto.jp"), Row("ide.kyoto.jp", nil), Row("b.ide.kyoto.jp", "b.ide.kyoto.jp"),
        Row("a.b.ide.kyoto.jp", "b.ide.kyoto.jp"), Row("c.kobe.jp", nil), Row("b.c.kobe.jp", "b.c.kobe.jp"),
        Row("a.b.c.kobe.jp", "b.c.kobe.jp"), Row("city.kobe.jp", "city.kobe.jp"),
        Row("www.city.kobe.jp", "city.kobe.jp"), Row("ck", nil), Row("test.ck", nil), Row("b.test.ck", "b.test.ck"),
        Row("a.b.test.ck", "b.test.ck"), Row("www.ck", "www.ck"), Row("www.www.ck", "www.ck"), Row("us", nil),
        Row("test.us", "test.us"), Row("ak.us", nil), Row("test.ak.us", "test.ak.us"), Row("k12.ak.us", nil),
        Row("test.k12.ak.us", "test.k12.ak.us"), Row("xn--85x722f.cn", "xn--85x722f.cn"), Row("xn--55qx5d.cn", nil),
        Row("xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        Row("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"), Row("xn--fiqs8s", nil),
        Row("xn--85x722f.xn--fiqs8s", "xn--85x722f.xn--fiqs8s"), Row("a.blogspot.com", "a.blogspot.com"),
        Row("blogspot.com", nil), Row("x.y.compute.example.com", "x.y.compute.example.com"),
        Row("compute.example.com", "example.com"),
    ]

    @Test("Registrable domains", arguments: rows)
    func registrableDomains(row: Row) {
        let bare = row.host.lowercased().hasSuffix(".") ? String(row.host.dropLast()) : row.host.lowercased()
        #expect(Self.list.registrableDomain(of: row.host) == row.domain ?? bare)
        #expect(Self.list.isPublicSuffix(bare) == (row.domain == nil))
    }

    @Test("Addresses, empty and malformed names")
    func malformed() {
        let list = Self.list
        for host in ["192.0.2.1", "[2001:db8::1]", "::1", ""] { #expect(list.registrableDomain(of: host) == host) }
        #expect(!list.isPublicSuffix("192.0.2.1") && !list.isPublicSuffix("::1"))
        #expect(list.registrableDomain(of: "a..com") == ".com")
        #expect(list.registrableDomain(of: ".") == "" && list.registrableDomain(of: ".com") == ".com")
        #expect(list.isPublicSuffix(String(repeating: "a.", count: 200) + "com"))
        #expect(list.isSameSite("a.example.com", "b.example.com") && !list.isSameSite("a.uk.com", "b.uk.com"))
    }

    @Test("Invalid rules are ignored, and a list is bounded")
    func invalid() {
        #expect(Self.list.count == 22)
        #expect(PublicSuffixList(parsing: []).isPublicSuffix("com"))
        #expect(PublicSuffixList(parsing: Array("*\n!\n*.\n..\n\u{FF}\n".utf8)).count == 1)
        let long = [UInt8](repeating: 0x61, count: 3 << 20)
        #expect(PublicSuffixList(parsing: long).count == 0)
    }

    @Test("An exception prevails over longer rules, and one with a single label is ignored")
    func exceptions() {
        let list = PublicSuffixList(parsing: Array("*.ck\n!www.ck\nshop.www.ck\n!com\n".utf8))
        #expect(list.count == 3)
        #expect(list.registrableDomain(of: "a.shop.www.ck") == "www.ck" && !list.isPublicSuffix("shop.www.ck"))
        #expect(list.isPublicSuffix("com") && list.registrableDomain(of: "a.b.com") == "b.com")
    }

    @Test("The built-in selection")
    func builtIn() {
        let list = PublicSuffixList.builtIn
        for suffix in ["com", "co.uk", "com.au", "co.jp", "github.io", "s3.amazonaws.com", "x.ck", "a.sch.uk"] {
            #expect(list.isPublicSuffix(suffix), "\(suffix)")
        }
        for name in ["example.com", "example.co.uk", "www.ck", "amazonaws.com", "sch.uk.example"] {
            #expect(!list.isPublicSuffix(name), "\(name)")
        }
        #expect(list.count > 400)
    }
}
