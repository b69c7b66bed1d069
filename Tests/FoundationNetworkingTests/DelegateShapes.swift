// Test programs that use session, task and download delegates.
import Foundation
import FoundationNetworking
import Synchronization
import Testing

/// Shape 14: one delegate for all tasks of a session, with a table by task identifier.
private final class SessionDelegate: NSObject, URLSessionDataDelegate {
    typealias Completion = @Sendable (Result<(Data, HTTPURLResponse?), any Error>) -> Void

    private struct Entry {
        var data = Data()
        var completion: Completion
    }

    private let entries = Mutex<[Int: Entry]>([:])

    func add(_ task: URLSessionTask, _ completion: @escaping Completion) {
        entries.withLock { $0[task.taskIdentifier] = Entry(completion: completion) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        entries.withLock { $0[dataTask.taskIdentifier]?.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        guard let entry = entries.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        entry.completion(error.map { .failure($0) } ?? .success((entry.data, task.response as? HTTPURLResponse)))
    }
}

/// Test shape 15: records which delegate methods are called, in order.
private final class OrderDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    let calls = Box<[String]>([])
    let ended: @Sendable () -> Void

    init(ended: @escaping @Sendable () -> Void = {}) { self.ended = ended }

    private func note(_ call: String) { calls.change { $0.append(call) } }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note("created") }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response")
        completionHandler(
            response.mimeType == "video/mp4" ? .becomeDownload : response.mimeType == "text/bad" ? .cancel : .allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
    {
        note("download")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { note("data") }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("cache")
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note("file \((try? Data(contentsOf: location).count) ?? -1)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        note("complete \((error as? URLError)?.code.rawValue ?? 0)")
        ended()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: Error?) { note("invalid") }
}

/// Example delegate 16: stores a download's file and progress.
private final class DownloadDelegate: NSObject, URLSessionDownloadDelegate {
    let destination = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let fractions = Box<[Double]>([])
    let continuation: CheckedContinuation<URL, any Error>

    init(_ continuation: CheckedContinuation<URL, any Error>) { self.continuation = continuation }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        fractions.change { $0.append(Double(totalBytesWritten) / Double(totalBytesExpectedToWrite)) }
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        try? FileManager.default.moveItem(at: location, to: destination)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        continuation.resume(with: error.map { .failure($0) } ?? .success(destination))
    }
}

/// Program shape 17: a delegate that supplies a body stream and observes the upload.
private final class UploadDelegate: NSObject, URLSessionDataDelegate {
    let asked = Box(0)
    let body: Data
    let received = Box(Data())
    let continuation: CheckedContinuation<String, any Error>

    init(_ body: Data, _ continuation: CheckedContinuation<String, any Error>) {
        self.body = body
        self.continuation = continuation
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        asked.change { $0 += 1 }
        completionHandler(InputStream(data: body))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        #expect(totalBytesSent <= Int64(body.count))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        received.change { $0.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        continuation.resume(
            with: error.map { .failure($0) } ?? .success(String(decoding: received.current, as: UTF8.self)))
    }
}

/// Shape 18: a task delegate that decides whether to follow redirects.
private final class RedirectPolicy: NSObject, URLSessionTaskDelegate, Sendable {
    let follows: Bool
    init(follows: Bool) { self.follows = follows }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        var next = request
        next.setValue("yes", forHTTPHeaderField: "X-Redirected")
        completionHandler(follows ? next : nil)
    }
}

/// Test shape 19: a delegate for one task that collects the task's metrics.
private final class MetricsCollector: NSObject, URLSessionTaskDelegate, Sendable {
    let metrics = Box<URLSessionTaskMetrics?>(nil)

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.change { $0 = metrics }
    }
}

/// Example delegate 20: pins public keys. The test calls the delegate directly, because its server has no certificate.
private final class PinningDelegate: NSObject, URLSessionDelegate, Sendable {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let trust = challenge.protectionSpace.serverTrust
        else { return completionHandler(.performDefaultHandling, nil) }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }
}

/// Program shape 21: a delegate that forwards calls to another delegate, which may not have all methods.
private final class ForwardingDelegate: NSObject, URLSessionDataDelegate {
    let next: URLSessionDataDelegate
    init(_ next: URLSessionDataDelegate) { self.next = next }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        next.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        next.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        next.urlSession(session, task: task, didCompleteWithError: error)
    }
}

@Suite("Shapes: delegates")
struct DelegateShapes {
    @Test("14: a table of tasks")
    func table() async throws {
        let origin = Origin { asked in asked.path == "/bad" ? .failing(.timedOut) : .text(asked.path) }
        let delegate = SessionDelegate()
        let session = origin.session(delegate: delegate)
        let results = await withTaskGroup(of: String.self) { group in
            for path in ["/a", "/b", "/bad"] {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        let task = session.dataTask(with: origin.url(path))
                        delegate.add(task) { result in
                            continuation.resume(
                                returning: (try? result.get()).map {
                                    String(decoding: $0.0, as: UTF8.self) + " \($0.1?.statusCode ?? 0)"
                                }
                                    ?? "failed")
                        }
                        task.resume()
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted()
        }
        #expect(results == ["/a 200", "/b 200", "failed"])
    }

    private func calls(of type: String, _ place: Place) async -> [String] {
        let origin = Origin(place) { _ in
            Answer(fields: ["Content-Type": type, "Content-Length": "3"], pieces: [Data("abc".utf8)])
        }
        let delegate = Box<OrderDelegate?>(nil)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let order = OrderDelegate { continuation.resume() }
            delegate.change { $0 = order }
            origin.session(delegate: order).dataTask(with: origin.url).resume()
        }
        return delegate.current?.calls.current ?? []
    }

