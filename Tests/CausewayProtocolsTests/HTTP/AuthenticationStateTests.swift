import Testing

@testable import CausewayProtocols

@Suite("Authentication attempts and accepted credentials (url-loading.md 9)")
struct AuthenticationStateTests {
    private let origin = HTTPOrigin(isSecure: true, host: "a.example")
    private var authority: ProtectionSpace.Authority { .origin(origin) }
    private let credential = PasswordCredential(username: "u", password: "p")

    private func space(_ offer: AuthenticationAttempts.Step) -> ProtectionSpace? {
        guard case .offer(let offers) = offer else { return nil }
        return offers.first?.space
    }

    @Test("Refusals of one space are counted, and other spaces are not affected")
    func failures() throws {
        var attempts = AuthenticationAttempts()
        let values = ["Basic realm=\"b\", Digest realm=\"d\", nonce=\"1\""]
        guard case .offer(let first) = attempts.refused(by: authority, challenges: values) else {
            Issue.record("no offer")
            return
        }
        #expect(first.map(\.space.scheme) == ["digest", "basic"] && first.map(\.failureCount) == [0, 0])
        attempts.answered(first[0].space)
        guard case .offer(let second) = attempts.refused(by: authority, challenges: values) else {
            Issue.record("no offer")
            return
        }
        #expect(second.map(\.failureCount) == [1, 0])
        attempts.answered(second[1].space)
        guard case .offer(let third) = attempts.refused(by: authority, challenges: values) else {
            Issue.record("no offer")
            return
        }
        #expect(third.map(\.failureCount) == [1, 1])
    }

