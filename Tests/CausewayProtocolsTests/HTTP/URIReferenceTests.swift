import Testing

@testable import CausewayProtocols

@Suite("URI references")
struct URIReferenceTests {
    /// The examples of RFC 3986 §5.4, with the base `http://a/b/c/d;p?q`.
    static let examples: [(String, String)] = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ]

    @Test("Resolution as in RFC 3986 §5.4", arguments: examples)
    func resolution(reference: String, expected: String) throws {
        let base = try #require(URIReference("http://a/b/c/d;p?q"))
        #expect(try #require(URIReference(reference)).resolved(against: base).description == expected)
    }

    @Test("A base without a path: the merged path begins with a slash")
    func emptyBasePath() throws {
        let base = try #require(URIReference("http://a"))
        #expect(try #require(URIReference("g")).resolved(against: base).description == "http://a/g")
        #expect(base.originForm == "/")
        #expect(try #require(URIReference("http://a?x=1#f")).originForm == "/?x=1")
    }

    @Test("Components")
    func components() throws {
        let uri = try #require(URIReference("HTTPS://user:pw@Example.COM:8443/a%20b?q=1#frag"))
        #expect(uri.scheme == "https")
        #expect(uri.authority == URIAuthority(userInformation: "user:pw", host: "Example.COM", port: 8443))
        #expect(uri.path == "/a%20b" && uri.query == "q=1" && uri.fragment == "frag")
        #expect(HTTPOrigin(uri) == HTTPOrigin(isSecure: true, host: "example.com", port: 8443))
        let literal = try #require(URIReference("http://[fe80::1%25eth0]:80/"))
        #expect(literal.authority?.host == "[fe80::1%25eth0]" && literal.authority?.port == 80)
        #expect(URIReference("http://h:/")?.authority?.port == nil)
    }

    @Test("Bytes that a URI cannot contain are percent-encoded")
    func encoding() {
        #expect(URIReference("/a b/ü?ä=<x>")?.description == "/a%20b/%C3%BC?%C3%A4=%3Cx%3E")
        #expect(URIReference(" \t/a%2Fb%zz ")?.description == "/a%2Fb%zz")
        #expect(URIReference("http://ü.example/")?.authority?.host == "%C3%BC.example")
        #expect(URIReference("/a\\b")?.path == "/a%5Cb")
    }

    @Test(
        "Invalid references",
        arguments: [
            "http://a@b@c/", "http://exa mple/", "http://a:0/", "http://a:65536/", "http://a:8x/", "http://[::1/",
            "http://[]/",
            "http://a\\@b/", "/a\u{0}b", "/a\r\nb", "/a\u{7F}", "1a:b", "http://[::1]x/", "http://<a>/",
        ])
    func invalid(text: String) {
        #expect(URIReference(text) == nil)
    }

    @Test("Credentials in the user information")
    func credentials() {
        func credential(_ text: String) -> PasswordCredential? { URIReference(text)?.authority?.credential }
        #expect(credential("http://me:p%40%3Aw:x@h/") == PasswordCredential(username: "me", password: "p@:w:x"))
        #expect(credential("http://me@h/") == PasswordCredential(username: "me", password: ""))
        #expect(credential("http://:pw@h/") == PasswordCredential(username: "", password: "pw"))
        #expect(credential("http://@h/") == nil && credential("http://h/") == nil)
    }

    // Origins of HTTP URLs: RFC 9110 §4.2.1, §4.2.2, §4.3.1.
    @Test("Origins: default ports, case, final dot, WebSocket schemes")
    func origins() throws {
        func origin(_ text: String) -> HTTPOrigin? { URIReference(text).flatMap(HTTPOrigin.init) }
        #expect(origin("http://A.example./x") == origin("http://a.example:80/"))
        #expect(origin("wss://a.example/") == origin("https://a.example:443/"))
        #expect(origin("http://a.example/") != origin("https://a.example/"))
        #expect(origin("http://a.example/") != origin("http://a.example:8080/"))
        #expect(origin("ftp://a.example/") == nil)
        #expect(origin("http:///x") == nil)
        #expect(origin("/x") == nil)
    }
}
