import Foundation
import Synchronization
import Testing

@testable import CausewayURLLoading

@Suite("URLProtocol (§3, §4, §11, §19)")
struct ProtocolTests {
    @Test("A class of the configuration loads; stopLoading is called once")
    func loads() async throws {
        let session = MockProtocol.session("loads.mock") { mock in
            mock.respond(201, ["Content-Type": "text/plain"])
            mock.load("one ")
            mock.load("two")
            mock.finish()
        }
        let (data, response) = try await session.data(from: URL(string: "https://loads.mock/x")!)
        #expect(String(decoding: data, as: UTF8.self) == "one two")
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        while MockProtocol.stops.withLock({ $0["loads.mock"] }) == nil { await Task.yield() }
        #expect(MockProtocol.starts.withLock { $0["loads.mock"] } == 1)
        #expect(MockProtocol.stops.withLock { $0["loads.mock"] } == 1)
    }

    @Test("An error of the program arrives unchanged")
    func fails() async {
        struct Broken: Error {}
        let session = MockProtocol.session("fails.mock") { mock in
            mock.client?.urlProtocol(mock, didFailWithError: Broken())
        }
        await #expect(throws: Broken.self) { try await session.data(from: URL(string: "http://fails.mock/")!) }
    }

    @Test(
        "An NSError of the program arrives as the Swift error of its domain",
        arguments: [NSURLErrorDomain, NSPOSIXErrorDomain, NSCocoaErrorDomain, "other"])
    func bridges(_ domain: String) async {
        let host = "bridges-\(domain.lowercased()).mock"
        let session = MockProtocol.session(host) { mock in
            let code = domain == NSURLErrorDomain ? NSURLErrorNotConnectedToInternet : 4
            let error = NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: "offline"])
            mock.client?.urlProtocol(mock, didFailWithError: error)
        }
        await #expect {
            try await session.data(from: URL(string: "http://\(host)/")!)
        } throws: { error in
            let object = error as NSError
            // A `POSIXError` cannot store a description.
            let keepsText = domain == NSPOSIXErrorDomain || object.localizedDescription == "offline"
            guard object.domain == domain, keepsText else { return false }
            switch domain {
            case NSURLErrorDomain: return (error as? URLError)?.code == .notConnectedToInternet
            case NSPOSIXErrorDomain: return (error as? POSIXError)?.code == .EINTR
            case NSCocoaErrorDomain: return (error as? CocoaError)?.code == .fileNoSuchFile
            default: return object.code == 4
            }
        }
    }

    @Test("Calls may come from any thread, and later ones are ignored after the end")
    func threads() async throws {
        let session = MockProtocol.session("threads.mock") { mock in
            let thread = Thread {
                mock.respond()
                for number in 0..<100 { mock.load("\(number),") }
                mock.finish()
                mock.load("late")
                mock.finish()
            }
            thread.start()
        }
        let (data, _) = try await session.data(from: URL(string: "http://threads.mock/")!)
        #expect(String(decoding: data, as: UTF8.self) == (0..<100).map { "\($0)," }.joined())
    }

    @Test("Cancelling stops the load")
    func cancels() async throws {
        let session = MockProtocol.session("hangs.mock") { mock in mock.respond() }
        let task = Task { try await session.data(from: URL(string: "http://hangs.mock/")!) }
        while MockProtocol.starts.withLock({ $0["hangs.mock"] }) == nil { await Task.yield() }
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
        while MockProtocol.stops.withLock({ $0["hangs.mock"] }) == nil { await Task.yield() }
        #expect(MockProtocol.stops.withLock { $0["hangs.mock"] } == 1)
    }

    @Test("A redirect starts another object; the limit is 20")
    func redirects() async throws {
        let session = MockProtocol.session("redirects.mock") { mock in
            guard let url = mock.request.url, let number = Int(url.lastPathComponent) else { return }
            guard number > 0 else {
                mock.respond()
                mock.load("arrived")
                return mock.finish()
            }
            let next = URLRequest(url: URL(string: "http://redirects.mock/\(number - 1)")!)
            let response = HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil)!
            mock.client?.urlProtocol(mock, wasRedirectedTo: next, redirectResponse: response)
        }
        let (data, response) = try await session.data(from: URL(string: "http://redirects.mock/20")!)
        #expect(data == Data("arrived".utf8) && response.url?.lastPathComponent == "0")
        await #expect { try await session.data(from: URL(string: "http://redirects.mock/21")!) } throws: {
            ($0 as? URLError)?.code == .httpTooManyRedirects
        }
    }

    @Test("An error after a redirect tells whether the redirect has changed the method", arguments: ["GET", "POST"])
    func redirectToNowhere(_ method: String) async throws {
        let host = "\(method.lowercased())-after-redirect.mock"
        let session = MockProtocol.session(host) { mock in
            guard let url = mock.request.url,
                let response = HTTPURLResponse(url: url, statusCode: 303, httpVersion: "HTTP/1.1", headerFields: [:])
            else { return }
            var next = URLRequest(url: URL(string: "unknown://nowhere")!)
            next.httpMethod = method
            mock.client?.urlProtocol(mock, wasRedirectedTo: next, redirectResponse: response)
        }
        var request = URLRequest(url: URL(string: "http://\(host)/")!)
        request.httpMethod = "POST"
        await #expect { try await session.data(for: request) } throws: { error in
            let error = error as? URLError
            return error?.code == .unsupportedURL && error?.isAfterMethodChange == (method == "GET")
        }
    }

    @Test("A refused redirect is the response")
    func refusesRedirect() async throws {
        final class Refuser: NSObject, URLSessionTaskDelegate, Sendable {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest
            ) async -> URLRequest? { nil }
        }
        let session = MockProtocol.session("refused.mock") { mock in
            let response = HTTPURLResponse(
                url: mock.request.url!, statusCode: 301, httpVersion: nil, headerFields: ["Location": "/x"])!
            let next = URLRequest(url: URL(string: "http://refused.mock/x")!)
            mock.client?.urlProtocol(mock, wasRedirectedTo: next, redirectResponse: response)
        }
        let (data, response) = try await session.data(
            from: URL(string: "http://refused.mock/")!, delegate: Refuser())
        #expect((response as? HTTPURLResponse)?.statusCode == 301 && data.isEmpty)
    }

    @Test("Registered classes load in the shared session only")
    func registered() async throws {
        final class Registered: URLProtocol, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "x-registered" }

            override func startLoading() {
                let response = URLResponse(
                    url: request.url!, mimeType: "a/b", expectedContentLength: 2, textEncodingName: nil)
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: Data("ok".utf8))
                client?.urlProtocolDidFinishLoading(self)
            }

            override func stopLoading() {}
        }
        let url = URL(string: "x-registered:a")!
        #expect(URLProtocol.registerClass(Registered.self))
        #expect(!URLProtocol.registerClass(NSObject.self))
        #expect(try await URLSession.shared.data(from: url).0 == Data("ok".utf8))
        let other = URLSession(configuration: .unhurried)
        await #expect(throws: URLError.self) { try await other.data(from: url) }
        URLProtocol.unregisterClass(Registered.self)
        await #expect(throws: URLError.self) { try await URLSession.shared.data(from: url) }
    }

    @Test("The fields of the session reach the object; properties survive the task")
    func fields() async throws {
        let session = MockProtocol.session(
            "fields.mock", configure: { $0.httpAdditionalHeaders = ["X-Session": "s"] }
        ) { mock in
            mock.respond()
            mock.load(mock.request.value(forHTTPHeaderField: "x-session") ?? "none")
            mock.load(URLProtocol.property(forKey: "k", in: mock.request) as? String ?? "none")
            mock.finish()
        }
        let request = NSMutableURLRequest(url: URL(string: "http://fields.mock/")!)
        URLProtocol.setProperty("p", forKey: "k", in: request)
        #expect(try await session.data(for: request as URLRequest).0 == Data("sp".utf8))
    }

    @Test("The idle timeout ends a load that makes no progress")
    func timesOut() async {
        let session = MockProtocol.session("slow.mock", configure: { $0.timeoutIntervalForRequest = 0.05 }) { _ in }
        let began = ContinuousClock.now
        await #expect { try await session.data(from: URL(string: "http://slow.mock/")!) } throws: {
            ($0 as? URLError)?.code == .timedOut
        }
        #expect(ContinuousClock.now - began >= .milliseconds(50))
    }

    @Test("The resource timeout ends a load that makes progress")
    func resourceTimesOut() async {
        let session = MockProtocol.session("endless.mock", configure: { $0.timeoutIntervalForResource = 0.05 }) {
            $0.respond()
        }
        await #expect { try await session.data(from: URL(string: "http://endless.mock/")!) } throws: {
            ($0 as? URLError)?.code == .timedOut
        }
    }

    @Test("A response that may be stored is stored after the delegate agrees")
    func caches() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let recorder = Recorder()
        let session = MockProtocol.session("cached.mock", delegate: recorder, configure: { $0.urlCache = cache }) {
            $0.respond(200, ["Cache-Control": "max-age=60"], policy: .allowed)
            $0.load("stored")
            $0.finish()
        }
        var request = URLRequest(url: URL(string: "http://cached.mock/")!)
        session.dataTask(with: request).resume()
        await recorder.end()
        #expect(recorder.events == ["created", "response", "data", "will cache", "metrics", "completed 3"])
        #expect(cache.cachedResponse(for: request)?.data == Data("stored".utf8))

        request.cachePolicy = .returnCacheDataDontLoad
        let other = URLSession(configuration: session.configuration)
        #expect(try await other.data(for: request).0 == Data("stored".utf8))
        #expect(MockProtocol.starts.withLock { $0["cached.mock"] } == 1)
        cache.removeAllCachedResponses()
        await #expect { try await other.data(for: request) } throws: {
            ($0 as? URLError)?.code == .cannotLoadFromNetwork
        }
    }

    @Test("A response with no-store is not stored")
    func doesNotCache() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = MockProtocol.session("private.mock", configure: { $0.urlCache = cache }) {
            $0.respond(200, ["Cache-Control": "no-store"], policy: .allowed)
            $0.load("secret")
            $0.finish()
        }
        _ = try await session.data(from: URL(string: "http://private.mock/")!)
        #expect(cache.currentMemoryUsage == 0)
    }

    @Test("A suspended task does not begin, and goes on after resume")
    func suspends() async {
        let recorder = Recorder()
        let session = MockProtocol.session("suspended.mock", delegate: recorder) {
            $0.respond()
            $0.load("x")
            $0.finish()
        }
        let task = session.dataTask(with: URL(string: "http://suspended.mock/")!)
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        #expect(task.state == .suspended || task.state == .completed)
        task.resume()
        await recorder.end()
        #expect(recorder.data == Data("x".utf8))
    }
}
