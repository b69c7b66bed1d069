import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("HTTPCookie and HTTPCookieStorage (§10)")
struct CookieTests {
    let url = URL(string: "https://example.com/a/b")!

    func cookie(_ changes: [HTTPCookiePropertyKey: Any] = [:]) -> HTTPCookie? {
        let base: [HTTPCookiePropertyKey: Any] = [.name: "n", .value: "v", .path: "/", .domain: "example.com"]
        return HTTPCookie(properties: base.merging(changes) { $1 })
    }

    func parsed(_ field: String) -> [HTTPCookie] {
        HTTPCookie.cookies(withResponseHeaderFields: ["set-cookie": field], for: url)
    }

    @Test("Name, value, path and a domain are required")
    func required() {
        #expect(HTTPCookie(properties: [.name: "n", .value: "v", .path: "/"]) == nil)
        #expect(HTTPCookie(properties: [.name: "n", .value: "v", .domain: "d"]) == nil)
        let origin = HTTPCookie(properties: [.name: "n", .value: "v", .path: "/", .originURL: url])
        #expect(origin?.domain == "example.com")
        #expect(cookie([.name: "name".dropLast()])?.name == "nam")
    }

    @Test("Attributes of the properties")
    func attributes() {
        let one = cookie([.secure: "TRUE", .port: "443,8443", .comment: "c", .discard: "TRUE", .maximumAge: "9"])
        #expect(one?.isSecure == true && one?.isSessionOnly == true && one?.expiresDate == nil)
        #expect(one?.portList == [443])
        #expect(one?.comment == "c" && one?.version == 0)
        #expect(cookie([.version: "1", .port: "1, 2"])?.portList == [1, 2])
        #expect(cookie([.sameSitePolicy: "lax"])?.sameSitePolicy == .sameSiteLax)
        #expect(cookie([.expires: Date(timeIntervalSince1970: 5)])?.expiresDate == Date(timeIntervalSince1970: 5))
    }

    @Test("A port is digits; a maximum age may have a minus sign")
    func numbers() {
        #expect(cookie([.version: "1", .port: "+80, -0, 443"])?.portList == [443])
        #expect(cookie([.maximumAge: "-1"])?.expiresDate == Date(timeIntervalSince1970: 0))
        #expect(cookie([.maximumAge: "+9"])?.isSessionOnly == true)
    }

    @Test("A delimiter before a combining mark is a delimiter")
    func combiningMarks() {
        let one = parsed("a=b;\u{301}x; Version=1; Comment=\u{338}c").first
        #expect(one?.version == 1 && one?.comment?.unicodeScalars.first == "\u{338}")
        #expect(parsed("a=b; Comment=c\u{37E} Version=1").first?.version == 0)
    }

