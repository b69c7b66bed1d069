import Causeway
import CausewayProtocols
import CausewayWire
import Testing

@testable import CausewayHTTP

@Suite("Requests for proxies that forward them (RFC 9112 §3.2.2)")
struct RequestForwarderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var host: String
        var port: UInt16?
        var target = "/a?b"
        var expected: String
    }

    @Test(
        "The target is an absolute URI, and `Host` equals its authority",
        arguments: [
            Row(testDescription: "a name", host: "a.test", expected: "http://a.test/a?b"),
            Row(testDescription: "a port", host: "a.test", port: 8080, expected: "http://a.test:8080/a?b"),
            Row(testDescription: "the usual port", host: "a.test", port: 80, expected: "http://a.test/a?b"),
            Row(testDescription: "an IPv6 address", host: "[2001:db8::1]", expected: "http://[2001:db8::1]/a?b"),
            Row(testDescription: "a zone", host: "[fe80::1%25eth0]", expected: "http://[fe80::1]/a?b"),
            Row(
                testDescription: "two slashes", host: "a.test", target: "//b.test/", expected: "http://a.test//b.test/"),
            Row(testDescription: "the server as a whole", host: "a.test", target: "*", expected: "http://a.test"),
            Row(testDescription: "another URI", host: "a.test", target: "http://b.test/", expected: ""),
        ])
    func absoluteForm(row: Row) {
        let origin = HTTPOrigin(isSecure: false, host: row.host, port: row.port)
        var request = HTTPRequestValue(origin: origin, target: row.target)
        #expect(request.absoluteForm == row.expected)
        request.fields.append("Host", "b.test")
        let forwarder = RequestForwarder(ForwardProxies.basic())
        let head = forwarder.head(of: request)
        #expect(head.target == row.expected && head.fields.values(of: "Host") == [request.hostField])
    }

    private func request(_ path: String = "/") -> HTTPRequestValue {
        HTTPRequestValue(origin: HTTPOrigin(isSecure: false, host: "a.test"), target: path)
    }

    private func head(_ status: Int, _ fields: [(String, String)] = []) -> HTTPResponseHead {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return HTTPResponseHead(status: status, fields: section)
    }

    @Test("The credential follows a challenge, and goes with later requests of all connections to the proxy")
    func credential() {
        let table = ProxyChallengeTable()
        let forwarder = RequestForwarder(ForwardProxies.basic(table, "user", "secret"))
        #expect(forwarder.head(of: request()).fields.values(of: "Proxy-Authorization").isEmpty)
        let refusal = head(407, [("Proxy-Authenticate", "Basic realm=\"r\"")])
        #expect(forwarder.isReusable(after: refusal, to: request().origin))
        let expected = ["Basic dXNlcjpzZWNyZXQ="]
        #expect(forwarder.head(of: request("/a/b")).fields.values(of: "Proxy-Authorization") == expected)
        let other = RequestForwarder(ForwardProxies.basic(table, "user", "secret"))
        #expect(other.head(of: request()).fields.values(of: "Proxy-Authorization") == expected)
        let known = table.refused(HTTPEngine.endpoint(of: request().origin), since: .zero)?.1
        #expect(known?.hadCredential == false && known?.hasCredential == true)
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status = 407
        var fields: [(String, String)] = [("Proxy-Authenticate", "Basic realm=\"r\"")]
        var isReusable = true
        var isRefusal = true
    }

    @Test(
        "Responses of a proxy after a credential",
        arguments: [
            Answer(testDescription: "a wrong credential"),
            Answer(testDescription: "tinyproxy refuses it with 401", status: 401, fields: []),
            Answer(
                testDescription: "401 of a server", status: 401, fields: [("WWW-Authenticate", "Basic realm=\"r\"")],
                isRefusal: false),
            Answer(testDescription: "a failure of the proxy", status: 502, fields: [], isRefusal: false),
            Answer(
                testDescription: "the proxy will close", status: 200, fields: [("Proxy-Connection", "close")],
                isReusable: false, isRefusal: false),
            Answer(
                testDescription: "a scheme for connections needs a new one",
                fields: [("Proxy-Authenticate", "NTLM"), ("Proxy-Authenticate", "Basic realm=\"r\"")],
                isReusable: false),
        ])
    func responses(row: Answer) {
        let table = ProxyChallengeTable()
        let forwarder = RequestForwarder(ForwardProxies.basic(table, "user", "secret"))
        _ = forwarder.isReusable(after: head(407, [("Proxy-Authenticate", "Basic realm=\"r\"")]), to: request().origin)
        _ = forwarder.head(of: request())
        #expect(forwarder.isReusable(after: head(row.status, row.fields), to: request().origin) == row.isReusable)
        let known = table.refused(HTTPEngine.endpoint(of: request().origin), since: .zero)?.1
        #expect(known?.hadCredential == row.isRefusal)
    }

    @Test("Digest protects the absolute URI, counts, and renews a nonce that is too old")
    func digest() throws {
        let table = ProxyChallengeTable()
        let forwarder = RequestForwarder(ForwardProxies.basic(table, "user", "secret"))
        func challenge(_ more: String) -> HTTPResponseHead {
            head(407, [("Proxy-Authenticate", "Digest realm=\"r\", domain=\"/x\", qop=\"auth\", \(more)")])
        }
        func sent(_ path: String) -> String {
            forwarder.head(of: request(path)).fields.values(of: "Proxy-Authorization").first ?? ""
        }
        _ = forwarder.head(of: request())
        _ = forwarder.isReusable(after: challenge("nonce=\"one\""), to: request().origin)
        for (path, count) in [("/a", 1), ("/b", 2)] {
            let value = sent(path)
            #expect(value.contains("uri=\"http://a.test\(path)\"") && value.contains("nc=0000000\(count)"))
        }
        _ = forwarder.isReusable(after: challenge("nonce=\"two\", stale=true"), to: request().origin)
        let known = try #require(table.refused(HTTPEngine.endpoint(of: request().origin), since: .zero)?.1)
        #expect(!known.hadCredential && known.hasCredential)
        #expect(sent("/c").contains("nonce=\"two\"") && sent("/c").contains("nc=00000002"))
    }

    @Test("A credential for proxies never reaches a server")
    func servers() throws {
        var request = request()
        request.fields.append("Proxy-Authorization", "Basic eDp5")
        #expect(!request.head.fields.contains("Proxy-Authorization"))
        #expect(try !request.http2Head(.none).fields.contains("Proxy-Authorization"))
        let forwarder = RequestForwarder(ForwardProxies.basic())
        #expect(forwarder.head(of: request).fields.values(of: "Proxy-Authorization") == ["Basic eDp5"])
    }
}

/// Forward proxies for these tests.
private enum ForwardProxies {
    static func basic(_ table: ProxyChallengeTable? = nil, _ user: String? = nil, _ password: String = "")
        -> ForwardProxy
    {
        let proxy = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "p.test", port: 3128))
        if let user { proxy.applyCredential(username: user, password: password) }
        guard let made = ForwardProxy(table.map { proxy.recordingChallenges(in: $0) } ?? proxy) else {
            preconditionFailure("not an HTTP proxy")
        }
        return made
    }
}
