import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

/// Returns a session that shares nothing with other sessions and whose timeouts never decide a test.
func privateSession(
    _ delegate: (any URLSessionDelegate)? = nil, _ change: (URLSessionConfiguration) -> Void = { _ in }
) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 7_200
    configuration.connectionProxyDictionary = [:]
    change(configuration)
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
}

extension Loopback {
    @Suite("URLSession over HTTP")
    struct URLSessionTests {
        @Test("§4, §7: a GET returns content, response and the fields that the session adds")
        func get() async throws {
            let requests = LockedValue<[ScriptedRequest]>([])
            let server = try ScriptedServer { peer in
                try await peer.serve { request in
                    requests.withLock { $0.append(request) }
                    return reply("200 OK", ["Content-Type: Text/Plain; charset=UTF-8", "X-A: 1", "x-a: 2"], "hello")
                }
            }
            let session = privateSession()
            let url = try #require(URL(string: server.uri("/a?b=c#d")))
            let (data, response) = try await session.data(from: url)
            #expect(data == Data("hello".utf8))
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 200)
            #expect(http.mimeType == "text/plain")
            #expect(http.textEncodingName == "utf-8")
            #expect(http.expectedContentLength == 5)
            #expect(http.value(forHTTPHeaderField: "x-a") == "1, 2")
            #expect(http.url == url)
            let request = try #require(requests.withLock { $0.first })
            #expect(request.method == "GET")
            #expect(request.target == "/a?b=c")
            #expect(request["accept"] == "*/*")
            #expect(request["accept-language"] != nil)
            #expect(request["user-agent"]?.contains("causeway/") == true)
            #expect(request["accept-encoding"]?.contains("gzip") == true)
            #expect(request["host"] == "127.0.0.1:\(url.port ?? 0)")
        }
    }
}
