// Tests with mocks and other test doubles.
import Foundation
import FoundationNetworking
import Synchronization
import Testing

/// Example test double 24: a mock `URLProtocol` with a handler in a static property, as in most test suites.
private final class HandlerProtocol: URLProtocol, @unchecked Sendable {
    static let handler = Mutex<(@Sendable (URLRequest) throws -> (HTTPURLResponse, Data?))?>(nil)

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let handler = Self.handler.withLock({ $0 }) else { fatalError("no handler") }
        do {
            let (response, data) = try handler(request)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            if let data { client?.urlProtocol(self, didLoad: data) }
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    override func stopLoading() {}
}

/// Program shape 25: a session double that loads nothing, and the task that it creates.
private final class TaskDouble: URLSessionDataTask, @unchecked Sendable {
    private let body: @Sendable () -> Void
    private(set) var resumes = 0
    private(set) var isCancelled = false

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override var state: URLSessionTask.State { isCancelled ? .canceling : .running }
    override func resume() {
        resumes += 1
        body()
    }
    override func cancel() { isCancelled = true }
}

private final class SessionDouble: URLSession, @unchecked Sendable {
    var result: (Data?, URLResponse?, URLError?) = (nil, nil, nil)
    private(set) var requests: [URLRequest] = []
    private(set) var lastTask: TaskDouble?

    override init() {}

    override func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, Error?) -> Void
    ) -> URLSessionDataTask {
        requests.append(request)
        let result = result
        let task = TaskDouble { completionHandler(result.0, result.1, result.2) }
        lastTask = task
        return task
    }
}

/// Example test doubles 26: an upload task and a download task.
private final class UploadDouble: URLSessionUploadTask, @unchecked Sendable {
    override init() {}
    override func resume() {}
    override var countOfBytesSent: Int64 { 42 }
}

private final class DownloadDouble: URLSessionDownloadTask, @unchecked Sendable {
    override init() {}
    override func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        completionHandler(Data("resume".utf8))
    }
}

/// Test design 27: the program defines a session configuration once. A subclass of the configuration returns it.
extension URLSessionConfiguration {
    fileprivate static var mocked: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [OriginProtocol.self] + (configuration.protocolClasses ?? [])
        configuration.httpAdditionalHeaders = ["X-Client": "shapes", "Accept": "text/plain"]
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.timeoutIntervalForRequest = 3_600
        return configuration
    }
}

private final class ConfigurationDouble: URLSessionConfiguration, @unchecked Sendable {
    override class var `default`: URLSessionConfiguration { .mocked }
}

/// Shape 28: a response whose values are set by the test.
private final class ResponseDouble: HTTPURLResponse, @unchecked Sendable {
    override var statusCode: Int { 418 }
    override var suggestedFilename: String? { "teapot" }
}

/// Shape 29: spies, which are subclasses of the stores that record calls.
private final class CacheSpy: URLCache, @unchecked Sendable {
    let stored = Box<[URL]>([])

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if let url = dataTask.currentRequest?.url { stored.change { $0.append(url) } }
        super.storeCachedResponse(cachedResponse, for: dataTask)
    }
}

private final class CookieSpy: HTTPCookieStorage, @unchecked Sendable {
    let names = Box<[String]>([])

    override func setCookie(_ cookie: HTTPCookie) {
        names.change { $0.append(cookie.name) }
        super.setCookie(cookie)
    }
}

private final class CredentialSpy: URLCredentialStorage, @unchecked Sendable {
    override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        URLCredential(user: space.host, password: "p", persistence: .none)
    }
}

/// Program shape 30: a `URLProtocol` that records answers and replays them later. It marks its own requests with a
/// property, so that it does not handle them again.
private final class RecordingProtocol: URLProtocol, @unchecked Sendable {
    static let tape = Mutex<[URL: (HTTPURLResponse, Data)]>([:])
    private static let mark = "RecordingProtocol"
    private var inner: URLSessionDataTask?

    override class func canInit(with request: URLRequest) -> Bool { property(forKey: mark, in: request) == nil }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url else { return }
        if let (response, data) = Self.tape.withLock({ $0[url] }) { return play(response, data) }
        let marked = (request as NSURLRequest).mutableCopy() as! NSMutableURLRequest
        Self.setProperty(true, forKey: Self.mark, in: marked)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [RecordingProtocol.self, OriginProtocol.self]
        configuration.timeoutIntervalForRequest = 3_600
        inner = URLSession(configuration: configuration).dataTask(with: marked as URLRequest) { data, response, error in
            guard let data, let response = response as? HTTPURLResponse else {
                self.client?.urlProtocol(self, didFailWithError: error ?? URLError(.unknown))
                return
            }
            Self.tape.withLock { $0[url] = (response, data) }
            self.play(response, data)
        }
        inner?.resume()
    }

    override func stopLoading() { inner?.cancel() }

    private func play(_ response: HTTPURLResponse, _ data: Data) {
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: data)
        client?.urlProtocolDidFinishLoading(self)
    }
}

