import CausewayURLLoading
import Foundation
import Synchronization
import Testing

/// Tests `URLSession` with httpbin, a server for testing HTTP clients. Each number is a section number in
/// url-loading.md.
@Suite("URLSession and httpbin", .enabled(if: HTTPBin.isInstalled, "python3-httpbin is not installed"))
struct HTTPBinTests {
    private struct Echo: Decodable {
        var method: String?
        var args: [String: String]
        var headers: [String: String]
        var data: String?
        var form: [String: String]?
        var files: [String: String]?
        var json: [String: Int]?
        var url: String
    }

    @Test("§7: methods, queries, fields, forms and JSON")
    func requests() async throws {
        try await HTTPBin.run { bin in
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"] {
                let (data, response) = try await bin.load("/anything?a=1&b=x%20y", method) { request in
                    request.setValue("value", forHTTPHeaderField: "X-Field")
                    if ["POST", "PUT", "PATCH"].contains(method) { request.httpBody = Data("text".utf8) }
                }
                #expect(response.statusCode == 200)
                guard method != "HEAD", method != "OPTIONS" else {
                    #expect(data.isEmpty)
                    continue
                }
                let echo = try JSONDecoder().decode(Echo.self, from: data)
                #expect(echo.method == method && echo.args == ["a": "1", "b": "x y"])
                #expect(echo.headers["X-Field"] == "value" && echo.headers["Accept"] == "*/*")
            }
            let (form, _) = try await bin.load("/post", "POST") { $0.httpBody = Data("name=ann&age=7".utf8) }
            #expect(try JSONDecoder().decode(Echo.self, from: form).form == ["name": "ann", "age": "7"])
            let (json, _) = try await bin.load("/post", "POST") { request in
                request.setValue("application/json", forHTTPHeaderField: "Content-Type")
                request.httpBody = Data(#"{"n":7}"#.utf8)
            }
            #expect(try JSONDecoder().decode(Echo.self, from: json).json == ["n": 7])
            let boundary = "----part"
            let (parts, _) = try await bin.load("/post", "POST") { request in
                request.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
                request.httpBody = Data(
                    "--\(boundary)\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n\r\nfile\r\n--\(boundary)--\r\n"
                        .utf8)
            }
            #expect(try JSONDecoder().decode(Echo.self, from: parts).files == ["f": "file"])
            let (streamed, _) = try await bin.load("/put", "PUT") { request in
                request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
                request.setValue("8", forHTTPHeaderField: "Content-Length")
                request.httpBodyStream = InputStream(data: Data("streamed".utf8))
            }
            #expect(try JSONDecoder().decode(Echo.self, from: streamed).data == "streamed")
        }
    }

    @Test("§6, §7: codings, chunks, ranges, response fields and statuses; a delay is cancelled")
    func responses() async throws {
        try await HTTPBin.run { bin in
            for (path, key) in [("/gzip", "gzipped"), ("/deflate", "deflated"), ("/brotli", "brotli")] {
                let (data, response) = try await bin.load(path)
                #expect(String(decoding: data, as: UTF8.self).contains("\"\(key)\":true"))
                #expect(response.expectedContentLength == -1)
            }
            let (chunks, response) = try await bin.load("/stream-bytes/10000?chunk_size=999&seed=1")
            #expect(chunks.count == 10_000 && response.expectedContentLength == -1)
            var lines = 0
            for try await _ in try await bin.session.bytes(from: bin.url("/stream/5")).0.lines { lines += 1 }
            #expect(lines == 5)
            let (part, partial) = try await bin.load("/range/100") {
                $0.setValue("bytes=10-19", forHTTPHeaderField: "Range")
            }
            #expect(partial.statusCode == 206 && String(decoding: part, as: UTF8.self) == "klmnopqrst")
            #expect(partial.value(forHTTPHeaderField: "content-range") == "bytes 10-19/100")
            let (_, fields) = try await bin.load("/response-headers?X-A=1&X-A=2")
            #expect(fields.value(forHTTPHeaderField: "x-a") == "1, 2")
            for status in [204, 304, 400, 404, 418, 500, 503] {
                #expect(try await bin.load("/status/\(status)").1.statusCode == status)
            }
            let url = bin.url("/delay/10")
            let code = await withCheckedContinuation { continuation in
                let task = bin.session.dataTask(with: url) { _, _, error in
                    continuation.resume(returning: (error as? URLError)?.code)
                }
                task.resume()
                task.cancel()
            }
            #expect(code == .cancelled)
        }
    }

