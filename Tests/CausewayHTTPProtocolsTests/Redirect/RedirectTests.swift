import CausewayWire
import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

@Suite("Redirects (url-loading.md 8)")
struct RedirectTests {
    private func fields(_ pairs: (String, String)...) -> FieldSection {
        var section = FieldSection()
        for (name, value) in pairs { section.append(name, value) }
        return section
    }

    private func request(
        _ method: String = "GET", _ target: String = "https://a.example/dir/page?q#top", content: Bool = false
    ) throws -> RedirectableRequest {
        RedirectableRequest(
            method: method, target: try #require(URIReference(target)),
            fields: fields(
                ("Accept", "*/*"), ("authorization", "Basic eDp5"), ("Cookie", "a=b"), ("X-Api-Key", "k"),
                ("Host", "a.example"),
                ("Content-Type", "text/plain"), ("content-length", "3")), hasContent: content)
    }

    private func follow(
        _ status: Int, _ location: String, _ request: RedirectableRequest, secret: [String] = []
    ) -> RedirectableRequest? {
        var chain = RedirectChain(secretFields: secret)
        guard
            case .follow(let next) = chain.answered(status: status, fields: fields(("Location", location)), to: request)
        else {
            return nil
        }
        return next
    }

    @Test("An empty Location is not followed: the response is the result", arguments: [301, 302, 303, 307, 308])
    func emptyLocation(_ status: Int) throws {
        var chain = RedirectChain()
        let request = try request()
        #expect(chain.answered(status: status, fields: fields(("Location", "")), to: request) == .deliver)
        let twice = fields(("Location", ""), ("Location", ""))
        #expect(chain.answered(status: status, fields: twice, to: request) == .deliver)
        #expect(chain.count == 0)
    }

    struct MethodRow: Sendable {
        var status: Int
        var method: String
        var next: String
        var keepsContent: Bool
    }

    // Redirects: RFC 9110 §15.4.2-15.4.4, §15.4.8, §15.4.9.
    @Test(
        "The method and the content of the next request (RFC 9110 §15.4)",
        arguments: [
            MethodRow(status: 301, method: "POST", next: "GET", keepsContent: false),
            MethodRow(status: 302, method: "POST", next: "GET", keepsContent: false),
            MethodRow(status: 303, method: "POST", next: "GET", keepsContent: false),
            MethodRow(status: 307, method: "POST", next: "POST", keepsContent: true),
            MethodRow(status: 308, method: "POST", next: "POST", keepsContent: true),
            MethodRow(status: 301, method: "PUT", next: "PUT", keepsContent: true),
            MethodRow(status: 302, method: "DELETE", next: "DELETE", keepsContent: true),
            MethodRow(status: 303, method: "PUT", next: "GET", keepsContent: false),
            MethodRow(status: 303, method: "HEAD", next: "HEAD", keepsContent: false),
            MethodRow(status: 301, method: "HEAD", next: "HEAD", keepsContent: true),
        ])
    func methods(row: MethodRow) throws {
        let next = try #require(follow(row.status, "/next", try request(row.method, content: true)))
        #expect(next.method == row.next)
        #expect(next.hasContent == row.keepsContent)
        #expect(next.fields.contains("Content-Type") == row.keepsContent)
        #expect(next.fields.contains("Content-Length") == row.keepsContent)
        #expect(next.fields.contains("Accept"))
    }

    // Redirects that are not followed: RFC 9110 §15.4.6, §15.4.7.
    @Test("Answers that are not followed", arguments: [200, 201, 300, 304, 305, 306, 309, 401])
    func delivered(status: Int) throws {
        var chain = RedirectChain()
        let request = try request()
        #expect(chain.answered(status: status, fields: fields(("Location", "/x")), to: request) == .deliver)
        #expect(chain.answered(status: 302, fields: fields(), to: request) == .deliver)
        #expect(chain.count == 0)
    }

