import CausewayProtocols
import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Stored background transfers (§21)")
struct BackgroundTests {
    let directory = StoreFileTests.Directory()
    let url = URL(string: "http://127.0.0.1:1/file")!

    var settings: SessionSettings {
        var settings = SessionSettings()
        settings.background.identifier = "test"
        return settings
    }

    var configuration: URLSessionConfiguration { URLSessionConfiguration(settings) }

    func store() throws -> TransferStore { try #require(TransferStore(directory.path)) }

    func session(_ delegate: (any URLSessionDelegate)?) -> URLSession {
        URLSession(configuration: configuration, delegate: delegate, transfersIn: directory.path)
    }

    func record(_ identifier: Int, upload: String? = nil) -> TransferRecord {
        TransferRecord(identifier: identifier, request: URLRequest(url: url), uploadPath: upload)
    }

    /// Writes a finished background task with its result to the store.
    func storeResult(_ identifier: Int, _ content: String?, upload: String? = nil, isCut: Bool = false) throws {
        var record = record(identifier, upload: upload)
        record.stage = .finished
        record.content.isCut = isCut
        record.response =
            HTTPURLResponse(
                url: url, statusCode: 201, httpVersion: "HTTP/1.1", headerFields: ["A": "b"])?.head
        #expect(try store().write(record))
        if let content { try Data(content.utf8).write(to: try store().contentURL(identifier)) }
        // The store uses only files that this user owns and that no other user can write.
        if content != nil {
            let path = try store().contentURL(identifier).path
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
    }

    /// A delegate that records every call that a background session makes, in order.
    final class Calls: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
        let list = LockedValue<[String]>([])
        let (ends, feed) = AsyncStream<Void>.makeStream()

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            let text = (try? String(contentsOf: location, encoding: .utf8)) ?? "nothing"
            let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
            list.withLock { $0.append("file \(downloadTask.taskIdentifier) \(status) \(text)") }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            list.withLock { $0.append("data \(dataTask.taskIdentifier) \(String(decoding: data, as: UTF8.self))") }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            list.withLock { $0.append("end \(task.taskIdentifier) \((error as? URLError)?.errorCode ?? 0)") }
            feed.yield()
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            list.withLock { $0.append("events") }
            feed.yield()
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { feed.yield() }

        func wait(for count: Int) async {
            var iterator = ends.makeAsyncIterator()
            for _ in 0..<count { _ = await iterator.next() }
        }
    }

    @Test("Stored results are delivered in order, once, and the end of the events is reported")
    func delivery() async throws {
        try storeResult(1, "one")
        try storeResult(2, "answer", upload: "/nowhere")
        try storeResult(3, nil)
        try storeResult(10, "", upload: "/nowhere")
        try storeResult(11, "cut", upload: "/nowhere", isCut: true)
        let calls = Calls()
        let session = session(calls)
        await calls.wait(for: 6)
        #expect(
            calls.list.withLock { $0 } == [
                "file 1 201 one", "end 1 0", "data 2 answer", "end 2 0", "end 3 0", "end 10 0", "end 11 -1103",
                "events",
            ])
        #expect(try store().identifiers == [] && store().contentSize(1) == nil)
        session.invalidateAndCancel()
        await calls.wait(for: 1)
        // Identifiers are never reused, not even in the next process.
        let next = self.session(nil)
        #expect(next.downloadTask(with: url).taskIdentifier == 12)
        next.invalidateAndCancel()
    }

    @Test("Links and files that others can write are no content")
    func foreignContent() throws {
        try storeResult(1, "x")
        let path = try store().contentURL(1).path
        try FileManager.default.setAttributes([.posixPermissions: 0o622], ofItemAtPath: path)
        #expect(try store().contentSize(1) == nil)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
        #expect(try store().contentSize(1) == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        #expect(TransferStore(directory.path) == nil)
    }

    @Test("A suspended task comes back with its values, and waits")
    func suspended() async throws {
        let before = Calls()
        let first = session(before)
        var request = URLRequest(url: url)
        request.setValue("secret", forHTTPHeaderField: "Authorization")
        request.timeoutInterval = .infinity
        let task = first.downloadTask(with: request)
        task.priority = 0.75
        task.taskDescription = "text"
        task.earliestBeginDate = Date(timeIntervalSince1970: 1e9)
        task.countOfBytesClientExpectsToReceive = 7
        first.leaveTransfers()
        await before.wait(for: 2)
        // This process no longer owns the task. So the change is not written to the store.
        task.taskDescription = "late"
        let mode = try FileManager.default.attributesOfItem(atPath: directory.path + "/task-1")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let calls = Calls()
        let second = session(calls)
        let restored = try #require(await second.allTasks.first as? URLSessionDownloadTask)
        #expect(restored.state == .suspended && restored.originalRequest == request && restored.taskIdentifier == 1)
        #expect(restored.priority == 0.75 && restored.taskDescription == "text")
        #expect(restored.earliestBeginDate == Date(timeIntervalSince1970: 1e9))
        #expect(restored.countOfBytesClientExpectsToReceive == 7)
        restored.cancel()
        await calls.wait(for: 1)
        #expect(calls.list.withLock { $0 } == ["end 1 -999"])
        second.invalidateAndCancel()
        await calls.wait(for: 1)
        restored.taskDescription = "late"
        #expect(try store().identifiers == [])
    }

