import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: connections and framing (§18, §24)")
    struct URLSessionConnectionTests {
        private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

        // RFC 9110 §6.4.1, §15.3.5, §15.3.6, §15.4.5.
        @Test(
            "§24: responses without content, in spite of their fields",
            arguments: [
                ("HEAD", "200 OK", ["Content-Length: 5"]), ("GET", "204 No Content", ["Content-Length: 5"]),
                ("GET", "304 Not Modified", ["Content-Length: 5"]), ("GET", "205 Reset", ["Content-Length: 0"]),
            ])
        func noContent(_ method: String, _ status: String, _ fields: [String]) async throws {
            let server = try ScriptedServer { peer in
                while try await peer.readRequest() != nil {
                    try await peer.write("HTTP/1.1 \(status)\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n")
                }
            }
            var request = URLRequest(url: try Self.url(server.uri()))
            request.httpMethod = method
            let session = privateSession()
            for _ in 0..<2 {
                let (data, response) = try await session.data(for: request)
                #expect(data.isEmpty && (response as? HTTPURLResponse)?.statusCode == Int(status.prefix(3)))
            }
            // A response with status 204 must not have Content-Length (RFC 9110 §8.6). So the client opens a new
            // connection for the second request.
            #expect(server.acceptedCount == (status.hasPrefix("204") ? 2 : 1))
        }

        @Test(
            "§24: connections that must not be used again",
            arguments: [
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
                "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!",
            ])
        func closing(_ answer: String) async throws {
            let server = try ScriptedServer { peer in
                while try await peer.readRequest() != nil { try await peer.write(answer) }
            }
            let session = privateSession()
            let url = try Self.url(server.uri())
            for _ in 0..<3 { #expect(try await session.data(from: url).0 == Data("ok".utf8)) }
            #expect(server.acceptedCount == 3)
        }

        @Test("§24: content that ends with its connection, and trailers")
        func endings() async throws {
            let server = try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                let chunked = "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n"
                try await peer.write("HTTP/1.1 200 OK\r\n" + (request.target == "/chunked" ? chunked : "\r\nok"))
            }
            let session = privateSession()
            for path in ["/chunked", "/close"] {
                #expect(try await session.data(from: try Self.url(server.uri(path))).0 == Data("ok".utf8))
            }
        }

        // RFC 9110 §15.2.
        @Test("§24: 32 informational responses are accepted, 33 are not; nor is an upgrade without a request for it")
        func informational() async throws {
            let server = try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                let number = Int(request.target.dropFirst()) ?? 0
                if number == 0 {
                    try await peer.write("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
                }
                for _ in 0..<number { try await peer.write("HTTP/1.1 103 Early Hints\r\n\r\n") }
                try await peer.respond("ok")
                _ = try await peer.readHead()
            }
            let session = privateSession()
            let (good, many, upgrade) = (server.uri("/32"), server.uri("/33"), server.uri("/0"))
            #expect(try await session.data(from: try Self.url(good)).0 == Data("ok".utf8))
            for uri in [many, upgrade] {
                #expect(await failureCode { _ = try await session.data(from: try Self.url(uri)) } == .badServerResponse)
            }
        }

        @Test("§24: an address literal of IPv6, and a host with a final dot")
        func hosts() async throws {
            let requests = RequestLog()
            let six = try ScriptedServer(.tcp6) { peer in
                try await peer.serve { request in
                    requests.append(request)
                    return reply("200 OK", [], "ok")
                }
            }
            let four = try echoServer(requests)
            let port = try #require(try Self.url(four.uri()).port)
            #expect(try await privateSession().data(from: try Self.url(six.uri())).0 == Data("ok".utf8))
            _ = try await privateSession().data(from: try Self.url("http://localhost.:\(port)/"))
            #expect(requests.all.first?["host"]?.hasPrefix("[::1]:") == true)
            #expect(requests.all.last?["host"] == "localhost:\(port)")
        }

        @Test("§18: URLs without a host, with a bad port, and of an unknown scheme")
        func urls() async throws {
            for (text, code) in [
                ("http://127.0.0.1:65536/", URLError.Code.badURL), ("http://127.0.0.1:0/", .badURL),
                ("http:///a", .badURL),
                ("ftp://127.0.0.1/", .unsupportedURL),
            ] {
                guard let url = URL(string: text) else { continue }
                #expect(await failureCode { _ = try await privateSession().data(from: url) } == code, "\(text)")
            }
        }

        @Test(
            "§24: a request that was sent on a connection which closes: GET goes on, POST fails and is not sent twice")
        func stale() async throws {
            let requests = RequestLog()
            let server = try ScriptedServer { peer in
                // On each connection, the server answers the first request. It reads the second request and closes the
                // connection without an answer.
                guard let first = try await peer.readRequest() else { return }
                requests.append(first)
                try await peer.respond("ok")
                if let second = try await peer.readRequest() { requests.append(second) }
            }
            let session = privateSession()
            var request = URLRequest(url: try Self.url(server.uri()))
            for _ in 0..<2 { #expect(try await session.data(for: request).0 == Data("ok".utf8)) }
            #expect(server.acceptedCount == 2)
            request.httpMethod = "POST"
            request.httpBody = Data("once".utf8)
            let code = await failureCode { [request] in _ = try await session.data(for: request) }
            #expect(code == .networkConnectionLost)
            #expect(requests.all.filter { $0.method == "POST" }.count == 1)
        }

        @Test("§18: a connection that is refused or whose name does not exist carries its cause")
        func causes() async throws {
            for text in ["http://127.0.0.1:1/", "http://name.invalid/"] {
                let url = try Self.url(text)
                let error = await failure { _ = try await privateSession().data(from: url) }
                #expect(error?.failingURL == url && error?.userInfo[NSUnderlyingErrorKey] != nil)
                #expect(error?.userInfo["NSErrorFailingURLStringKey"] as? String == text)
                #expect(error?.localizedDescription.isEmpty == false)
            }
        }
    }

    @Suite("URLSession: challenges in detail (§9)")
    struct URLSessionChallengeTests {
        private static func server(_ requests: RequestLog = RequestLog()) throws -> ScriptedServer {
            try echoServer(requests) { request in
                request["authorization"] == "Basic dTpw"
                    ? reply("200 OK", [], "in")
                    : reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""], "out")
            }
        }

        private static func load(_ session: URLSession, _ server: ScriptedServer) async throws -> String {
            let (data, _) = try await session.data(from: try #require(URL(string: server.uri())))
            return String(decoding: data, as: UTF8.self)
        }

        @Test("A challenge of the request goes to the task method, and not to the session method")
        func levels() async throws {
            let server = try Self.server()
            let delegate = SessionLevelDelegate()
            #expect(try await Self.load(privateSession(delegate), server) == "out")
            #expect(delegate.methods.isEmpty)
        }

        @Test("useCredential without a credential continues without one")
        func nilCredential() async throws {
            let server = try Self.server()
            #expect(try await Self.load(privateSession(EventDelegate { _ in (.useCredential, nil) }), server) == "out")
        }

        @Test("The proposed credential comes from the storage; a wrong one is tried once; `.none` stores nothing")
        func proposed() async throws {
            let requests = RequestLog()
            let server = try Self.server(requests)
            let seen = LockedValue<[String]>([])
            let delegate = EventDelegate { challenge in
                let status = (challenge.failureResponse as? HTTPURLResponse)?.statusCode ?? 0
                seen.withLock { $0.append("\(challenge.proposedCredential?.user ?? "-") \(status)") }
                guard challenge.previousFailureCount > 0 else { return (.performDefaultHandling, nil) }
                return (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
            }
            let session = privateSession(delegate)
            let port = try #require(URL(string: server.uri())?.port)
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: port, protocol: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let storage = try #require(session.configuration.urlCredentialStorage)
            storage.setDefaultCredential(
                URLCredential(user: "old", password: "x", persistence: .forSession), for: space)
            #expect(try await Self.load(session, server) == "in")
            #expect(seen.withLock { $0 } == ["old 401", "old 401"])
            #expect(storage.defaultCredential(for: space)?.user == "old")
            #expect(requests.all.map { $0["authorization"] } == [nil, "Basic b2xkOng=", "Basic dTpw"])
        }

        @Test("Without a delegate a wrong stored credential is tried once, and 401 is the result")
        func wrongDefault() async throws {
            let requests = RequestLog()
            let server = try Self.server(requests)
            let session = privateSession()
            var parts = try #require(URLComponents(string: server.uri()))
            (parts.user, parts.password) = ("u", "wrong")
            let (data, _) = try await session.data(from: try #require(parts.url))
            #expect(String(decoding: data, as: UTF8.self) == "out" && requests.all.count == 2)
        }
    }
}

/// Records the authentication challenges that arrive at the delegate method for the whole session.
private final class SessionLevelDelegate: NSObject, URLSessionDelegate, @unchecked Sendable {
    private let list = LockedValue<[String]>([])

    var methods: [String] { list.withLock { $0 } }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        list.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
        completionHandler(.performDefaultHandling, nil)
    }
}