/// Program shape 31: a test double of the client, to test a protocol class without a session.
private final class ClientDouble: NSObject, URLProtocolClient, Sendable {
    let calls = Box<[String]>([])

    private func note(_ call: String) { calls.change { $0.append(call) } }

    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        note("redirect")
    }
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        note("cached")
    }
    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        note("response")
    }
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { note("data \(data.count)") }
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { note("finished") }
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: Error) { note("failed") }
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) { note("challenge") }
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) { note("cancelled") }
}

@Suite("Shapes: mocks and doubles", .serialized)
struct DoubleShapes {
    @Test("24: a handler in a static property, for answers and for errors")
    func handler() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [HandlerProtocol.self]
        configuration.timeoutIntervalForRequest = 3_600
        let session = URLSession(configuration: configuration)
        HandlerProtocol.handler.withLock {
            $0 = { request in
                guard request.httpMethod == "GET" else { throw URLError(.badServerResponse) }
                return (HTTPURLResponse(url: request.url!, statusCode: 204, httpVersion: nil, headerFields: nil)!, nil)
            }
        }
        let (data, response) = try await session.data(from: URL(string: "https://any.test/")!)
        #expect(data.isEmpty)
        #expect((response as? HTTPURLResponse)?.statusCode == 204)
        var request = URLRequest(url: URL(string: "https://any.test/")!)
        request.httpMethod = "DELETE"
        let refused = request
        #expect(await failureCode { _ = try await session.data(for: refused) } == .badServerResponse)
    }

    @Test("25: doubles of session and task")
    func session() {
        let session = SessionDouble()
        session.result = (Data("x".utf8), nil, nil)
        let seen = Box<Data?>(nil)
        let task = session.dataTask(with: URLRequest(url: URL(string: "https://any.test/")!)) { data, _, _ in
            seen.change { $0 = data }
        }
        task.resume()
        task.cancel()
        #expect(seen.current == Data("x".utf8))
        #expect(session.requests.count == 1)
        #expect(session.lastTask?.resumes == 1 && session.lastTask?.state == .canceling)
    }

    @Test("26: doubles of upload and download tasks")
    func tasks() async {
        #expect(UploadDouble().countOfBytesSent == 42)
        #expect(await DownloadDouble().cancelByProducingResumeData() == Data("resume".utf8))
    }

    @Test("27: configurations of the program", arguments: Place.tested)
    func configurations(_ place: Place) async throws {
        let origin = Origin(place) { asked in .text("\(asked.field("X-Client") ?? "-") \(asked.field("Accept") ?? "-")")
        }
        var request = URLRequest(url: origin.url)
        request.setValue("text/html", forHTTPHeaderField: "accept")
        let (data, _) = try await URLSession(configuration: ConfigurationDouble.default).data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "shapes text/html")
    }

    @Test("28: a response with faked values")
    func response() throws {
        let url = URL(string: "https://any.test/")!
        let response = try #require(
            ResponseDouble(url: url, statusCode: 200, httpVersion: nil, headerFields: ["A": "b"]))
        let general: URLResponse = response
        #expect((general as? HTTPURLResponse)?.statusCode == 418)
        #expect(general.suggestedFilename == "teapot")
        #expect(response.value(forHTTPHeaderField: "a") == "b")
    }

    @Test("29: spies of cache, cookies and credentials", arguments: Place.tested)
    func spies(_ place: Place) async throws {
        let origin = Origin(place) { _ in .text("x", fields: ["Cache-Control": "max-age=60"]) }
        let cache = CacheSpy(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let configuration = origin.configuration
        configuration.urlCache = cache
        _ = try await URLSession(configuration: configuration).data(from: origin.url)
        while cache.stored.current.isEmpty { await Task.yield() }
        #expect(cache.stored.current == [origin.url])
        let cookies = CookieSpy()
        cookies.setCookie(HTTPCookie(properties: [.name: "n", .value: "v", .path: "/", .domain: "a.test"])!)
        #expect(cookies.names.current == ["n"])
        #expect(cookies.cookies?.count == 1)
        let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)
        #expect(CredentialSpy().defaultCredential(for: space)?.user == "h")
    }

    @Test("30: a protocol that records and replays", arguments: Place.tested)
    func recording(_ place: Place) async throws {
        let origin = Origin(place) { _ in .text("taped") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [RecordingProtocol.self]
        configuration.timeoutIntervalForRequest = 3_600
        let session = URLSession(configuration: configuration)
        for _ in 0..<3 {
            #expect(String(decoding: try await session.data(from: origin.url).0, as: UTF8.self) == "taped")
        }
        #expect(origin.asked.count == 1)
    }

    @Test("31: a protocol class is tested without a session")
    func client() {
        let origin = Origin { _ in .text("four") }
        let client = ClientDouble()
        OriginProtocol(request: URLRequest(url: origin.url), cachedResponse: nil, client: client).startLoading()
        #expect(client.calls.current == ["response", "data 4", "finished"])
    }
}
