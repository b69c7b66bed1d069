import Foundation
import Synchronization
import Testing

@testable import CausewayURLLoading

@Suite("NSURLConnection (§20)")
struct ConnectionTests {
    /// Records the delegate messages of a connection.
    final class OldRecorder: NSObject, NSURLConnectionDataDelegate, Sendable {
        let events = Mutex<[String]>([])
        /// The request to load instead of the first request; `nil` to load the first request.
        let replacement: URLRequest?

        init(replacement: URLRequest? = nil) {
            self.replacement = replacement
            super.init()
        }

        var hasEnded: Bool { events.withLock { $0.last == "finished" || $0.last?.hasPrefix("failed") == true } }

        func note(_ event: String) { events.withLock { $0.append(event) } }

        func connection(
            _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
        ) -> URLRequest? {
            note(response == nil ? "send" : "redirect")
            return replacement ?? request
        }

        func connection(_ connection: NSURLConnection, didReceive response: URLResponse) { note("response") }

        func connection(_ connection: NSURLConnection, didReceive data: Data) {
            note("data " + String(decoding: data, as: UTF8.self))
        }

        func connectionDidFinishLoading(_ connection: NSURLConnection) { note("finished") }

        func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {
            note("failed \((error as NSError).code)")
        }
    }

    let hello = URLRequest(url: URL(string: "data:,hello")!)

