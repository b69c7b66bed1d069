import CausewayHTTPProtocols
import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Fields of requests with cookies (§10)")
struct CookieAnswerTests {
    private let url = URL(string: "https://example.com/a")!
    private let key = CookieJar.AnswerKey(isSecure: true, host: "example.com", path: "/a")

    private func cookie(_ name: String, _ changes: [HTTPCookiePropertyKey: Any] = [:]) -> HTTPCookie? {
        let base: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "v", .path: "/", .domain: "example.com"]
        return HTTPCookie(properties: base.merging(changes) { $1 })
    }

    @Test(
        "The cookies for a URL are those that requests send, also if the domain makes a cookie for the host only",
        arguments: ["localhost", "127.0.0.1", "github.io", "com", "example.com"])
    func domains(_ host: String) throws {
        let storage = HTTPCookieStorage()
        let url = try #require(URL(string: "http://\(host)/"))
        let cookies = HTTPCookie.cookies(
            withResponseHeaderFields: ["Set-Cookie": "a=1; Domain=\(host)"], for: url)
        storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        let key = CookieJar.AnswerKey(isSecure: false, host: host, path: "/")
        #expect(storage.fieldValue(for: url, key) == "a=1")
        let found = try #require(storage.cookies(for: url))
        #expect(HTTPCookie.requestHeaderFields(with: found)["Cookie"] == "a=1")
        #expect(storage.cookies?.count == 1)
        #expect(found.map(\.domain) == [host == "example.com" ? ".example.com" : host])
        // If the same cookie is stored again, it replaces the first one. So there is still one cookie, and it can be
        // removed.
        storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        #expect(storage.cookies?.count == 1)
        for cookie in found { storage.deleteCookie(cookie) }
        #expect(storage.fieldValue(for: url, key) == nil && storage.cookies?.isEmpty == true)
    }

    @Test("A change of the storage changes the next field")
    func changes() throws {
        let storage = HTTPCookieStorage()
        let (one, two) = (try #require(cookie("one")), try #require(cookie("two")))
        #expect(storage.fieldValue(for: url, key) == nil)
        storage.setCookie(one)
        #expect(storage.fieldValue(for: url, key) == "one=v")
        #expect(storage.fieldValue(for: url, key) == "one=v")
        storage.setCookie(two)
        #expect(storage.fieldValue(for: url, key) == "one=v; two=v")
        storage.setCookie(try #require(cookie("one", [.value: "w"])))
        #expect(storage.fieldValue(for: url, key) == "one=w; two=v")
        storage.deleteCookie(one)
        #expect(storage.fieldValue(for: url, key) == "two=v")
        storage.removeCookies(since: .distantPast)
        #expect(storage.fieldValue(for: url, key) == nil)
    }

    @Test("An answer is kept for a second, for equal requests, and not beyond the end of a cookie")
    func times() throws {
        var jar = CookieJar()
        let start = Duration.seconds(1_000_000)
        jar.insert(try #require(cookie("one", [.expires: Date(timeIntervalSince1970: 1_000_000.4 + 1)])), at: start)
        let context = CookieContext(host: "example.com", path: "/a", isSecure: true)
        #expect(jar.answer(for: key, at: start) == nil)
        #expect(jar.makeAnswer(for: key, context, at: start) == "one=v")
        #expect(jar.answer(for: key, at: start + .milliseconds(999)) == .some("one=v"))
        #expect(jar.answer(for: key, at: start + .seconds(1)) == nil)
        #expect(jar.answer(for: key, at: start - .seconds(9)) == nil)
        var other = key
        other.isSecure = false
        #expect(jar.answer(for: other, at: start) == nil)
        #expect(jar.makeAnswer(for: key, context, at: start + .milliseconds(900)) == "one=v")
        #expect(jar.answer(for: key, at: start + .milliseconds(1_100)) == nil)
    }

    @Test(
        "A cookie of a subclass without a name is not stored, and in no field",
        arguments: ["__Host-a=b", "__secure-a=b", "a=b", "a", ""])
    func nameless(_ value: String) throws {
        final class NamelessCookie: HTTPCookie, @unchecked Sendable {
            let text: String
            init(text: String) {
                self.text = text
                super.init()
            }
            override var value: String { text }
            override var domain: String { "example.com" }
            override var path: String { "/" }
        }
        let storage = HTTPCookieStorage()
        let hidden = NamelessCookie(text: value)
        storage.setCookie(hidden)
        storage.setCookies([hidden], for: url, mainDocumentURL: nil)
        #expect(storage.cookies?.isEmpty == true && storage.fieldValue(for: url, key) == nil)
        #expect(HTTPCookie.requestHeaderFields(with: [hidden]).isEmpty)
        let named = try #require(cookie("n"))
        #expect(HTTPCookie.requestHeaderFields(with: [hidden, named]) == ["Cookie": "n=v"])
    }

    @Test("A subclass is asked each time")
    func subclass() {
        final class Changing: HTTPCookieStorage, @unchecked Sendable {
            let calls = LockedValue(0)
            override func cookies(for url: URL) -> [HTTPCookie]? {
                let count = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                return HTTPCookie(properties: [.name: "n", .value: "\(count)", .path: "/", .domain: "d"]).map { [$0] }
            }
        }
        let storage = Changing()
        #expect(storage.fieldValue(for: url, key) == "n=1" && storage.fieldValue(for: url, key) == "n=2")
    }
}
