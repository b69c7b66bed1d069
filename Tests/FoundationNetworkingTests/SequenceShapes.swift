// Test programs with asynchronous sequences, task groups and cancellation.
import Foundation
import FoundationNetworking
import Testing

/// Program shape 7: parses server-sent events from the bytes of a response (HTML Standard).
private struct ServerEvents<Bytes: AsyncSequence>: AsyncSequence where Bytes.Element == UInt8 {
    var bytes: Bytes

    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: Bytes.AsyncIterator
        var line: [UInt8] = []

        mutating func next() async throws -> String? {
            var data: [String] = []
            while let byte = try await bytes.next() {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                let text = String(decoding: line, as: UTF8.self)
                line.removeAll()
                if text.isEmpty, !data.isEmpty { return data.joined(separator: "\n") }
                if text.hasPrefix("data: ") { data.append(String(text.dropFirst(6))) }
            }
            return nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes.makeAsyncIterator()) }
}

/// Shape 8: a delegate that turns the content into a stream.
private final class StreamingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let continuation: AsyncThrowingStream<Data, any Error>.Continuation

    init(_ continuation: AsyncThrowingStream<Data, any Error>.Continuation) { self.continuation = continuation }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        continuation.yield(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        continuation.finish(throwing: error)
    }
}

extension URLSession {
    fileprivate static func stream(_ request: URLRequest, _ configuration: URLSessionConfiguration)
        -> AsyncThrowingStream<Data, any Error>
    {
        AsyncThrowingStream { continuation in
            let delegate = StreamingDelegate(continuation)
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: request)
            continuation.onTermination = { _ in task.cancel() }
            task.resume()
            session.finishTasksAndInvalidate()
        }
    }
}

/// Example sequence 9: loads a list of pages. Each response names the next page in its `Link` field (RFC 8288).
private struct Pages: AsyncSequence {
    var first: URL
    var session: URLSession

    struct AsyncIterator: AsyncIteratorProtocol {
        var next: URL?
        var session: URLSession

        mutating func next() async throws -> String? {
            guard let url = next else { return nil }
            let (data, response) = try await session.data(from: url)
            let link = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "link")
            next = link?.split(separator: ">").first.flatMap {
                URL(string: String($0.dropFirst()), relativeTo: url)?.absoluteURL
            }
            return String(decoding: data, as: UTF8.self)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(next: first, session: session) }
}

/// Shape 10: equal requests share one load while it is in progress.
private actor Deduplicator {
    private var running: [URL: Task<Data, any Error>] = [:]
    let session: URLSession

    init(_ session: URLSession) { self.session = session }

    func data(from url: URL) async throws -> Data {
        if let task = running[url] { return try await task.value }
        let task = Task { try await session.data(from: url).0 }
        running[url] = task
        defer { running[url] = nil }
        return try await task.value
    }
}

@Suite("Shapes: sequences, groups and cancellation")
struct SequenceShapes {
    @Test("7: lines and server-sent events from bytes", arguments: Place.tested)
    func bytes(_ place: Place) async throws {
        let origin = Origin(place) { asked in
            asked.path == "/events"
                ? Answer(pieces: ["data: a\nda", "ta: b\n", "\n: comment\nid: 1\n\ndata: c\n\n"].map { Data($0.utf8) })
                : .text("one\r\n\ntwo\nthree")
        }
        let (bytes, response) = try await origin.session().bytes(from: origin.url("/events"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        var events: [String] = []
        for try await event in ServerEvents(bytes: bytes) { events.append(event) }
        #expect(events == ["a\nb", "c"])
        var lines: [String] = []
        for try await line in try await origin.session().bytes(from: origin.url).0.lines { lines.append(line) }
        #expect(lines == ["one", "two", "three"])
    }

    @Test("8: an AsyncThrowingStream from a delegate")
    func stream() async throws {
        let origin = Origin { _ in Answer(pieces: ["a", "b", "c"].map { Data($0.utf8) }) }
        var text = ""
        for try await piece in URLSession.stream(URLRequest(url: origin.url), origin.configuration) {
            text += String(decoding: piece, as: UTF8.self)
        }
        #expect(text == "abc")
        let failing = Origin { _ in .failing(.cannotConnectToHost) }
        let code = await failureCode {
            for try await _ in URLSession.stream(URLRequest(url: failing.url), failing.configuration) {}
        }
        #expect(code == .cannotConnectToHost)
    }

    @Test("9: pages by the Link field", arguments: Place.tested)
    func pages(_ place: Place) async throws {
        let origin = Origin(place) { asked in
            let page = Int(asked.query.dropFirst(5)) ?? 0
            return .text("page \(page)", fields: page < 3 ? ["Link": "</?page=\(page + 1)>; rel=\"next\""] : [:])
        }
        var texts: [String] = []
        for try await page in Pages(first: origin.url("/?page=1"), session: origin.session()) { texts.append(page) }
        #expect(texts == ["page 1", "page 2", "page 3"])
    }

    @Test("10: equal requests in flight share one load", arguments: Place.tested)
    func deduplication(_ place: Place) async throws {
        let origin = Origin(place) { _ in .text("once") }
        let loader = Deduplicator(origin.session())
        async let first = loader.data(from: origin.url)
        async let second = loader.data(from: origin.url)
        #expect(try await first == second)
        #expect((1...2).contains(origin.asked.count))
    }

    @Test("11: a bounded number of loads side by side", arguments: Place.tested)
    func bounded(_ place: Place) async throws {
        let origin = Origin(place) { asked in .text(asked.path) }
        let session = origin.session()
        var results: Set<String> = []
        try await withThrowingTaskGroup(of: String.self) { group in
            var waiting = (0..<12).map { origin.url("/\($0)") }[...]
            for url in waiting.prefix(3) {
                waiting.removeFirst()
                group.addTask { String(decoding: try await session.data(from: url).0, as: UTF8.self) }
            }
            while let text = try await group.next() {
                results.insert(text)
                if let url = waiting.popFirst() {
                    group.addTask { String(decoding: try await session.data(from: url).0, as: UTF8.self) }
                }
            }
        }
        #expect(results == Set((0..<12).map { "/\($0)" }))
    }

    @Test("12: cancellation of a Swift task cancels the load")
    func cancellation() async throws {
        let session = URLSession(configuration: SilentProtocol.configuration)
        let task = Task { try await session.data(from: URL(string: "http://silent.test/")!) }
        while await session.allTasks.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await failureCode { _ = try await task.value } == .cancelled)
    }

    @Test("13: a timeout that the program makes of two tasks")
    func race() async throws {
        let session = URLSession(configuration: SilentProtocol.configuration)
        let result = try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask {
                String(decoding: try await session.data(from: URL(string: "http://silent.test/")!).0, as: UTF8.self)
            }
            group.addTask { "gave up" }
            defer { group.cancelAll() }
            return try await group.next() ?? ""
        }
        #expect(result == "gave up")
    }
}

/// A URL protocol that never answers a request.
final class SilentProtocol: URLProtocol, @unchecked Sendable {
    static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [SilentProtocol.self]
        configuration.timeoutIntervalForRequest = 3_600
        return configuration
    }

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() {}
    override func stopLoading() {}
}