    @Test("A download takes over the file of resume data, and gives it back")
    func resumeData() async throws {
        let file = FileSink.newURL()
        try Data("abcdef".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let resume = ResumeData(URLRequest(url: url), validator: "\"v\"", received: 3, file: file)
        let session = session(nil)
        let task = session.downloadTask(withResumeData: try #require(resume.encoded))
        #expect(try store().contentSize(1) == 3 && store().record(1)?.content.validator == "\"v\"")
        #expect(FileSink.size(of: file) == nil && task.currentResumeData == nil)
        // The total length of the content is unknown, so the task requests the last stored byte again.
        let data = try #require(await task.cancelByProducingResumeData())
        let again = try #require(ResumeData(data))
        #expect(again.offset == 2 && again.validator == "\"v\"")
        try FileManager.default.removeItem(at: try #require(again.file))
        session.invalidateAndCancel()
    }

    @Test("The content of another version takes the place of the old one, together with its validator")
    func otherVersion() throws {
        let session = session(nil)
        defer { session.invalidateAndCancel() }
        let transfer = try #require(session.downloadTask(with: url).core?.plan.transfer)
        try Data("old content".utf8).write(to: try store().contentURL(1))
        transfer.update { $0.content.validator = "\"old\"" }
        let fields = ["ETag": "\"new\"", "Content-Length": "9"]
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        let request = URLRequest(url: url)
        let file = try transfer.newFile(for: response, of: request, request)
        let record = try #require(try store().record(1))
        #expect(record.content.validator == "\"new\"" && record.content.total == 9 && record.content.durable == 0)
        #expect(try store().contentSize(1) == 0)
        try file.close()
    }

    @Test("A released lock is free, also while a child that was just forked has its file")
    func inheritedLock() throws {
        let store = try store()
        var lock = store.lockAtOnce(.owner)
        #expect(lock != nil && store.lockAtOnce(.owner) == nil && store.isLocked(.owner))
        let end = URL(fileURLWithPath: directory.path).lastPathComponent + "/owner.lock"
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
            return file?.hasSuffix(end) == true
        }.compactMap { Int32($0) }.map { dup($0) }
        #expect(copies.count == 1)
        lock = nil
        #expect(!store.isLocked(.owner) && store.lockAtOnce(.owner) != nil)
        for copy in copies { close(copy) }
    }

    @Test("Numbers out of range leave room for new tasks")
    func hugeIdentifiers() throws {
        let store = try store()
        var record = SessionRecord(settings, program: "p")
        record.lastIdentifier = .max
        store.write(record)
        let path = directory.path + "/task-\(Int.max)"
        #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
        #expect(store.session == nil && store.identifiers == [])
        let session = session(nil)
        #expect(session.downloadTask(with: url).taskIdentifier == 1)
        session.invalidateAndCancel()
    }

    @Test("A second session with the identifier gets -996, until the first one is invalid")
    func inUse() async throws {
        let (calls, others) = (Calls(), Calls())
        let first = session(calls)
        let second = session(others)
        second.downloadTask(with: url).resume()
        await others.wait(for: 1)
        #expect(others.list.withLock { $0 } == ["end 1 -996"])
        first.invalidateAndCancel()
        await calls.wait(for: 1)
        let third = session(calls)
        third.downloadTask(with: url).cancel()
        await calls.wait(for: 1)
        #expect(calls.list.withLock { $0 } == ["end 1 -999"])
        third.invalidateAndCancel()
    }

    @Test("A directory that others can use: tasks fail")
    func unusable() async throws {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        let calls = Calls()
        let task = session(calls).downloadTask(with: url)
        task.resume()
        await calls.wait(for: 1)
        #expect(calls.list.withLock { $0 } == ["end 1 -3000"])
        let reason = (task.error as? URLError)?.userInfo[NSLocalizedFailureReasonErrorKey] as? String
        #expect(reason?.contains("\(directory.path): open: Operation not permitted") == true)
    }

    @Test("The delegate is asked about a delayed start")
    func delayed() async throws {
        final class Delegate: NSObject, URLSessionTaskDelegate {
            let calls = Calls()
            func urlSession(
                _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
                completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
            ) {
                calls.list.withLock { $0.append("delayed \(request.url?.path ?? "")") }
                completionHandler(.cancel, nil)
            }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                calls.urlSession(session, task: task, didCompleteWithError: error)
            }
        }
        let delegate = Delegate()
        let session = session(delegate)
        let task = session.downloadTask(with: url)
        task.earliestBeginDate = Date(timeIntervalSinceNow: -1)
        task.resume()
        await delegate.calls.wait(for: 1)
        #expect(delegate.calls.list.withLock { $0 } == ["delayed /file", "end 1 -999"])
        session.invalidateAndCancel()
    }
}
