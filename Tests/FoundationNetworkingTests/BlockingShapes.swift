// Completion handlers, queues, operations and NSURLConnection, as in programs older than async functions.
import Dispatch
import Foundation
import FoundationNetworking
import Testing

/// Shape 43: a completion handler with a `Result`.
extension URLSession {
    fileprivate func load(_ url: URL, _ completion: @escaping @Sendable (Result<String, any Error>) -> Void)
        -> URLSessionDataTask
    {
        let task = dataTask(with: url) { data, response, error in
            if let error { return completion(.failure(error)) }
            guard let data, let http = response as? HTTPURLResponse, 200..<300 ~= http.statusCode else {
                return completion(.failure(URLError(.badServerResponse)))
            }
            completion(.success(String(decoding: data, as: UTF8.self)))
        }
        task.resume()
        return task
    }
}

/// Test shape 44: an `Operation` that ends when its URL session task ends.
private final class LoadOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var isLoading = false
    private var isDone = false
    private let makeTask: (LoadOperation) -> URLSessionTask
    private(set) var text: String?

    init(_ url: URL, _ session: URLSession) {
        makeTask = { operation in
            session.dataTask(with: url) { data, _, _ in
                operation.finish(data.map { String(decoding: $0, as: UTF8.self) })
            }
        }
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { isLoading } }
    override var isFinished: Bool { lock.withLock { isDone } }

    override func start() {
        willChangeValue(forKey: "isExecuting")
        lock.withLock { isLoading = true }
        didChangeValue(forKey: "isExecuting")
        makeTask(self).resume()
    }

    private func finish(_ text: String?) {
        self.text = text
        willChangeValue(forKey: "isFinished")
        lock.withLock {
            isLoading = false
            isDone = true
        }
        didChangeValue(forKey: "isFinished")
    }
}

/// Test shape 45: a delegate of an `NSURLConnection`, which is called in a run loop.
private final class ConnectionDelegate: NSObject, NSURLConnectionDataDelegate {
    var response: URLResponse?
    var data = Data()
    var error: Error?
    var isDone = false

    func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {
        self.response = response
        data.removeAll()
    }

    func connection(_ connection: NSURLConnection, didReceive data: Data) { self.data.append(data) }

    func connection(_ connection: NSURLConnection, didFailWithError error: Error) {
        self.error = error
        isDone = true
    }

    func connectionDidFinishLoading(_ connection: NSURLConnection) { isDone = true }
}

@Suite("Shapes: handlers, operations and connections", .serialized)
struct BlockingShapes {
    @Test("43: a handler with a Result, awaited by a semaphore", arguments: Place.tested)
    func semaphore(_ place: Place) {
        let origin = Origin(place) { asked in asked.path == "/bad" ? .text("", status: 500) : .text("good") }
        let session = origin.session()
        var texts: [String] = []
        for path in ["/good", "/bad"] {
            let done = DispatchSemaphore(value: 0)
            let seen = Box("")
            _ = session.load(origin.url(path)) { result in
                seen.change { $0 = (try? result.get()) ?? "failed" }
                done.signal()
            }
            done.wait()
            texts.append(seen.current)
        }
        #expect(texts == ["good", "failed"])
    }

    @Test("44: operations in a queue, one after the other", arguments: Place.tested)
    func operations(_ place: Place) {
        let origin = Origin(place) { asked in .text(asked.path) }
        let session = origin.session()
        let queue = OperationQueue()
        let operations = (0..<3).map { LoadOperation(origin.url("/\($0)"), session) }
        for (earlier, later) in zip(operations, operations.dropFirst()) { later.addDependency(earlier) }
        queue.addOperations(operations, waitUntilFinished: true)
        #expect(operations.map(\.text) == ["/0", "/1", "/2"])
        #expect(origin.asked.map(\.path) == ["/0", "/1", "/2"])
    }

    @Test("45: a connection with a delegate in a run loop", arguments: Place.tested)
    func connection(_ place: Place) async {
        let result = await onThread { () -> (String, Int, Bool) in
            URLProtocol.registerClass(OriginProtocol.self)
            let origin = Origin(place) { _ in Answer(status: 201, pieces: [Data("a".utf8), Data("b".utf8)]) }
            let delegate = ConnectionDelegate()
            let connection = NSURLConnection(
                request: Self.unhurried(origin.url), delegate: delegate, startImmediately: true)
            while !delegate.isDone { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) }
            withExtendedLifetime(connection) {}
            return (
                String(decoding: delegate.data, as: UTF8.self),
                (delegate.response as? HTTPURLResponse)?.statusCode ?? 0,
                delegate.error == nil
            )
        }
        #expect(result == ("ab", 201, true))
    }

    @Test("46: a synchronous request of a connection", arguments: Place.tested)
    func synchronous(_ place: Place) async throws {
        URLProtocol.registerClass(OriginProtocol.self)
        let origin = Origin(place) { _ in .text("sync") }
        let text = await onThread { () -> String in
            var response: URLResponse?
            let data = try? NSURLConnection.sendSynchronousRequest(Self.unhurried(origin.url), returning: &response)
            return data.map {
                String(decoding: $0, as: UTF8.self) + " \((response as? HTTPURLResponse)?.statusCode ?? 0)"
            } ?? "failed"
        }
        #expect(text == "sync 200")
    }

    @Test("47: an asynchronous request of a connection calls back on a queue", arguments: Place.tested)
    func asynchronous(_ place: Place) async {
        URLProtocol.registerClass(OriginProtocol.self)
        let origin = Origin(place) { _ in .text("async") }
        let queue = OperationQueue()
        let text = await withCheckedContinuation { continuation in
            NSURLConnection.sendAsynchronousRequest(Self.unhurried(origin.url), queue: queue) { _, data, _ in
                let place = OperationQueue.current === queue ? "queue" : "elsewhere"
                continuation.resume(returning: "\(data.map { String(decoding: $0, as: UTF8.self) } ?? "") \(place)")
            }
        }
        #expect(text == "async queue")
    }

    @Test("48: a group waits for many tasks")
    func group() {
        let origin = Origin { asked in asked.path == "/3" ? .failing(.cannotFindHost) : .text("x") }
        let session = origin.session()
        let group = DispatchGroup()
        let failures = Box(0)
        for number in 0..<5 {
            group.enter()
            session.dataTask(with: origin.url("/\(number)")) { _, _, error in
                if (error as? URLError)?.code == .cannotFindHost { failures.change { $0 += 1 } }
                group.leave()
            }.resume()
        }
        group.wait()
        #expect(failures.current == 1)
    }

    @Test("49: tasks of a session are listed and cancelled by their description")
    func descriptions() async {
        let session = URLSession(configuration: SilentProtocol.configuration)
        for name in ["a", "b"] {
            let task = session.dataTask(with: URL(string: "http://silent.test/")!)
            task.taskDescription = name
            task.resume()
        }
        await session.allTasks.first { $0.taskDescription == "a" }?.cancel()
        while await session.allTasks.count > 1 { await Task.yield() }
        #expect(await session.tasks.0.map(\.taskDescription) == ["b"])
    }

    /// Returns a request with a long timeout. A connection has no configuration, and the default timeout of 60 seconds
    /// can end a test on a busy computer.
    private static func unhurried(_ url: URL) -> URLRequest { URLRequest(url: url, timeoutInterval: 3_600) }

    /// Runs a function on a separate thread. This thread may block, and has a run loop.
    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
