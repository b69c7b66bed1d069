import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: behaviours of tasks (§4 - §10, §16, §17)")
    struct URLSessionBehaviourTests {
        private static func url(_ server: ScriptedServer, _ path: String = "/") throws -> URL {
            try #require(URL(string: server.uri(path)))
        }

        // MARK: Tasks

        @Test("§4: originalRequest stays; currentRequest and response follow a redirect; unused counts are 0")
        func requests() async throws {
            let server = try echoServer { request in
                request.target == "/a" ? reply("302 Found", ["Location: /b"]) : reply("200 OK", [], "x")
            }
            let delegate = EventDelegate()
            let task = privateSession(delegate).dataTask(with: try Self.url(server, "/a"))
            #expect(task.error == nil && task.response == nil)
            task.resume()
            await delegate.end.wait()
            #expect(task.originalRequest?.url?.path == "/a" && task.currentRequest?.url?.path == "/b")
            #expect(task.response?.url?.path == "/b")
            #expect(task.countOfBytesExpectedToSend == 0 && task.countOfBytesSent == 0)
        }

        @Test("§4: a task whose priority rises overtakes those that wait for a connection")
        func priority() async throws {
            let (arrived, release, requests) = (Gate(), Gate(), RequestLog())
            let server = try ScriptedServer { peer in
                try await peer.serve { request in
                    requests.append(request)
                    arrived.open()
                    await release.wait()
                    return reply()
                }
            }
            let session = privateSession { $0.httpMaximumConnectionsPerHost = 1 }
            let ends = try ["/first", "/second", "/third"].map { path in
                let end = Gate()
                let task = session.dataTask(with: try Self.url(server, path)) { _, _, _ in end.open() }
                task.resume()
                return (task, end)
            }
            await arrived.wait()
            ends[2].0.priority = URLSessionTask.highPriority
            release.open()
            for (_, end) in ends { await end.wait() }
            #expect(requests.all.map(\.target) == ["/first", "/third", "/second"])
        }

        @Test("§4: the session keeps a task that the program no longer references")
        func references() async throws {
            let server = try echoServer()
            let delegate = EventDelegate()
            func start() throws { privateSession(delegate).dataTask(with: try Self.url(server)).resume() }
            try start()
            await delegate.end.wait()
            #expect(delegate.events.last == "completed")
        }

        @Test("§4: a connection that ends while the task is suspended fails the task after resume")
        func lostWhileSuspended() async throws {
            let closed = Gate()
            let delegate = SuspendingDelegate()
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
                await delegate.suspended.wait()
                peer.socket.close()
                closed.open()
            }
            let task = privateSession(delegate).dataTask(with: try Self.url(server))
            task.resume()
            await closed.wait()
            task.resume()
            await delegate.end.wait()
            #expect((task.error as? URLError)?.code == .networkConnectionLost)
            #expect((delegate.error as? URLError)?.code == .networkConnectionLost)
        }

        @Test("§4: an encoded response has no expected length; received counts what was delivered")
        func encodedCounts() async throws {
            // The output of `printf hello | gzip -n`.
            let compressed = Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==") ?? Data()
            let server = try ScriptedServer { peer in
                while try await peer.readRequest() != nil {
                    try await peer.write(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(compressed.count)\r\n\r\n")
                    try await peer.socket.write(compressed)
                }
            }
            let delegate = EventDelegate()
            let task = privateSession(delegate).dataTask(with: try Self.url(server))
            task.resume()
            await delegate.end.wait()
            #expect(task.countOfBytesExpectedToReceive == NSURLSessionTransferSizeUnknown)
            #expect(task.countOfBytesReceived == 5)
        }

        // MARK: Delegates and handlers

        @Test("§5: with a completion handler, challenges, redirects and sending still reach the delegate")
        func handlerAndDelegate() async throws {
            let server = try ScriptedServer { peer in
                try await peer.serve { request in
                    guard request["authorization"] != nil else {
                        return reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
                    }
                    return request.target == "/" ? reply("307 Again", ["Location: /end"]) : reply("200 OK", [], "x")
                }
            }
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "u", password: "p", persistence: .forSession))
            }
            let session = privateSession(delegate)
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "POST"
            let end = Gate()
            session.uploadTask(with: request, from: Data("abc".utf8)) { data, _, _ in
                #expect(data == Data("x".utf8))
                end.open()
            }.resume()
            await end.wait()
            let events = delegate.events
            #expect(events.first == "created" && events.contains("challenge HTTPBasic 0") && events.contains("metrics"))
            #expect(events.contains("sent 3 of 3"))
            #expect(!events.contains { $0.hasPrefix("response") || $0.hasPrefix("data") || $0 == "completed" })
        }

        @Test(
            "§5: a delegate that does not return stops a download and the reports of an upload",
            arguments: [true, false])
        func blockedDelegate(_ isUpload: Bool) async throws {
            let count = 4 << 20
            let server = try ScriptedServer { peer in
                guard let head = try await peer.readHead() else { return }
                if head.hasPrefix("PUT") {
                    try await peer.respond("\(try await peer.read(count: count).utf8.count)")
                } else {
                    try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
                    try await peer.socket.write(Data(count: count))
                }
                _ = try await peer.readHead()
            }
            let delegate = BlockingDelegate()
            let session = privateSession(delegate)
            var request = URLRequest(url: try Self.url(server))
            let task: URLSessionTask
            if isUpload {
                request.httpMethod = "PUT"
                task = session.uploadTask(with: request, from: Data(count: count))
            } else {
                task = session.downloadTask(with: request)
            }
            task.resume()
            await delegate.blocked.wait()
            if isUpload {
                // The upload continues. Its progress is reported afterwards.
                while task.countOfBytesSent < count { await Task.yield() }
            } else {
                #expect(task.countOfBytesReceived <= 256 << 10)
            }
            delegate.release.signal()
            await delegate.end.wait()
            #expect(task.error == nil && delegate.total == count)
            if isUpload { #expect(delegate.calls <= 3) }
        }

        // MARK: Results

        @Test("§6: an error status is a result of every function", arguments: [404, 500])
        func errorStatus(_ status: Int) async throws {
            let server = try echoServer { _ in reply("\(status) No", [], "sorry") }
            let session = privateSession()
            let url = try Self.url(server)
            let (data, response) = try await session.data(from: url)
            #expect(data == Data("sorry".utf8) && (response as? HTTPURLResponse)?.statusCode == status)
            let (file, _) = try await session.download(from: url)
            #expect(try Data(contentsOf: file) == Data("sorry".utf8))
            try FileManager.default.removeItem(at: file)
            let (bytes, _) = try await session.bytes(from: url)
            #expect(try await bytes.reduce(0) { count, _ in count + 1 } == 5)
        }

        // MARK: What is sent

        @Test("§7: Host and Authorization are sent as given; Connection and Transfer-Encoding are not")
        func reserved() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests)
            var request = URLRequest(url: try Self.url(server, ""))
            for (name, value) in [
                ("Host", "other.test"), ("Authorization", "Bearer t"), ("Connection", "close"),
                ("Transfer-Encoding", "x"),
                ("Accept-Encoding", "identity"),
            ] { request.setValue(value, forHTTPHeaderField: name) }
            for _ in 0..<2 { _ = try await privateSession().data(for: request) }
            let sent = try #require(requests.all.first)
            #expect(sent.target == "/" && sent["host"] == "other.test" && sent["authorization"] == "Bearer t")
            #expect(sent["connection"] == nil && sent["transfer-encoding"] == nil)
            #expect(sent["accept-encoding"] == "identity")
            #expect(sent.fields.filter { $0.name == "host" }.count == 1)
        }

        @Test("§7: a stream that is longer than its Content-Length never sends more than that")
        func longStream() async throws {
            let server = try echoServer { reply("200 OK", [], $0.body) }
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "PUT"
            request.httpBodyStream = InputStream(data: Data("abcdef".utf8))
            request.setValue("3", forHTTPHeaderField: "Content-Length")
            let session = privateSession()
            do {
                #expect(try await session.data(for: request).0 == Data("abc".utf8))
            } catch let error as URLError {
                #expect(error.code == .requestBodyStreamExhausted)
            }
        }

        // MARK: Stores

        @Test("§10: cookies of a 401 response are stored; without a storage there are none", arguments: [true, false])
        func cookies(_ hasStorage: Bool) async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { _ in
                reply("401 Unauthorized", ["WWW-Authenticate: Other x=y", "Set-Cookie: a=1"])
            }
            let session = privateSession { if !hasStorage { $0.httpCookieStorage = nil } }
            for _ in 0..<2 { _ = try await session.data(from: try Self.url(server)) }
            #expect(requests.all.map { $0["cookie"] } == [nil, hasStorage ? "a=1" : nil])
        }

        // MARK: Metrics and progress

        @Test("§16: a challenge makes two transactions; byte counts and addresses are those of the wire")
        func metrics() async throws {
            let server = try echoServer { request in
                request["authorization"] == nil
                    ? reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
                    : reply("200 OK", [], "12345678")
            }
            var parts = try #require(URLComponents(string: server.uri()))
            (parts.user, parts.password) = ("u", "p")
            let delegate = MetricsDelegate()
            let before = Date()
            _ = try await privateSession(delegate).data(from: try #require(parts.url))
            let metrics = try #require(delegate.metrics)
            #expect(metrics.redirectCount == 0 && metrics.transactionMetrics.count == 2)
            #expect(metrics.taskInterval.start >= before.addingTimeInterval(-0.001))
            let last = try #require(metrics.transactionMetrics.last)
            #expect(last.isReusedConnection && last.countOfResponseBodyBytesReceived == 8)
            #expect(last.countOfResponseHeaderBytesReceived > 0 && last.countOfRequestHeaderBytesSent > 0)
            #expect(last.localAddress == "127.0.0.1" && last.localPort != nil && !last.isProxyConnection)
            #expect(last.negotiatedTLSProtocolVersion == nil && !last.isCellular && !last.isMultipath)
        }

        @Test("§16: a connection that fails has no end of its phase")
        func failedPhases() async throws {
            let delegate = MetricsDelegate()
            let url = try #require(URL(string: "http://127.0.0.1:1/"))
            _ = await failureCode { _ = try await privateSession(delegate).data(from: url) }
            let first = try #require(delegate.metrics?.transactionMetrics.first)
            #expect(first.fetchStartDate != nil && first.connectEndDate == nil && first.requestStartDate == nil)
            #expect(first.response == nil)
        }

        @Test("§17: the progress never falls, and cancelling or pausing it acts on the task")
        func progress() async throws {
            let server = try echoServer { _ in reply("200 OK", [], String(repeating: "x", count: 1 << 20)) }
            let delegate = ProgressDelegate()
            let task = privateSession(delegate).dataTask(with: try Self.url(server))
            task.progress.pause()
            task.resume()
            #expect(task.state == .suspended)
            task.progress.resume()
            #expect(task.state != .suspended)
            await delegate.end.wait()
            #expect(delegate.fractions == delegate.fractions.sorted() && task.progress.fractionCompleted == 1)
            let other = privateSession().dataTask(with: try Self.url(server))
            other.progress.cancel()
            #expect(other.state != .suspended)
            while other.state != .completed { await Task.yield() }
            #expect((other.error as? URLError)?.code == .cancelled)
        }
    }
}

