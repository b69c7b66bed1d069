import CausewaySystem
import Foundation
import Synchronization
import Testing

@testable import CausewayURLLoading

@Suite("Sequences of bytes (§6)")
struct BytesTests {
    @Test("Bytes and lines of a response")
    func lines() async throws {
        let session = MockProtocol.session("lines.mock") { mock in
            mock.respond(200, ["X": "1"])
            mock.load("one\n\ntw")
            mock.load("o\r\nthree")
            mock.finish()
        }
        let (bytes, response) = try await session.bytes(from: URL(string: "http://lines.mock/")!)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "x") == "1")
        var lines: [String] = []
        for try await line in bytes.lines { lines.append(line) }
        #expect(lines == ["one", "two", "three"])
        #expect(bytes.task.originalRequest?.url?.host == "lines.mock")
    }

    @Test("A reader that stops stops the loader of a file")
    func backPressure() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID()).bin")
        try Data(repeating: 7, count: 4 << 20).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let session = URLSession(configuration: .unhurried)
        let (bytes, _) = try await session.bytes(from: file)
        var iterator = bytes.makeAsyncIterator()
        #expect(try await iterator.next() == 7)
        // The task may read ahead of the consumer: at most the limit plus one piece of content.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(bytes.task.countOfBytesReceived <= Int64(TaskCore.maximumPending + 2 * FileLoader.pieceSize))
        var count = 1
        while try await iterator.next() != nil { count += 1 }
        #expect(count == 4 << 20)
    }

    @Test("A failure in the middle is thrown")
    func failure() async throws {
        struct Broken: Error {}
        let session = MockProtocol.session("breaks.mock") { mock in
            mock.respond()
            mock.load("ab")
            mock.client?.urlProtocol(mock, didFailWithError: Broken())
        }
        let (bytes, _) = try await session.bytes(from: URL(string: "http://breaks.mock/")!)
        var iterator = bytes.makeAsyncIterator()
        #expect(try await iterator.next() == UInt8(ascii: "a"))
        #expect(try await iterator.next() == UInt8(ascii: "b"))
        await #expect(throws: Broken.self) { try await iterator.next() }
    }

    /// Records whether the metrics of a task arrive on the delegate queue.
    final class QueueDelegate: NSObject, URLSessionTaskDelegate {
        let (calls, feed) = AsyncStream<Bool>.makeStream()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            feed.yield(OperationQueue.current === session.delegateQueue)
        }
    }

    @Test("A delegate that is set after the response is called on the delegate queue")
    func lateDelegate() async throws {
        let kept = LockedValue<MockProtocol?>(nil)
        let session = MockProtocol.session("late-delegate.mock") { mock in
            kept.withLock { $0 = mock }
            mock.respond()
        }
        let (bytes, _) = try await session.bytes(from: URL(string: "http://late-delegate.mock/")!)
        let delegate = QueueDelegate()
        bytes.task.delegate = delegate
        let mock = try #require(kept.withLock { $0 })
        mock.load("a")
        mock.finish()
        for try await byte in bytes { #expect(byte == UInt8(ascii: "a")) }
        var calls = delegate.calls.makeAsyncIterator()
        #expect(await calls.next() == true)
    }

    @Test("The resume data of an async download is passed to the program on the delegate queue")
    func lateHandler() async throws {
        let session = MockProtocol.session("late-handler.mock") { $0.respond() }
        let loading = Task { _ = try await session.download(from: URL(string: "http://late-handler.mock/")!) }
        while MockProtocol.starts.withLock({ $0["late-handler.mock"] }) == nil { await Task.yield() }
        let task = try #require(await session.allTasks.first as? URLSessionDownloadTask)
        let isOnQueue = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            task.cancel(byProducingResumeData: { _ in
                done.resume(returning: OperationQueue.current === session.delegateQueue)
            })
        }
        #expect(isOnQueue)
        await #expect { try await loading.value } throws: { ($0 as? URLError)?.code == .cancelled }
    }

    @Test("Releasing the sequence cancels the task")
    func release() async throws {
        let session = MockProtocol.session("released.mock") { $0.respond() }
        var task: URLSessionDataTask?
        do {
            let (bytes, _) = try await session.bytes(from: URL(string: "http://released.mock/")!)
            task = bytes.task
        }
        while task?.state != .completed { await Task.yield() }
        #expect((task?.error as? URLError)?.code == .cancelled)
    }

    @Test("Cancelling the reader ends the task")
    func cancels() async throws {
        let session = MockProtocol.session("endless-bytes.mock") { $0.respond() }
        let reading = Task {
            let (bytes, _) = try await session.bytes(from: URL(string: "http://endless-bytes.mock/")!)
            for try await _ in bytes {}
        }
        while MockProtocol.starts.withLock({ $0["endless-bytes.mock"] }) == nil { await Task.yield() }
        reading.cancel()
        await #expect { try await reading.value } throws: { ($0 as? URLError)?.code == .cancelled }
    }

    @Test("The bytes of a URL and of a file handle")
    func resources() async throws {
        var lines: [String] = []
        for try await line in URL(string: "data:,a%0Ab")!.lines { lines.append(line) }
        #expect(lines == ["a", "b"])
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("xyz".utf8))
        try pipe.fileHandleForWriting.close()
        var bytes: [UInt8] = []
        for try await byte in pipe.fileHandleForReading.bytes { bytes.append(byte) }
        #expect(bytes == Array("xyz".utf8))
    }

    @Test("A file handle that cannot be read throws the error of the system")
    func unreadableHandle() async throws {
        let handle = try #require(FileHandle(forReadingAtPath: "/"))
        var iterator = handle.bytes.makeAsyncIterator()
        await #expect { try await iterator.next() } throws: { ($0 as? POSIXError)?.code == .EISDIR }
        var empty = FileHandle.nullDevice.bytes.makeAsyncIterator()
        #expect(try await empty.next() == nil)
    }

    @Test("A file handle that another process has made non-blocking is read when it has bytes")
    func nonBlockingHandle() async throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        try #require(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        let bytes = pipe.fileHandleForReading.bytes
        let reading = Task { () async throws -> UInt8? in
            var iterator = bytes.makeAsyncIterator()
            return try await iterator.next()
        }
        for _ in 0..<100 { await Task.yield() }
        try pipe.fileHandleForWriting.write(contentsOf: Data("x".utf8))
        #expect(try await reading.value == UInt8(ascii: "x"))
    }
}
