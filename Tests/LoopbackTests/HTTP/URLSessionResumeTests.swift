import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("§12: downloads whose connection breaks")
    struct URLSessionResumeTests {
        /// A server with one text. It closes each connection after it has sent a part of the text.
        private final class CuttingServer: Sendable {
            let text: String
            let sent = LockedValue(0)
            let requests = RequestLog()

            init(length: Int) {
                text = String((0..<length).map { "0123456789abcdef\n".dropFirst($0 * 7 % 17).first ?? "?" })
            }

            func start(tag: @escaping @Sendable (Int) -> String, part: @escaping @Sendable (Int) -> Int) throws
                -> ScriptedServer
            {
                try ScriptedServer { [self] peer in
                    guard let request = try await peer.readRequest() else { return }
                    let number = requests.all.count
                    requests.append(request)
                    let tag = tag(number)
                    let isSame = request["if-range"] == tag
                    let offset = isSame ? request["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0 : 0
                    let rest = text.dropFirst(offset)
                    let range = "Content-Range: bytes \(offset)-\(text.count - 1)/\(text.count)\r\n"
                    try await peer.write(
                        "HTTP/1.1 \(offset > 0 ? "206 Partial Content" : "200 OK")\r\nETag: \(tag)\r\n"
                            + "Content-Length: \(rest.count)\r\n" + (offset > 0 ? range : "") + "\r\n")
                    let part = rest.prefix(part(number))
                    sent.withLock { $0 += part.count }
                    try await peer.write(String(part))
                }
            }
        }

        /// Downloads a URL. After each interruption, continues with the resume data. Returns the complete content.
        private func download(_ url: URL) async throws -> Data {
            let session = privateSession()
            var resumeData: Data?
            while true {
                do {
                    let (file, _) =
                        if let resumeData { try await session.download(resumeFrom: resumeData) } else {
                            try await session.download(from: url)
                        }
                    defer { try? FileManager.default.removeItem(at: file) }
                    return try Data(contentsOf: file)
                } catch let error as URLError {
                    #expect(error.code == .networkConnectionLost)
                    guard let data = error.downloadTaskResumeData else { throw error }
                    resumeData = data
                }
            }
        }

        @Test("Many cuts: the file is complete, and no byte is sent twice")
        func cuts() async throws {
            let server = CuttingServer(length: 200_000)
            let scripted = try server.start(tag: { _ in "\"same\"" }, part: { 1 + ($0 &* 2_654_435_761) % 9_973 })
            #expect(try await download(try #require(URL(string: scripted.uri()))) == Data(server.text.utf8))
            #expect(server.sent.withLock { $0 } == server.text.utf8.count)
            #expect(server.requests.all.count > 20)
        }

        /// Returns a server that sends only half of the content to the first request. It closes the connection when the
        /// gate opens. A closure answers all further requests.
        private static func halfServer(
            _ requests: RequestLog, closes: Gate, closed: Gate, next: @escaping @Sendable (ScriptedRequest) -> String?
        ) throws -> ScriptedServer {
            try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                requests.append(request)
                guard requests.all.count == 1 else {
                    if let answer = next(request) { try await peer.write(answer) }
                    return
                }
                try await peer.write("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 10\r\n\r\nhello")
                await closes.wait()
                peer.socket.close()
                closed.open()
            }
        }

        @Test(
            "A download that is suspended while its connection ends continues with the rest", arguments: [true, false])
        func suspended(isRange: Bool) async throws {
            let (requests, closed, delegate) = (RequestLog(), Gate(), SuspendedDownload())
            let server = try Self.halfServer(requests, closes: delegate.suspended, closed: closed) { _ in
                isRange
                    ? reply("206 Partial Content", ["ETag: \"a\"", "Content-Range: bytes 5-9/10"], "world")
                    : reply("200 OK", ["ETag: \"b\""], "another text")
            }
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let task = session.downloadTask(with: try #require(URL(string: server.uri())))
            task.resume()
            await closed.wait()
            task.resume()
            await delegate.end.wait()
            #expect(task.error == nil)
            #expect(delegate.content == (isRange ? "helloworld" : "another text"))
            #expect(delegate.offsets == (isRange ? [5] : []))
            #expect(task.countOfBytesReceived == (isRange ? 10 : 12))
            #expect(requests.all.map { $0["range"] } == [nil, "bytes=5-"])
            #expect(requests.all.last?["if-range"] == "\"a\"")
        }

        @Test("If the rest cannot be loaded either, the download fails with resume data")
        func suspendedFails() async throws {
            let (requests, closed, delegate) = (RequestLog(), Gate(), SuspendedDownload())
            let server = try Self.halfServer(requests, closes: delegate.suspended, closed: closed) { _ in nil }
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let task = session.downloadTask(with: try #require(URL(string: server.uri())))
            task.resume()
            await closed.wait()
            task.resume()
            await delegate.end.wait()
            let error = task.error as? URLError
            #expect(error?.code == .networkConnectionLost && error?.downloadTaskResumeData != nil)
            // The engine may repeat a request if a new connection closes without an answer. So there can be more than
            // two requests.
            #expect(requests.all.dropFirst().allSatisfy { $0["range"] == "bytes=5-" } && requests.all.count > 1)
        }

        @Test("Content that changes in between is loaded from the beginning")
        func changes() async throws {
            let server = CuttingServer(length: 20_000)
            let scripted = try server.start(
                tag: { "\"\($0 < 3 ? "old" : "new")\"" }, part: { $0 < 6 ? 5_000 : 20_000 })
            #expect(try await download(try #require(URL(string: scripted.uri()))) == Data(server.text.utf8))
            #expect(server.sent.withLock { $0 } == 35_000)
        }
    }
}

/// A delegate that suspends its download when the first content arrives.
private final class SuspendedDownload: NSObject, URLSessionDownloadDelegate, Sendable {
    private let state = LockedValue<(content: String?, offsets: [Int64], hasSuspended: Bool)>((nil, [], false))
    let suspended = Gate()
    let end = Gate()

    var content: String? { state.withLock { $0.content } }
    var offsets: [Int64] { state.withLock { $0.offsets } }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        let isFirst = state.withLock { state in
            defer { state.hasSuspended = true }
            return !state.hasSuspended
        }
        guard isFirst else { return }
        downloadTask.suspend()
        suspended.open()
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        state.withLock { $0.offsets.append(fileOffset) }
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        let text = (try? Data(contentsOf: location)).map { String(decoding: $0, as: UTF8.self) }
        state.withLock { $0.content = text }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.open()
    }
}
