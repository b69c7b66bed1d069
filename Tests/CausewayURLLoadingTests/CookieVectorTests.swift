import CausewayHTTPProtocols
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Vectors of the http-state working group, with HTTPCookieStorage (§10)")
struct CookieVectorTests {
    /// The expected results that differ from those in the test vectors. `HTTPCookie` has no cookies without a name, and
    /// an empty domain replaces an earlier one (RFC 6265bis).
    private static let changed: [String: String] = ["OPTIONAL_DOMAIN0042": "foo=bar"]

    @Test("Cookies from fields to the field Cookie")
    func vectors() throws {
        guard let data = Self.file("parser.json") else {
            return print("SKIPPED: no shared/data/http next to this checkout")
        }
        let objects = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        var count = 0
        for object in objects {
            let name = try #require(object["test"] as? String)
            guard !name.hasPrefix("DISABLED") else { continue }
            let query = name.lowercased().replacing("_", with: "-")
            let base = try #require(URL(string: "http://home.example.org:8888/cookie-parser?\(query)"))
            let path = object["sent-to"] as? String ?? "/cookie-parser-result?\(query)"
            let target = try #require(URL(string: path, relativeTo: base)).absoluteURL
            // Set the clock to 2011-01-01. The test data assumes that its later dates are in the future.
            let now: Duration = .seconds(1_293_840_000)
            var jar = CookieJar()
            for field in try #require(object["received"] as? [String]) {
                guard let cookie = HTTPCookie(field: field, for: base), let context = SetCookieFields.context(of: base)
                else { continue }
                _ = jar.receive(cookie, from: context, at: now)
            }
            let sent = try #require(object["sent"] as? [[String: String]])
            let pairs = sent.map { ($0["name"] ?? "") + "=" + ($0["value"] ?? "") }.joined(separator: "; ")
            let cookies = jar.cookies(for: try #require(SetCookieFields.context(of: target)), at: now)
            let field = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"] ?? ""
            #expect(field == Self.changed[name] ?? pairs, "\(name)")
            count += 1
        }
        #expect(count > 200)
    }

    private static func file(_ name: String) -> Data? {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        for root in [folder, folder.deletingLastPathComponent()] {
            let file = root.appendingPathComponent("shared/data/http/http-state/\(name)")
            if let data = try? Data(contentsOf: file) { return data }
        }
        return nil
    }
}