    @Test("The delegate is called in the run loop of the thread that starts")
    func runLoop() async {
        let recorder = OldRecorder()
        let request = hello
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread {
                let connection = NSURLConnection(request: request, delegate: recorder)
                while !recorder.hasEnded, RunLoop.current.run(mode: .default, before: .distantFuture) {}
                withExtendedLifetime(connection) {}
                continuation.resume()
            }.start()
        }
        #expect(recorder.events.withLock { $0 } == ["send", "response", "data hello", "finished"])
    }

    @Test("A queue takes the place of run loops, and the first request can be replaced")
    func queue() async {
        let recorder = OldRecorder(replacement: URLRequest(url: URL(string: "data:,other")!))
        let connection = NSURLConnection(request: hello, delegate: recorder, startImmediately: false)
        connection?.setDelegateQueue(OperationQueue())
        connection?.start()
        while !recorder.hasEnded { await Task.yield() }
        #expect(recorder.events.withLock { $0 } == ["send", "response", "data other", "finished"])
        #expect(connection?.originalRequest == hello)
    }

    @Test("Messages come one at a time and in order on a queue that is not serial")
    func concurrentQueue() async {
        let running = Atomic(0)
        let overlaps = Atomic(0)
        let numbers = Mutex<[Int]>([])
        let events = ConnectionEvents(NSObject())
        let queue = OperationQueue()
        events.use(queue)
        await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
            for number in 0..<1_000 {
                events.add { _ in
                    if running.add(1, ordering: .sequentiallyConsistent).oldValue != 0 {
                        overlaps.add(1, ordering: .relaxed)
                    }
                    sched_yield()
                    numbers.withLock { $0.append(number) }
                    running.subtract(1, ordering: .sequentiallyConsistent)
                }
            }
            events.addLast { _ in ended.resume() }
        }
        #expect(overlaps.load(ordering: .relaxed) == 0)
        #expect(numbers.withLock { $0 } == Array(0..<1_000))
    }

    @Test("A failure is the last message")
    func failure() async {
        let recorder = OldRecorder()
        let request = URLRequest(url: URL(string: "ftp://example.com/")!)
        let connection = NSURLConnection(request: request, delegate: recorder, startImmediately: false)
        connection?.setDelegateQueue(OperationQueue())
        connection?.start()
        while !recorder.hasEnded { await Task.yield() }
        #expect(recorder.events.withLock { $0 } == ["send", "failed -1002"])
    }

    @Test("No message follows a cancellation")
    func cancels() async {
        let recorder = OldRecorder()
        let connection = NSURLConnection(request: hello, delegate: recorder, startImmediately: false)
        let queue = OperationQueue()
        connection?.setDelegateQueue(queue)
        connection?.cancel()
        connection?.start()
        await withCheckedContinuation { continuation in queue.addBarrierBlock { continuation.resume() } }
        #expect(recorder.events.withLock { $0 } == [])
    }

    /// A delegate that cancels its connection when it is asked about the first request.
    final class Canceller: NSObject, NSURLConnectionDataDelegate, Sendable {
        func connection(
            _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
        ) -> URLRequest? {
            connection.cancel()
            return request
        }
    }

    @Test("A connection that its delegate cancels before it has a task leaves no task")
    func cancelsFirst() async throws {
        let request = URLRequest(url: try #require(URL(string: "data:,cancelled-first")))
        let connection = NSURLConnection(request: request, delegate: Canceller(), startImmediately: false)
        let queue = OperationQueue()
        connection?.setDelegateQueue(queue)
        connection?.start()
        await withCheckedContinuation { continuation in queue.addBarrierBlock { continuation.resume() } }
        while NSURLConnection.session.core.cores.contains(where: { $0.originalRequest == request }) {
            await Task.yield()
        }
        #expect(connection?.originalRequest == request)
    }

    @Test("Content that waits for the delegate's queue pauses the load")
    func backPressure() async throws {
        let recorder = OldRecorder()
        let connection = try #require(
            NSURLConnection(request: hello, delegate: recorder, startImmediately: false))
        let events = ConnectionEvents<any NSURLConnectionDelegate>(recorder)
        let (queue, callbacks) = (OperationQueue(), OperationQueue())
        queue.isSuspended = true
        events.use(queue)
        let session = URLSession(configuration: .unhurried, delegate: nil, delegateQueue: callbacks)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: hello)
        task.delegate = ConnectionAdapter(connection, events)
        let core = try #require(task.core)
        let attempt = LoadAttempt(request: hello, task: core)
        core.state.withLock { state in
            _ = state.life.resume()
            _ = state.life.begin()
            state.load.attempt = attempt
        }
        attempt.report(.data(Data(count: TaskCore.maximumPending)))
        await withCheckedContinuation { continuation in callbacks.addBarrierBlock { continuation.resume() } }
        #expect(!core.wantsBytes)
        queue.isSuspended = false
        await withCheckedContinuation { continuation in queue.addBarrierBlock { continuation.resume() } }
        #expect(core.wantsBytes)
    }

    @Test("The class methods load, and tell what can be loaded")
    func classMethods() async throws {
        var response: URLResponse?
        #expect(try NSURLConnection.sendSynchronousRequest(hello, returning: &response) == Data("hello".utf8))
        #expect(response?.mimeType == "text/plain")
        #expect(throws: URLError.self) {
            try NSURLConnection.sendSynchronousRequest(URLRequest(url: URL(string: "x-none:")!), returning: nil)
        }
        let count = await withCheckedContinuation { continuation in
            NSURLConnection.sendAsynchronousRequest(hello, queue: OperationQueue()) { _, data, _ in
                continuation.resume(returning: data?.count)
            }
        }
        #expect(count == 5)
        #expect(NSURLConnection.canHandle(hello))
        #expect(NSURLConnection.canHandle(URLRequest(url: URL(string: "http://example.com")!)))
        #expect(!NSURLConnection.canHandle(URLRequest(url: URL(string: "x-none://example.com")!)))
    }
}

@Suite("NSURLDownload (§20)")
struct OldDownloadTests {
    /// A delegate that chooses the destination and records the messages that it receives.
    final class Chooser: NSObject, NSURLDownloadDelegate, Sendable {
        let events = Mutex<[String]>([])
        let path: String
        /// Whether the descriptor of the file is closed when content arrives, so that the download cannot close it.
        let closesFile: Bool
        /// Whether the download is cancelled after it has finished.
        let cancelsAtEnd: Bool

        init(path: String, closesFile: Bool = false, cancelsAtEnd: Bool = false) {
            self.path = path
            self.closesFile = closesFile
            self.cancelsAtEnd = cancelsAtEnd
            super.init()
        }

        var hasEnded: Bool { events.withLock { $0.last == "finished" || $0.last?.hasPrefix("failed") == true } }

