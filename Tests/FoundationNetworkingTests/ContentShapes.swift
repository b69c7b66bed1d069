// Typical program code for uploads, caching, cookies and progress, and for requests and errors.
import Foundation
import FoundationNetworking
import Testing

/// Program shape 32: a multipart body (RFC 7578).
private struct MultipartBody {
    let boundary = "boundary-\(UUID().uuidString)"
    private var content = Data()

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    mutating func add(_ name: String, _ value: String) { add(name, filename: nil, type: nil, Data(value.utf8)) }

    mutating func add(_ name: String, filename: String?, type: String?, _ data: Data) {
        content.append(Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"".utf8))
        if let filename { content.append(Data("; filename=\"\(filename)\"".utf8)) }
        if let type { content.append(Data("\r\nContent-Type: \(type)".utf8)) }
        content.append(Data("\r\n\r\n".utf8))
        content.append(data)
        content.append(Data("\r\n".utf8))
    }

    var data: Data { content + Data("--\(boundary)--\r\n".utf8) }
}

/// Program shape 35: a client that stores entity tags together with content. If the server responds with 304, the
/// client uses the stored content.
private actor TagClient {
    private var known: [URL: (tag: String, data: Data)] = [:]
    let session: URLSession

    init(_ session: URLSession) { self.session = session }

    func data(from url: URL) async throws -> Data {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        if let tag = known[url]?.tag { request.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse else { return data }
        if http.statusCode == 304, let old = known[url] { return old.data }
        if let tag = http.value(forHTTPHeaderField: "ETag") { known[url] = (tag, data) }
        return data
    }
}

/// Shape 36: interceptors in a chain. Each of them can act before and after the request.
private protocol Interceptor: Sendable {
    func intercept(_ request: URLRequest, next: @Sendable (URLRequest) async throws -> (Data, URLResponse)) async throws
        -> (Data, URLResponse)
}

private struct Signing: Interceptor {
    func intercept(
        _ request: URLRequest, next: @Sendable (URLRequest) async throws -> (Data, URLResponse)
    ) async throws -> (Data, URLResponse) {
        var request = request
        let sum = (request.httpBody ?? Data()).reduce(0) { ($0 + Int($1)) % 251 }
        request.setValue("sum-\(sum)", forHTTPHeaderField: "X-Signature")
        return try await next(request)
    }
}

private struct Logging: Interceptor {
    let lines: Box<[String]>

    func intercept(
        _ request: URLRequest, next: @Sendable (URLRequest) async throws -> (Data, URLResponse)
    ) async throws -> (Data, URLResponse) {
        let result = try await next(request)
        lines.change { $0.append("\(request.httpMethod ?? "-") \((result.1 as? HTTPURLResponse)?.statusCode ?? 0)") }
        return result
    }
}

private func load(_ request: URLRequest, _ chain: [any Interceptor], _ session: URLSession) async throws -> (
    Data, URLResponse
) {
    guard let first = chain.first else { return try await session.data(for: request) }
    return try await first.intercept(request) { try await load($0, Array(chain.dropFirst()), session) }
}

/// Client design 37: writes a request as a curl command.
extension URLRequest {
    fileprivate var curl: String {
        var words = ["curl", "-X", httpMethod ?? "GET"]
        for (name, value) in (allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            words += ["-H", "'\(name): \(value)'"]
        }
        if let httpBody { words += ["-d", "'\(String(decoding: httpBody, as: UTF8.self))'"] }
        return (words + [url?.absoluteString ?? ""]).joined(separator: " ")
    }
}

/// Client design 38: converts errors to short messages.
private func explanation(_ error: any Error) -> String {
    switch error {
    case URLError.notConnectedToInternet, URLError.networkConnectionLost: "offline"
    case let error as URLError where error.code == .cancelled: "cancelled"
    case let error as URLError: "url error \(error.errorCode)"
    default: "other"
    }
}

@Suite("Shapes: content, stores and values")
struct ContentShapes {
    @Test("32: a multipart upload", arguments: Place.tested)
    func multipart(_ place: Place) async throws {
        let origin = Origin(place) { asked in
            let boundary = asked.field("Content-Type")?.components(separatedBy: "boundary=").last ?? "-"
            return .text(
                "\(String(decoding: asked.body, as: UTF8.self).components(separatedBy: "--\(boundary)").count)")
        }
        var body = MultipartBody()
        body.add("title", "holiday")
        body.add("photo", filename: "a.png", type: "image/png", Data(repeating: 0x41, count: 2_000))
        var request = URLRequest(url: origin.url)
        request.httpMethod = "POST"
        request.setValue(body.contentType, forHTTPHeaderField: "Content-Type")
        let (data, _) = try await origin.session().upload(for: request, from: body.data)
        #expect(String(decoding: data, as: UTF8.self) == "4")
        #expect(origin.asked.first?.body == body.data)
    }

    @Test("33: a form, and an upload from a file", arguments: Place.tested)
    func form(_ place: Place) async throws {
        let origin = Origin(place) { asked in Answer(pieces: [asked.body]) }
        var parts = URLComponents()
        parts.queryItems = [URLQueryItem(name: "user", value: "a@b.c"), URLQueryItem(name: "pass", value: "x y")]
        var request = URLRequest(url: origin.url)
        request.httpMethod = "POST"
        request.httpBody = parts.percentEncodedQuery.map { Data($0.utf8) }
        let (form, _) = try await origin.session().data(for: request)
        #expect(String(decoding: form, as: UTF8.self) == "user=a@b.c&pass=x%20y")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(repeating: 7, count: 50_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        request.httpBody = nil
        let (echo, _) = try await origin.session().upload(for: request, fromFile: file)
        #expect(echo == Data(repeating: 7, count: 50_000))
    }

    @Test("34: a cache, asked first and then only", arguments: Place.tested)
    func cache(_ place: Place) async throws {
        let origin = Origin(place) { _ in .text("\(UUID())", fields: ["Cache-Control": "max-age=3600"]) }
        let configuration = origin.configuration
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        configuration.requestCachePolicy = .returnCacheDataElseLoad
        let session = URLSession(configuration: configuration)
        let first = try await session.data(from: origin.url).0
        while configuration.urlCache?.cachedResponse(for: URLRequest(url: origin.url)) == nil { await Task.yield() }
        #expect(try await session.data(from: origin.url).0 == first)
        let only = URLRequest(url: origin.url("/other"), cachePolicy: .returnCacheDataDontLoad)
        #expect(await failureCode { _ = try await session.data(for: only) } != nil)
        #expect(origin.asked.count == 1)
    }

    @Test("35: conditional requests of the program see 304", arguments: Place.tested)
    func tags(_ place: Place) async throws {
        let origin = Origin(place) { asked in
            asked.field("If-None-Match") == "\"1\"" ? Answer(status: 304) : .text("content", fields: ["ETag": "\"1\""])
        }
        let client = TagClient(origin.session())
        for _ in 0..<3 { #expect(try await client.data(from: origin.url) == Data("content".utf8)) }
        #expect(origin.asked.map { $0.field("If-None-Match") } == [nil, "\"1\"", "\"1\""])
    }

    @Test("36: a chain of interceptors", arguments: Place.tested)
    func interceptors(_ place: Place) async throws {
        let origin = Origin(place) { asked in .text(asked.field("X-Signature") ?? "-") }
        let lines = Box<[String]>([])
        var request = URLRequest(url: origin.url)
        request.httpMethod = "PUT"
        request.httpBody = Data([200, 100])
        let (data, _) = try await load(request, [Logging(lines: lines), Signing()], origin.session())
        #expect(String(decoding: data, as: UTF8.self) == "sum-49")
        #expect(lines.current == ["PUT 200"])
    }

    @Test("37: requests as values: in sets, copied, bridged and printed")
    func values() {
        let url = URL(string: "https://a.test/x")!
        var request = URLRequest(url: url)
        let copy = request
        request.httpMethod = "POST"
        request.httpBody = Data("k=v".utf8)
        request.addValue("a", forHTTPHeaderField: "X-List")
        request.addValue("b", forHTTPHeaderField: "x-list")
        #expect(copy.httpMethod == "GET")
        #expect(Set([request, copy, copy]).count == 2)
        #expect(request.value(forHTTPHeaderField: "X-LIST")?.filter { $0 != " " } == "a,b")
        #expect(
            request.curl.hasPrefix("curl -X POST -H 'X-List: a") && request.curl.hasSuffix("-d 'k=v' https://a.test/x"))
        let mutable = (request as NSURLRequest).mutableCopy() as! NSMutableURLRequest
        mutable.httpMethod = "PATCH"
        #expect((mutable as URLRequest).httpMethod == "PATCH")
        #expect((mutable as URLRequest).httpBody == Data("k=v".utf8))
    }

    @Test("38: errors are matched, explained and bridged")
    func errors() async throws {
        #expect(explanation(URLError(.notConnectedToInternet)) == "offline")
        #expect(explanation(URLError(.cancelled)) == "cancelled")
        #expect(explanation(CocoaError(.fileNoSuchFile)) == "other")
        let origin = Origin { _ in .failing(.timedOut) }
        do {
            _ = try await origin.session().data(from: origin.url)
            Issue.record("the load succeeded")
        } catch {
            #expect(explanation(error) == "url error -1001")
            #expect((error as NSError).domain == NSURLErrorDomain && (error as NSError).code == NSURLErrorTimedOut)
        }
    }

    @Test("39: cookies of a login are sent afterwards")
    func cookies() throws {
        let storage = HTTPCookieStorage()
        let url = URL(string: "https://shop.test/login")!
        let fields = ["Set-Cookie": "session=abc; Path=/; Secure; HttpOnly; SameSite=Lax"]
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
        storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        let stored = try #require(storage.cookies(for: url))
        #expect(HTTPCookie.requestHeaderFields(with: stored) == ["Cookie": "session=abc"])
        #expect(
            stored.first?.isHTTPOnly == true && stored.first?.isSecure == true
                && stored.first?.sameSitePolicy == .sameSiteLax)
        #expect(storage.cookies(for: URL(string: "http://shop.test/")!)?.isEmpty == true)
    }

    @Test("40: progress of a task inside the progress of a program", arguments: Place.tested)
    func progress(_ place: Place) async throws {
        let origin = Origin(place) { _ in Answer(fields: ["Content-Length": "4"], pieces: [Data("done".utf8)]) }
        let whole = Progress(totalUnitCount: 10)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let task = origin.session().dataTask(with: origin.url) { _, _, _ in continuation.resume() }
            whole.addChild(task.progress, withPendingUnitCount: 10)
            task.resume()
        }
        #expect(whole.fractionCompleted == 1)
    }

    @Test("41: resume data of a cancelled download; a broken one fails")
    func resumeData() async throws {
        let origin = Origin { _ in .text("x") }
        let session = origin.session()
        let task = session.downloadTask(with: origin.url)
        #expect(await task.cancelByProducingResumeData() == nil)
        #expect(await failureCode { _ = try await session.download(resumeFrom: Data("nonsense".utf8)) } != nil)
    }

    @Test("42: a background configuration keeps its identifier")
    func background() {
        let configuration = URLSessionConfiguration.background(withIdentifier: "a.b.c")
        configuration.isDiscretionary = true
        configuration.sessionSendsLaunchEvents = true
        #expect(configuration.identifier == "a.b.c")
        #expect(configuration.waitsForConnectivity)
        #expect(URLSession(configuration: configuration).configuration.identifier == "a.b.c")
    }
}
