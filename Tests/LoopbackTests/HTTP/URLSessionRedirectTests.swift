import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: redirects (§8)")
    struct URLSessionRedirectTests {
        /// Creates a server that redirects `/start`. For all other paths, the response describes the request.
        private static func server(
            _ status: String, to location: String = "/end", _ requests: RequestLog = RequestLog()
        ) throws -> ScriptedServer {
            try ScriptedServer { peer in
                try await peer.serve { request in
                    requests.append(request)
                    guard request.target == "/start" else {
                        return reply("200 OK", [], "\(request.method) \(request.target) \(request.body)")
                    }
                    return reply(status, ["Location: \(location)"], "moved")
                }
            }
        }

        private static func text(
            _ session: URLSession, _ uri: String, _ method: String = "GET", _ body: String? = nil,
            _ delegate: (any URLSessionTaskDelegate)? = nil
        ) async throws -> (String, HTTPURLResponse) {
            var request = URLRequest(url: try #require(URL(string: uri)))
            request.httpMethod = method
            request.httpBody = body.map { Data($0.utf8) }
            let (data, response) = try await session.data(for: request, delegate: delegate)
            return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
        }

        @Test(
            "A redirect with an empty Location is the result, after one request",
            arguments: ["301 a", "302 b", "307 c"])
        func emptyLocation(_ status: String) async throws {
            let requests = RequestLog()
            let server = try Self.server(status, to: "", requests)
            let (text, response) = try await Self.text(privateSession(), server.uri("/start"))
            #expect(text == "moved" && "\(response.statusCode)" == status.prefix(3) && requests.all.count == 1)
        }

        @Test(
            "Method and body after a redirect",
            arguments: [
                ("301 Moved", "POST", "GET /end "), ("302 Found", "POST", "GET /end "),
                ("303 See Other", "POST", "GET /end "), ("303 See Other", "PUT", "GET /end "),
                ("301 Moved", "PUT", "PUT /end body"), ("307 Again", "POST", "POST /end body"),
                ("308 Again", "POST", "POST /end body"),
            ])
        func methods(_ status: String, _ method: String, _ expected: String) async throws {
            let server = try Self.server(status)
            let (text, response) = try await Self.text(privateSession(), server.uri("/start"), method, "body")
            #expect(text == expected)
            #expect(response.url?.path == "/end")
            // The client read the redirect response to its end. It therefore used the same connection for the second
            // request.
            #expect(server.acceptedCount == 1)
        }

        @Test("Not a redirect", arguments: ["300 Choices", "304 Not Modified", "305 Use Proxy", "306 Unused"])
        func answers(_ status: String) async throws {
            let server = try Self.server(status)
            let (_, response) = try await Self.text(privateSession(), server.uri("/start"))
            #expect(response.statusCode == Int(status.prefix(3)))
        }

        @Test("Without Location, the response is delivered as it is")
        func noLocation() async throws {
            let server = try ScriptedServer { peer in
                try await peer.serve { _ in reply("302 Found", [], "here") }
            }
            let (text, response) = try await Self.text(privateSession(), server.uri())
            #expect(text == "here")
            #expect(response.statusCode == 302)
        }

        // Fragments in URLs: RFC 9110 §4.2.5 and §7.1.
        @Test("A fragment is inherited and never sent")
        func fragment() async throws {
            let requests = RequestLog()
            let server = try Self.server("302 Found", to: "end?x", requests)
            let (_, response) = try await Self.text(privateSession(), server.uri("/start#part"))
            #expect(response.url?.fragment == "part")
            #expect(requests.all.map(\.target) == ["/start", "/end?x"])
        }

        @Test("The 21st redirect fails")
        func limit() async throws {
            let count = Counter()
            let server = try ScriptedServer { peer in
                try await peer.serve { _ in
                    count.increment()
                    return reply("302 Found", ["Location: /"])
                }
            }
            let found = await failureCode { _ = try await Self.text(privateSession(), server.uri()) }
            #expect(found == .httpTooManyRedirects)
            #expect(count.value == 21)
        }

        @Test("Credentials do not reach another origin; other fields do", arguments: [true, false])
        func credentials(_ isSameOrigin: Bool) async throws {
            let requests = RequestLog()
            let other = try Self.server("200 OK", requests)
            let server = try Self.server("302 Found", to: isSameOrigin ? "/end" : other.uri("/end"), requests)
            var request = URLRequest(url: try #require(URL(string: server.uri("/start"))))
            request.setValue("secret", forHTTPHeaderField: "Authorization")
            request.setValue("a=b", forHTTPHeaderField: "Cookie")
            request.setValue("kept", forHTTPHeaderField: "X-Other")
            _ = try await privateSession().data(for: request)
            let last = try #require(requests.all.last)
            #expect(last.target == "/end")
            #expect((last["authorization"] == "secret") == isSameOrigin)
            #expect((last["cookie"] == "a=b") == isSameOrigin)
            #expect(last["x-other"] == "kept")
        }

        @Test("A delegate that declines gets the redirect response with its body (§6)")
        func declined() async throws {
            let server = try Self.server("302 Found")
            let delegate = RedirectDelegate { _, _ in nil }
            let (text, response) = try await Self.text(privateSession(), server.uri("/start"), "GET", nil, delegate)
            #expect(response.statusCode == 302)
            #expect(text == "moved")
        }

        @Test("A delegate can change the request")
        func changed() async throws {
            let server = try Self.server("302 Found")
            let delegate = RedirectDelegate { response, proposed in
                var request = proposed
                request.url = URL(string: "/other", relativeTo: response.url)
                return request
            }
            let (text, _) = try await Self.text(privateSession(), server.uri("/start"), "GET", nil, delegate)
            #expect(text == "GET /other ")
        }

        @Test("A body stream is asked for again; without one the task fails", arguments: [true, false])
        func stream(_ hasSecond: Bool) async throws {
            let server = try Self.server("307 Again")
            let delegate = StreamDelegate(hasSecond ? ["first", "second"] : ["first"])
            let session = privateSession(delegate)
            var request = URLRequest(url: try #require(URL(string: server.uri("/start"))))
            request.httpMethod = "POST"
            let task = session.uploadTask(withStreamedRequest: request)
            task.resume()
            await delegate.end.wait()
            if hasSecond {
                #expect(delegate.text == "POST /end second")
            } else {
                #expect((delegate.error as? URLError)?.code == .requestBodyStreamExhausted)
            }
        }

        @Test("Each hop is a transaction of the metrics (§16)")
        func metrics() async throws {
            let server = try Self.server("302 Found")
            let delegate = MetricsDelegate()
            _ = try await Self.text(privateSession(delegate), server.uri("/start"))
            let metrics = try #require(delegate.metrics)
            #expect(metrics.redirectCount == 1)
            #expect(metrics.transactionMetrics.count == 2)
            #expect(metrics.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode } == [302, 200])
            #expect(metrics.transactionMetrics.map(\.isReusedConnection) == [false, true])
        }
    }
}

/// A delegate that decides how to handle redirects.
private final class RedirectDelegate: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    private let decide: @Sendable (HTTPURLResponse, URLRequest) -> URLRequest?

    init(_ decide: @escaping @Sendable (HTTPURLResponse, URLRequest) -> URLRequest?) { self.decide = decide }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(decide(response, request))
    }
}

/// A delegate that supplies request body streams and collects the response content.
private final class StreamDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let texts: LockedValue<[String]>
    private let content = LockedValue(Data())
    private let failure = LockedValue<(any Error)?>(nil)
    let end = Gate()

    init(_ texts: [String]) { self.texts = LockedValue(texts) }

    var text: String { String(decoding: content.withLock { $0 }, as: UTF8.self) }
    var error: (any Error)? { failure.withLock { $0 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let text = texts.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        completionHandler(text.map { InputStream(data: Data($0.utf8)) })
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        content.withLock { $0 += data }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        failure.withLock { $0 = error }
        end.open()
    }
}