/// A delegate that suspends its task when the first content arrives.
private final class SuspendingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let failure = LockedValue<(any Error)?>(nil)
    let suspended = Gate()
    let end = Gate()

    var error: (any Error)? { failure.withLock { $0 } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        dataTask.suspend()
        suspended.open()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        failure.withLock { $0 = error }
        end.open()
    }
}

/// A delegate that blocks its thread in the first progress report, until the test lets it continue.
private final class BlockingDelegate: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    private let state = LockedValue<(calls: Int, total: Int)>((0, 0))
    let blocked = Gate()
    let release = DispatchSemaphore(value: 0)
    let end = Gate()

    var calls: Int { state.withLock { $0.calls } }
    var total: Int { state.withLock { $0.total } }

    private func report(_ total: Int64) {
        let isFirst = state.withLock { state in
            state.calls += 1
            state.total = Int(total)
            return state.calls == 1
        }
        guard isFirst else { return }
        blocked.open()
        release.wait()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { report(totalBytesSent) }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { report(totalBytesWritten) }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.open()
    }
}

/// Records the task's progress each time content arrives.
private final class ProgressDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let list = LockedValue<[Double]>([])
    let end = Gate()

    var fractions: [Double] { list.withLock { $0 } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let fraction = dataTask.progress.fractionCompleted
        list.withLock { $0.append(fraction) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.open()
    }
}
