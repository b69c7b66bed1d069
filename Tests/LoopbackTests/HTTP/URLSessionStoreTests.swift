import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: what the stores keep (§10, §11, §16)")
    struct URLSessionStoreTests {
        private static func request(_ server: ScriptedServer, _ path: String) throws -> URLRequest {
            URLRequest(url: try #require(URL(string: server.uri(path))))
        }

        @Test("§10: a request that does not handle cookies neither sends nor stores any, in each hop and challenge")
        func unhandledCookies() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { request in
                let fields = ["Set-Cookie: \(request.target.dropFirst())=1"]
                switch request.target {
                case "/first": return reply("302 Found", fields + ["Location: /second"])
                case "/second": return reply("401 No", fields + ["WWW-Authenticate: Other realm=\"r\""])
                default: return reply("200 OK", fields)
                }
            }
            let session = privateSession()
            var request = try Self.request(server, "/first")
            request.httpShouldHandleCookies = false
            _ = try await session.data(for: request)
            let storage = try #require(session.configuration.httpCookieStorage)
            #expect(storage.cookies?.isEmpty == true)
            // With cookies enabled, the session stores each hop's cookie and sends it to the next hop.
            _ = try await session.data(for: try Self.request(server, "/first"))
            #expect(Set(storage.cookies?.map(\.name) ?? []) == ["first", "second"])
            request = try Self.request(server, "/third")
            request.httpShouldHandleCookies = false
            _ = try await session.data(for: request)
            #expect(requests.all.map { $0["cookie"] } == [nil, nil, nil, "first=1", nil])
            #expect(storage.cookies?.count == 2)
            session.invalidateAndCancel()
        }

        /// A program's own cookie storage that overrides the methods for tasks.
        private final class TaskCookies: HTTPCookieStorage, @unchecked Sendable {
            let calls = TextLog()
            /// Whether the storage calls the completion handler later, and calls it twice.
            let isSlow: Bool

            init(isSlow: Bool) {
                self.isSlow = isSlow
                super.init()
            }

            override func getCookiesFor(
                _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
            ) {
                calls.append("get \(task.currentRequest?.url?.path ?? "")")
                let properties: [HTTPCookiePropertyKey: Any] = [
                    .name: "own", .value: "1", .path: "/", .domain: "elsewhere.test",
                ]
                let cookies = [HTTPCookie(properties: properties)].compactMap { $0 }
                guard isSlow else { return completionHandler(cookies) }
                DispatchQueue.global().async {
                    completionHandler(cookies)
                    completionHandler(nil)
                }
            }

            override func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
                calls.append("store \(cookies.map(\.name).joined())")
            }
        }

        @Test(
            "§10: loads ask a storage of the program for the cookies of the task, at each hop",
            arguments: [false, true])
        func taskCookies(_ isSlow: Bool) async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { request in
                request.target == "/first"
                    ? reply("302 Found", ["Location: /second", "Set-Cookie: a=1"]) : reply("200 OK", [], request.body)
            }
            let cookies = TaskCookies(isSlow: isSlow)
            let session = privateSession { $0.httpCookieStorage = cookies }
            defer { session.invalidateAndCancel() }
            var request = try Self.request(server, "/first")
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            _ = try await session.data(for: request)
            #expect(requests.all.map { $0["cookie"] } == ["own=1", "own=1"])
            #expect(cookies.calls.all == ["get /first", "store a", "get /second"])
            // The session does not ask for cookies in two cases: the request has its own `Cookie` field, or it handles
            // no cookies.
            request = try Self.request(server, "/third")
            request.setValue("given=1", forHTTPHeaderField: "Cookie")
            _ = try await session.data(for: request)
            request = try Self.request(server, "/fourth")
            request.httpShouldHandleCookies = false
            _ = try await session.data(for: request)
            #expect(requests.all.suffix(2).map { $0["cookie"] } == ["given=1", nil])
            #expect(cookies.calls.all.count == 3)
        }

        @Test("§11: the key of a response has no fragment; 'private' and credentials do not prevent that it is stored")
        func key() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests) { _ in
                reply("200 OK", ["Cache-Control: private, max-age=36000"], "\(requests.all.count)")
            }
            let session = privateSession { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
            for path in ["/a", "/a#one", "/a#two", "/a?", "/b"] {
                var request = try Self.request(server, path)
                request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
                _ = try await session.data(for: request)
            }
            #expect(requests.all.map(\.target) == ["/a", "/a?", "/b"])
            session.invalidateAndCancel()
        }

        @Test("§16: each transaction of a redirect has its dates in order; one from the cache has none of a connection")
        func dates() async throws {
            let server = try echoServer { request in
                request.target == "/old"
                    ? reply("302 Found", ["Location: /new"]) : reply("200 OK", ["Cache-Control: max-age=36000"], "x")
            }
            let metrics = StoreMetricsDelegate()
            let session = privateSession(metrics) {
                $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            }
            for path in ["/old", "/new"] {
                session.dataTask(with: try Self.request(server, path)).resume()
                await metrics.next()
            }
            let transactions = metrics.all.flatMap(\.transactionMetrics)
            #expect(transactions.map(\.resourceFetchType) == [.networkLoad, .networkLoad, .localCache])
            for transaction in transactions {
                let connection = [
                    transaction.domainLookupStartDate, transaction.domainLookupEndDate, transaction.connectStartDate,
                    transaction.connectEndDate,
                ].compactMap(\.self)
                let isNew = transaction.resourceFetchType == .networkLoad && !transaction.isReusedConnection
                #expect(isNew ? connection.count >= 2 : connection.isEmpty)
                let dates =
                    [transaction.fetchStartDate].compactMap(\.self) + connection
                    + [
                        transaction.requestStartDate, transaction.requestEndDate, transaction.responseStartDate,
                        transaction.responseEndDate,
                    ].compactMap(\.self)
                #expect(dates == dates.sorted())
                #expect(transaction.secureConnectionStartDate == nil)
            }
            session.invalidateAndCancel()
        }
    }
}

/// Collects the metrics of tasks.
private final class StoreMetricsDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let collected = LockedValue<[URLSessionTaskMetrics]>([])
    private let (arrivals, feed) = AsyncStream<Void>.makeStream()

    var all: [URLSessionTaskMetrics] { collected.withLock { $0 } }

    /// Waits for the end of a task.
    func next() async { for await _ in arrivals { return } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        collected.withLock { $0.append(metrics) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        feed.yield()
    }
}