    @Test(
        "15: the order of calls; a response that is cancelled, and one that becomes a download",
        arguments: Place.tested)
    func order(_ place: Place) async {
        #expect(
            await calls(of: "text/plain", place) == ["created", "response", "data", "cache", "metrics", "complete 0"])
        #expect(await calls(of: "text/bad", place) == ["created", "response", "metrics", "complete -999"])
        #expect(
            await calls(of: "video/mp4", place) == [
                "created", "response", "download", "file 3", "metrics", "complete 0",
            ])
    }

    @Test("16: a download is moved, and its progress never falls", arguments: Place.tested)
    func download(_ place: Place) async throws {
        let pieces = (0..<8).map { Data(repeating: UInt8($0), count: 1_000) }
        let origin = Origin(place) { _ in Answer(fields: ["Content-Length": "8000"], pieces: pieces) }
        let kept = Box<DownloadDelegate?>(nil)
        let file = try await withCheckedThrowingContinuation { continuation in
            let delegate = DownloadDelegate(continuation)
            kept.change { $0 = delegate }
            origin.session(delegate: delegate).downloadTask(with: origin.url).resume()
        }
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == pieces.reduce(Data(), +))
        let fractions = kept.current?.fractions.current ?? []
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
    }

    @Test("17: an upload of a stream that the delegate supplies", arguments: Place.tested)
    func upload(_ place: Place) async throws {
        let origin = Origin(place) { asked in .text("\(asked.method) \(asked.body.count)") }
        let text = try await withCheckedThrowingContinuation { continuation in
            let delegate = UploadDelegate(Data(repeating: 1, count: 100_000), continuation)
            var request = URLRequest(url: origin.url)
            request.httpMethod = "POST"
            origin.session(delegate: delegate).uploadTask(withStreamedRequest: request).resume()
        }
        #expect(text == "POST 100000")
    }

    @Test("18: redirects are followed with a changed request, or refused", arguments: Place.tested)
    func redirects(_ place: Place) async throws {
        let origin = Origin(place) { asked in
            asked.path == "/old"
                ? Answer(status: 302, fields: ["Location": "/new"]) : .text(asked.field("X-Redirected") ?? "no")
        }
        let (data, response) = try await origin.session().data(
            from: origin.url("/old"), delegate: RedirectPolicy(follows: true))
        #expect(String(decoding: data, as: UTF8.self) == "yes")
        #expect(response.url?.path == "/new")
        let (_, refused) = try await origin.session(delegate: RedirectPolicy(follows: false)).data(
            from: origin.url("/old"))
        #expect((refused as? HTTPURLResponse)?.statusCode == 302)
    }

    @Test("19: metrics of one task", arguments: Place.tested)
    func metrics(_ place: Place) async throws {
        let origin = Origin(place) { _ in .text("x") }
        let collector = MetricsCollector()
        _ = try await origin.session().data(from: origin.url, delegate: collector)
        let metrics = try #require(collector.metrics.current)
        #expect(metrics.transactionMetrics.count == 1)
        #expect(metrics.redirectCount == 0)
        #expect(metrics.transactionMetrics.first?.request.url == origin.url)
        #expect(metrics.taskInterval.duration >= 0)
    }

    @Test("20: pinning leaves other challenges to the system")
    func pinning() async {
        let space = URLProtectionSpace(
            host: "a.test", port: 443, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
            sender: ChallengeSender())
        let disposition = await withCheckedContinuation { continuation in
            PinningDelegate().urlSession(.shared, didReceive: challenge) { disposition, _ in
                continuation.resume(returning: disposition)
            }
        }
        #expect(disposition == .performDefaultHandling)
    }

    @Test("21: a delegate that forwards to one with fewer methods", arguments: Place.tested)
    func forwarding(_ place: Place) async throws {
        let origin = Origin(place) { _ in .text("forwarded") }
        let table = SessionDelegate()
        let session = origin.session(delegate: ForwardingDelegate(table))
        let text = await withCheckedContinuation { continuation in
            let task = session.dataTask(with: origin.url)
            table.add(task) { result in
                continuation.resume(returning: (try? result.get()).map { String(decoding: $0.0, as: UTF8.self) })
            }
            task.resume()
        }
        #expect(text == "forwarded")
    }

    @Test("22: an invalidated session releases its delegate after its last message", arguments: Place.tested)
    func invalidation(_ place: Place) async {
        let origin = Origin(place) { _ in .text("x") }
        weak var released: OrderDelegate?
        let calls: Box<[String]>
        do {
            let delegate = OrderDelegate()
            released = delegate
            calls = delegate.calls
            let session = origin.session(delegate: delegate)
            session.dataTask(with: origin.url).resume()
            session.finishTasksAndInvalidate()
        }
        while calls.current.last != "invalid" || released != nil { await Task.yield() }
        #expect(calls.current.suffix(2) == ["complete 0", "invalid"])
    }

    @Test("23: callbacks arrive on the delegate queue", arguments: Place.tested)
    func queue(_ place: Place) async {
        let origin = Origin(place) { _ in .text("x") }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let isRight = await withCheckedContinuation { continuation in
            origin.session(queue: queue).dataTask(with: origin.url) { _, _, _ in
                continuation.resume(returning: OperationQueue.current === queue)
            }.resume()
        }
        #expect(isRight)
    }
}

/// A challenge sender that ignores all answers.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
}