    @Test("A token continues the negotiation; the token of a complete one refuses the user (RFC 4559 §5)")
    func tokens() throws {
        var attempts = AuthenticationAttempts()
        let first = attempts.refused(by: authority, challenges: ["Negotiate"], schemes: .negotiate)
        attempts.answered(try #require(space(first)))
        let more = attempts.refused(by: authority, challenges: ["Negotiate QUFB"], schemes: .negotiate)
        guard case .renew = more else {
            Issue.record("\(more)")
            return
        }
        let refused = attempts.refused(
            by: authority, challenges: ["Negotiate QUFB"], schemes: .negotiate, answersTokens: false)
        guard case .offer(let offers) = refused else {
            Issue.record("\(refused)")
            return
        }
        #expect(offers.map(\.failureCount) == [1])
    }

    @Test("A stale nonce is renewed once without asking (RFC 7616 §3.3)")
    func stale() throws {
        var attempts = AuthenticationAttempts()
        let values = ["Digest realm=\"d\", nonce=\"1\""]
        let used = try #require(space(attempts.refused(by: authority, challenges: values)))
        attempts.answered(used)
        let renewed = attempts.refused(by: authority, challenges: ["Digest realm=\"d\", nonce=\"2\", stale=TRUE"])
        guard case .renew(let offer) = renewed else {
            Issue.record("\(renewed)")
            return
        }
        #expect(offer.space == used && offer.failureCount == 0 && offer.challenge["nonce"] == "2")
        let again = attempts.refused(by: authority, challenges: ["Digest realm=\"d\", nonce=\"3\", stale=true"])
        guard case .offer(let offers) = again else {
            Issue.record("\(again)")
            return
        }
        #expect(offers.first?.failureCount == 1)
    }

    @Test("`stale` without a credential is an ordinary challenge")
    func staleAtFirst() {
        var attempts = AuthenticationAttempts()
        let step = attempts.refused(by: authority, challenges: ["Digest realm=\"d\", nonce=\"1\", stale=true"])
        #expect(space(step) != nil)
    }

    @Test("The response is delivered without a challenge that the client knows, and after 20 refusals")
    func ends() {
        var attempts = AuthenticationAttempts()
        #expect(attempts.refused(by: authority, challenges: ["Negotiate"]) == .deliver)
        #expect(attempts.refused(by: authority, challenges: []) == .deliver)
        for _ in 2..<20 { #expect(space(attempts.refused(by: authority, challenges: ["Basic realm=x"])) != nil) }
        #expect(attempts.refused(by: authority, challenges: ["Basic realm=x"]) == .deliver)
    }

    @Test("After a redirect another origin's refusal does not count")
    func redirected() throws {
        var attempts = AuthenticationAttempts()
        let used = try #require(space(attempts.refused(by: authority, challenges: ["Basic realm=x"])))
        attempts.answered(used)
        attempts.redirected()
        guard case .offer(let offers) = attempts.refused(by: authority, challenges: ["Basic realm=x"]) else {
            Issue.record("no offer")
            return
        }
        #expect(offers[0].failureCount == 0)
    }

    private func answer(
        _ cache: inout AuthorizationCache, _ challenge: String, _ target: String = "https://a.example/docs/page",
        authority: ProtectionSpace.Authority? = nil
    ) throws -> String? {
        let parsed = try #require(AuthenticationChallenge.parse([challenge]).first)
        let uri = try #require(URIReference(target))
        return cache.answer(
            parsed, in: authority ?? self.authority, with: credential,
            request: DigestRequest(method: "GET", target: uri.originForm), target: uri, clientNonce: "c")
    }

    private func upFront(
        _ cache: inout AuthorizationCache, _ path: String, _ authority: ProtectionSpace.Authority? = nil
    ) -> String? {
        let request = DigestRequest(method: "GET", target: path)
        return cache.authorization(for: request, path: path, at: authority ?? self.authority, clientNonce: "c")?.value
    }

    @Test("Basic is sent up front at or below the path (RFC 7617 §2.2)")
    func basicPaths() throws {
        var cache = AuthorizationCache()
        let value = try #require(try answer(&cache, "Basic realm=\"r\""))
        for path in ["/docs/", "/docs/other", "/docs/sub/x"] { #expect(upFront(&cache, path) == value) }
        for path in ["/", "/docs", "/docsx/a", "/other/"] { #expect(upFront(&cache, path) == nil) }
        #expect(upFront(&cache, "/docs/", .origin(HTTPOrigin(isSecure: false, host: "a.example"))) == nil)
        // The second answer is for the same protection space. So its path is added to the space. The space then covers
        // both paths.
        _ = try answer(&cache, "Basic realm=\"r\"", "https://a.example/more/x")
        #expect(upFront(&cache, "/docs/1") == value && upFront(&cache, "/more/1") == value)
    }

    @Test("The longest path decides between two realms")
    func realms() throws {
        var cache = AuthorizationCache()
        _ = try answer(&cache, "Basic realm=\"outer\"", "https://a.example/x")
        _ = try answer(&cache, "Digest realm=\"inner\", nonce=\"n\", domain=\"/in/\"", "https://a.example/in/y")
        #expect(upFront(&cache, "/in/z")?.hasPrefix("Digest ") == true)
        #expect(upFront(&cache, "/z")?.hasPrefix("Basic ") == true)
    }

    @Test("Digest is sent up front for the whole origin, with the next count, until it is refused")
    func digest() throws {
        var cache = AuthorizationCache()
        _ = try answer(&cache, "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
        #expect(upFront(&cache, "/elsewhere")?.contains("nc=00000002") == true)
        #expect(upFront(&cache, "/")?.contains("nc=00000003") == true)
        let space = ProtectionSpace(authority: authority, realm: "r", scheme: "digest")
        #expect(cache.received(information: "nextnonce=\"m\"", in: space) == true)
        #expect(upFront(&cache, "/")?.contains("nonce=\"m\", uri=\"/\"") == true)
        #expect(cache.received(information: "rspauth=\"0\", nc=00000001", in: space) == false)
        #expect(upFront(&cache, "/") == nil && cache.isEmpty)
    }

    @Test("A proxy's credential is its own")
    func proxy() throws {
        var cache = AuthorizationCache()
        let proxy = ProtectionSpace.Authority.proxy(host: "proxy.example", port: 3128)
        let value = try #require(try answer(&cache, "Basic realm=\"r\"", authority: proxy))
        #expect(upFront(&cache, "/docs/x", proxy) == value && upFront(&cache, "/docs/x") == nil)
        cache.refused(ProtectionSpace(authority: proxy, realm: "r", scheme: "basic"))
        #expect(cache.isEmpty)
    }

    @Test("The number of realms of one origin is limited")
    func limit() throws {
        var cache = AuthorizationCache()
        for index in 0...AuthorizationCache.maximumCount {
            _ = try answer(&cache, "Basic realm=\"\(index)\"", "https://a.example/\(index)/")
        }
        #expect(upFront(&cache, "/0/x") == nil && upFront(&cache, "/1/x") != nil)
    }

    @Test("Spaces that receive the password only encrypted or hashed")
    func secure() {
        let plain = ProtectionSpace.Authority.origin(HTTPOrigin(isSecure: false, host: "a.example"))
        #expect(ProtectionSpace(authority: authority, realm: "", scheme: "basic").receivesCredentialSecurely)
        #expect(!ProtectionSpace(authority: plain, realm: "", scheme: "basic").receivesCredentialSecurely)
        #expect(ProtectionSpace(authority: plain, realm: "", scheme: "digest").receivesCredentialSecurely)
        #expect(
            !ProtectionSpace(authority: .proxy(host: "p", port: 1), realm: "", scheme: "basic")
                .receivesCredentialSecurely)
    }
}