    @Test("The text FALSE does not set an attribute, any other does")
    func booleans() {
        for text in ["FALSE", "false", ""] { #expect(cookie([.secure: text])?.isSecure == false, "\(text)") }
        for text in ["TRUE", "YES", "NO", "0"] { #expect(cookie([.secure: text])?.isSecure == true, "\(text)") }
        #expect(cookie([.secure: true])?.isSecure == true && cookie([.secure: false])?.isSecure == false)
        #expect(cookie([.httpOnly: "FALSE"])?.isHTTPOnly == false)
        let kept = cookie([.discard: "FALSE", .maximumAge: "9"])
        #expect(kept?.isSessionOnly == false && kept?.expiresDate != nil)
    }

    @Test("The properties of a cookie give an equal cookie")
    func roundTrip() throws {
        let one = try #require(cookie([.secure: "TRUE", .expires: Date(timeIntervalSince1970: 2e9), .comment: "c"]))
        #expect(HTTPCookie(properties: one.properties ?? [:]) == one)
    }

    @Test("A combined field is split at commas that begin a cookie")
    func splits() {
        let cookies = parsed(
            "AAA =1; path=/; domain=.example.com; expires=Sun, 16-Aug-2025 22:39:54 GMT, BBB=2; HttpOnly; secure")
        #expect(cookies.map(\.name) == ["AAA", "BBB"])
        #expect(cookies.map(\.value) == ["1", "2"])
        #expect(cookies[0].domain == ".example.com" && cookies[1].domain == "example.com")
        #expect(cookies[1].isHTTPOnly && cookies[1].isSecure && !cookies[0].isSecure)
        #expect(cookies[0].expiresDate == Date(timeIntervalSince1970: 1_755_383_994))
    }

    @Test("Line ends may separate cookies of a dictionary, but not be in a field of the network")
    func lineEnds() {
        let cookies = parsed(
            "A=1; expires=Wed, 01 Jan 2070 12:30:00 GMT; secure,\n    B=2; httponly,\r\nC=3\nD=4; path=/x")
        #expect(cookies.map(\.name) == ["A", "B", "C", "D"] && cookies.map(\.value) == ["1", "2", "3", "4"])
        #expect(cookies[0].isSecure && cookies[1].isHTTPOnly && cookies[3].path == "/x")
        #expect(cookies[0].expiresDate == Date(timeIntervalSince1970: 3_155_805_000))
        #expect(parsed("A=1\r\n").map(\.value) == ["1"])
        #expect(parsed("A=1\n2").isEmpty)
        for field in ["A=1\nB=2", "A=1,\r\nB=2", "A=1\n"] { #expect(HTTPCookie(field: field, for: url) == nil) }
    }

    @Test(
        "Forms that are no cookie", arguments: [";a=b", "=value;a=b", "   =v", "name;a=b", ""])
    func refuses(field: String) {
        #expect(parsed(field).isEmpty)
    }

    @Test("Values keep equals signs; a comma before something that is no token does not split")
    func values() {
        #expect(parsed("name=v=a=l; x=y").first?.value == "v=a=l")
        let one = parsed("n=v; Comment=real value, tok@en=second")
        #expect(one.count == 1)
        #expect(one.first?.comment == "real value, tok@en=second")
    }

    @Test("The default path is that of the URL, and Max-Age counts before Expires")
    func defaults() {
        #expect(parsed("n=v").first?.path == "/a")
        #expect(parsed("n=v; path=relative").first?.path == "/a")
        let old = parsed("n=v; Max-Age=0; Expires=Wed, 01 Jan 2070 12:30:00 GMT").first
        #expect(old?.expiresDate == Date(timeIntervalSince1970: 0))
    }

    @Test("The field Cookie joins the cookies")
    func requestField() throws {
        let cookies = [try #require(cookie()), try #require(cookie([.name: "m", .value: "w"]))]
        #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "n=v; m=w"])
        #expect(HTTPCookie.requestHeaderFields(with: []).isEmpty)
    }

    @Test("A storage replaces, expires and removes")
    func stores() throws {
        let storage = HTTPCookieStorage()
        storage.setCookie(try #require(cookie([.expires: Date(timeIntervalSince1970: 1)])))
        #expect(storage.cookies?.isEmpty == true)
        storage.setCookie(try #require(cookie()))
        storage.setCookie(try #require(cookie([.value: "w"])))
        #expect(storage.cookies?.map(\.value) == ["w"])
        storage.removeCookies(since: .distantFuture)
        #expect(storage.cookies?.count == 1)
        #expect(storage.description == "<NSHTTPCookieStorage cookies count:1>")
        storage.removeCookies(since: .distantPast)
        #expect(storage.cookies?.isEmpty == true)
    }

    @Test("Domains and paths select cookies; the longest path is first")
    func selects() throws {
        let storage = HTTPCookieStorage()
        storage.setCookie(try #require(cookie([.name: "host"])))
        storage.setCookie(try #require(cookie([.name: "all", .domain: ".EXAMPLE.com"])))
        storage.setCookie(try #require(cookie([.name: "path", .path: "/a"])))
        storage.setCookie(try #require(cookie([.name: "secure", .secure: "TRUE"])))
        #expect(storage.cookies(for: url)?.map(\.name) == ["path", "host", "all", "secure"])
        let sub = URL(string: "http://www.example.com/")!
        #expect(storage.cookies(for: sub)?.map(\.name) == ["all"])
        #expect(storage.cookies(for: URL(string: "http://superexample.com")!)?.isEmpty == true)
        #expect(storage.cookies(for: URL(string: "http://example.com/")!)?.map(\.name) == ["host", "all"])
    }

    @Test("A response sets cookies for its domain only")
    func receives() throws {
        let storage = HTTPCookieStorage()
        let cookies = [try #require(cookie()), try #require(cookie([.name: "x", .domain: "other.com"]))]
        storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        #expect(storage.cookies?.map(\.name) == ["n"])
        let secure = [try #require(cookie([.name: "s", .secure: "TRUE"]))]
        storage.setCookies(secure, for: URL(string: "http://example.com"), mainDocumentURL: nil)
        #expect(storage.cookies?.map(\.name) == ["n"])
    }

    @Test("The accept policy")
    func policy() throws {
        let storage = HTTPCookieStorage()
        let cookies = [try #require(cookie())]
        storage.setCookies(cookies, for: url, mainDocumentURL: URL(string: "https://other.org"))
        #expect(storage.cookies?.isEmpty == true)
        storage.setCookies(cookies, for: url, mainDocumentURL: URL(string: "https://www.example.com"))
        #expect(storage.cookies?.count == 1)
        storage.cookieAcceptPolicy = .never
        storage.setCookie(try #require(cookie([.name: "m"])))
        #expect(storage.cookies?.count == 1)
    }

    @Test("Cookies are sorted by descriptors")
    func sorts() throws {
        let storage = HTTPCookieStorage()
        for (name, path) in [("A", "/1"), ("B", "/2"), ("C", "/2")] {
            storage.setCookie(try #require(cookie([.name: name, .path: path])))
        }
        let sorted = storage.sortedCookies(using: [
            NSSortDescriptor(keyPath: \HTTPCookie.path, ascending: true),
            NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: false),
        ])
        #expect(sorted.map(\.name) == ["A", "C", "B"])
    }
}

@Suite("Cookies of responses (§10, RFC 6265bis)")
struct ReceivedCookieTests {
    let url = URL(string: "https://www.example.com./a%2Fb/c")!

    func stored(_ fields: String...) -> [HTTPCookie] {
        let storage = HTTPCookieStorage()
        storage.setCookies(fields.compactMap { HTTPCookie(field: $0, for: url) }, for: url, mainDocumentURL: nil)
        return storage.cookies ?? []
    }

    @Test(
        "Fields that are ignored",
        arguments: [
            "value", "=value", "n=a\u{0}b", "n=a\nb", "n=" + String(repeating: "x", count: 4_096), "__Secure-n=v",
            "__Host-n=v; Secure", "__Host-n=v; Secure; Path=/; Domain=www.example.com", "n=v; Domain=com",
            "n=v; Domain=other.com", "n=v; Domain=x.www.example.com", "n=v; Max-Age=0",
        ])
    func ignored(field: String) { #expect(stored(field).isEmpty) }

    @Test("A comma in the value of a single field separates nothing")
    func comma() {
        #expect(stored("a=b, c=d").map(\.value) == ["b, c=d"])
        let combined = HTTPCookie.cookies(
            withResponseHeaderFields: ["Set-Cookie": "a=b; Expires=Wed, 01 Jan 2070 12:30:00 GMT, c=d"], for: url)
        #expect(combined.map(\.name) == ["a", "c"] && combined[0].expiresDate != nil)
    }

    @Test("The default domain and path; a final dot of the host is ignored")
    func defaults() {
        let cookie = stored("a=b").first
        #expect(cookie?.domain == "www.example.com" && cookie?.path == "/a%2Fb")
        #expect(stored("__Host-a=b; Secure; Path=/").count == 1)
    }

    @Test("A replaced cookie keeps its place, and an insecure response replaces no secure cookie")
    func replaced() {
        let storage = HTTPCookieStorage()
        let plain = URL(string: "http://www.example.com/")!
        func receive(_ field: String, _ url: URL) {
            storage.setCookies([HTTPCookie(field: field, for: url)].compactMap { $0 }, for: url, mainDocumentURL: nil)
        }
        let secure = URL(string: "https://www.example.com/")!
        for field in ["a=1", "s=1; Secure", "a=2"] { receive(field, secure) }
        receive("s=2", plain)
        receive("s=3; Secure", plain)
        let fields = HTTPCookie.requestHeaderFields(with: storage.cookies(for: secure) ?? [])
        #expect(fields["Cookie"] == "a=2; s=1")
        #expect(storage.cookies(for: plain)?.map(\.name) == ["a"])
    }

    @Test("Main documents of other sites")
    func mainDocuments() {
        let storage = HTTPCookieStorage()
        let here = URL(string: "https://a.example.co.uk/")!
        let cookies = [HTTPCookie(field: "n=v", for: here)].compactMap { $0 }
        for other in ["https://b.co.uk", "https://co.uk", "https://example.com"] {
            storage.setCookies(cookies, for: here, mainDocumentURL: URL(string: other))
            #expect(storage.cookies?.isEmpty == true)
        }
        storage.setCookies(cookies, for: here, mainDocumentURL: URL(string: "https://www.example.co.uk"))
        #expect(storage.cookies?.count == 1)
    }

    @Test("A flood of cookies leaves 50 per domain, with their objects")
    func flood() {
        let storage = HTTPCookieStorage()
        let cookies = (0..<5_000).compactMap { HTTPCookie(field: "n\($0)=v", for: url) }
        storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        #expect(storage.cookies?.count == 50 && storage.cookies?.last?.name == "n4999")
    }

    @Test("An expiry date of any number is taken", arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func extremeDates(_ time: Double) throws {
        let storage = HTTPCookieStorage()
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: "n", .value: "v", .path: "/", .domain: "example.com", .expires: Date(timeIntervalSince1970: time),
        ]
        storage.setCookie(try #require(HTTPCookie(properties: properties)))
        #expect((storage.cookies ?? []).count == (time > 0 ? 1 : 0))
    }

    @Test("Changes are announced, ignored cookies are not")
    func notifications() {
        let storage = HTTPCookieStorage()
        let count = LockedCount()
        let token = NotificationCenter.default.addObserver(
            forName: .NSHTTPCookieManagerCookiesChanged, object: storage, queue: nil
        ) { _ in count.add() }
        defer { NotificationCenter.default.removeObserver(token) }
        storage.setCookies(
            [HTTPCookie(field: "n=v; Domain=com", for: url)].compactMap { $0 }, for: url, mainDocumentURL: nil)
        #expect(count.value == 0)
        storage.setCookies([HTTPCookie(field: "n=v", for: url)].compactMap { $0 }, for: url, mainDocumentURL: nil)
        #expect(count.value == 1)
    }
}

/// A counter that any thread can increase.
private final class LockedCount: Sendable {
    private let count = LockedValue(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}
