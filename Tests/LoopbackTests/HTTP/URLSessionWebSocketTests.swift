import CausewayHTTPServer
import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: WebSocket (§14)")
    struct URLSessionWebSocketTests {
        /// Routes for a server that echoes WebSocket messages. The message `close CODE REASON` closes the WebSocket.
        private static var echo: HTTPServerRoutes {
            var routes = HTTPServerRoutes()
            routes.get("/chat") { _ in
                .webSocket(protocols: ["b", "a"]) { socket in
                    while let message = try await socket.receive() {
                        if case .text(let text) = message, text.hasPrefix("close ") {
                            let words = text.split(separator: " ")
                            socket.close(code: UInt16(words[1]) ?? 1_000, reason: String(words[2]))
                        } else {
                            try await socket.send(message)
                        }
                    }
                }
            }
            return routes
        }

        private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

        /// Returns the URL of a scripted server as a `ws` URL.
        private static func url(_ server: ScriptedServer, _ path: String = "/") throws -> URL {
            try url("ws" + server.uri(path).dropFirst(4))
        }

        // MARK: Messages

        @Test(
            "§5: text, binary and empty messages, a subprotocol, and the calls in order",
            arguments: Medium.internetStreams)
        func messages(_ medium: Medium) async throws {
            try await TestServer.run(medium, routes: Self.echo) { _, port in
                let delegate = WebSocketDelegate()
                let session = privateSession(delegate)
                let host = medium == .tcp6 ? "[::1]" : "127.0.0.1"
                let url = try Self.url("ws://\(host):\(port)/chat?room=1")
                let task = session.webSocketTask(with: url, protocols: ["a", "c"])
                #expect(task.state == .suspended && task.taskIdentifier == 1)
                task.resume()
                for text in ["Grüße, 世界", "", String(repeating: "x", count: 300_000)] {
                    #expect(await task.say(text) == nil)
                    #expect(await task.hear() == text)
                }
                let data = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
                try await task.send(.data(data))
                guard case .data(let received) = try await task.receive() else {
                    Issue.record("no data")
                    return
                }
                let isEqual = received == data
                #expect(isEqual)
                try await task.sendPing()
                #expect((task.response as? HTTPURLResponse)?.statusCode == 101)
                #expect(await task.say("close 4001 enough") == nil)
                #expect(await task.hear() == "ENOTCONN")
                await delegate.end.wait()
                #expect(task.closeCode == .other(4001) && task.closeReason == Data("enough".utf8))
                #expect(task.state == .completed && task.error == nil)
                #expect(await task.say("late") == "ENOTCONN")
                #expect(
                    delegate.events == ["opened a", "closed 4001 enough", "metrics http/1.1", "completed"])
                session.finishTasksAndInvalidate()
            }
        }

        @Test("Each task has its own connection, and plain requests have another")
        func connections() async throws {
            var routes = Self.echo
            routes.get("/") { _ in HTTPServerResponse(status: 200, body: .data(Data("ok".utf8))) }
            try await TestServer.run(routes: routes) { _, port in
                let session = privateSession { $0.httpMaximumConnectionsPerHost = 1 }
                let tasks = try (0..<3).map { _ in
                    session.webSocketTask(with: try Self.url("ws://127.0.0.1:\(port)/chat"))
                }
                for task in tasks { task.resume() }
                for (index, task) in tasks.enumerated() { #expect(await task.say("\(index)") == nil) }
                for (index, task) in tasks.enumerated() { #expect(await task.hear() == "\(index)") }
                let (data, _) = try await session.data(from: try Self.url("http://127.0.0.1:\(port)/"))
                #expect(data == Data("ok".utf8))
                session.invalidateAndCancel()
                for task in tasks { #expect(await task.hear() == "cancelled") }
            }
        }

        @Test("A listener with NWProtocolWebSocket receives the close code and the reason")
        func listener() async throws {
            let options = NWProtocolWebSocket.Options()
            options.autoReplyPing = true
            let listener = try ListenerProbe(.tcp4) { parameters in
                parameters.defaultProtocolStack.applicationProtocols.insert(options, at: 0)
            }
            try await listener.listen()
            let delegate = WebSocketDelegate()
            let task = privateSession(delegate).webSocketTask(
                with: try Self.url("ws://127.0.0.1:\(listener.port.rawValue)/"))
            task.resume()
            let peer = try await listener.connections.next()
            peer.connection.start(queue: peer.queue)
            #expect(await task.say("hello") == nil)
            #expect(try await peer.receiveMessage().text == "hello")
            // The peer answers the close frame when it receives it. The task waits only five seconds for the answer.
            let closing = peer.requestMessage()
            task.cancel(with: .goingAway, reason: Data("bye".utf8))
            #expect(task.state == .canceling || task.state == .completed)
            let last = try await closing.next()
            let metadata = last.context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
            #expect((metadata as? NWProtocolWebSocket.Metadata)?.closeCode == .protocolCode(.goingAway))
            #expect(last.text == "bye")
            await delegate.end.wait()
            #expect(delegate.events == ["opened -", "closed 1001 ", "metrics http/1.1", "completed cancelled"])
            #expect(task.closeCode == .goingAway && task.closeReason == Data("bye".utf8))
            #expect(await task.hear() == "cancelled")
            peer.connection.cancel()
            try await listener.cancel()
        }

        @Test("A message that is too long ends the task with EMSGSIZE")
        func size() async throws {
            try await TestServer.run(routes: Self.echo) { _, port in
                let delegate = WebSocketDelegate()
                let task = privateSession(delegate).webSocketTask(with: try Self.url("ws://127.0.0.1:\(port)/chat"))
                #expect(task.maximumMessageSize == 1 << 20)
                task.maximumMessageSize = 10
                task.resume()
                for text in ["1234567890", "12345678901"] { #expect(await task.say(text) == nil) }
                #expect(await task.hear() == "1234567890")
                #expect(await task.hear() == "EMSGSIZE")
                await delegate.end.wait()
                #expect(delegate.events.last == "completed EMSGSIZE")
                #expect(task.closeCode == .invalid)
            }
        }

        @Test("cancel() sends a close frame without a code, and fails the operations")
        func cancel() async throws {
            let (heads, frames) = (RequestLog(), Mailbox<String>())
            let server = try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                heads.append(request)
                try await peer.write(acceptance(request))
                // The client's close frame has no content. It consists of a two-byte header and a four-byte mask.
                frames.put(try await peer.read(count: 6))
            }
            let delegate = WebSocketDelegate()
            let task = privateSession(delegate).webSocketTask(with: try Self.url(server))
            task.resume()
            await delegate.opened.wait()
            async let heard = task.hear()
            task.cancel()
            #expect(await heard == "cancelled")
            await delegate.end.wait()
            #expect(delegate.events.last == "completed cancelled")
            #expect(task.closeCode == .invalid)
            #expect(try await frames.next().utf8.count >= 6)
        }

        // MARK: The handshake

        @Test("The request has the program's fields, cookies and method GET; the response can set cookies")
        func handshake() async throws {
            let requests = RequestLog()
            let server = try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                requests.append(request)
                let fields = ["Set-Cookie: new=1; Path=/", "Sec-WebSocket-Protocol: y"]
                // The server sends the first message together with the response head.
                try await peer.socket.write(Data(acceptance(request, fields).utf8) + Data(textFrame("first")))
                _ = try await peer.readHead()
            }
            let session = privateSession { $0.httpAdditionalHeaders = ["X-Session": "s"] }
            let url = try Self.url(server, "/path?query")
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "old=0; Path=/"], for: url)
            session.configuration.httpCookieStorage?.setCookies(cookies, for: url, mainDocumentURL: nil)
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.httpBody = Data("content".utf8)
            for (name, value) in [
                ("X-Test", "t"), ("Sec-WebSocket-Protocol", "x, y"), ("Sec-WebSocket-Key", "mine"),
                ("Upgrade", "other"),
                ("Connection", "close"),
            ] {
                request.setValue(value, forHTTPHeaderField: name)
            }
            let task = session.webSocketTask(with: request)
            task.resume()
            #expect(await task.hear() == "first")
            let sent = try #require(requests.all.first)
            #expect(sent.method == "GET" && sent.target == "/path?query" && sent.body.isEmpty)
            let wanted = [
                "upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13", "x-test": "t",
                "x-session": "s", "sec-websocket-protocol": "x, y", "cookie": "old=0",
            ]
            for (name, value) in wanted { #expect(sent[name] == value) }
            #expect(sent["sec-websocket-key"]?.utf8.count == 24)
            #expect(session.configuration.httpCookieStorage?.cookies?.contains { $0.name == "new" } == true)
            session.invalidateAndCancel()
        }

        @Test("A redirect and a challenge precede the handshake")
        func redirectAndChallenge() async throws {
            let requests = RequestLog()
            let server = try ScriptedServer { peer in
                while let request = try await peer.readRequest() {
                    requests.append(request)
                    if request.target == "/old" {
                        try await peer.write(reply("302 Found", ["Location: /new"]))
                    } else if request["authorization"] == nil {
                        try await peer.write(reply("401 No", ["WWW-Authenticate: Basic realm=\"r\""], "who?"))
                    } else {
                        try await peer.socket.write(Data(acceptance(request).utf8) + Data(textFrame("welcome")))
                    }
                }
            }
            let delegate = WebSocketDelegate { _ in
                (.useCredential, URLCredential(user: "user", password: "secret", persistence: .forSession))
            }
            let session = privateSession(delegate)
            let task = session.webSocketTask(with: try Self.url(server, "/old"))
            task.resume()
            #expect(await task.hear() == "welcome")
            #expect(task.currentRequest?.url?.path == "/new")
            #expect(requests.all.map(\.target) == ["/old", "/new", "/new"])
            #expect(requests.all.last?["authorization"] == "Basic dXNlcjpzZWNyZXQ=")
            #expect(Set(requests.all.compactMap { $0["sec-websocket-key"] }).count == 3)
            #expect(delegate.events == ["redirect 302 ws /new", "challenge HTTPBasic", "opened -"])
            session.invalidateAndCancel()
        }

        @Test(
            "§5: a refused handshake opens nothing and fails with badServerResponse; the task has the response",
            arguments: [
                reply("404 Not Found", [], "nothing here"), reply("200 OK"), reply("401 No"),
                "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n",
                "HTTP/1.1 101 S\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n",
            ])
        func refused(_ response: String) async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readRequest()
                try await peer.write(response)
                _ = try await peer.readHead()
            }
            let delegate = WebSocketDelegate()
            let task = privateSession(delegate).webSocketTask(with: try Self.url(server))
            task.resume()
            async let sent = task.say("early")
            #expect(await task.hear() == "badServerResponse")
            #expect(await sent == "badServerResponse")
            await delegate.end.wait()
            #expect(delegate.events.last == "completed badServerResponse")
            #expect(!delegate.events.contains { $0.hasPrefix("opened") || $0.hasPrefix("closed") })
            let status = response.split(separator: " ")[1]
            #expect("\((task.response as? HTTPURLResponse)?.statusCode ?? 0)" == status)
            #expect(await task.hear() == "badServerResponse")
        }

        @Test("The connection is lost, before and after the handshake", arguments: [false, true])
        func lost(_ isOpen: Bool) async throws {
            let server = try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                if isOpen { try await peer.write(acceptance(request)) }
            }
            let delegate = WebSocketDelegate()
            let task = privateSession(delegate).webSocketTask(with: try Self.url(server))
            task.resume()
            #expect(await task.hear() == "networkConnectionLost")
            await delegate.end.wait()
            #expect(delegate.events.last == "completed networkConnectionLost")
            #expect(task.closeCode == (isOpen ? .abnormalClosure : .invalid))
        }

        @Test("A server that does not answer the handshake: the timeout of the request applies")
        func timeout() async throws {
            let server = try ScriptedServer { peer in _ = try await peer.read(count: .max) }
            let delegate = WebSocketDelegate()
            var request = URLRequest(url: try Self.url(server))
            request.timeoutInterval = 0.1
            let task = privateSession(delegate).webSocketTask(with: request)
            task.resume()
            #expect(await task.hear() == "timedOut")
            await delegate.end.wait()
            #expect(delegate.events.last == "completed timedOut")
        }

        // WebSocket URLs: RFC 6455 §3.
        @Test(
            "URLs that open no WebSocket",
            arguments: [
                ("ftp://127.0.0.1/", "unsupportedURL"), ("file:///etc/passwd", "unsupportedURL"), ("ws:///", "badURL"),
            ])
        func urls(_ text: String, _ error: String) async throws {
            let task = privateSession().webSocketTask(with: try Self.url(text))
            task.resume()
            #expect(await task.hear() == error)
        }

        // MARK: TLS and proxies

        @Test("wss: the server's trust is a challenge, and HTTP/2 is not offered", arguments: ["wss", "https"])
        func secure(_ scheme: String) async throws {
            let authority = try HTTPAuthority()
            let parameters = NWParameters(tls: try authority.serverOptions(["h2", "http/1.1"]))
            try await TestServer.run(using: parameters, routes: Self.echo) { _, port in
                let delegate = WebSocketDelegate { challenge in
                    guard let trust = challenge.protectionSpace.serverTrust else {
                        return (.performDefaultHandling, nil)
                    }
                    SecTrustSetAnchorCertificates(trust, [authority.anchor] as CFArray)
                    return (.performDefaultHandling, nil)
                }
                let url = try Self.url("\(scheme)://127.0.0.1:\(port)/chat")
                let session = privateSession(delegate)
                let task = session.webSocketTask(with: url)
                task.resume()
                #expect(await task.say("secret") == nil)
                #expect(await task.hear() == "secret")
                #expect(delegate.events == ["challenge ServerTrust", "opened -"])
                session.invalidateAndCancel()
                let other = privateSession().webSocketTask(with: url)
                other.resume()
                #expect(await other.hear() == "serverCertificateHasUnknownRoot")
            }
        }

        @Test("The connection goes through the proxies of the session", arguments: [true, false])
        func proxies(_ usesSOCKS: Bool) async throws {
            try await TestServer.run(routes: Self.echo) { _, port in
                let endpoint = NWEndpoint.hostPort(host: .ipv4(.loopback), port: .init(rawValue: port) ?? .any)
                try await TestProxy.with(usesSOCKS ? .socks() : .http(), route: { _ in endpoint }) { proxy in
                    let session = privateSession { configuration in
                        configuration.proxyConfigurations = [
                            usesSOCKS
                                ? ProxyConfiguration(socksv5Proxy: proxy.endpoint)
                                : ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)
                        ]
                    }
                    let task = session.webSocketTask(with: try Self.url("ws://server.test/chat"))
                    task.resume()
                    #expect(await task.say("through") == nil)
                    #expect(await task.hear() == "through")
                    #expect(try await proxy.requests.next().contains("server.test"))
                    session.invalidateAndCancel()
                }
            }
        }
    }
}
