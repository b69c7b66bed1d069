import Foundation
import Synchronization
import Testing

@testable import CausewayURLLoading

@Suite("Data tasks (§4, §5, §16, §17, §18, §24)")
struct DataTaskTests {
    let hello = URL(string: "data:text/plain,hello")!

    @Test("The calls of a data task come in order")
    func order() async {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: hello)
        #expect(recorder.events == ["created"])
        #expect(task.state == .suspended && task.taskIdentifier == 1)
        task.resume()
        await recorder.end()
        #expect(recorder.events == ["created", "response", "data", "metrics", "completed 3"])
        #expect(recorder.data == Data("hello".utf8))
        #expect(recorder.error == nil)
        #expect(task.state == .completed && task.countOfBytesReceived == 5)
        #expect(task.response?.mimeType == "text/plain" && task.response?.expectedContentLength == 5)
    }

    @Test("A completion handler replaces the data methods; the metrics are still delivered")
    func handler() async {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        let text = await withCheckedContinuation { continuation in
            session.dataTask(with: hello) { data, response, error in
                #expect(OperationQueue.current === session.delegateQueue)
                continuation.resume(returning: String(decoding: data ?? Data(), as: UTF8.self))
            }.resume()
        }
        #expect(text == "hello")
        #expect(recorder.events == ["created", "metrics"])
    }

    @Test("A disposition of cancel ends the task")
    func dispositionCancels() async {
        let recorder = Recorder(disposition: .cancel)
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: hello).resume()
        await recorder.end()
        #expect(recorder.events == ["created", "response", "metrics", "completed 3"])
        #expect(recorder.error?.code == .cancelled)
    }

    @Test("A disposition turns the task into a download")
    func becomesDownload() async {
        let recorder = Recorder(disposition: .becomeDownload)
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: hello).resume()
        await recorder.end()
        #expect(
            recorder.events == [
                "created", "response", "became download", "wrote", "finished", "metrics", "completed 3",
            ])
        #expect(recorder.state.withLock { $0.file } == Data("hello".utf8))
    }

    @Test("A task of a session that only finishes its tasks becomes a download")
    func becomesDownloadAtTheEnd() async {
        let recorder = Recorder(disposition: .becomeDownload)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: queue)
        session.dataTask(with: hello).resume()
        session.finishTasksAndInvalidate()
        queue.isSuspended = false
        await recorder.end()
        let file = recorder.state.withLock { $0.file }
        #expect(recorder.error == nil && file == Data("hello".utf8))
    }

    @Test("A cancelled task that never ran completes")
    func cancelsSuspended() async {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: hello)
        task.cancel()
        task.cancel()
        await recorder.end()
        #expect(recorder.error?.code == .cancelled && recorder.error?.failingURL == hello)
        #expect(recorder.events == ["created", "metrics", "completed 3"])
        task.resume()
        #expect(task.state == .completed && (task.error as? URLError)?.code == .cancelled)
    }

    @Test(
        "URLs that cannot be loaded",
        arguments: [
            ("data:nothing", URLError.Code.badURL), ("http:///path", .badURL),
            ("https://a:0/", .badURL), ("ftp://example.com/", .unsupportedURL),
            ("x-unknown:a", .unsupportedURL), ("relative", .unsupportedURL),
            ("file:///no/such/file", .fileDoesNotExist),
            ("file:///tmp", .fileIsDirectory),
        ])
    func failures(text: String, code: URLError.Code) async throws {
        let session = URLSession(configuration: .unhurried)
        await #expect { try await session.data(from: URL(string: text)!) } throws: { error in
            (error as? URLError)?.code == code
        }
    }

    @Test(
        "A request without URL is not supported, and the error of a cancelled task has the text that programs compare")
    func textOfErrors() async throws {
        let session = URLSession(configuration: .unhurried)
        var request = URLRequest(url: hello)
        request.url = nil
        await #expect { try await session.data(for: request) } throws: { ($0 as? URLError)?.code == .unsupportedURL }
        let task = session.dataTask(with: hello)
        task.cancel()
        while task.error == nil { await Task.yield() }
        #expect(task.error?.localizedDescription == "cancelled")
    }

    @Test("Files are loaded piece by piece, with their media type")
    func files() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID()).json")
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: file)
        task.resume()
        await recorder.end()
        #expect(recorder.data == content)
        #expect(task.response?.mimeType == "application/json")
        #expect(task.response?.expectedContentLength == 300_000)
        #expect(task.countOfBytesReceived == 300_000 && task.countOfBytesExpectedToReceive == 300_000)
    }

    @Test("Metrics cover the task and its transaction")
    func metrics() async throws {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: hello).resume()
        await recorder.end()
        let metrics = try #require(recorder.state.withLock { $0.metrics })
        let transaction = try #require(metrics.transactionMetrics.first)
        #expect(metrics.transactionMetrics.count == 1 && metrics.redirectCount == 0)
        #expect(transaction.request.url == hello && transaction.response?.mimeType == "text/plain")
        #expect(transaction.resourceFetchType == .networkLoad)
        let start = try #require(transaction.fetchStartDate)
        let end = try #require(transaction.responseEndDate)
        #expect(metrics.taskInterval.start <= start && start <= end && end <= metrics.taskInterval.end)
        #expect(transaction.connectStartDate == nil && transaction.remotePort == nil)
    }

    @Test("The progress ends at 1")
    func progress() async {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: hello)
        #expect(task.progress.fractionCompleted == 0)
        task.resume()
        await recorder.end()
        #expect(task.progress.fractionCompleted == 1)
        #expect(task.progress === task.progress)
        let other = session.dataTask(with: hello)
        other.progress.cancel()
        while other.state != .completed { await Task.yield() }
        #expect((other.error as? URLError)?.code == .cancelled)
    }

    @Test("The progress of an upload has no sum that overflows, at any stated length")
    func hugeLength() async throws {
        let recorder = Recorder()
        let session = MockProtocol.session("huge-length.mock", delegate: recorder) { mock in
            mock.respond(200, ["Content-Length": "\(Int64.max)"])
            mock.load("a")
            mock.finish()
        }
        let request = URLRequest(url: try #require(URL(string: "http://huge-length.mock/")))
        let task = session.uploadTask(with: request, from: Data("b".utf8))
        let progress = task.progress
        task.resume()
        await recorder.end()
        #expect(progress.totalUnitCount == .max && progress.fractionCompleted == 1)
    }

    @Test("A task without a session keeps the values of the program")
    func detached() {
        final class Stub: URLSessionDataTask, @unchecked Sendable {
            let count = Mutex(0)

            override func resume() { count.withLock { $0 += 1 } }
        }
        let task = Stub()
        task.resume()
        task.taskDescription = "text"
        task.priority = 7
        #expect(task.count.withLock { $0 } == 1)
        #expect(task.taskDescription == "text" && task.priority == 1 && task.state == .suspended)
    }
}
