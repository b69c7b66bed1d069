import Causeway
import CausewayWire
import Foundation
import Synchronization
import Testing

@testable import CausewayHTTP
@testable import CausewayURLLoading

@Suite("Behaviours in detail (§2, §4, §5, §11, §16, §19, §26)", .serialized)
struct BehaviourDetailTests {
    let hello = URL(string: "data:,hello")!

    @Test("§2: all tasks include stream and WebSocket tasks; the shared session has no delegate")
    func kinds() async throws {
        let session = URLSession(configuration: .unhurried)
        let stream = session.streamTask(withHostName: "h", port: 1)
        let socket = session.webSocketTask(with: try #require(URL(string: "ws://h/")))
        let data = session.dataTask(with: hello)
        #expect(await session.allTasks.isEmpty)
        // Mark the tasks as resumed without starting any load.
        for task in [stream, socket, data] { _ = task.core?.state.withLock { $0.life.resume() } }
        #expect(await Set(session.allTasks) == [stream, socket, data])
        let (ofData, uploads, downloads) = await session.tasks
        #expect(ofData == [data] && uploads.isEmpty && downloads.isEmpty)
        session.invalidateAndCancel()
        #expect(URLSession.shared.delegate == nil)
    }

    @Test("§4: a stream has an expected count only if the request states it")
    func streamCounts() {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: hello)
        request.httpBodyStream = InputStream(data: Data("abc".utf8))
        #expect(session.dataTask(with: request).countOfBytesExpectedToSend == NSURLSessionTransferSizeUnknown)
        request.setValue("3", forHTTPHeaderField: "Content-Length")
        #expect(session.dataTask(with: request).countOfBytesExpectedToSend == 3)
        #expect(session.uploadTask(withStreamedRequest: request).countOfBytesExpectedToSend == 3)
        for text in ["+3", "-3", "-0", "three"] {
            request.setValue(text, forHTTPHeaderField: "Content-Length")
            let task = session.uploadTask(withStreamedRequest: request)
            #expect(task.countOfBytesExpectedToSend == NSURLSessionTransferSizeUnknown)
        }
    }

    /// A delegate that stores the completion handler of the session's first question. The test calls the handler later.
    final class Holding: NSObject, URLSessionDataDelegate, Sendable {
        typealias Answer = @Sendable (URLSession.ResponseDisposition) -> Void
        let answer = Mutex<Answer?>(nil)
        let end = Mutex(false)

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping Answer
        ) {
            answer.withLock { $0 = completionHandler }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end.withLock { $0 = true }
        }
    }

    @Test("§3, §5: while the program holds a handler, only the resource timeout runs; the second answer is ignored")
    func heldHandler() async throws {
        let delegate = Holding()
        let session = URLSession(configuration: .unhurried, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: hello)
        task.resume()
        while delegate.answer.withLock({ $0 == nil }) { await Task.yield() }
        let core = try #require(task.core)
        #expect(core.state.withLock { $0.clock.deadline != nil && $0.clock.deadline == $0.clock.resourceDeadline })
        let answer = try #require(delegate.answer.withLock { $0 })
        answer(.allow)
        answer(.cancel)
        while !delegate.end.withLock({ $0 }) { await Task.yield() }
        #expect(task.error == nil && task.countOfBytesReceived == 5)
    }

    @Test("§11: the capacities of the shared cache")
    func sharedCache() {
        #expect(URLCache.shared.memoryCapacity == 4 << 20 && URLCache.shared.diskCapacity == 20 << 20)
    }

    @Test("§16: metrics name the protocol of the query that found the address")
    func resolution() throws {
        let url = try #require(URL(string: "http://example.com/"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        let phase = HTTPConnectionDetails.Phase(start: .seconds(1), end: .seconds(2))
        let rows: [(NWConnection.EstablishmentReport.Resolution.DNSProtocol, Int)] = [
            (.unknown, 0), (.udp, 1), (.tcp, 2), (.tls, 3), (.https, 4),
        ]
        for (name, number) in rows {
            var record = TransactionRecord(request: URLRequest(url: url))
            let details = HTTPConnectionDetails(
                isMultipath: true, resolution: HTTPConnectionDetails.Resolution(phase: phase, dnsProtocol: name))
            record.note(
                HTTPResponseHead(status: 200, reason: "OK"), response, HTTPConnectionInformation(details: details))
            let metrics = URLSessionTaskTransactionMetrics(record)
            #expect(metrics.domainResolutionProtocol.rawValue == number && metrics.isMultipath)
            let start = try #require(metrics.domainLookupStartDate)
            let end = try #require(metrics.domainLookupEndDate)
            #expect(end.timeIntervalSince(start).rounded() == 1)
        }
    }

    /// The method calls that the classes below have recorded.
    static let calls = Mutex<[String]>([])

    class Registered: URLProtocol, @unchecked Sendable {
        class var name: String { "first" }

        override class func canInit(with task: URLSessionTask) -> Bool {
            guard task.currentRequest?.url?.host == "registered.test" else { return false }
            BehaviourDetailTests.calls.withLock { $0.append("\(name) task") }
            return super.canInit(with: task)
        }

        override class func canInit(with request: URLRequest) -> Bool {
            guard request.url?.host == "registered.test" else { return false }
            BehaviourDetailTests.calls.withLock { $0.append("\(name) request") }
            return name == "first"
        }

        override class func canonicalRequest(for request: URLRequest) -> URLRequest {
            BehaviourDetailTests.calls.withLock { $0.append("\(name) canonical") }
            return request
        }

        override func startLoading() {
            guard let url = request.url else { return }
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocolDidFinishLoading(self)
        }
    }

    final class Later: Registered, @unchecked Sendable {
        override class var name: String { "later" }
    }

    @Test("§19: the class that was registered last is asked first, with the task, then with its request")
    func registered() async throws {
        for type in [Registered.self, Later.self] { #expect(URLProtocol.registerClass(type)) }
        defer { for type in [Registered.self, Later.self] { URLProtocol.unregisterClass(type) } }
        let url = try #require(URL(string: "http://registered.test/"))
        _ = try await URLSession.shared.data(from: url)
        let expected = ["later task", "later request", "first task", "first request", "first canonical"]
        #expect(Self.calls.withLock { $0 } == expected)
    }

    @Test("§26: an archive with the class name of Apple platforms can be read")
    func archives() throws {
        let url = try #require(URL(string: "http://example.com/"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 201, httpVersion: "HTTP/1.1", headerFields: ["A": "b"]))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.outputFormat = .xml
        archiver.encode(response, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        let text = String(decoding: archiver.encodedData, as: UTF8.self)
            .replacingOccurrences(of: "CausewayURLLoading.HTTPURLResponse", with: "NSHTTPURLResponse")
        #expect(text.contains(">NSHTTPURLResponse<"))
        let reader = try NSKeyedUnarchiver(forReadingFrom: Data(text.utf8))
        reader.setClass(HTTPURLResponse.self, forClassName: "NSHTTPURLResponse")
        let read = reader.decodeObject(of: HTTPURLResponse.self, forKey: NSKeyedArchiveRootObjectKey)
        #expect(read?.statusCode == 201 && read?.value(forHTTPHeaderField: "a") == "b")
    }
}
