import Testing

@testable import CausewayProtocols

@Suite("Authentication challenges (url-loading.md 9)")
struct AuthenticationChallengeTests {
    private typealias Parameter = AuthenticationChallenge.Parameter

    private func parse(_ values: String...) -> [AuthenticationChallenge] { AuthenticationChallenge.parse(values) }

    // Challenges: RFC 9110 §11.1, §11.2, §11.3.
    @Test("Several challenges in one field (RFC 9110 §11.6.1)")
    func several() {
        // This is the example in RFC 9110 §11.6.1.
        let found = parse("Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"")
        #expect(
            found == [
                AuthenticationChallenge(scheme: "basic", parameters: [Parameter(name: "realm", value: "simple")]),
                AuthenticationChallenge(
                    scheme: "newauth",
                    parameters: [
                        Parameter(name: "realm", value: "apps"), Parameter(name: "type", value: "1"),
                        Parameter(name: "title", value: "Login to \"apps\""),
                    ]),
            ])
    }

    @Test("Tokens, empty elements, spaces around the equals sign, and several fields")
    func forms() {
        #expect(parse("Negotiate, NTLM").map(\.scheme) == ["negotiate", "ntlm"])
        #expect(parse("Negotiate YII/ab+c==, Basic realm=x").first?.token == "YII/ab+c==")
        #expect(parse("Negotiate YII/ab+c==, Basic realm=x").last?.realm == "x")
        #expect(
            parse(" , Basic realm = \"a, b\" ,, charset=\"UTF-8\" ,").first?.parameters.map(\.value) == [
                "a, b", "UTF-8",
            ])
        #expect(parse("Basic realm=\"a\"", "Digest realm=\"b\", nonce=\"c\"").map(\.realm) == ["a", "b"])
        #expect(
            parse("Bearer error=\"invalid_token\", error_description=\"The, token\"").first?["error_description"]
                == "The, token")
        #expect(parse("BASIC REALM=\"Q\"").first?.realm == "Q")
        #expect(parse("Digest realm=\"r\" nonce=\"n\"").first?["nonce"] == "n")
    }

    @Test(
        "Malformed fields",
        arguments: [
            "", ",,,", "=", "\"", "realm=\"x\"", "Basic realm=\"unended", "@@@, Basic realm=r", "=a, \"x,y\", Basic",
        ])
    func malformed(text: String) {
        let found = parse(text)
        #expect(found.count <= 1)
        #expect(found.allSatisfy { $0.scheme == "basic" })
        if text.contains("unended") { #expect(found.first?.realm == "unended") }
    }

    @Test("The number of challenges is limited")
    func limit() {
        let many = String(repeating: "A x=1, ", count: 1_000)
        #expect(parse(many, many).count == AuthenticationChallenge.maximumCount)
        #expect(parse("A " + String(repeating: "x=1, ", count: 1_000))[0].parameters.count <= 64)
    }

    @Test("The strongest answerable challenge comes first")
    func strength() {
        let found = parse(
            "Basic realm=\"b\", Negotiate, Digest realm=\"m\", nonce=\"n\", Digest realm=\"s\", nonce=\"n\", algorithm=SHA-256",
            "Digest realm=\"u\", nonce=\"n\", algorithm=SHA-1",
            "Digest realm=\"t\", nonce=\"n\", algorithm=SHA-512-256-sess")
        #expect(AuthenticationChallenge.answerable(found).map(\.realm) == ["t", "s", "m", "b"])
        // Some configurations of OpenSSL do not support MD5.
        let withoutMD5 = AuthenticationChallenge.answerable(found) { $0 == .md5 ? nil : Digests.builtIn($0, $1) }
        #expect(withoutMD5.map(\.realm) == ["t", "s", "b"])
        #expect(AuthenticationChallenge.answerable(parse("Digest realm=\"x\"")).isEmpty)
        #expect(AuthenticationChallenge.answerable(parse("Digest realm=\"x\", nonce=\"n\", qop=\"other\"")).isEmpty)
    }

    @Test("Basic (RFC 7617)")
    func basic() {
        func value(_ name: String, _ password: String) -> String? {
            BasicAuthentication.authorization(PasswordCredential(username: name, password: password))
        }
        #expect(value("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        // The example with a pound sign (RFC 7617 §2.1).
        #expect(value("test", "123£") == "Basic dGVzdDoxMjPCow==")
        #expect(value("a:b", "c") == nil)
        #expect(value("a", "b:c") == "Basic YTpiOmM=")
        #expect(value("a\r\nX: y", "c") == nil)
        #expect(value("", "") == "Basic Og==")
    }
}