        func note(_ event: String) { events.withLock { $0.append(event) } }
        func downloadDidBegin(_ download: NSURLDownload) { note("began") }
        func download(_ download: NSURLDownload, decideDestinationWithSuggestedFilename filename: String) {
            note("decide " + filename)
            download.setDestination(path, allowOverwrite: false)
        }
        func download(_ download: NSURLDownload, didCreateDestination path: String) {
            note("created " + URL(fileURLWithPath: path).lastPathComponent)
        }
        func download(_ download: NSURLDownload, didReceiveDataOfLength length: Int) {
            note("\(length)")
            if closesFile { for descriptor in OpenDescriptors.of(path) { close(descriptor) } }
        }
        func downloadDidFinish(_ download: NSURLDownload) {
            if cancelsAtEnd { download.cancel() }
            note("finished")
        }
        func download(_ download: NSURLDownload, didFailWithError error: any Error) {
            note("failed \((error as NSError).code)")
        }
    }

    func run(_ chooser: Chooser, _ make: @escaping @Sendable () -> NSURLDownload) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread {
                let download = make()
                while !chooser.hasEnded, RunLoop.current.run(mode: .default, before: .distantFuture) {}
                withExtendedLifetime(download) {}
                continuation.resume()
            }.start()
        }
    }

    @Test("The delegate chooses a place; an existing file is not replaced")
    func destination() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let taken = folder.appendingPathComponent("name.txt")
        try Data("old".utf8).write(to: taken)
        let chooser = Chooser(path: taken.path)
        let request = URLRequest(url: URL(string: "data:,hello")!)
        await run(chooser) { NSURLDownload(request: request, delegate: chooser) }
        #expect(chooser.events.withLock { $0 } == ["began", "decide Unknown", "created name-1.txt", "5", "finished"])
        #expect(try Data(contentsOf: folder.appendingPathComponent("name-1.txt")) == Data("hello".utf8))
        #expect(try Data(contentsOf: taken) == Data("old".utf8))
    }

    /// A delegate that cancels its download when the connection asks for the destination.
    final class Canceller: NSObject, NSURLDownloadDelegate, Sendable {
        let path: String

        init(path: String) {
            self.path = path
            super.init()
        }

        func download(_ download: NSURLDownload, decideDestinationWithSuggestedFilename filename: String) {
            download.setDestination(path, allowOverwrite: false)
            download.cancel()
        }
    }

    @Test("A download that its delegate cancels before there is a file makes none")
    func cancelsFirst() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let url = try #require(URL(string: "data:,hello"))
        let canceller = Canceller(path: path)
        let download = NSURLDownload(request: URLRequest(url: url), delegate: canceller)
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 5, textEncodingName: nil)
        try download.received(response, canceller)
        let exists = FileManager.default.fileExists(atPath: path)
        #expect(!exists)
    }

    @Test("A download that is cancelled after it has finished keeps its file")
    func cancelsLast() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let chooser = Chooser(path: path, cancelsAtEnd: true)
        let request = URLRequest(url: URL(string: "data:,hello")!)
        await run(chooser) { NSURLDownload(request: request, delegate: chooser) }
        #expect(chooser.events.withLock { $0.last } == "finished")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("hello".utf8))
    }

    @Test("A download whose file cannot be closed fails, and its file is removed")
    func closing() async {
        await #expect(processExitsWith: .success) {
            let path = FileManager.default.temporaryDirectory.path + "/causeway-\(UUID())"
            let chooser = Chooser(path: path, closesFile: true)
            let request = URLRequest(url: URL(string: "data:,hello")!)
            await OldDownloadTests().run(chooser) { NSURLDownload(request: request, delegate: chooser) }
            #expect(chooser.events.withLock { $0.suffix(2) } == ["5", "failed -3002"])
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("A failure is the last message")
    func failure() async {
        let chooser = Chooser(path: "/no/such/folder/file")
        let request = URLRequest(url: URL(string: "data:,hello")!)
        await run(chooser) { NSURLDownload(request: request, delegate: chooser) }
        #expect(chooser.events.withLock { $0 } == ["began", "decide Unknown", "failed -3000"])
        let foreign = Chooser(path: "")
        await run(foreign) { NSURLDownload(resumeData: Data([1]), delegate: foreign, path: "/tmp/x") }
        #expect(foreign.events.withLock { $0 } == ["failed -3001"])
    }
}
