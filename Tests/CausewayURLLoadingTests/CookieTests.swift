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
