import Foundation
import Synchronization
import Testing

@testable import CausewayURLLoading

@Suite("§12: resumed downloads")
struct ResumeTests {
    static let tag = ["ETag": "\"a\"", "Content-Length": "10"]

    /// Begins a download of 10 bytes, and cancels it after the server has sent half of them.
    private func begin(
        _ host: String, _ status: Int = 200, _ fields: [String: String] = tag,
        change: (inout URLRequest) -> Void = { _ in }
    ) async throws -> (data: Data?, error: URLError?) {
        let recorder = Recorder()
        let session = MockProtocol.session(host, delegate: recorder) { mock in
            mock.respond(status, fields)
            mock.load("hello")
        }
        var request = URLRequest(url: try #require(URL(string: "http://\(host)/file")))
        change(&request)
        let task = session.downloadTask(with: request)
        task.resume()
        while !recorder.events.contains("wrote") { await Task.yield() }
        let data = await task.cancelByProducingResumeData()
        await recorder.end()
        #expect(task.state == .completed)
        return (data, recorder.error)
    }

    @Test("A cancelled download gives its data to the handler and in the error, with Apple's keys")
    func data() async throws {
        let (data, error) = try await begin("data.mock")
        #expect(error?.code == .cancelled)
        #expect(data != nil && error?.downloadTaskResumeData == data)
        let bytes = try #require(data)
        let read = try PropertyListSerialization.propertyList(from: bytes, format: nil)
        let list = try #require(read as? [String: Any])
        #expect(list["NSURLSessionDownloadURL"] as? String == "http://data.mock/file")
        #expect(list["NSURLSessionResumeBytesReceived"] as? Int == 5)
        #expect(list["NSURLSessionResumeEntityTag"] as? String == "\"a\"")
        #expect(list["NSURLSessionResumeInfoVersion"] as? Int == 2)
        let name = try #require(list["NSURLSessionResumeInfoTempFileName"] as? String)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        try FileManager.default.removeItem(at: file)
    }

    @Test("The server sends the rest: one file, and the delegate learns the offset")
    func rest() async throws {
        let data = try await #require(begin("rest.mock").data)
        let asked = Mutex<[String?]>([])
        let recorder = Recorder()
        let session = MockProtocol.session("rest.mock", delegate: recorder) { mock in
            asked.withLock {
                $0 = ["Range", "If-Range", "Accept-Encoding"].map { mock.request.value(forHTTPHeaderField: $0) }
            }
            mock.respond(206, ["ETag": "\"a\"", "Content-Range": "bytes 5-9/10"])
            mock.load("world")
            mock.finish()
        }
        let task = session.downloadTask(withResumeData: data)
        #expect(task.originalRequest?.url?.path == "/file")
        task.resume()
        await recorder.end()
        #expect(asked.withLock { $0 } == ["bytes=5-", "\"a\"", "identity"])
        #expect(recorder.events == ["created", "resumed 5 of 10", "wrote", "finished", "metrics", "completed 3"])
        #expect(recorder.state.withLock { $0.file } == Data("helloworld".utf8))
        #expect(task.countOfBytesReceived == 10 && task.countOfBytesExpectedToReceive == 10)
    }

    @Test(
        "A download starts over if the server has other content or sends another range",
        arguments: [
            (200, ["ETag": "\"b\""], 1), (416, ["Content-Range": "bytes */3"], 2),
            (206, ["ETag": "\"b\"", "Content-Range": "bytes 5-9/10"], 2),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10"], 2),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 5-8/10"], 2),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 5-9/*"], 2),
            (206, ["ETag": "\"a\"", "Content-Range": "bytes 5-9/10", "Content-Encoding": "gzip"], 2),
            (206, ["ETag": "\"a\""], 2),
        ])
    func startsOver(_ status: Int, _ fields: [String: String], _ requests: Int) async throws {
        let host = "over-\(UUID().uuidString.lowercased()).mock"
        let data = try await #require(begin(host).data)
        let ranges = Mutex<[String?]>([])
        let session = MockProtocol.session(host) {
            $0.taskObservers = [FieldObserver()]
        } script: { mock in
            #expect(mock.request.value(forHTTPHeaderField: "X-Observed") == "1")
            let range = mock.request.value(forHTTPHeaderField: "Range")
            ranges.withLock { $0.append(range) }
            mock.respond(range == nil ? 200 : status, range == nil ? [:] : fields)
            mock.load("other")
            mock.finish()
        }
        let (file, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("other".utf8))
        #expect(ranges.withLock { $0 } == (requests == 1 ? ["bytes=5-"] : ["bytes=5-", nil]))
        let old = try #require(ResumeData(data)?.file)
        #expect(!FileManager.default.fileExists(atPath: old.path))
    }

    // Conditions for resume data: RFC 9110 §8.8.1, §14.3.
    @Test(
        "No resume data without a strong validator, with a content coding, or for a response with another status",
        arguments: [
            (200, ["Content-Length": "10"]), (200, ["ETag": "W/\"a\""]), (404, tag),
            (200, ["ETag": "\"a\"", "Accept-Ranges": "none"]), (200, ["ETag": "\"a\"", "Content-Encoding": "gzip"]),
            (200, ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]),
            (200, ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]),
        ])
    func impossible(_ status: Int, _ fields: [String: String]) async throws {
        let (data, error) = try await begin("none-\(UUID().uuidString.lowercased()).mock", status, fields)
        #expect(data == nil && error?.code == .cancelled && error?.downloadTaskResumeData == nil)
    }

    @Test("No resume data for a method other than GET, or for a range that the program asked for")
    func unsuitable() async throws {
        #expect(try await begin("post.mock") { $0.httpMethod = "POST" }.data == nil)
        #expect(try await begin("range.mock") { $0.setValue("bytes=1-", forHTTPHeaderField: "Range") }.data == nil)
    }

    // This test checks RFC 9110 §8.8.2.2.
    @Test("A modification date before the response is a validator")
    func date() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let fields = ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:49:38 GMT"]
        let data = try await #require(begin("date.mock", 200, fields).data)
        let resume = try #require(ResumeData(data))
        #expect(resume.validator == date)
        try FileManager.default.removeItem(at: try #require(resume.file))
    }

    @Test("The name of the file cannot lead out of the temporary directory")
    func fileName() async throws {
        let data = try await #require(begin("name.mock").data)
        try FileManager.default.removeItem(at: try #require(ResumeData(data)?.file))
        var list = try #require(PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        for (name, isUsed) in [("a", true), ("../a", false), ("../\u{301}a", false), ("..", false), ("", false)] {
            list["NSURLSessionResumeInfoTempFileName"] = name
            let changed = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            #expect((ResumeData(changed)?.file != nil) == isUsed, "\(name)")
        }
    }

    @Test("A resumed download that is cancelled before a response gives the same data again")
    func pending() async throws {
        let data = try await #require(begin("pending.mock").data)
        let session = MockProtocol.session("pending.mock") { _ in }
        let task = session.downloadTask(withResumeData: data)
        task.resume()
        while MockProtocol.starts.withLock({ $0["pending.mock"] }) != 2 { await Task.yield() }
        #expect(await task.cancelByProducingResumeData() == data)
        #expect(await task.cancelByProducingResumeData() == nil)
        try FileManager.default.removeItem(at: try #require(ResumeData(data)?.file))
    }

    @Test("The data of a running download continues after the last byte that the file has, if the process is gone")
    func killed() async throws {
        let recorder = Recorder()
        let session = MockProtocol.session("kill.mock", delegate: recorder) { mock in
            mock.respond(200, Self.tag)
            mock.load("hel")
        }
        let task = session.downloadTask(with: try #require(URL(string: "http://kill.mock/file")))
        #expect(task.currentResumeData == nil)
        task.resume()
        while !recorder.events.contains("wrote") { await Task.yield() }
        let data = try #require(task.currentResumeData)
        let resume = try #require(ResumeData(data))
        let file = try #require(resume.file)
        #expect(resume.received == 3 && resume.offset == 2)
        // While the download is running, it holds a lock on its file. So the file cannot be opened again.
        #expect(FileSink(continuing: file, at: 2) == nil)
        FileSink.remove(file)
        #expect(FileSink.size(of: file) == 3)
        await withCheckedContinuation { continuation in
            task.cancel(byProducingResumeData: { _ in continuation.resume() })
        }
        #expect(task.currentResumeData == nil)
        try Data("hello wo".utf8).write(to: file)
        #expect(ResumeData(data)?.offset == 7)
        // A download starts from the beginning in two cases: the system was restarted, or the file became shorter.
        var list = try #require(PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        list["CausewayBootIdentifier"] = "other"
        let old = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        #expect(ResumeData(old)?.offset == nil)
        try Data("he".utf8).write(to: file)
        #expect(ResumeData(data)?.offset == nil)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/etc/passwd")
        #expect(ResumeData(data)?.offset == nil && FileSink(continuing: file, at: 1) == nil)
        try FileManager.default.removeItem(at: file)
    }

    @Test("A connection that breaks during a suspension: the rest is requested after it", arguments: [false, true])
    func suspended(isCancelled: Bool) async throws {
        let recorder = Recorder()
        let host = isCancelled ? "cancelled-pause.mock" : "pause.mock"
        let session = MockProtocol.session(host, delegate: recorder) {
            $0.taskObservers = [FieldObserver()]
        } script: { mock in
            #expect(mock.request.value(forHTTPHeaderField: "X-Observed") == "1")
            guard let range = mock.request.value(forHTTPHeaderField: "Range") else {
                mock.respond(200, Self.tag)
                return mock.load("hello")
            }
            #expect(range == "bytes=5-" && mock.request.value(forHTTPHeaderField: "If-Range") == "\"a\"")
            mock.respond(206, ["ETag": "\"a\"", "Content-Range": "bytes 5-9/10"])
            mock.load("world")
            mock.finish()
        }
        let task = session.downloadTask(with: try #require(URL(string: "http://\(host)/file")))
        task.resume()
        while !recorder.events.contains("wrote") { await Task.yield() }
        task.suspend()
        let core = try #require(task.core)
        let attempt = try #require(core.state.withLock { $0.load.attempt })
        core.receive(.failed(LoadFailure(.connectionLost)), from: attempt)
        // Another thread has reported the content and may still be handling it. In that case, that thread also handles
        // the failure. So wait.
        while core.state.withLock({ $0.load.interruption.resumption == nil }) { await Task.yield() }
        #expect(task.state == .suspended && !recorder.events.contains { $0.hasPrefix("completed") })
        let rest = try #require(core.state.withLock { $0.load.interruption.resumption })
        #expect(FileSink.size(of: rest.file) == 5)
        guard !isCancelled else {
            task.cancel()
            await recorder.end()
            #expect(recorder.error?.code == .cancelled && FileSink.size(of: rest.file) == nil)
            return
        }
        task.resume()
        await recorder.end()
        #expect(recorder.error == nil)
        #expect(recorder.state.withLock { $0.file } == Data("helloworld".utf8))
        #expect(recorder.events.contains("resumed 5 of 10"))
    }

    @Test("After an error status the same resume data can be used again")
    func error() async throws {
        let data = try await #require(begin("error.mock").data)
        let answers = Mutex([503, 206])
        let session = MockProtocol.session("error.mock") { mock in
            let status = answers.withLock { $0.removeFirst() }
            mock.respond(status, status == 206 ? ["Content-Range": "bytes 5-9/10"] : [:])
            mock.load(status == 206 ? "world" : "error")
            mock.finish()
        }
        for expected in ["error", "helloworld"] {
            let (file, _) = try await session.download(resumeFrom: data)
            #expect(try Data(contentsOf: file) == Data(expected.utf8))
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test("The file also stays if the task has a completion handler")
    func handler() async throws {
        let session = MockProtocol.session("handler.mock") { mock in
            mock.respond(200, Self.tag)
            mock.load("hello")
        }
        let ended = Mutex(false)
        let task = session.downloadTask(with: try #require(URL(string: "http://handler.mock/"))) { location, _, error in
            #expect(location == nil && (error as? URLError)?.downloadTaskResumeData != nil)
            ended.withLock { $0 = true }
        }
        task.resume()
        while task.countOfBytesReceived != 5 { await Task.yield() }
        let data = try #require(await task.cancelByProducingResumeData())
        while task.state != .completed || !ended.withLock({ $0 }) { await Task.yield() }
        // Wait until the delegate queue has run the completion handler. After the handler, the session may still remove
        // files.
        await session.flush()
        let file = try #require(ResumeData(data)?.file)
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        try FileManager.default.removeItem(at: file)
    }

    @Test("Without its file a download starts over; the name of the file cannot leave the directory")
    func missing() async throws {
        let data = try await #require(begin("missing-file.mock").data)
        try FileManager.default.removeItem(at: try #require(ResumeData(data)?.file))
        let session = MockProtocol.session("missing-file.mock") { mock in
            mock.respond()
            mock.load(mock.request.value(forHTTPHeaderField: "Range") ?? "whole")
            mock.finish()
        }
        let (file, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("whole".utf8))
        for name in ["../passwd", "/etc/passwd", "..", ""] {
            let list: [String: Any] = [
                "NSURLSessionDownloadURL": "http://a.mock/", "NSURLSessionResumeInfoTempFileName": name,
                "NSURLSessionResumeCurrentRequest": Data([1]),
            ]
            let foreign = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            let resume = try #require(ResumeData(foreign))
            #expect(resume.file == nil && resume.request?.url?.host == "a.mock")
        }
    }
}

/// An observer that adds a header field to each task's requests.
private struct FieldObserver: URLSessionTaskObserver {
    private struct Observation: URLSessionTaskObservation {
        var requestFields: [String: String] { ["X-Observed": "1"] }

        func taskDidEnd(_ task: URLSessionTask, metrics: URLSessionTaskMetrics, error: (any Error)?) {}
    }

    func taskWillStart(_ task: URLSessionTask) -> (any URLSessionTaskObservation)? { Observation() }
}