    // RFC 9110 §17.16.1.
    @Test(
        "Credentials stay within the origin",
        arguments: ["https://b.example/", "https://a.example:8443/", "https://sub.a.example/"])
    func otherOrigin(location: String) throws {
        let next = try #require(follow(307, location, try request(), secret: ["x-api-key"]))
        for name in ["Authorization", "Cookie", "X-Api-Key", "Host"] { #expect(!next.fields.contains(name)) }
        #expect(next.fields.contains("Accept") && next.fields.contains("Content-Type"))
        let same = try #require(follow(307, "https://A.EXAMPLE:443/x", try request(), secret: ["x-api-key"]))
        for name in ["Authorization", "Cookie", "X-Api-Key", "Host"] { #expect(same.fields.contains(name)) }
    }

    @Test("From http to https is another origin, and the other way is refused")
    func schemes() throws {
        let up = try #require(follow(301, "https://a.example/", try request("GET", "http://a.example/")))
        #expect(!up.fields.contains("Authorization"))
        var chain = RedirectChain()
        let decision = chain.answered(
            status: 301, fields: fields(("Location", "http://a.example/x")), to: try request())
        guard case .refuse(.downgrade, let proposed?) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(proposed.target.description == "http://a.example/x#top" && !proposed.fields.contains("Authorization"))
        let socket = chain.answered(
            status: 302, fields: fields(("Location", "ws://a.example/")), to: try request("GET", "wss://a.example/"))
        guard case .refuse(.downgrade, _) = socket else {
            Issue.record("\(socket)")
            return
        }
    }

    @Test("Targets resolve against the current target, and its fragment survives (RFC 9110 §10.2.2)")
    func targets() throws {
        #expect(follow(302, "next", try request())?.target.description == "https://a.example/dir/next#top")
        #expect(follow(302, "../x?y#z", try request())?.target.description == "https://a.example/x?y#z")
        #expect(follow(302, "//b.example", try request())?.target.description == "https://b.example#top")
    }

    @Test("Bytes of other encodings are percent-encoded")
    func otherEncodings() throws {
        var section = FieldSection()
        section.append(name: "location".utf8, value: [0x2F, 0xFC])
        var chain = RedirectChain()
        guard case .follow(let next) = chain.answered(status: 302, fields: section, to: try request()) else {
            Issue.record("not followed")
            return
        }
        #expect(next.target.path == "/%FC")
    }

    @Test("Malformed locations and other schemes")
    func refusals() throws {
        var chain = RedirectChain()
        let request = try request()
        func decision(_ values: String...) -> RedirectDecision {
            var section = FieldSection()
            for value in values { section.append("Location", value) }
            return chain.answered(status: 302, fields: section, to: request)
        }
        #expect(decision("https://a@b@c/") == .refuse(.invalidLocation, proposed: nil))
        #expect(decision("https:///x") == .refuse(.invalidLocation, proposed: nil))
        #expect(decision("/x", "/y") == .refuse(.invalidLocation, proposed: nil))
        #expect(decision("file:///etc/passwd") == .refuse(.unsupportedScheme("file"), proposed: nil))
        #expect(decision("data:,x") == .refuse(.unsupportedScheme("data"), proposed: nil))
        guard case .follow = decision("/x", "/x") else {
            Issue.record("equal locations")
            return
        }
    }

    @Test("A loop ends with the 21st redirect")
    func limit() throws {
        var chain = RedirectChain()
        var request = try request()
        for _ in 0..<20 {
            guard case .follow(let next) = chain.answered(status: 302, fields: fields(("Location", "?q")), to: request)
            else {
                Issue.record("ended early at \(chain.count)")
                return
            }
            request = next
        }
        let last = chain.answered(status: 302, fields: fields(("Location", "?q")), to: request)
        guard case .refuse(.tooMany(limit: 20), _?) = last else {
            Issue.record("\(last)")
            return
        }
        #expect(chain.count == 20)
    }
}
