import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

@Suite("Cookies (RFC 6265bis, url-loading.md 10)")
struct CookieTests {
    /// 2024-01-01 00:00:00 UTC.
    private let now: Duration = .seconds(1_704_067_200)

    private func context(_ url: String, isHTTP: Bool = true, site: CookieContext.Site = .same) -> CookieContext {
        guard let parsed = URIReference(url), let context = CookieContext(parsed, isHTTP: isHTTP, site: site) else {
            preconditionFailure("not a URL of HTTP: \(url)")
        }
        return context
    }

    private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String { "\(fields) from \(from) to \(to)" }
        var fields: [String]
        var from = "https://www.a.example/dir/page"
        var to = "https://www.a.example/dir/page"
        var sent: String?

        init(_ fields: String..., from: String? = nil, to: String? = nil, sent: String?) {
            self.fields = fields
            if let from { self.from = from }
            self.to = to ?? self.from
            self.sent = sent
        }
    }

    @Test("Syntax (RFC 6265bis §5.6)", arguments: syntaxRows)
    func syntax(row: Row) { check(row) }

    static let syntaxRows: [Row] = [
        Row("a=b", sent: "a=b"),
        Row(" a = b ; Path = / ", sent: "a=b"),
        Row("a=", sent: "a="),
        Row("a", sent: "a"),
        Row("=a", sent: "a"),
        Row("", sent: nil),
        Row("=", sent: nil),
        Row(";path=/", sent: nil),
        Row("a=b=c", sent: "a=b=c"),
        Row("a=\"b c\"", sent: "a=\"b c\""),
        Row("a=b, c=d", sent: "a=b, c=d"),
        Row("a=\u{FC}", sent: "a=\u{FC}"),
        Row("a=b\tc", sent: "a=b\tc"),
        Row("a=b\u{0}c", sent: nil),
        Row("a=b\nc", sent: nil),
        Row("a=b\u{7F}", sent: nil),
        Row("a=" + String(repeating: "x", count: 4_095), sent: "a=" + String(repeating: "x", count: 4_095)),
        Row("a=" + String(repeating: "x", count: 4_096), sent: nil),
        Row("a=b; path=/" + String(repeating: "x", count: 1_024), sent: "a=b"),
        Row("a=b; unknown=x; ;;", sent: "a=b"),
    ]

    @Test("Life time (RFC 6265bis §5.6.1, §5.6.2)", arguments: lifeTimeRows)
    func lifeTime(row: Row) { check(row) }

    static let lifeTimeRows: [Row] = [
        Row("a=b; Max-Age=1", sent: "a=b"),
        Row("a=b; Max-Age=0", sent: nil),
        Row("a=b; Max-Age=-1", sent: nil),
        Row("a=b; Max-Age=", sent: "a=b"),
        Row("a=b; Max-Age=1x", sent: "a=b"),
        Row("a=b; Max-Age=+1", sent: "a=b"),
        Row("a=b; Max-Age=99999999999999999999999999", sent: "a=b"),
        Row("a=b; Expires=Sun, 31 Dec 2023 23:59:59 GMT", sent: nil),
        Row("a=b; Expires=Mon, 01 Jan 2024 00:00:01 GMT", sent: "a=b"),
        Row("a=b; Expires=never", sent: "a=b"),
        Row("a=b; Max-Age=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", sent: "a=b"),
        Row("a=b; Expires=Fri, 01 Jan 2049 00:00:00 GMT; Max-Age=0", sent: nil),
        Row("a=b", "a=c; Max-Age=0", sent: nil),
        Row("a=b", "a=c; Max-Age=0; Path=/other", sent: "a=b"),
    ]

    @Test("Hosts and domains are compared by their bytes")
    func domainBytes() {
        let host = CookieContext(host: "\u{301}b.example", path: "/", isSecure: true)
        #expect(host.matches(domain: "\u{301}b.example") && host.matches(domain: "example"))
        let sub = CookieContext(host: "a.\u{301}b.example", path: "/", isSecure: true)
        #expect(sub.matches(domain: "\u{301}b.example") && !sub.matches(domain: "b.example"))
        #expect(!CookieContext(host: "e\u{301}.example", path: "/", isSecure: true).matches(domain: "\u{E9}.example"))
    }

    @Test("Domains (RFC 6265bis §5.1.3, §5.6.3)", arguments: domainsRows)
    func domains(row: Row) { check(row) }

    static let domainsRows: [Row] = [
        Row("a=b; Domain=a.example", to: "https://x.a.example/dir/", sent: "a=b"),
        Row("a=b; Domain=.a.example", to: "https://a.example/dir/", sent: "a=b"),
        Row("a=b; Domain=..a.example", sent: nil),
        Row("a=b; Domain=A.Example", to: "https://X.A.EXAMPLE./dir/", sent: "a=b"),
        Row("a=b; Domain=a.example", to: "https://ba.example/dir/", sent: nil),
        Row("a=b; Domain=x.a.example", sent: nil),
        Row("a=b; Domain=b.example", sent: nil),
        Row("a=b; Domain=ww.a.example", sent: nil),
        Row("a=b", to: "https://x.www.a.example/dir/", sent: nil),
        Row("a=b; Domain=", to: "https://x.www.a.example/dir/", sent: nil),
        Row("a=b; Domain=b.example; Domain=a.example", to: "https://a.example/dir/", sent: "a=b"),
        Row("a=b; Domain=example", sent: nil),
        Row("a=b; Domain=example", from: "https://example/", to: "https://x.example/", sent: nil),
        Row("a=b; Domain=example", from: "https://example/", sent: "a=b"),
        Row("a=b; Domain=localhost", from: "http://localhost:8080/", to: "http://localhost:9090/", sent: "a=b"),
        Row("a=b; Domain=192.0.2.1", from: "http://192.0.2.1/", sent: "a=b"),
        Row("a=b; Domain=0.2.1", from: "http://192.0.2.1/", sent: nil),
        Row("a=b", from: "http://[2001:db8::1]:8080/", to: "http://[2001:db8::1]/", sent: "a=b"),
        Row("a=b; Domain=bücher.example", from: "https://bücher.example/", sent: nil),
    ]

    @Test("Paths (RFC 6265bis §5.1.4)", arguments: pathsRows)
    func paths(row: Row) { check(row) }

    static let pathsRows: [Row] = [
        Row("a=b", to: "https://www.a.example/dir", sent: "a=b"),
        Row("a=b", to: "https://www.a.example/dir/sub/x", sent: "a=b"),
        Row("a=b", to: "https://www.a.example/dirx", sent: nil),
        Row("a=b", to: "https://www.a.example/", sent: nil),
        Row("a=b; Path=/", to: "https://www.a.example", sent: "a=b"),
        Row("a=b; Path=/dir/", to: "https://www.a.example/dir", sent: nil),
        Row("a=b; Path=dir", to: "https://www.a.example/dir/x", sent: "a=b"),
        Row("a=b; Path=/x; Path=", to: "https://www.a.example/dir/x", sent: "a=b"),
        Row("a=b; Path=/DIR", to: "https://www.a.example/dir", sent: nil),
        Row("a=b; Path=/d%69r", to: "https://www.a.example/dir", sent: nil),
        Row("a=b", from: "https://a.example/page", to: "https://a.example/other", sent: "a=b"),
        Row("a=1; Path=/", "b=2; Path=/dir", "c=3; Path=/", sent: "b=2; a=1; c=3"),
        Row("a=1", "b=2", "a=3", sent: "a=3; b=2"),
        Row("a=1; Path=/", "a=2; Path=/dir", sent: "a=2; a=1"),
        Row("a=1; Domain=a.example", "a=2", sent: "a=1; a=2"),
    ]

    @Test("Secure cookies and prefixes (RFC 6265bis §5.4, §5.7)", arguments: secureRows)
    func secure(row: Row) { check(row) }

    static let secureRows: [Row] = [
        Row("a=b; Secure", sent: "a=b"),
        Row("a=b; Secure", to: "http://www.a.example/dir/", sent: nil),
        Row("a=b; Secure", to: "wss://www.a.example/dir/", sent: "a=b"),
        Row("a=b; Secure", from: "http://www.a.example/", sent: nil),
        Row("a=b", to: "http://www.a.example/dir/", sent: "a=b"),
        Row("__Secure-a=b; Secure", sent: "__Secure-a=b"),
        Row("__Secure-a=b", sent: nil),
        Row("__SECURE-a=b", sent: nil),
        Row("__Secure-a=b; Secure", from: "http://a.example/", sent: nil),
        Row("__Host-a=b; Secure; Path=/", sent: "__Host-a=b"),
        Row("__Host-a=b; Secure", sent: nil),
        Row("__Host-a=b; Path=/", sent: nil),
        Row("__host-a=b; Secure; Path=/; Domain=a.example", sent: nil),
        Row("__Host-a=b; Secure; Path=/; Domain=www.a.example", sent: nil),
        Row("=__Host-a=b; Secure; Path=/", sent: nil),
        Row("__Secure-x; Secure", sent: nil),
        Row("=__hOsT-a=b; Secure; Path=/", sent: nil),
        Row("__SECURE-a", sent: nil),
        Row("==__Host-a=b; Secure; Path=/", sent: nil),
        Row("= = \t__secure-a=b; Secure", sent: nil),
        Row("=a; __Host-b=c", sent: "a"),
        Row("=a__Host-b=c", sent: "a__Host-b=c"),
        Row("__Host=b", sent: "__Host=b"),
    ]

    private func check(_ row: Row) {
        var store = CookieStore()
        for field in row.fields { store.receive(field.utf8, from: context(row.from), at: now) }
        #expect(text(store.field(for: context(row.to), at: now)) == row.sent)
    }

    @Test("An insecure response neither replaces nor hides a secure cookie")
    func shadowing() {
        var store = CookieStore()
        store.receive("a=1; Secure; Path=/dir".utf8, from: context("https://www.a.example/"), at: now)
        let plain = context("http://www.a.example/")
        #expect(store.receive("a=2; Path=/dir".utf8, from: plain, at: now) == .ignored(.insecure))
        #expect(store.receive("a=2; Path=/dir/sub".utf8, from: plain, at: now) == .ignored(.insecure))
        #expect(store.receive("a=2; Path=/dir/sub; Domain=a.example".utf8, from: plain, at: now) == .ignored(.insecure))
        #expect(store.receive("a=2; Path=/".utf8, from: plain, at: now) == .stored)
        #expect(store.receive("b=2; Path=/dir".utf8, from: plain, at: now) == .stored)
        #expect(store.receive("a=3; Path=/dir".utf8, from: context("https://www.a.example/"), at: now) == .stored)
        #expect(text(store.field(for: context("https://www.a.example/dir"), at: now)) == "a=3; b=2; a=2")
    }

    @Test("A nameless cookie whose value reads like a pair does not hide a secure cookie, nor the reverse")
    func namelessShadowing() {
        var store = CookieStore()
        let (secure, plain) = (context("https://a.example/"), context("http://a.example/"))
        #expect(store.receive("a=1; Secure".utf8, from: secure, at: now) == .stored)
        #expect(store.receive("=b=1; Secure".utf8, from: secure, at: now) == .stored)
        #expect(store.receive("=a=2; Path=/x".utf8, from: plain, at: now) == .ignored(.insecure))
        #expect(store.receive("b=2".utf8, from: plain, at: now) == .ignored(.insecure))
        #expect(store.receive("=c=2".utf8, from: plain, at: now) == .ignored(.insecure))
        #expect(store.receive("c=2".utf8, from: plain, at: now) == .stored)
        #expect(text(store.field(for: secure, at: now)) == "a=1; b=1; c=2")
    }

    @Test(
        "A nameless cookie does not hide a secure cookie, also not with characters that servers skip before a name",
        arguments: ["=a=2", "==a=2", "= =\ta=2", "=a =2"])
    func namelessAlone(field: String) {
        var store = CookieStore()
        #expect(store.receive("a=1; Secure".utf8, from: context("https://a.example/"), at: now) == .stored)
        #expect(store.receive(field.utf8, from: context("http://a.example/"), at: now) == .ignored(.insecure))
        #expect(store.receive("==b=2".utf8, from: context("http://a.example/"), at: now) == .stored)
    }

    @Test(
        "No source stores a nameless cookie whose value begins with a name prefix",
        arguments: ["__Host-a=b", "__host-a", "__Secure-a=b", "=__SECURE-a=b", " __Host-a=b"])
    func hiddenPrefix(value: String) {
        var store = CookieStore()
        let hidden = Cookie(name: [], value: Array(value.utf8), domain: "a.example", expires: now + .seconds(9))
        #expect(store.insert(hidden, at: now) == .ignored(.prefix))
        #expect(store.count == 0 && !hidden.isWellFormed)
        #expect(!SetCookie(name: [], value: Array(value.utf8)).meetsPrefix)
        // The same text as a name is the program's own choice.
        #expect(store.insert(Cookie(name: hidden.value, value: [], domain: "a.example"), at: now) == .stored)
    }

    @Test("HttpOnly cookies are for HTTP only")
    func httpOnly() {
        var store = CookieStore()
        let program = context("https://a.example/", isHTTP: false)
        store.receive("a=1; HttpOnly".utf8, from: context("https://a.example/"), at: now)
        #expect(store.field(for: program, at: now) == nil)
        #expect(store.receive("a=2".utf8, from: program, at: now) == .ignored(.notHTTP))
        #expect(store.receive("b=2; HttpOnly".utf8, from: program, at: now) == .ignored(.notHTTP))
        #expect(store.receive("c=3".utf8, from: program, at: now) == .stored)
        #expect(text(store.field(for: context("https://a.example/"), at: now)) == "a=1; c=3")
    }

    @Test("SameSite (RFC 6265bis §5.2, §5.6.7)")
    func sameSite() {
        var store = CookieStore()
        let here = context("https://a.example/")
        for field in [
            "s=1; SameSite=Strict", "l=1; SameSite=lax", "n=1; SameSite=None; Secure", "u=1", "x=1; SameSite=other",
        ] {
            #expect(store.receive(field.utf8, from: here, at: now) == .stored)
        }
        #expect(store.receive("n=2; SameSite=None".utf8, from: here, at: now) == .ignored(.sameSiteNoneWithoutSecure))
        #expect(text(store.field(for: here, at: now)) == "s=1; l=1; n=1; u=1; x=1")
        let link = context("https://a.example/", site: .crossNavigation)
        #expect(text(store.field(for: link, at: now)) == "l=1; n=1; u=1; x=1")
        let other = context("https://a.example/", site: .cross)
        #expect(text(store.field(for: other, at: now)) == "n=1")
        #expect(store.receive("z=1".utf8, from: other, at: now) == .ignored(.otherSite))
        #expect(store.receive("z=1; SameSite=None; Secure".utf8, from: other, at: now) == .stored)
    }

    @Test("Public suffixes")
    func publicSuffix() {
        var store = CookieStore { ["com", "co.uk"].contains($0) }
        #expect(
            store.receive("a=1; Domain=co.uk".utf8, from: context("https://x.co.uk/"), at: now)
                == .ignored(.publicSuffix))
        #expect(store.receive("a=1; Domain=x.co.uk".utf8, from: context("https://y.x.co.uk/"), at: now) == .stored)
        #expect(store.receive("a=1; Domain=co.uk".utf8, from: context("https://co.uk/"), at: now) == .stored)
        #expect(store.all.last?.isHostOnly == true)
    }

    @Test("A life time is limited to 400 days, and the cookie ends then")
    func maximumAge() {
        var store = CookieStore()
        let here = context("https://a.example/")
        store.receive("a=1; Max-Age=99999999".utf8, from: here, at: now)
        store.receive("b=1".utf8, from: here, at: now)
        #expect(store.all[0].expires == now + .seconds(400 * 86_400) && store.all[1].expires == nil)
        #expect(text(store.field(for: here, at: now + .seconds(400 * 86_400 - 1))) == "a=1; b=1")
        #expect(text(store.field(for: here, at: now + .seconds(400 * 86_400))) == "b=1")
        store.removeExpired(at: now + .seconds(400 * 86_400))
        #expect(store.count == 1)
    }

    @Test("A replaced cookie keeps its time of creation and its place")
    func replacement() {
        var store = CookieStore()
        let here = context("https://a.example/")
        store.receive("a=1".utf8, from: here, at: now)
        store.receive("b=1".utf8, from: here, at: now + .seconds(1))
        store.receive("a=2".utf8, from: here, at: now + .seconds(2))
        #expect(store.all.map(\.created) == [now, now + .seconds(1)])
        #expect(text(store.field(for: here, at: now + .seconds(2))) == "a=2; b=1")
    }

    @Test("A full domain: expired cookies go first, then insecure ones, then the least recently used")
    func domainLimit() {
        var limits = CookieStore.Limits()
        limits.perDomain = 3
        var store = CookieStore(limits: limits)
        let here = context("https://a.example/")
        func names() -> [String] { store.all.map { String(decoding: $0.name, as: UTF8.self) } }
        store.receive("s=1; Secure".utf8, from: here, at: now)
        store.receive("e=1; Max-Age=5".utf8, from: here, at: now + .seconds(1))
        store.receive("x=1; Path=/x".utf8, from: here, at: now + .seconds(2))
        store.receive("y=1".utf8, from: here, at: now + .seconds(10))
        #expect(names() == ["s", "x", "y"])
        // Use cookie `x` first and cookie `y` second. So `y` is the cookie that was used most recently.
        _ = store.field(for: context("https://a.example/x"), at: now + .seconds(11))
        _ = store.field(for: here, at: now + .seconds(12))
        store.receive("z=1".utf8, from: here, at: now + .seconds(13))
        #expect(names() == ["s", "y", "z"])
        store.receive("t=1; Secure".utf8, from: here, at: now + .seconds(14))
        store.receive("u=1; Secure".utf8, from: here, at: now + .seconds(15))
        store.receive("v=1; Secure".utf8, from: here, at: now + .seconds(16))
        #expect(names() == ["t", "u", "v"] && store.count == 3)
    }

    @Test("A full store loses the least recently used cookie")
    func totalLimit() {
        var limits = CookieStore.Limits()
        limits.total = 2
        var store = CookieStore(limits: limits)
        for (index, host) in ["a", "b", "c"].enumerated() {
            store.receive("n=1".utf8, from: context("https://\(host).example/"), at: now + .seconds(index))
        }
        #expect(store.all.map(\.domain) == ["b.example", "c.example"] && store.count == 2)
    }

    @Test("Cookies of the program: insertion, removal, default limits")
    func program() {
        var store = CookieStore()
        let cookie = Cookie(name: [0x61], value: [0x62], domain: "a.example", isHostOnly: false)
        #expect(store.insert(cookie, at: now) == .stored)
        #expect(text(store.field(for: context("http://x.a.example/"), at: now)) == "a=b")
        store.delete(cookie)
        #expect(store.count == 0 && store.all.isEmpty)
        for index in 0..<60 { store.insert(Cookie(name: [UInt8(index)], value: [], domain: "a.example"), at: now) }
        #expect(store.count == 50)
        store.removeAll { $0.name[0] % 2 == 0 }
        #expect(store.count == 25)
        store.removeAll()
        #expect(store.field(for: context("http://a.example/"), at: now) == nil)
    }

    @Test("Fields that were joined with commas")
    func combined() {
        func split(_ text: String) -> [String] {
            SetCookie.split(combined: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(
            split("a=b; Expires=Wed, 09 Jun 2021 10:18:14 GMT, c=d; path=/,e=f") == [
                "a=b; Expires=Wed, 09 Jun 2021 10:18:14 GMT", "c=d; path=/", "e=f",
            ])
        #expect(split("a=b,c") == ["a=b,c"])
        #expect(split("a=1, 2, b=3") == ["a=1, 2", "b=3"])
        #expect(split("a=b; expires=Sat, 15-Apr-17 21:01:22 GMT") == ["a=b; expires=Sat, 15-Apr-17 21:01:22 GMT"])
        #expect(split(" , ") == [","] && split("") == [])
    }

    /// Test vectors that have another result with RFC 6265bis. A field without a name is stored, and sent as its value.
    /// An empty domain replaces an earlier domain.
    private static let changed: [String: String] = [
        "0004": "foo",
        "0021": "a=b; x; c=d",
        "0023": "foo",
        "0024": "foo",
        "0025": "foo",
        "0026": "foo",
        "0027": "bar",
        "0028": "foo",
        "CHROMIUM0009": "BLAHHH",
        "CHROMIUM0010": "\"BLA\\\"HHH\"",
        "CHROMIUM0012": "ABC",
        "MOZILLA0012": "test=\"fubar! = foo; five",
        "MOZILLA0014": "six",
        "MOZILLA0015": "seven",
        "MOZILLA0016": "eight",
        "MOZILLA0017": "eight; test=six",
        "NAME0017": "a=bar",
        "NAME0023": "foo",
        "NAME0025": "==a=bar",
        "NAME0028": "a",
        "NAME0031": "\"foo",
        "NAME0032": "\"foo\\\"bar",
        "NAME0033": "aaa",
        "OPTIONAL_DOMAIN0042": "foo=bar",
    ]

    @Test("Vectors of the http-state working group")
    func vectors() throws {
        for object in try HTTPVectors.objects("http-state/parser.json") {
            let name = try #require(object["test"] as? String)
            guard !name.hasPrefix("DISABLED") else { continue }
            let query = name.lowercased().replacing("_", with: "-")
            let base = try #require(URIReference("http://home.example.org:8888/cookie-parser?\(query)"))
            let path = object["sent-to"] as? String ?? "/cookie-parser-result?\(query)"
            let target = try #require(URIReference(path)).resolved(against: base)
            var store = CookieStore()
            // Set the clock to 2011-01-01. The test vectors contain dates that must be later than the current time.
            let time: Duration = .seconds(1_293_840_000)
            for field in try #require(object["received"] as? [String]) {
                store.receive(field.utf8, from: try #require(CookieContext(base)), at: time)
            }
            let sent = try #require(object["sent"] as? [[String: String]])
            let pairs = sent.map { ($0["name"] ?? "") + "=" + ($0["value"] ?? "") }.joined(separator: "; ")
            let expected = Self.changed[name] ?? (pairs.isEmpty ? nil : pairs)
            #expect(text(store.field(for: try #require(CookieContext(target)), at: time)) == expected, "\(name)")
        }
    }
}
