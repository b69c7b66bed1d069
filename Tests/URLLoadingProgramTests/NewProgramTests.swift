// Tests programs written as for Apple platforms in Swift 6 mode.
import CausewayURLLoading
import Foundation
import Synchronization
import Testing

/// A client with an injected session.
struct Client {
    struct Item: Codable, Equatable { var name: String }

    var session: URLSession = .shared

    func item() async throws -> Item {
        var request = URLRequest(url: URL(string: "https://api.test/item")!)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse, http.statusCode == 200 else {
            throw URLError(.badServerResponse)
        }
        return try JSONDecoder().decode(Item.self, from: data)
    }
}

/// A mock with state behind a lock.
final class APIProtocol: URLProtocol, @unchecked Sendable {
    static let answers = Mutex<[String: (Int, Data)]>([:])

    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "api.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url, let (status, data) = Self.answers.withLock({ $0[url.path] }),
            let response = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/2", headerFields: ["X": "y"])
        else {
            client?.urlProtocol(self, didFailWithError: URLError(.fileDoesNotExist))
            return
        }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: data)
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

/// A delegate object that belongs to the main actor.
@MainActor
final class Model: NSObject {
    var progress = 0.0
    var text = ""

    func load(_ url: URL) async throws {
        let (bytes, response) = try await URLSession.shared.bytes(from: url)
        let total = response.expectedContentLength
        var received: Int64 = 0
        for try await byte in bytes {
            received += 1
            text.unicodeScalars.append(UnicodeScalar(byte))
            progress = Double(received) / Double(total)
        }
    }
}

/// A delegate for one task that implements the `async` versions of the methods.
final class TaskDelegate: NSObject, URLSessionTaskDelegate {
    let metrics = Mutex<URLSessionTaskMetrics?>(nil)

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {}

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        (.performDefaultHandling, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.withLock { $0 = metrics }
    }
}

/// A cookie storage subclass as in a program. It counts the cookies that are stored.
final class CountingCookies: HTTPCookieStorage, @unchecked Sendable {
    let count = Mutex(0)

    override func setCookie(_ cookie: HTTPCookie) {
        count.withLock { $0 += 1 }
        super.setCookie(cookie)
    }
}

@Suite("Programs in Swift 6 mode", .serialized)
struct NewProgramTests {
    func session() -> URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [APIProtocol.self] + (configuration.protocolClasses ?? [])
        return URLSession(configuration: configuration)
    }

    @Test("A client decodes what a mock answers, and fails on an error status")
    func client() async throws {
        let client = Client(session: session())
        APIProtocol.answers.withLock { $0["/item"] = (200, Data(#"{"name":"x"}"#.utf8)) }
        #expect(try await client.item() == Client.Item(name: "x"))
        APIProtocol.answers.withLock { $0["/item"] = (500, Data()) }
        await #expect(throws: URLError(.badServerResponse)) { try await client.item() }
        APIProtocol.answers.withLock { $0["/item"] = nil }
        await #expect { try await client.item() } throws: { ($0 as? URLError)?.code == .fileDoesNotExist }
    }

    @Test("A model of the main actor reads bytes")
    func model() async throws {
        let model = await Model()
        try await model.load(URL(string: "data:,abc")!)
        let (text, progress) = await (model.text, model.progress)
        #expect(text == "abc" && progress == 1)
    }

    @Test("The delegate of a task gets its metrics")
    func taskDelegate() async throws {
        let delegate = TaskDelegate()
        let (data, _) = try await URLSession.shared.data(
            for: URLRequest(url: URL(string: "data:,abc")!), delegate: delegate)
        #expect(data.count == 3)
        #expect(delegate.metrics.withLock { $0?.transactionMetrics.count } == 1)
    }

    @Test("Tasks run side by side in a group")
    func group() async throws {
        let session = session()
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<50 {
                group.addTask { try await session.data(from: URL(string: "data:,\(number)")!).0.count }
            }
            return try await group.reduce(0, +)
        }
        #expect(total == 10 + 40 * 2)
    }

    @Test("Subclasses of stores")
    func subclasses() throws {
        let configuration = URLSessionConfiguration.ephemeral
        let cookies = CountingCookies()
        configuration.httpCookieStorage = cookies
        let cookie = HTTPCookie(properties: [.domain: "d", .path: "/", .name: "n", .value: "v"])
        URLSession(configuration: configuration).configuration.httpCookieStorage?.setCookie(try #require(cookie))
        #expect(cookies.count.withLock { $0 } == 1)
    }

    @Test("Values cross isolation")
    func sendable() async {
        let request = URLRequest(url: URL(string: "http://example.com")!)
        let copy = await Task.detached { request }.value
        #expect(copy == request)
    }
}
