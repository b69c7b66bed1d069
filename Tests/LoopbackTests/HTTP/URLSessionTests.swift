import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

/// Returns a session that shares nothing with other sessions. Its timeouts are long, so that they do not make a test
/// fail.
func privateSession(
    _ delegate: (any URLSessionDelegate)? = nil, _ change: (URLSessionConfiguration) -> Void = { _ in }
) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 7_200
    configuration.connectionProxyDictionary = [:]
    change(configuration)
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
}

/// A server that answers each request with the text that a closure returns. It keeps the requests.
func echoServer(
    _ requests: RequestLog = RequestLog(),
    _ answer: @escaping @Sendable (ScriptedRequest) -> String = { reply("200 OK", [], "\($0.method) \($0.body)") }
) throws -> ScriptedServer {
    try ScriptedServer { peer in
        try await peer.serve { request in
            requests.append(request)
            return answer(request)
        }
    }
}

extension Loopback {
    @Suite("URLSession over HTTP")
    struct URLSessionTests {
        private static func url(_ server: ScriptedServer, _ path: String = "/") throws -> URL {
            try #require(URL(string: server.uri(path)))
        }

        // MARK: What is sent

        // RFC 9110 §10.1.5, §12.5.4.
        @Test("§4, §7: a GET returns content, response and the fields that the session adds")
        func get() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { _ in
                reply("200 OK", ["Content-Type: Text/Plain; charset=UTF-8", "X-A: 1", "x-a: 2"], "hello")
            }
            let url = try Self.url(server, "/a?b=c#d")
            let (data, response) = try await privateSession().data(from: url)
            #expect(data == Data("hello".utf8))
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 200)
            #expect(http.mimeType == "text/plain")
            #expect(http.textEncodingName == "utf-8")
            #expect(http.expectedContentLength == 5)
            #expect(http.value(forHTTPHeaderField: "x-a") == "1, 2")
            #expect(http.url == url)
            let request = try #require(requests.all.first)
            #expect(request.method == "GET")
            #expect(request.target == "/a?b=c")
            #expect(request["accept"] == "*/*")
            #expect(request["accept-language"] != nil)
            #expect(request["user-agent"]?.contains("causeway/") == true)
            #expect(request["host"] == "127.0.0.1:\(url.port ?? 0)")
        }

        @Test("§2, §7: given fields win over those of the session, and the engine frames the content")
        func fields() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests)
            let session = privateSession {
                $0.httpAdditionalHeaders = ["X-Session": "s", "X-Both": "session", "accept": "text/a"]
            }
            var request = URLRequest(url: try Self.url(server))
            request.setValue("request", forHTTPHeaderField: "x-both")
            request.setValue("mine", forHTTPHeaderField: "User-Agent")
            request.setValue("99", forHTTPHeaderField: "Content-Length")
            request.httpMethod = "POST"
            request.httpBody = Data("four".utf8)
            _ = try await session.data(for: request)
            let sent = try #require(requests.all.first)
            #expect(sent["x-session"] == "s")
            #expect(sent["x-both"] == "request")
            #expect(sent["accept"] == "text/a")
            #expect(sent["user-agent"] == "mine")
            #expect(sent["content-length"] == "4")
            #expect(sent.fields.filter { $0.name == "accept" || $0.name == "content-length" }.count == 2)
        }

        @Test("§7: a GET with a body fails", arguments: [true, false])
        func getWithBody(isData: Bool) async throws {
            let server = try echoServer()
            var request = URLRequest(url: try Self.url(server))
            if isData {
                request.httpBody = Data("x".utf8)
            } else {
                request.httpBodyStream = InputStream(data: Data("x".utf8))
            }
            let found = await failureCode { [request] in _ = try await privateSession().data(for: request) }
            #expect(found == .dataLengthExceedsMaximum)
            #expect(server.acceptedCount == 0)
        }

        @Test("§7: fields with line breaks are not sent, folds become spaces, other control characters are refused")
        func injection() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests)
            var request = URLRequest(url: try Self.url(server))
            request.setValue("a\r\nX-Evil: 1", forHTTPHeaderField: "X-A")
            request.setValue("b\r\n\t c", forHTTPHeaderField: "X-B")
            _ = try await privateSession().data(for: request)
            let sent = try #require(requests.all.first)
            #expect(sent["x-a"] == nil && sent["x-evil"] == nil && sent["x-b"] == "b c")
            request.setValue("a\u{1}", forHTTPHeaderField: "X-C")
            let found = await failure { [request] in _ = try await privateSession().data(for: request) }
            #expect(found?.code == .badURL && requests.all.count == 1)
            #expect(found?.localizedDescription == "The request cannot be sent: invalid value of field X-C.")
        }

        // MARK: Bodies

        @Test("§7, §13: bodies of every kind", arguments: ["data", "file", "stream", "counted stream", "bound pair"])
        func bodies(_ kind: String) async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { reply("200 OK", [], "\($0.body.utf8.count)") }
            let content = Data(repeating: UInt8(ascii: "a"), count: 300_000)
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "PUT"
            let session = privateSession()
            let data: Data
            switch kind {
            case "data": data = try await session.upload(for: request, from: content).0
            case "file":
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())")
                try content.write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                data = try await session.upload(for: request, fromFile: file).0
            case "bound pair":
                let pair = try BoundPair()
                request.httpBodyStream = pair.input.value
                pair.write(content)
                data = try await session.data(for: request).0
            default:
                request.httpBodyStream = InputStream(data: content)
                if kind != "stream" { request.setValue("300000", forHTTPHeaderField: "Content-Length") }
                data = try await session.data(for: request).0
            }
            #expect(String(decoding: data, as: UTF8.self) == "300000")
            let sent = try #require(requests.all.first)
            let isChunked = kind == "stream" || kind == "bound pair"
            #expect(sent["transfer-encoding"] == (isChunked ? "chunked" : nil))
            #expect(sent["content-length"] == (isChunked ? nil : "300000"))
        }

        @Test(
            "§13: a missing file and a directory",
            arguments: [("/no/such/file", URLError.Code.fileDoesNotExist), ("/tmp", .fileIsDirectory)])
        func files(_ path: String, _ code: URLError.Code) async throws {
            let server = try echoServer()
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "PUT"
            let found = await failureCode {
                _ = try await privateSession().upload(for: request, fromFile: URL(fileURLWithPath: path))
            }
            #expect(found == code)
        }

        @Test("§7: a stream that is shorter than its Content-Length fails")
        func shortStream() async throws {
            let server = try ScriptedServer { peer in _ = try await peer.readRequest() }
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "PUT"
            request.httpBodyStream = InputStream(data: Data("abc".utf8))
            request.setValue("10", forHTTPHeaderField: "Content-Length")
            let found = await failureCode { _ = try await privateSession().data(for: request) }
            #expect(found == .requestBodyStreamExhausted)
        }

        // MARK: Delegates

        @Test("§5, §13: the calls of an upload arrive in order")
        func order() async throws {
            let server = try ScriptedServer { peer in
                guard try await peer.readRequest() != nil else { return }
                try await peer.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                try await peer.respond("hello")
                _ = try await peer.readHead()
            }
            let delegate = EventDelegate()
            let session = privateSession(delegate)
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "POST"
            let task = session.uploadTask(with: request, from: Data("abc".utf8))
            #expect(task.state == .suspended)
            task.resume()
            await delegate.end.wait()
            #expect(
                delegate.events == [
                    "created", "sent 3 of 3", "informational 103", "response 200", "data 5", "metrics", "completed",
                ])
            #expect(task.countOfBytesSent == 3)
            #expect(task.countOfBytesReceived == 5)
            #expect(task.countOfBytesExpectedToReceive == 5)
        }

        @Test("§5: the calls of a download arrive in order; the file of an error status is delivered")
        func download() async throws {
            let server = try echoServer { _ in reply("404 Not Found", [], "nothing") }
            let delegate = EventDelegate()
            let task = privateSession(delegate).downloadTask(with: try Self.url(server))
            task.resume()
            await delegate.end.wait()
            #expect(delegate.events == ["created", "wrote 7 of 7", "file 7", "metrics", "completed"])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 404)
        }

        @Test("§2: invalidation is the last message, and closes the connections")
        func invalidation() async throws {
            let closed = Gate()
            let server = try ScriptedServer { peer in
                try await peer.serve { _ in reply("200 OK", [], "x") }
                closed.open()
            }
            let delegate = EventDelegate()
            let session = privateSession(delegate)
            session.dataTask(with: try Self.url(server)).resume()
            session.finishTasksAndInvalidate()
            await closed.wait()
            #expect(delegate.events.contains("completed"))
            #expect(server.acceptedCount == 1)
        }

        // MARK: Content

        @Test("§6: bytes and lines")
        func lines() async throws {
            let server = try echoServer { _ in reply("200 OK", [], "one\r\n\r\ntwo\nthree") }
            let (bytes, response) = try await privateSession().bytes(from: try Self.url(server))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            var lines: [String] = []
            for try await line in bytes.lines { lines.append(line) }
            #expect(lines == ["one", "two", "three"])
        }

        @Test("§5, §6: a reader that stops reading stops the server")
        func backPressure() async throws {
            let written = Counter()
            let server = try ScriptedServer { peer in
                _ = try await peer.readRequest()
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 16777216\r\n\r\n")
                let piece = String(repeating: "x", count: 1 << 20)
                for _ in 0..<16 {
                    try await peer.write(piece)
                    written.increment()
                }
            }
            let (bytes, _) = try await privateSession().bytes(from: try Self.url(server))
            var iterator = bytes.makeAsyncIterator()
            _ = try await iterator.next()
            #expect(written.value < 16)
            var count = 1
            while try await iterator.next() != nil { count += 1 }
            #expect(count == 16 << 20)
        }

        @Test("§4: while a task is suspended, no content is delivered; afterwards no byte is missing")
        func suspension() async throws {
            let server = try echoServer { _ in reply("200 OK", [], String(repeating: "x", count: 1 << 20)) }
            let session = privateSession()
            let result = LockedValue<Int?>(nil)
            let end = Gate()
            let task = session.dataTask(with: try Self.url(server)) { data, _, _ in
                result.withLock { $0 = data?.count }
                end.open()
            }
            task.resume()
            for _ in 0..<10 {
                task.suspend()
                task.resume()
            }
            await end.wait()
            #expect(result.withLock { $0 } == 1 << 20)
        }

        @Test("§7: gzip content is decoded, and its length is not known")
        func decoding() async throws {
            // The output of `printf hello | gzip -n`.
            let compressed: [UInt8] = [
                0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0,
                0,
            ]
            let server = try ScriptedServer { peer in
                while try await peer.readRequest() != nil {
                    try await peer.write(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(compressed.count)\r\n\r\n")
                    try await peer.socket.write(Data(compressed))
                }
            }
            let session = privateSession()
            let (data, response) = try await session.data(from: try Self.url(server))
            #expect(data == Data("hello".utf8))
            #expect(response.expectedContentLength == -1)
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
            #expect(http.value(forHTTPHeaderField: "Content-Length") == "25")
        }

        @Test(
            "Content with an unknown coding is delivered as received, with the field",
            arguments: ["none", "aws-chunked"])
        func unknownCoding(_ coding: String) async throws {
            let server = try echoServer { _ in reply("200 OK", ["Content-Encoding: \(coding)"], "as it is") }
            let (data, response) = try await privateSession().data(from: try Self.url(server))
            #expect(data == Data("as it is".utf8) && response.expectedContentLength == 8)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") == coding)
        }

        @Test(
            "§18: content that cannot be decoded",
            arguments: [
                ("gzip", URLError.Code.cannotDecodeRawData),
                ("gzip, gzip, gzip, gzip, gzip", .cannotDecodeContentData),
            ])
        func broken(_ coding: String, _ code: URLError.Code) async throws {
            let server = try echoServer { _ in reply("200 OK", ["Content-Encoding: \(coding)"], "no such data") }
            let found = await failureCode { _ = try await privateSession().data(from: try Self.url(server)) }
            #expect(found == code)
        }

        // MARK: Cookies

        @Test("§10: cookies of every response are stored and sent, also of a redirect")
        func cookies() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { request in
                request.target == "/"
                    ? reply("302 Found", ["Location: /b", "Set-Cookie: a=1", "Set-Cookie: b=2; Path=/b"])
                    : reply("200 OK", [], "x")
            }
            let session = privateSession()
            _ = try await session.data(from: try Self.url(server))
            #expect(requests.all.last?["cookie"] == "b=2; a=1")
            var request = URLRequest(url: try Self.url(server, "/c"))
            request.httpShouldHandleCookies = false
            _ = try await session.data(for: request)
            #expect(requests.all.last?["cookie"] == nil)
        }

        @Test("§10: without permission, cookies are neither sent nor stored", arguments: ["never", "unset"])
        func noCookies(_ kind: String) async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { _ in reply("200 OK", ["Set-Cookie: a=1"]) }
            let session = privateSession {
                if kind == "never" { $0.httpCookieAcceptPolicy = .never } else { $0.httpShouldSetCookies = false }
            }
            for _ in 0..<2 { _ = try await session.data(from: try Self.url(server)) }
            #expect(requests.all.allSatisfy { $0["cookie"] == nil })
            let stored = session.configuration.httpCookieStorage?.cookies?.isEmpty
            #expect(stored == (kind == "never"))
        }

        // MARK: Errors

        @Test(
            "§18: failures of the server",
            arguments: [
                ("", URLError.Code.networkConnectionLost), ("HTTP/1.1 200 OK\r\nContent-Le", .networkConnectionLost),
                ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .networkConnectionLost),
                ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", .networkConnectionLost),
                ("SSH-2.0-other\r\n\r\n", .cannotParseResponse),
                ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", .badServerResponse),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .cannotParseResponse),
            ])
        func serverFailures(_ text: String, _ code: URLError.Code) async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write(text)
            }
            let url = try Self.url(server)
            let error = await failure { _ = try await privateSession().data(from: url) }
            #expect(error?.code == code)
            #expect(error?.failingURL == url)
            #expect(error?.userInfo[NSUnderlyingErrorKey] != nil)
        }

        @Test(
            "§18: failures without a server",
            arguments: [
                ("http://127.0.0.1:1/", URLError.Code.cannotConnectToHost), ("http://127.0.0.1:0/", .badURL),
                ("http://name.invalid/", .cannotFindHost),
            ])
        func noServer(_ text: String, _ code: URLError.Code) async throws {
            let url = try #require(URL(string: text))
            let found = await failureCode { _ = try await privateSession().data(from: url) }
            #expect(found == code)
        }

        @Test("§6: cancelling the Swift task cancels the load")
        func cancellation() async throws {
            let arrived = Gate()
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                arrived.open()
                _ = try await peer.readHead()
            }
            let url = try Self.url(server)
            let load = Task { try await privateSession().data(from: url) }
            await arrived.wait()
            load.cancel()
            let found = await failureCode { _ = try await load.value }
            #expect(found == .cancelled)
        }

        @Test("§3: the idle timeout ends a request without an answer")
        func idleTimeout() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                _ = try await peer.readHead()
            }
            var request = URLRequest(url: try Self.url(server))
            request.timeoutInterval = 0.2
            let found = await failureCode { _ = try await privateSession().data(for: request) }
            #expect(found == .timedOut)
        }

        // MARK: Connections and metrics

        @Test("§24: at most as many connections as the configuration says")
        func connectionLimit() async throws {
            let server = try echoServer()
            let session = privateSession { $0.httpMaximumConnectionsPerHost = 2 }
            let url = try Self.url(server)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = try await session.data(from: url) } }
                try await group.waitForAll()
            }
            #expect(server.acceptedCount <= 2)
        }

        @Test("§2, §24: reset and flush make later requests use new connections")
        func renewal() async throws {
            let server = try echoServer()
            let session = privateSession()
            let url = try Self.url(server)
            for _ in 0..<2 { _ = try await session.data(from: url) }
            #expect(server.acceptedCount == 1)
            await session.flush()
            _ = try await session.data(from: url)
            #expect(server.acceptedCount == 2)
            await session.reset()
            _ = try await session.data(from: url)
            #expect(server.acceptedCount == 3)
        }

        @Test("§16: the phases of the metrics are in order, and a reused connection has no connection phases")
        func metrics() async throws {
            let server = try echoServer()
            let url = try Self.url(server)
            let delegate = MetricsDelegate()
            let session = privateSession(delegate)
            _ = try await session.data(from: url)
            let first = try #require(delegate.metrics?.transactionMetrics.first)
            #expect(!first.isReusedConnection)
            #expect(first.networkProtocolName == "http/1.1")
            #expect(first.resourceFetchType == .networkLoad)
            #expect(first.remotePort == url.port)
            #expect(first.remoteAddress == "127.0.0.1")
            let dates = [
                first.fetchStartDate, first.connectStartDate, first.connectEndDate, first.requestStartDate,
                first.requestEndDate, first.responseStartDate, first.responseEndDate,
            ]
            let known = dates.compactMap { $0 }
            #expect(known.count == dates.count)
            #expect(zip(known, known.dropFirst()).allSatisfy { $0.timeIntervalSince($1) < 0.001 })
            #expect(first.countOfResponseBodyBytesReceived == 4)
            _ = try await session.data(from: url)
            let second = try #require(delegate.metrics?.transactionMetrics.first)
            #expect(second.isReusedConnection)
            #expect(second.connectStartDate == nil)
        }

        @Test("§17: the progress ends at 1")
        func progress() async throws {
            let server = try echoServer()
            let end = Gate()
            let task = privateSession().dataTask(with: try Self.url(server)) { _, _, _ in end.open() }
            let progress = task.progress
            task.resume()
            await end.wait()
            #expect(progress.fractionCompleted == 1)
        }
    }
}

/// A bound pair of streams. A thread fills the output stream.
private struct BoundPair: Sendable {
    let input: Box<InputStream>
    private let output: Box<OutputStream>

    /// Passes a stream to another thread.
    // SAFETY: one thread uses the stream at a time.
    final class Box<Stream>: @unchecked Sendable {
        let value: Stream
        init(_ value: Stream) { self.value = value }
    }

    init() throws {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: 4_096, inputStream: &input, outputStream: &output)
        self.input = Box(try #require(input))
        self.output = Box(try #require(output))
    }

    func write(_ content: Data) {
        Thread.detachNewThread { [output] in
            output.value.open()
            var rest = Array(content)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBufferPointer { output.value.write($0.baseAddress!, maxLength: $0.count) }
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            output.value.close()
        }
    }
}
