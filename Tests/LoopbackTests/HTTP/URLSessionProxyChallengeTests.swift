import Causeway
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: challenges of proxies (§9, §22)")
    struct URLSessionProxyChallengeTests {
        /// An HTTP proxy that also acts as the server for every request and tunnel. It closes the connection after a
        /// refusal.
        private static func proxy(
            _ requests: RequestLog = RequestLog(), challenges: [String] = ["Basic realm=\"r\""], closes: Bool = true,
            accepts: @escaping @Sendable (String) -> Bool = { $0 == "Basic dXNlcjpzZWNyZXQ=" }
        ) throws -> ScriptedServer {
            try ScriptedServer { peer in
                while let request = try await peer.readRequest() {
                    requests.append(request)
                    if accepts(request["proxy-authorization"] ?? "") {
                        guard request.method == "CONNECT" else {
                            try await peer.write(reply("200 OK", [], "\(request.method) \(request.body)"))
                            continue
                        }
                        try await peer.write("HTTP/1.1 200 OK\r\n\r\n")
                        return try await peer.serve { reply("200 OK", [], "\($0.method) \($0.body)") }
                    }
                    let fields = challenges.map { "Proxy-Authenticate: \($0)" } + (closes ? ["Connection: close"] : [])
                    try await peer.write(reply("407 Who are you", fields, "who?"))
                    if closes { return }
                }
            }
        }

        private static func session(
            _ proxy: ScriptedServer, _ delegate: (any URLSessionDelegate)? = nil, _ more: [AnyHashable: Any] = [:],
            _ change: (URLSessionConfiguration) -> Void = { _ in }
        ) -> URLSession {
            privateSession(delegate) {
                let settings: [AnyHashable: Any] = [
                    kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                    kCFNetworkProxiesHTTPPort: URL(string: proxy.uri())?.port ?? 0,
                ]
                $0.connectionProxyDictionary = settings.merging(more) { $1 }
                change($0)
            }
        }

        private static func text(_ session: URLSession, _ host: String = "inner.test") async throws -> String {
            let url = try #require(URL(string: "http://\(host)/"))
            return String(decoding: try await session.data(from: url).0, as: UTF8.self)
        }

        private static func status(_ session: URLSession) async throws -> Int? {
            let url = try #require(URL(string: "http://inner.test/"))
            return (try await session.data(from: url).1 as? HTTPURLResponse)?.statusCode
        }

        private static func challenges(_ delegate: EventDelegate) -> [String] {
            delegate.events.filter { $0.hasPrefix("challenge") }
        }

        @Test("A delegate answers, and later connections need no answer", arguments: [true, false], [true, false])
        func delegate(closes: Bool, waits: Bool) async throws {
            let proxy = try Self.proxy(closes: closes)
            let delegate = EventDelegate { challenge in
                let space = challenge.protectionSpace
                #expect(space.isProxy() && space.proxyType == NSURLProtectionSpaceHTTPProxy && space.realm == "r")
                #expect(space.host == "127.0.0.1" && space.port == URL(string: proxy.uri())?.port)
                #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 407 && challenge.error == nil)
                return (.useCredential, URLCredential(user: "user", password: "secret", persistence: .forSession))
            }
            let session = Self.session(proxy, delegate) { $0.waitsForConnectivity = waits }
            defer { session.invalidateAndCancel() }
            #expect(try await Self.text(session) == "GET ")
            #expect(try await Self.text(session, "other.test") == "GET ")
            #expect(Self.challenges(delegate) == ["challenge HTTPBasic 0"])
            let stored = session.configuration.urlCredentialStorage?.allCredentials ?? [:]
            #expect(stored.first?.key.isProxy() == true && stored.first?.value["user"]?.password == "secret")
        }

        @Test("Refused credentials are counted; default handling then delivers the response")
        func refused() async throws {
            let proxy = try Self.proxy()
            let delegate = EventDelegate { challenge in
                guard challenge.previousFailureCount < 2 else { return (.performDefaultHandling, nil) }
                return (.useCredential, URLCredential(user: "user", password: "wrong", persistence: .none))
            }
            let session = Self.session(proxy, delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.status(session) == 407)
            #expect(
                Self.challenges(delegate) == [
                    "challenge HTTPBasic 0", "challenge HTTPBasic 1", "challenge HTTPBasic 2",
                ])
        }

        @Test(
            "The credential of the dictionary is tried first, also on a new connection", arguments: ["secret", "wrong"])
        func dictionary(password: String) async throws {
            let requests = RequestLog()
            let proxy = try Self.proxy(requests)
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
            }
            let session = Self.session(proxy, delegate, [kCFProxyUsernameKey: "user", kCFProxyPasswordKey: password])
            defer { session.invalidateAndCancel() }
            #expect(try await Self.text(session) == "GET ")
            #expect(Self.challenges(delegate) == (password == "wrong" ? ["challenge HTTPBasic 0"] : []))
            #expect(requests.all.map { $0["proxy-authorization"] != nil }.prefix(2) == [false, true])
        }

        @Test("Default handling uses the stored credential, once", arguments: ["secret", "wrong"])
        func stored(password: String) async throws {
            let proxy = try Self.proxy()
            let session = Self.session(proxy)
            defer { session.invalidateAndCancel() }
            let space = URLProtectionSpace(
                proxyHost: "127.0.0.1", port: URL(string: proxy.uri())?.port ?? 0, type: NSURLProtectionSpaceHTTPProxy,
                realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            session.configuration.urlCredentialStorage?.setDefaultCredential(
                URLCredential(user: "user", password: password, persistence: .forSession), for: space)
            if password == "secret" {
                #expect(try await Self.text(session) == "GET ")
            } else {
                #expect(try await Self.status(session) == 407)
            }
        }

        @Test("Rejecting the strongest challenge leads to the next one; cancelling ends the load")
        func dispositions() async throws {
            let proxy = try Self.proxy(challenges: [
                "Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256"
            ])
            let delegate = EventDelegate { _ in (.rejectProtectionSpace, nil) }
            let session = Self.session(proxy, delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.status(session) == 407)
            #expect(Self.challenges(delegate) == ["challenge HTTPDigest 0", "challenge HTTPBasic 0"])
            let other = Self.session(proxy, EventDelegate { _ in (.cancelAuthenticationChallenge, nil) })
            defer { other.invalidateAndCancel() }
            #expect(await failureCode { _ = try await Self.text(other) } == .cancelled)
        }

        @Test("A proxy asks before the server of a TLS connection; later connections ask for trust again")
        func secure() async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["h2"])) { _ in
                MachineServer.Reply(content: Data("hello".utf8))
            }
            defer { server.stop() }
            let endpoint = server.endpoint
            try await TestProxy.with(.http(credential: "ann:secret"), route: { _ in endpoint }) { proxy in
                guard case .hostPort(_, let port) = proxy.endpoint else { return }
                let delegate = EventDelegate { challenge in
                    if let trust = challenge.protectionSpace.serverTrust {
                        return (.useCredential, URLCredential(trust: trust))
                    }
                    return (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
                }
                let session = privateSession(delegate) {
                    $0.connectionProxyDictionary = [
                        "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(port.rawValue),
                    ]
                }
                defer { session.invalidateAndCancel() }
                let url = try #require(URL(string: "https://inner.test/"))
                for _ in 0..<2 {
                    #expect(try await session.data(from: url).0 == Data("hello".utf8))
                    await session.flush()
                }
                #expect(
                    Self.challenges(delegate) == [
                        "challenge HTTPBasic 0", "challenge ServerTrust 0", "challenge ServerTrust 0",
                    ])
            }
        }

        /// Settings with a proxy that a script selects.
        private static func script(_ port: UInt16, _ type: String) -> [AnyHashable: Any] {
            [
                kCFNetworkProxiesProxyAutoConfigEnable: true,
                kCFNetworkProxiesProxyAutoConfigJavaScript:
                    "function FindProxyForURL(url, host) { return '\(type) 127.0.0.1:\(port)' }",
            ]
        }

        /// Runs a proxy of the given kind in front of a server. The proxy accepts the user `ann` with the password
        /// `secret`.
        private static func with(
            _ kind: TestProxy.Kind, _ body: (TestProxy, UInt16) async throws -> Void
        ) async throws {
            let server = try echoServer()
            let number = try #require(URL(string: server.uri())?.port.flatMap { UInt16(exactly: $0) })
            let endpoint = NWEndpoint.hostPort(host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: number))
            try await TestProxy.with(kind, route: { _ in endpoint }) { proxy in
                guard case .hostPort(_, let port) = proxy.endpoint else { return }
                try await body(proxy, port.rawValue)
            }
        }

        @Test("A SOCKS proxy asks for a user and a password", arguments: [false, true], [false, true])
        func socks(isScript: Bool, waits: Bool) async throws {
            try await Self.with(.socks(credential: "ann:secret")) { proxy, port in
                let delegate = EventDelegate { challenge in
                    let space = challenge.protectionSpace
                    #expect(space.proxyType == NSURLProtectionSpaceSOCKSProxy && space.realm == nil)
                    #expect(space.host == "127.0.0.1" && space.port == Int(port))
                    #expect(!space.receivesCredentialSecurely)
                    let password = challenge.previousFailureCount == 0 ? "wrong" : "secret"
                    return (.useCredential, URLCredential(user: "ann", password: password, persistence: .forSession))
                }
                let session = privateSession(delegate) {
                    $0.connectionProxyDictionary =
                        isScript
                        ? Self.script(port, "SOCKS5")
                        : [
                            kCFNetworkProxiesSOCKSEnable: true, kCFNetworkProxiesSOCKSProxy: "127.0.0.1",
                            kCFNetworkProxiesSOCKSPort: Int(port),
                        ]
                    $0.waitsForConnectivity = waits
                }
                defer { session.invalidateAndCancel() }
                let text = try await Self.text(session)
                #expect(text == "GET ")
                #expect(try await Self.text(session, "other.test") == "GET ")
                #expect(Self.challenges(delegate) == ["challenge Default 0", "challenge Default 1"])
                let stored = session.configuration.urlCredentialStorage?.allCredentials ?? [:]
                #expect(stored.count == 1 && stored.first?.value["ann"]?.password == "secret")
            }
        }

        @Test("Default handling uses the stored credential of a SOCKS proxy, once", arguments: ["secret", "wrong"])
        func storedForSOCKS(password: String) async throws {
            try await Self.with(.socks(credential: "ann:secret")) { proxy, port in
                let session = privateSession {
                    $0.proxyConfigurations = [ProxyConfiguration(socksv5Proxy: proxy.endpoint)]
                }
                defer { session.invalidateAndCancel() }
                let space = URLProtectionSpace(
                    proxyHost: "127.0.0.1", port: Int(port), type: NSURLProtectionSpaceSOCKSProxy, realm: nil,
                    authenticationMethod: NSURLAuthenticationMethodDefault)
                session.configuration.urlCredentialStorage?.setDefaultCredential(
                    URLCredential(user: "ann", password: password, persistence: .forSession), for: space)
                if password == "secret" {
                    let text = try await Self.text(session)
                    #expect(text == "GET ")
                } else {
                    #expect(await failureCode { _ = try await Self.text(session) } == .cannotConnectToHost)
                }
            }
        }

        @Test("A proxy that a script selects asks, too")
        func script() async throws {
            try await Self.with(.http(credential: "ann:secret")) { proxy, port in
                let delegate = EventDelegate { challenge in
                    #expect(challenge.protectionSpace.proxyType == NSURLProtectionSpaceHTTPProxy)
                    return (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
                }
                let session = privateSession(delegate) { $0.connectionProxyDictionary = Self.script(port, "PROXY") }
                defer { session.invalidateAndCancel() }
                let text = try await Self.text(session)
                #expect(text == "GET ")
                #expect(try await Self.text(session, "other.test") == "GET ")
                #expect(Self.challenges(delegate) == ["challenge HTTPBasic 0"])
            }
        }

        @Test("A proxy of a script that came over plain http gets no credential, and its challenge is not delivered")
        func untrustedScript() async throws {
            try await Self.with(.http(credential: "ann:secret")) { proxy, port in
                let scripts = try ScriptedServer { peer in
                    try await peer.serve { _ in
                        let script = "function FindProxyForURL(url, host) { return 'PROXY 127.0.0.1:\(port)' }"
                        return reply("200 OK", ["Content-Type: application/x-ns-proxy-autoconfig"], script)
                    }
                }
                let delegate = EventDelegate { _ in
                    (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
                }
                let session = privateSession(delegate) {
                    $0.connectionProxyDictionary = [
                        kCFNetworkProxiesProxyAutoConfigEnable: true,
                        kCFNetworkProxiesProxyAutoConfigURLString: scripts.uri(),
                        kCFProxyUsernameKey: "ann", kCFProxyPasswordKey: "secret",
                    ]
                }
                defer { session.invalidateAndCancel() }
                #expect(try await Self.status(session) == 407)
                #expect(Self.challenges(delegate).isEmpty)
            }
        }

        @Test("A proxy asks although a later one fails for another reason")
        func failedLater() async throws {
            try await Self.with(.http(credential: "ann:secret")) { proxy, port in
                try await TestProxy.with(.refusing("HTTP/1.1 502 No\r\n\r\n"), route: { _ in nil }) { broken in
                    let delegate = EventDelegate { _ in
                        (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
                    }
                    let session = privateSession(delegate) {
                        $0.proxyConfigurations = [proxy, broken].map {
                            ProxyConfiguration(httpCONNECTProxy: $0.endpoint)
                        }
                    }
                    defer { session.invalidateAndCancel() }
                    let text = try await Self.text(session)
                    #expect(text == "GET ")
                    #expect(Self.challenges(delegate) == ["challenge HTTPBasic 0"])
                }
            }
        }

        @Test("A Digest challenge of a proxy that closes is answered on the next connection")
        func digest() async throws {
            let proxy = try Self.proxy(challenges: ["Digest realm=\"r\", nonce=\"n\", qop=\"auth\""]) {
                $0.hasPrefix("Digest username=\"user\"") && $0.contains("nc=00000001")
                    && $0.contains("uri=\"http://inner.test/\"")
            }
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
            }
            let session = Self.session(proxy, delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.text(session) == "GET ")
            #expect(Self.challenges(delegate) == ["challenge HTTPDigest 0"])
        }
    }
}
