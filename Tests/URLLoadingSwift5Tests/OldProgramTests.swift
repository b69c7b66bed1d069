// Tests with source code as people wrote it for Apple platforms before Swift 6: the classes are not Sendable, and the
// handlers are not @Sendable.
import CausewayURLLoading
import Foundation
import Testing

/// A mock URL protocol, as in most test suites.
class StubProtocol: URLProtocol, @unchecked Sendable {
    static var handler: ((URLRequest) throws -> (HTTPURLResponse, Data))?

    override class func canInit(with request: URLRequest) -> Bool { return request.url?.host == "stub.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { return request }

    override func startLoading() {
        guard let handler = StubProtocol.handler else { return }
        do {
            let (response, data) = try handler(request)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: data)
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    override func stopLoading() {}
}

/// A delegate whose handlers are not declared `@Sendable`.
class OldDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    var received = Data()
    var calls: [String] = []
    var done: (() -> Void)?

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: Error?) { calls.append("invalid") }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        calls.append("response")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        calls.append("data")
        received.append(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.performDefaultHandling, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        calls.append("redirect")
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        calls.append("file")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        calls.append("complete")
        done?()
    }
}

/// Fake session and task classes, like those in programs that test without a network.
class FakeTask: URLSessionDataTask, @unchecked Sendable {
    private let closure: () -> Void

    init(closure: @escaping () -> Void) { self.closure = closure }

    override func resume() { closure() }
}

class FakeSession: URLSession, @unchecked Sendable {
    var data: Data?

    override init() { super.init() }

    override func dataTask(
        with url: URL, completionHandler: @escaping (Data?, URLResponse?, Error?) -> Void
    ) -> URLSessionDataTask {
        let data = self.data
        return FakeTask { completionHandler(data, nil, nil) }
    }
}

@Suite("Programs in Swift 5 mode", .serialized)
struct OldProgramTests {
    @Test("A stub answers a completion handler")
    func stub() async {
        StubProtocol.handler = { request in
            (HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!, Data("{}".utf8))
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [StubProtocol.self]
        let session = URLSession(configuration: configuration)
        let text: String = await withCheckedContinuation { continuation in
            let task = session.dataTask(with: URL(string: "https://stub.test/a")!) { data, response, error in
                guard let http = response as? HTTPURLResponse, (200...299).contains(http.statusCode), let data = data
                else { return continuation.resume(returning: "failed") }
                continuation.resume(returning: String(data: data, encoding: .utf8)!)
            }
            task.resume()
        }
        #expect(text == "{}")
    }

    @Test("Methods with handlers that are not @Sendable implement the requirements")
    func oldDelegate() async {
        let delegate = OldDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: OperationQueue())
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            delegate.done = { continuation.resume() }
            session.dataTask(with: URL(string: "data:,abc")!).resume()
        }
        #expect(delegate.calls == ["response", "data", "complete"])
        #expect(delegate.received == Data("abc".utf8))
        session.finishTasksAndInvalidate()
    }

    @Test("Doubles of session and task")
    func doubles() {
        let session = FakeSession()
        session.data = Data([1])
        var got: Data?
        let task = session.dataTask(with: URL(string: "http://x")!) { data, _, _ in got = data }
        task.resume()
        #expect(got == Data([1]))
    }

    @Test("Errors are examined in every usual way")
    func errors() async {
        do {
            _ = try await URLSession.shared.data(from: URL(string: "x-none:")!)
            Issue.record("no error")
        } catch let error as URLError where error.code == .unsupportedURL {
            #expect((error as NSError).domain == NSURLErrorDomain)
        } catch {
            Issue.record("another error")
        }
    }

    @Test("Requests, cookies and responses as in old programs")
    func values() {
        var request = URLRequest(
            url: URL(string: "https://example.com/")!, cachePolicy: .reloadIgnoringCacheData, timeoutInterval: 10)
        request.httpMethod = "POST"
        request.addValue("application/json", forHTTPHeaderField: "Content-Type")
        let mutable = (request as NSURLRequest).mutableCopy() as! NSMutableURLRequest
        mutable.setValue("text/plain", forHTTPHeaderField: "content-type")
        #expect((mutable as URLRequest).allHTTPHeaderFields == ["Content-Type": "text/plain"])
        let cookie = HTTPCookie(properties: [
            .domain: "example.com", .path: "/", .name: "a", .value: "b", .secure: true,
        ])!
        let storage = URLSessionConfiguration.ephemeral.httpCookieStorage!
        storage.setCookie(cookie)
        #expect(HTTPCookie.requestHeaderFields(with: storage.cookies(for: request.url!)!) == ["Cookie": "a=b"])
        let space = URLProtectionSpace(
            host: "example.com", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        #expect(space.receivesCredentialSecurely)
    }
}