    @Test("§8, §10: redirects of every kind and their limit; cookies are stored and sent")
    func redirectsAndCookies() async throws {
        try await HTTPBin.run { bin in
            for kind in ["redirect", "relative-redirect", "absolute-redirect"] {
                let (_, response) = try await bin.load("/\(kind)/5")
                #expect(response.statusCode == 200 && response.url == bin.url("/get"))
            }
            #expect(try await bin.load("/relative-redirect/20").1.statusCode == 200)
            #expect(await Self.code { _ = try await bin.load("/relative-redirect/21") } == .httpTooManyRedirects)
            let target = "/redirect-to?url=%2Fanything&status_code="
            for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
                let (data, _) = try await bin.load("\(target)\(status)", "POST") { $0.httpBody = Data("a=b".utf8) }
                let echo = try JSONDecoder().decode(Echo.self, from: data)
                #expect(echo.method == method && echo.form == (method == "POST" ? ["a": "b"] : [:]))
            }
            let (set, _) = try await bin.load("/cookies/set?one=1&two=2")
            #expect(try Self.cookies(in: set) == ["one": "1", "two": "2"])
            let (deleted, _) = try await bin.load("/cookies/delete?one")
            #expect(try Self.cookies(in: deleted) == ["two": "2"])
            let stored = bin.session.configuration.httpCookieStorage?.cookies(for: bin.url("/"))
            #expect(stored?.map(\.name) == ["two"])
        }
    }

    private static func code(_ load: () async throws -> Void) async -> URLError.Code? {
        do {
            try await load()
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    private static func cookies(in data: Data) throws -> [String: String] {
        try JSONDecoder().decode([String: [String: String]].self, from: data)["cookies"] ?? [:]
    }

    @Test("§9: Basic, Digest with three algorithms, and a wrong password")
    func authentication() async throws {
        try await HTTPBin.run { bin in
            let paths = [
                "/basic-auth/ann/secret", "/digest-auth/auth/ann/secret", "/digest-auth/auth/ann/secret/SHA-256",
                "/digest-auth/auth/ann/secret/SHA-512",
            ]
            for path in paths {
                let answers = PasswordDelegate("secret")
                // Use a new session for each path. A session that had used a credential on one path would also send it
                // with requests for other paths.
                let (data, response) = try await HTTPBin.newSession().data(from: bin.url(path), delegate: answers)
                let isUnknown = path.hasSuffix("SHA-512")
                // RFC 7616 defines SHA-512/256, but not SHA-512.
                #expect((response as? HTTPURLResponse)?.statusCode == (isUnknown ? 401 : 200), "\(path)")
                #expect(String(decoding: data, as: UTF8.self).contains("\"ann\"") == !isUnknown)
                #expect(answers.count == (isUnknown ? 0 : 1), "\(path)")
            }
            for path in paths.prefix(2) {
                let answers = PasswordDelegate("wrong")
                let (_, response) = try await HTTPBin.newSession().data(from: bin.url(path), delegate: answers)
                #expect((response as? HTTPURLResponse)?.statusCode == 401)
                #expect(answers.count == 2)
            }
        }
    }
}

/// A running httpbin server, and a session to load from it.
struct HTTPBin {
    static let python = "/usr/bin/python3"
    static let isInstalled =
        FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/httpbin") || Interop.mustRun

    let port: Int
    let session = newSession()

    static func run(_ body: (HTTPBin) async throws -> Void) async throws {
        try await Scratch.run { scratch in
            let server = try scratch.startProgram(python, ["-W", "ignore", "-c", script])
            let bin = HTTPBin(port: try await HTTPPeer.port(of: server))
            defer { bin.session.invalidateAndCancel() }
            try await body(bin)
        }
    }

    static func newSession() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 36_000
        configuration.connectionProxyDictionary = [:]
        configuration.urlCache = nil
        return URLSession(configuration: configuration)
    }

    func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(port)\(path)")! }

    func load(
        _ path: String, _ method: String = "GET", _ change: (inout URLRequest) -> Void = { _ in }
    ) async throws -> (Data, HTTPURLResponse) {
        var request = URLRequest(url: url(path))
        request.httpMethod = method
        change(&request)
        let (data, response) = try await session.data(for: request)
        return (data, try #require(response as? HTTPURLResponse))
    }

    private static let script = #"""
        from werkzeug.serving import WSGIRequestHandler, make_server
        from httpbin import app
        class Handler(WSGIRequestHandler):
            protocol_version = "HTTP/1.1"
            def log(self, *words): pass
        server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler)
        print(server.port, flush=True)
        server.serve_forever()
        """#
}

/// A delegate that answers at most two password challenges for the user `ann`, and counts its answers.
private final class PasswordDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let password: String
    private let answered = Mutex(0)

    init(_ password: String) { self.password = password }

    var count: Int { answered.withLock { $0 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.previousFailureCount < 2 else { return (.performDefaultHandling, nil) }
        answered.withLock { $0 += 1 }
        return (.useCredential, URLCredential(user: "ann", password: password, persistence: .none))
    }
}
