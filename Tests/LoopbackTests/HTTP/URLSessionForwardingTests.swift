import Causeway
import CausewayURLLoading
import CausewayWire
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: proxies that forward requests (RFC 9112 §3.2.2)")
    struct URLSessionForwardingTests {
        private static func session(
            _ proxy: ScriptedServer, _ delegate: (any URLSessionDelegate)? = nil, host: String = "127.0.0.1",
            _ more: [AnyHashable: Any] = [:], _ change: (URLSessionConfiguration) -> Void = { _ in }
        ) -> URLSession {
            privateSession(delegate) {
                let settings: [AnyHashable: Any] = [
                    kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: host,
                    kCFNetworkProxiesHTTPPort: URL(string: proxy.uri())?.port ?? 0,
                ]
                $0.connectionProxyDictionary = settings.merging(more) { $1 }
                change($0)
            }
        }

        private static func load(
            _ session: URLSession, _ url: String, _ change: (inout URLRequest) -> Void = { _ in }
        ) async throws -> String {
            var request = URLRequest(url: try #require(URL(string: url)))
            change(&request)
            let (data, response) = try await session.data(for: request)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return "\(status) \(String(decoding: data, as: UTF8.self))"
        }

        @Test("Requests have absolute URIs, and those for several hosts share a connection", arguments: [false, true])
        func absolute(isIPv6: Bool) async throws {
            let requests = RequestLog()
            let proxy = try ScriptedServer(isIPv6 ? .tcp6 : .tcp4) { peer in
                try await peer.serve { request in
                    requests.append(request)
                    return reply("200 OK", ["Set-Cookie: a=\(request.target.count)"], request.target)
                }
            }
            let session = Self.session(proxy, host: isIPv6 ? "::1" : "127.0.0.1")
            defer { session.invalidateAndCancel() }
            let urls = [
                "http://a.test/x", "http://b.test:8080/y?z", "http://a.test/x#fragment", "http://[2001:db8::1]/",
            ]
            for url in urls {
                let target = url.prefix { $0 != "#" }
                #expect(try await Self.load(session, url) == "200 \(target)")
            }
            #expect(requests.all.map { $0["host"] } == ["a.test", "b.test:8080", "a.test", "[2001:db8::1]"])
            // A cookie must be sent only to the server that it belongs to. The proxy is another server.
            #expect(requests.all.map { $0["cookie"] } == [nil, nil, "a=15", nil])
            #expect(proxy.acceptedCount == 1)
        }

        @Test("The session's limit of connections holds for each host")
        func limit() async throws {
            let running = Counter()
            let proxy = try ScriptedServer { peer in
                try await peer.serve { request in
                    running.increment()
                    return reply("200 OK", [], request.target)
                }
            }
            let session = Self.session(proxy) { $0.httpMaximumConnectionsPerHost = 1 }
            defer { session.invalidateAndCancel() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let url = "http://a.test/\(number)"
                        let answer = try await Self.load(session, url)
                        #expect(answer == "200 \(url)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(running.value == 8 && proxy.acceptedCount == 1)
        }

        /// The origin of the credential for the proxy.
        enum Source: String, CaseIterable, Sendable {
            case dictionary, delegate, request
        }

        @Test("Content is sent again with the credential, on the same connection", arguments: Source.allCases)
        func credential(source: Source) async throws {
            let requests = RequestLog()
            let proxy = try ScriptedServer { peer in
                try await peer.serve { request in
                    requests.append(request)
                    guard request["proxy-authorization"] == "Basic dXNlcjpzZWNyZXQ=" else {
                        return reply("407 Who", ["Proxy-Authenticate: Basic realm=\"r\""], "who?")
                    }
                    return reply("200 OK", [], request.body)
                }
            }
            let delegate = EventDelegate { challenge in
                #expect(challenge.protectionSpace.isProxy() && source == .delegate)
                return (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
            }
            let credential = [kCFProxyUsernameKey: "user", kCFProxyPasswordKey: "secret"]
            let session = Self.session(proxy, delegate, source == .dictionary ? credential : [:])
            defer { session.invalidateAndCancel() }
            for host in ["a.test", "b.test"] {
                let text = try await Self.load(session, "http://\(host)/") {
                    $0.httpMethod = "POST"
                    $0.httpBody = Data("content".utf8)
                    if source == .request {
                        $0.setValue("Basic dXNlcjpzZWNyZXQ=", forHTTPHeaderField: "Proxy-Authorization")
                    }
                }
                #expect(text == "200 content")
            }
            #expect(requests.all.count == (source == .request ? 2 : 3) && proxy.acceptedCount == 1)
            #expect(requests.all.allSatisfy { $0.body == "content" && $0["authorization"] == nil })
        }

        @Test("The refusal of a proxy sets no cookies of the server", arguments: [true, false])
        func refusal(isAnswered: Bool) async throws {
            let requests = RequestLog()
            let proxy = try echoServer(requests) { request in
                guard request["proxy-authorization"] == nil else {
                    return reply("200 OK", ["Set-Cookie: server=1"], request.target)
                }
                return reply("407 Who", ["Proxy-Authenticate: Basic realm=\"r\"", "Set-Cookie: proxy=1"], "who?")
            }
            let credential = [kCFProxyUsernameKey: "user", kCFProxyPasswordKey: "secret"]
            let session = Self.session(proxy, nil, isAnswered ? credential : [:])
            defer { session.invalidateAndCancel() }
            for _ in 0..<2 {
                let text = try await Self.load(session, "http://a.test/")
                #expect(text == (isAnswered ? "200 http://a.test/" : "407 who?"))
            }
            let names = session.configuration.httpCookieStorage?.cookies?.map(\.name)
            #expect(names == (isAnswered ? ["server"] : []))
            #expect(requests.all.map { $0["cookie"] } == (isAnswered ? [nil, nil, "server=1"] : [nil, nil]))
        }

        @Test("A proxy that demands a credential does not end a resumable upload")
        func upload() async throws {
            let requests = RequestLog()
            let offset = "HTTP/1.1 204 No Content\r\nUpload-Offset: 3\r\nUpload-Complete: ?0\r\n\r\n"
            let proxy = try ScriptedServer { peer in
                while let head = try await peer.readHead() {
                    let request = ScriptedRequest(head: head)
                    requests.append(request)
                    switch request.method {
                    case "POST":
                        try await peer.write(
                            "HTTP/1.1 104 Upload\r\nUpload-Draft-Interop-Version: 6\r\nLocation: /uploads/1\r\n\r\n")
                        _ = try await peer.read(count: 7)
                        // End the connection without a reset. A reset could arrive before the client has read the
                        // response with status 104.
                        peer.socket.finishWriting()
                        while try await !peer.socket.read().isEmpty {}
                        return
                    case "HEAD" where request["proxy-authorization"] == nil:
                        try await peer.write(reply("407 Who", ["Proxy-Authenticate: Basic realm=\"r\""]))
                    case "HEAD": try await peer.write(offset)
                    default: try await peer.write(reply("200 OK", [], try await peer.read(count: 4)))
                    }
                }
            }
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
            }
            let session = Self.session(proxy, delegate)
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try #require(URL(string: "http://a.test/files")))
            request.httpMethod = "POST"
            let (data, _) = try await session.upload(for: request, from: Data("content".utf8))
            #expect(String(decoding: data, as: UTF8.self) == "tent")
            #expect(requests.all.map(\.method) == ["POST", "HEAD", "HEAD", "PATCH"])
        }

        @Test("Proxies of HTTP/1.0, and their failures")
        func responses() async throws {
            let proxy = try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                if request.target.hasSuffix("/old") {
                    try await peer.write("HTTP/1.0 200 OK\r\nVia: 1.0 old\r\n\r\nuntil the end")
                } else {
                    try await peer.write(reply("502 Bad Gateway", ["Connection: close"], "no route"))
                }
            }
            let session = Self.session(proxy)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, "http://a.test/old") == "200 until the end")
            #expect(try await Self.load(session, "http://a.test/old") == "200 until the end")
            #expect(try await Self.load(session, "http://a.test/new") == "502 no route")
        }

        @Test("A server without a proxy gets no credential for one, and its status 407 is a response as any other")
        func direct() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { _ in
                reply("407 Who", ["Proxy-Authenticate: Basic realm=\"r\""], "who?")
            }
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
            }
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let text = try await Self.load(session, server.uri()) {
                $0.setValue("Basic eDp5", forHTTPHeaderField: "Proxy-Authorization")
            }
            #expect(text == "407 who?" && requests.all.map { $0["proxy-authorization"] } == [nil])
            #expect(!delegate.events.contains { $0.hasPrefix("challenge") })
        }

        @Test("The sender of a proxy's challenge answers or cancels it", arguments: [true, false])
        func answeredBySender(cancels: Bool) async throws {
            let proxy = try ScriptedServer { peer in
                try await peer.serve { request in
                    guard request["proxy-authorization"] == nil else { return reply("200 OK", [], "done") }
                    return reply("407 Proxy Authentication Required", ["Proxy-Authenticate: Basic realm=\"p\""], "no")
                }
            }
            let delegate = SenderDelegate { challenge, sender in
                if cancels { return sender.cancel(challenge) }
                sender.use(URLCredential(user: "user", password: "secret", persistence: .none), for: challenge)
            }
            let session = Self.session(proxy, delegate)
            defer { session.invalidateAndCancel() }
            let load: @Sendable () async throws -> Void = {
                let answer = try await Self.load(session, "http://a.test/")
                #expect(answer == "200 done")
            }
            #expect(await failureCode(load) == (cancels ? .cancelled : nil))
        }

        @Test("A script gets the scheme of the URL")
        func script() async throws {
            let proxy = try echoServer { reply("200 OK", [], $0.target) }
            let port = URL(string: proxy.uri())?.port ?? 0
            let session = privateSession {
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesProxyAutoConfigEnable: true,
                    kCFNetworkProxiesProxyAutoConfigJavaScript:
                        "function FindProxyForURL(url, host) { return url == 'http://a.test/' ? 'PROXY 127.0.0.1:\(port)' : 'PROXY 127.0.0.1:1' }",
                ]
            }
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, "http://a.test/x") == "200 http://a.test/x")
        }

        @Test("Stored responses belong to the server; fields for caches reach the proxy")
        func caching() async throws {
            let requests = RequestLog()
            let proxy = try echoServer(requests) { request in
                reply("200 OK", ["Cache-Control: max-age=1000", "Age: 10", "Via: 1.1 p"], request.target)
            }
            let session = Self.session(proxy) { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
            defer { session.invalidateAndCancel() }
            for _ in 0..<2 { #expect(try await Self.load(session, "http://a.test/") == "200 http://a.test/") }
            #expect(try await Self.load(session, "http://b.test/") == "200 http://b.test/")
            _ = try await Self.load(session, "http://a.test/") {
                $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            }
            #expect(requests.all.map(\.target) == ["http://a.test/", "http://b.test/", "http://a.test/"])
            #expect(requests.all.map { $0["cache-control"] } == [nil, nil, "no-cache"])
        }

        @Test("A redirect from http to https leads into a tunnel")
        func redirects() async throws {
            let authority = try HTTPAuthority()
            let secure = try await MachineServer(tls: authority.serverOptions(["h2"])) { _ in
                MachineServer.Reply(content: Data("end".utf8))
            }
            defer { secure.stop() }
            let requests = RequestLog()
            let plain = try echoServer(requests) { _ in
                reply("302 Found", ["Location: https://secure.test/"], "")
            }
            let port = try #require(URL(string: plain.uri())?.port.flatMap { UInt16(exactly: $0) })
            let place = NWEndpoint.hostPort(host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: port))
            let endpoint = secure.endpoint
            try await TestProxy.with(.http(), route: { $0.hasPrefix("secure") ? endpoint : place }) { proxy in
                let session = privateSession(
                    EventDelegate { challenge in
                        (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
                    }
                ) { $0.proxyConfigurations = [ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)] }
                defer { session.invalidateAndCancel() }
                let answer = try await Self.load(session, "http://plain.test/")
                #expect(answer == "200 end")
                #expect(try await proxy.requests.next() == "http://plain.test/")
                #expect(try await proxy.requests.next() == "secure.test:443")
                #expect(requests.all.map { $0["host"] } == ["plain.test"])
            }
        }

        @Test("A WebSocket uses a tunnel")
        func webSocket() async throws {
            try await TestProxy.with(.refusing("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"), route: { _ in nil }) {
                proxy in
                let session = privateSession {
                    $0.proxyConfigurations = [ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)]
                }
                defer { session.invalidateAndCancel() }
                let task = session.webSocketTask(with: try #require(URL(string: "ws://a.test/")))
                task.resume()
                _ = try? await task.receive()
                #expect(try await proxy.requests.next() == "CONNECT a.test:80 HTTP/1.1")
            }
        }
    }
}
