import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

/// A counter that permits a limited number of events.
private final class Counted: Sendable {
    private let left: LockedValue<Int>

    init(_ count: Int) { left = LockedValue(count) }

    /// Reduces the remaining count by one. Returns `true` if the count was above zero before.
    func take() -> Bool {
        left.withLock { left -> Bool in
            left -= 1
            return left >= 0
        }
    }
}

extension Loopback {
    @Suite("URLSession: responses that ask for the same request once more")
    struct URLSessionRepetitionTests {
        /// Returns a test server that answers the first requests for a path with `status`. For each request, it logs
        /// the number of the connection that carried the request.
        private static func server(
            _ status: String, times: Int = 1, _ log: ConnectionLog
        ) throws -> ScriptedServer {
            let left = Counted(times)
            return try ScriptedServer { peer in
                let number = log.nextConnection()
                try await peer.serve { request in
                    log.append("\(number) \(request.method) \(request.body)")
                    let isRefused = request.target != "/first" && left.take()
                    return reply(isRefused ? status : "200 OK", [], isRefused ? "later" : "done")
                }
            }
        }

        private static func load(_ server: ScriptedServer, _ session: URLSession, _ method: String) async throws
            -> String
        {
            var request = URLRequest(url: try #require(URL(string: server.uri("/page"))))
            request.httpMethod = method
            if method == "POST" { request.httpBody = Data("x".utf8) }
            let (data, response) = try await session.data(for: request)
            return "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
        }

        @Test("511: the answer of a captive network is a result, also for a session that waits for connectivity")
        func captive() async throws {
            let session = privateSession { $0.waitsForConnectivity = true }
            defer { session.invalidateAndCancel() }
            let log = ConnectionLog()
            let server = try Self.server("511 Network Authentication Required", log)
            #expect(try await Self.load(server, session, "GET") == "511 later")
            #expect(log.all == ["1 GET "])
        }

        @Test("425: a safe request is sent once more (RFC 8470 §5.2); others, and a second 425, are results")
        func tooEarly() async throws {
            let session = privateSession()
            defer { session.invalidateAndCancel() }
            let log = ConnectionLog()
            #expect(try await Self.load(Self.server("425 Too Early", log), session, "GET") == "200 done")
            #expect(log.all == ["1 GET ", "1 GET "])
            let twice = try Self.server("425 Too Early", times: 2, ConnectionLog())
            #expect(try await Self.load(twice, session, "GET") == "425 later")
            let posted = ConnectionLog()
            #expect(try await Self.load(Self.server("425 Too Early", posted), session, "POST") == "425 later")
            #expect(posted.all == ["1 POST x"])
        }

        @Test("421: any request is sent once more, on a new connection (RFC 9110 §15.5.20)")
        func misdirected() async throws {
            let session = privateSession()
            defer { session.invalidateAndCancel() }
            let log = ConnectionLog()
            #expect(try await Self.load(Self.server("421 Misdirected Request", log), session, "POST") == "200 done")
            #expect(log.all == ["1 POST x", "2 POST x"])
        }

        @Test("408: a request that found its connection used is sent once more on a new one; the first one is not")
        func timedOut() async throws {
            let session = privateSession()
            defer { session.invalidateAndCancel() }
            let log = ConnectionLog()
            let server = try Self.server("408 Request Timeout", log)
            _ = try await session.data(from: #require(URL(string: server.uri("/first"))))
            #expect(try await Self.load(server, session, "GET") == "200 done")
            #expect(log.all == ["1 GET ", "1 GET ", "2 GET "])
            let fresh = try Self.server("408 Request Timeout", ConnectionLog())
            #expect(try await Self.load(fresh, session, "GET") == "408 later")
        }
    }
}
