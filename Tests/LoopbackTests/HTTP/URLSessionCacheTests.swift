import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

/// Returns a test server. Each response contains the number of requests that the server has received so far.
private func countingServer(
    _ requests: RequestLog = RequestLog(), status: String = "200 OK",
    _ fields: @escaping @Sendable (ScriptedRequest) -> [String]
) throws -> ScriptedServer {
    try echoServer(requests) { request in
        reply(status, fields(request), request.method == "HEAD" ? "" : "\(requests.all.count)")
    }
}

/// A session with a private cache.
private func cachingSession(
    _ cache: URLCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0), _ delegate: (any URLSessionDelegate)? = nil
) -> URLSession {
    privateSession(delegate) { $0.urlCache = cache }
}

private func load(
    _ session: URLSession, _ uri: String, _ change: (inout URLRequest) -> Void = { _ in }
) async throws -> (text: String, response: HTTPURLResponse) {
    var request = URLRequest(url: try #require(URL(string: uri)))
    change(&request)
    let (data, response) = try await session.data(for: request)
    return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
}

extension Loopback {
    @Suite("URLSession: the cache (§11)")
    struct URLSessionCacheTests {
        typealias Policy = NSURLRequest.CachePolicy

        static let old = "Expires: Thu, 01 Jan 2015 00:00:00 GMT"

        @Test(
            "Which responses come from the cache, by policy",
            arguments: [
                ("public", false, true), ("private", false, true), ("max-age=3600", true, true),
                ("max-age=0", false, true), ("no-cache", false, true), ("no-store", false, false),
            ])
        func policies(_ row: (control: String, byProtocol: Bool, anyAge: Bool)) async throws {
            let server = try countingServer { _ in ["Cache-Control: \(row.control)"] }
            let expected: [(Policy, Bool)] = [
                (.useProtocolCachePolicy, row.byProtocol), (.reloadIgnoringLocalCacheData, false),
                (.reloadIgnoringLocalAndRemoteCacheData, false), (.returnCacheDataElseLoad, row.anyAge),
                (.returnCacheDataDontLoad, row.anyAge), (.reloadRevalidatingCacheData, false),
            ]
            for (policy, isStored) in expected {
                let session = cachingSession()
                let first = try await load(session, server.uri("/\(policy.rawValue)")).text
                let second = try? await load(session, server.uri("/\(policy.rawValue)")) { $0.cachePolicy = policy }
                    .text
                #expect((second == first) == isStored, "\(policy.rawValue)")
                #expect((second == nil) == (policy == .returnCacheDataDontLoad && !isStored), "\(policy.rawValue)")
            }
        }

        @Test("returnCacheDataDontLoad without entry fails without a connection")
        func notStored() async throws {
            let server = try countingServer { _ in [] }
            let code = await failureCode {
                _ = try await load(cachingSession(), server.uri()) { $0.cachePolicy = .returnCacheDataDontLoad }
            }
            #expect(code == .cannotLoadFromNetwork)
            #expect(server.acceptedCount == 0)
        }

        // RFC 9111 §4.3.1, §4.3.3.
        @Test("A stale response is validated; the program sees it with the new fields, in two transactions")
        func validates() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { request in
                request["if-none-match"] == "\"v1\""
                    ? "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=36000\r\nX-Time: 2\r\n\r\n"
                    : reply("200 OK", ["ETag: \"v1\"", "Cache-Control: max-age=0", "X-Time: 1"], "content")
            }
            let delegate = MetricsDelegate()
            let session = cachingSession(URLCache(memoryCapacity: 1 << 20, diskCapacity: 0), delegate)
            _ = try await load(session, server.uri())
            let second = try await load(session, server.uri())
            #expect(second.text == "content")
            #expect(second.response.statusCode == 200)
            #expect(second.response.value(forHTTPHeaderField: "X-Time") == "2")
            let types = delegate.metrics?.transactionMetrics.map(\.resourceFetchType)
            #expect(types == [.networkLoad, .localCache])
            let statuses = delegate.metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
            #expect(statuses == [304, 200])
            #expect(try await load(session, server.uri()).text == "content")
            #expect(requests.all.count == 2)
            #expect(delegate.metrics?.transactionMetrics.map(\.resourceFetchType) == [.localCache])
            let validated = try await load(session, server.uri()) { $0.cachePolicy = .reloadRevalidatingCacheData }
            #expect(validated.text == "content")
            #expect(requests.all.last?["if-none-match"] == "\"v1\"")
        }

        @Test("A condition of the program is its own: it sees status 304")
        func ownCondition() async throws {
            let server = try echoServer { request in
                request["if-none-match"] == nil
                    ? reply("200 OK", ["ETag: \"v1\"", "Cache-Control: max-age=36000"], "content")
                    : "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n"
            }
            let session = cachingSession()
            _ = try await load(session, server.uri())
            let own = try await load(session, server.uri()) {
                $0.setValue("\"v1\"", forHTTPHeaderField: "If-None-Match")
            }
            #expect(own.response.statusCode == 304)
        }

        @Test("Status 304 for another response makes the request start over")
        func otherConfirmed() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { request in
                request["if-none-match"] == nil
                    ? reply(
                        "200 OK", ["ETag: \"v\(requests.all.count)\"", "Cache-Control: no-cache"],
                        "\(requests.all.count)")
                    : "HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n"
            }
            let session = cachingSession()
            _ = try await load(session, server.uri())
            #expect(try await load(session, server.uri()).text == "3")
            #expect(requests.all.map { $0["if-none-match"] } == [nil, "\"v1\"", nil])
        }

        @Test("stale-if-error: after an error, and without a server")
        func staleIfError() async throws {
            let requests = RequestLog()
            var server: ScriptedServer? = try echoServer(requests) { _ in
                requests.all.count > 1
                    ? reply("503 Service Unavailable", [], "busy")
                    : reply("200 OK", ["ETag: \"v1\"", "Cache-Control: max-age=0, stale-if-error=36000"], "content")
            }
            let uri = try #require(server?.uri())
            let session = cachingSession()
            for _ in 0..<2 { #expect(try await load(session, uri).text == "content") }
            #expect(requests.all.count == 2)
            server?.stop()
            server = nil
            let other = privateSession { $0.urlCache = session.configuration.urlCache }
            #expect(try await load(other, uri).text == "content")
        }

        @Test("stale-if-error without a validator: after an error, and without a server", arguments: [true, false])
        func staleIfErrorWithoutValidator(_ isPermitted: Bool) async throws {
            let requests = RequestLog()
            let control = "Cache-Control: max-age=0" + (isPermitted ? ", stale-if-error=36000" : "")
            var server: ScriptedServer? = try echoServer(requests) { _ in
                requests.all.count > 1
                    ? reply("503 Service Unavailable", [], "busy") : reply("200 OK", [control], "content")
            }
            let uri = try #require(server?.uri())
            let session = cachingSession()
            for expected in ["content", isPermitted ? "content" : "busy"] {
                #expect(try await load(session, uri).text == expected)
            }
            #expect(requests.all.count == 2 && requests.all.allSatisfy { $0["if-none-match"] == nil })
            // The cache does not answer a request with the program's own condition, or for a part of the content. Only
            // the server answers such a request.
            let own = try await load(session, uri) { $0.setValue("\"x\"", forHTTPHeaderField: "If-None-Match") }
            #expect(own.text == "busy")
            server?.stop()
            server = nil
            let other = privateSession { $0.urlCache = session.configuration.urlCache }
            guard isPermitted else {
                let code = await failureCode { _ = try await load(other, uri) }
                #expect(code == .cannotConnectToHost)
                return
            }
            let stale = try await load(other, uri)
            #expect(stale.text == "content" && stale.response.value(forHTTPHeaderField: "Age") != nil)
        }

        // RFC 9111 §4.2.3, §5.1.
        @Test("A stored response that is used without a question has an Age; one that the server confirms has its own")
        func age() async throws {
            let server = try echoServer { request in
                request["if-none-match"] == "\"v1\""
                    ? "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=36000\r\n\r\n"
                    : reply("200 OK", ["ETag: \"v1\"", "Cache-Control: max-age=36000", "Age: 100"], "content")
            }
            let session = cachingSession()
            let first = try await load(session, server.uri())
            #expect(first.response.value(forHTTPHeaderField: "Age") == "100")
            let stored = try await load(session, server.uri())
            let age = try #require(stored.response.value(forHTTPHeaderField: "Age").flatMap { Int($0) })
            #expect(age >= 100 && age < 36_000 && stored.response.allHeaderFields["Age"] as? String == "\(age)")
            let confirmed = try await load(session, server.uri()) { $0.cachePolicy = .reloadRevalidatingCacheData }
            #expect(confirmed.text == "content" && confirmed.response.value(forHTTPHeaderField: "Age") == nil)
        }

        @Test("stale-while-revalidate: the stale response is used while it is validated")
        func staleWhileRevalidate() async throws {
            let (requests, validated) = (RequestLog(), Gate())
            let server = try echoServer(requests) { request in
                defer { if requests.all.count == 2 { validated.open() } }
                return reply(
                    "200 OK",
                    ["ETag: \"v\(requests.all.count)\"", "Cache-Control: max-age=0, stale-while-revalidate=36000"],
                    "\(requests.all.count)")
            }
            let session = cachingSession()
            _ = try await load(session, server.uri())
            #expect(try await load(session, server.uri()).text == "1")
            await validated.wait()
            #expect(requests.all.last?["if-none-match"] == "\"v1\"")
            // The new response is stored only after the server has sent it, so wait for it.
            while try await load(session, server.uri(), { $0.cachePolicy = .returnCacheDataDontLoad }).text == "1" {
                await Task.yield()
            }
        }

        @Test("Statuses outside of 2xx are stored, and the delegate is not asked")
        func otherStatuses() async throws {
            let server = try countingServer(status: "404 Not Found") { _ in ["Cache-Control: max-age=36000"] }
            let session = cachingSession()
            let texts = [try await load(session, server.uri()).text, try await load(session, server.uri()).text]
            #expect(texts == ["1", "1"])
        }

        @Test("A permanent redirect is followed without a request to the old server")
        func redirect() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { request in
                request.target == "/"
                    ? reply("301 Moved Permanently", ["Location: /new", "Cache-Control: max-age=36000"], "moved")
                    : reply("200 OK", ["Cache-Control: no-store"], "new")
            }
            let session = cachingSession()
            for _ in 0..<2 { #expect(try await load(session, server.uri()).text == "new") }
            #expect(requests.all.map(\.target) == ["/", "/new", "/new"])
        }

        @Test("§11: HEAD and ranges are answered from the response to GET; a write makes it invalid")
        func otherRequests() async throws {
            let requests = RequestLog()
            let server = try countingServer(requests) { _ in ["Cache-Control: max-age=36000", "X-Kind: stored"] }
            let session = cachingSession()
            _ = try await load(session, server.uri())
            let head = try await load(session, server.uri()) { $0.httpMethod = "HEAD" }
            #expect(head.text.isEmpty)
            #expect(head.response.value(forHTTPHeaderField: "X-Kind") == "stored")
            let part = try await load(session, server.uri()) { $0.setValue("bytes=0-0", forHTTPHeaderField: "Range") }
            #expect(part.text == "1")
            #expect(part.response.statusCode == 206)
            #expect(part.response.value(forHTTPHeaderField: "Content-Range") == "bytes 0-0/1")
            #expect(requests.all.count == 1)
            _ = try await load(session, server.uri()) { $0.httpMethod = "DELETE" }
            #expect(try await load(session, server.uri()).text == "3")
        }

        @Test("Ranges are combined, until the whole is known", arguments: [true, false])
        func combinedRanges(hasTag: Bool) async throws {
            let requests = RequestLog()
            let content = "0123456789"
            let server = try echoServer(requests) { request in
                let fields = ["Cache-Control: max-age=36000"] + (hasTag ? ["ETag: \"a\""] : [])
                guard let range = request["range"], range.count == 9, let first = Int(range.dropFirst(6).prefix(1)),
                    let last = Int(range.suffix(1))
                else { return reply("200 OK", fields, content) }
                let part = String(content.dropFirst(first).prefix(last - first + 1))
                return reply("206 Partial Content", fields + ["Content-Range: bytes \(first)-\(last)/10"], part)
            }
            let session = cachingSession()
            func load(_ range: String?) async throws -> String {
                let (text, response) = try await loadRange(session, server.uri(), range)
                #expect(response.statusCode == (range == nil ? 200 : 206))
                #expect(response.value(forHTTPHeaderField: "Content-Length") == "\(text.utf8.count)")
                return text
            }
            #expect(try await load("bytes=0-3") == "0123")
            #expect(try await load("bytes=1-2") == "12")
            #expect(try await load("bytes=3-6") == "3456")
            #expect(requests.all.count == 2)
            #expect(try await load("bytes=1-5") == "12345")
            #expect(requests.all.count == (hasTag ? 2 : 3))
            #expect(try await load("bytes=7-9") == "789")
            let count = requests.all.count
            #expect(try await load(nil) == content)
            #expect(try await load("bytes=2-8") == "2345678")
            #expect(requests.all.count == (hasTag ? count : count + 1))
        }

        private func loadRange(
            _ session: URLSession, _ uri: String, _ range: String?
        ) async throws -> (String, HTTPURLResponse) {
            let (text, response) = try await load(session, uri) { $0.setValue(range, forHTTPHeaderField: "Range") }
            return (text, response)
        }

        // This test checks RFC 9111 §4.1.
        @Test("§11: responses are apart by the fields of Vary, by cookies, and by credentials")
        func variants() async throws {
            let requests = RequestLog()
            let server = try countingServer(requests) { request in
                ["Cache-Control: max-age=36000", request.target == "/" ? "Vary: X-Kind" : "X-Other: 1"]
            }
            let session = cachingSession()
            var texts: [String] = []
            for kind in ["a", "b", "a", "b"] {
                texts.append(
                    try await load(session, server.uri()) { $0.setValue(kind, forHTTPHeaderField: "X-Kind") }.text)
            }
            #expect(texts == ["1", "2", "1", "2"])
            texts = []
            for user in ["a", "b", nil, "a"] {
                texts.append(
                    try await load(session, server.uri("/user")) {
                        $0.setValue(user, forHTTPHeaderField: "Authorization")
                    }.text)
            }
            #expect(Set(texts[..<3]).count == 3)
        }

        @Test("Files serve another cache, and survive the session")
        func files() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try countingServer { _ in ["Cache-Control: max-age=36000"] }
            let first = URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, directory: folder)
            #expect(try await load(cachingSession(first), server.uri()).text == "1")
            #expect(first.currentDiskUsage > 0)
            let second = URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, directory: folder)
            #expect(try await load(cachingSession(second), server.uri()).text == "1")
            second.removeAllCachedResponses()
            #expect(second.currentDiskUsage == 0)
            #expect(try await load(cachingSession(second), server.uri()).text == "2")
        }

        @Test("A session without cache stores nothing, and downloads use none")
        func without() async throws {
            let server = try countingServer { _ in ["Cache-Control: max-age=36000"] }
            let bare = privateSession { $0.urlCache = nil }
            for number in 1...2 { #expect(try await load(bare, server.uri()).text == "\(number)") }
            let session = cachingSession()
            let url = try #require(URL(string: server.uri()))
            _ = try await session.download(from: url)
            #expect(session.configuration.urlCache?.cachedResponse(for: URLRequest(url: url)) == nil)
        }

        @Test("Tasks of the same URLs, while responses are replaced, removed and evicted: each content is whole")
        func storm() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let lifetimes = ["max-age=36000", "max-age=0, stale-while-revalidate=36000", "max-age=0", "no-store"]
            let requests = RequestLog()
            let server = try echoServer(requests) { request in
                let number = requests.all.count
                guard request["if-none-match"] == nil || number % 3 != 0 else {
                    return "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=0\r\n\r\n"
                }
                let content = String(repeating: "\(request.target)-\(number);", count: 200)
                return reply(
                    "200 OK", ["ETag: \"\(number)\"", "Cache-Control: \(lifetimes[number % lifetimes.count])"], content)
            }
            let cache = URLCache(memoryCapacity: 12_000, diskCapacity: 60_000, directory: folder)
            let session = cachingSession(cache)
            try await withThrowingTaskGroup { group in
                for worker in 0..<6 {
                    group.addTask {
                        for step in 0..<25 {
                            let path = "/\((worker + step) % 4)"
                            let text = try await load(session, server.uri(path)).text
                            let parts = Set(text.split(separator: ";"))
                            #expect(parts.count == 1 && parts.first?.hasPrefix(path + "-") == true)
                            guard let url = URL(string: server.uri(path)) else { continue }
                            if step % 5 == worker % 5 { cache.removeCachedResponse(for: URLRequest(url: url)) }
                            if step % 12 == worker { cache.removeAllCachedResponses() }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("The methods of a subclass that have a task are asked")
        func subclass() async throws {
            final class Own: URLCache, @unchecked Sendable {
                let calls = LockedValue<[String]>([])

                override func getCachedResponse(
                    for dataTask: URLSessionDataTask,
                    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
                ) {
                    calls.withLock { $0.append("get") }
                    super.getCachedResponse(for: dataTask, completionHandler: completionHandler)
                }

                override func storeCachedResponse(_ cached: CachedURLResponse, for dataTask: URLSessionDataTask) {
                    calls.withLock { $0.append("store") }
                    super.storeCachedResponse(cached, for: dataTask)
                }
            }
            let server = try countingServer { _ in ["Cache-Control: max-age=36000"] }
            let cache = Own(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            let session = cachingSession(cache)
            for _ in 0..<2 { #expect(try await load(session, server.uri()).text == "1") }
            #expect(cache.calls.withLock { $0 } == ["get", "store", "get"])
        }
    }
}
