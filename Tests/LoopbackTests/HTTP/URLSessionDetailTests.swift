import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: details of tasks, uploads, downloads and metrics (§3 - §16, §20)")
    struct URLSessionDetailTests {
        private static func url(_ server: ScriptedServer, _ path: String = "/") throws -> URL {
            try #require(URL(string: server.uri(path)))
        }

        // MARK: Time and order

        @Test("§3: the resource timeout covers redirects and the time without an answer")
        func resourceTimeout() async throws {
            let server = try ScriptedServer { peer in
                try await peer.serve { request in
                    if request.target == "/end" { _ = try await peer.readHead() }
                    return reply("302 Found", ["Location: /end"])
                }
            }
            let session = privateSession { $0.timeoutIntervalForResource = 0.3 }
            #expect(await failureCode { _ = try await session.data(from: try Self.url(server)) } == .timedOut)
        }

        @Test("§4: tasks that wait for a connection get it by priority, then in the order of resume")
        func priorities() async throws {
            let (arrived, release) = (Gate(), Gate())
            let requests = RequestLog()
            let server = try ScriptedServer { peer in
                while let request = try await peer.readRequest() {
                    requests.append(request)
                    if request.target == "/first" {
                        arrived.open()
                        await release.wait()
                    }
                    try await peer.respond("ok")
                }
            }
            let session = privateSession { $0.httpMaximumConnectionsPerHost = 1 }
            let ends = ["/first", "/low", "/same1", "/high", "/same2"].map { _ in Gate() }
            let rows: [(String, Float)] = [
                ("/first", 0.5), ("/low", 0.1), ("/same1", 0.5), ("/high", 0.9), ("/same2", 0.5),
            ]
            for ((path, priority), end) in zip(rows, ends) {
                let task = session.dataTask(with: try Self.url(server, path)) { _, _, _ in end.open() }
                task.priority = priority
                task.resume()
                if path == "/first" { await arrived.wait() }
            }
            release.open()
            for end in ends { await end.wait() }
            #expect(requests.all.map(\.target) == ["/first", "/high", "/same1", "/same2", "/low"])
        }

        @Test("§5, §6: an async function delivers no content to its delegate")
        func asyncDelivery() async throws {
            let server = try echoServer()
            let delegate = EventDelegate()
            #expect(
                try await privateSession().data(from: try Self.url(server), delegate: delegate).0 == Data("GET ".utf8))
            #expect(delegate.events == ["metrics"])
        }

        @Test("§6: bytes(for:) returns with the head of the response; its task is a data task")
        func bytesAtHead() async throws {
            let release = Gate()
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
                await release.wait()
                try await peer.write("ok")
            }
            let (bytes, response) = try await privateSession().bytes(from: try Self.url(server))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(bytes.task.countOfBytesReceived == 0 && bytes.task.state == .running)
            release.open()
            #expect(try await bytes.reduce(into: Data()) { $0.append($1) } == Data("ok".utf8))
        }

        // MARK: Credentials and cookies

        // This test checks RFC 9110 §4.2.4.
        @Test("§7: user and password of the URL are no field of the first request")
        func userInformation() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { request in
                request["authorization"] == nil
                    ? reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""]) : reply("200 OK", [], "in")
            }
            var parts = try #require(URLComponents(string: server.uri()))
            (parts.user, parts.password) = ("u", "p")
            #expect(try await privateSession().data(from: try #require(parts.url)).0 == Data("in".utf8))
            #expect(requests.all.map { $0["authorization"] } == [nil, "Basic dTpw"])
        }

        @Test("§9: a challenge of the connection goes to the session method; the certificate is in its space")
        func sessionChallenge() async throws {
            let server = try await MachineServer(tls: HTTPAuthority().serverOptions(["http/1.1"])) { _ in
                MachineServer.Reply(content: Data("ok".utf8))
            }
            defer { server.stop() }
            let delegate = TrustingDelegate()
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.uri()))
            #expect(try await session.data(from: url).0 == Data("ok".utf8))
            let space = try #require(delegate.spaces.first)
            #expect(delegate.spaces.count == 1 && space.authenticationMethod == NSURLAuthenticationMethodServerTrust)
            #expect(space.host == "127.0.0.1" && space.port == url.port && space.protocol == "https")
            #expect(space.serverTrust != nil && space.receivesCredentialSecurely)
        }

        @Test("§10: cookies of a third party are refused, unless the policy accepts all", arguments: [false, true])
        func thirdParty(_ acceptsAll: Bool) async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { _ in reply("200 OK", ["Set-Cookie: a=1"]) }
            let session = privateSession { if acceptsAll { $0.httpCookieAcceptPolicy = .always } }
            var request = URLRequest(url: try Self.url(server))
            request.mainDocumentURL = URL(string: "http://other.test/")
            for _ in 0..<2 { _ = try await session.data(for: request) }
            #expect(requests.all.map { $0["cookie"] } == [nil, acceptsAll ? "a=1" : nil])
        }

        // MARK: Downloads

        @Test("§12: a full disk and a missing temporary directory", arguments: [true, false])
        func files(_ isFull: Bool) async {
            await #expect(processExitsWith: .success) { [isFull] in
                Watchdog.arm(seconds: 600)
                let server = try echoServer { _ in reply("200 OK", [], String(repeating: "x", count: 100_000)) }
                let url = try #require(URL(string: server.uri()))
                if isFull {
                    // The process's limit for file sizes simulates a full disk.
                    signal(SIGXFSZ, SIG_IGN)
                    var limit = rlimit(rlim_cur: 4_096, rlim_max: 4_096)
                    precondition(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                } else {
                    setenv("TMPDIR", "/no/such/directory", 1)
                }
                let code = await failureCode { _ = try await privateSession().download(from: url) }
                #expect(code == (isFull ? .cannotWriteToFile : .cannotCreateFile))
            }
        }

        // MARK: Uploads

        @Test("§13: the reports of an upload start again when the content is sent again")
        func restarts() async throws {
            let server = try echoServer { request in
                request.target == "/" ? reply("307 Again", ["Location: /end"]) : reply("200 OK", [], request.body)
            }
            let delegate = EventDelegate()
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "PUT"
            privateSession(delegate).uploadTask(with: request, from: Data("abc".utf8)).resume()
            await delegate.end.wait()
            #expect(delegate.events.filter { $0.hasPrefix("sent") } == ["sent 3 of 3", "sent 3 of 3"])
            #expect(delegate.events.last == "completed")
        }

        @Test("§13: a file that becomes shorter during the upload fails the task")
        func shrinkingFile() async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(count: 32 << 20).write(to: file)
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                _ = truncate(file.path, 1_000)
                _ = try await peer.read(count: 32 << 20)
            }
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "PUT"
            let code = await failureCode { [request] in
                _ = try await privateSession().upload(for: request, fromFile: file)
            }
            #expect(code == .networkConnectionLost)
        }

        @Test("§13: a response that arrives while the content is sent ends the sending, and is delivered")
        func earlyResponse() async throws {
            let count = 64 << 20
            let isDone = Gate()
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
                await isDone.wait()
            }
            let delegate = EventDelegate()
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "PUT"
            let task = privateSession(delegate).uploadTask(with: request, from: Data(count: count))
            task.resume()
            await delegate.end.wait()
            isDone.open()
            #expect((task.response as? HTTPURLResponse)?.statusCode == 413 && task.error == nil)
            #expect(delegate.events.contains("data 2") && task.countOfBytesSent < count)
        }

        // MARK: Metrics

        @Test(
            "§16: the sizes of heads are those of the wire, and the request ends after its content",
            arguments: ["GET", "PUT"])
        func sizes(_ method: String) async throws {
            let head = LockedValue("")
            let content = method == "GET" ? nil : Data(count: 4 << 20)
            let server = try ScriptedServer { peer in
                let text = try await peer.readHead() ?? ""
                head.withLock { $0 = text }
                _ = try await peer.read(count: content?.count ?? 0)
                try await peer.write("HTTP/1.1 200 OK\r\nX-Field: a\r\nContent-Length: 4\r\n\r\ndone")
                _ = try await peer.readHead()
            }
            var request = URLRequest(url: try Self.url(server, "/path?query"))
            request.httpMethod = method
            request.httpBody = content
            let delegate = MetricsDelegate()
            _ = try await privateSession().data(for: request, delegate: delegate)
            let transaction = try #require(delegate.metrics?.transactionMetrics.first)
            // The reported sizes also include two line ends, which are 4 bytes that the recorded text does not contain.
            #expect(transaction.countOfRequestHeaderBytesSent == Int64(head.withLock { $0 }.utf8.count + 4))
            #expect(transaction.countOfResponseHeaderBytesReceived == 50)
            #expect(transaction.countOfRequestBodyBytesSent == Int64(content?.count ?? 0))
            #expect(transaction.countOfRequestBodyBytesBeforeEncoding == Int64(content?.count ?? 0))
            let start = try #require(transaction.requestStartDate)
            let end = try #require(transaction.requestEndDate)
            #expect(content == nil ? end >= start : end > start)
            let responded = try #require(transaction.responseStartDate)
            #expect(responded >= end)
        }

        @Test("§16: the lookup of a name precedes the connection; no server was asked for localhost")
        func lookup() async throws {
            let server = try echoServer()
            let delegate = MetricsDelegate()
            let url = try #require(URL(string: "http://localhost:\(try Self.url(server).port ?? 0)/"))
            _ = try await privateSession().data(from: url, delegate: delegate)
            let transaction = try #require(delegate.metrics?.transactionMetrics.first)
            let (start, end) = (transaction.domainLookupStartDate, transaction.domainLookupEndDate)
            #expect(transaction.domainResolutionProtocol == .unknown)
            guard let start, let end else { return }
            let connected = try #require(transaction.connectEndDate)
            #expect(start <= end && end <= connected)
        }

        // MARK: Errors

        @Test("§18: a TLS handshake without an answer runs out of time")
        func silentHandshake() async throws {
            let server = try ScriptedServer { peer in _ = try await peer.readHead() }
            let port = try #require(try Self.url(server).port)
            var request = URLRequest(url: try #require(URL(string: "https://127.0.0.1:\(port)/")))
            request.timeoutInterval = 0.3
            let code = await failureCode { [request] in _ = try await privateSession().data(for: request) }
            #expect(code == .timedOut)
        }

        // MARK: NSURLConnection

        @Test("§20: a connection whose delegate refuses a redirect gets the content of the redirect")
        func refusedRedirect() async throws {
            let server = try echoServer { _ in reply("302 Found", ["Location: /end"], "moved") }
            let delegate = RefusingDelegate()
            let request = URLRequest(url: try Self.url(server))
            let connection = NSURLConnection(request: request, delegate: delegate, startImmediately: false)
            connection?.setDelegateQueue(OperationQueue())
            connection?.start()
            await delegate.end.wait()
            #expect(delegate.events == ["send", "redirect 302", "response 302", "data moved", "finished"])
        }

        @Test(
            "§20: the delegate of a connection decides whether stored credentials are used", arguments: [true, false])
        func storedCredentials(_ isUsed: Bool) async throws {
            let server = try echoServer { request in
                request["authorization"] == "Basic dTpw"
                    ? reply("200 OK", [], "in")
                    : reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"\(isUsed)\""], "out")
            }
            let url = try Self.url(server)
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: url.port ?? 0, protocol: "http", realm: "\(isUsed)",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
            URLCredentialStorage.shared.setDefaultCredential(credential, for: space)
            defer { URLCredentialStorage.shared.remove(credential, for: space) }
            let delegate = RefusingDelegate(usesCredentials: isUsed)
            let connection = NSURLConnection(request: URLRequest(url: url), delegate: delegate, startImmediately: false)
            connection?.setDelegateQueue(OperationQueue())
            connection?.start()
            await delegate.end.wait()
            #expect(delegate.events.contains(isUsed ? "data in" : "data out"))
        }
    }
}
