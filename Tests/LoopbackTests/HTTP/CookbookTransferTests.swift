import CausewayHTTPServer
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    /// Downloads and uploads from example programs in networking cookbooks.
    @Suite("URL loading: transfers of programs")
    struct CookbookTransferTests {
        private static func url(_ port: UInt16, _ path: String) throws -> URL {
            try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        }

        /// Runs `body` with an empty directory.
        private static func scratch(_ body: (URL) async throws -> Void) async throws {
            let place = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: place) }
            try await body(place)
        }

        private static func routes(_ content: Data) -> HTTPServerRoutes {
            var routes = HTTPServerRoutes()
            routes.get("/file") { _ in
                HTTPServerResponse(
                    fields: ["Content-Disposition": "attachment; filename=\"album.zip\""], body: .data(content))
            }
            routes.get("/stream") { _ in
                HTTPServerResponse(body: .stream { writer in try await writer.write(content) })
            }
            return routes
        }

        @Test("U1: the destination of a download is chosen when its response is known")
        func u1() async throws {
            let content = Data(repeating: 7, count: 50_000)
            try await Self.scratch { place in
                try await TestServer.run(routes: Self.routes(content)) { _, port in
                    let delegate = MovingDelegate(place)
                    privateSession(delegate).downloadTask(with: try Self.url(port, "/file")).resume()
                    await delegate.end.wait()
                    #expect(try Data(contentsOf: place.appendingPathComponent("album.zip")) == content)
                    #expect(delegate.error == nil)
                }
                let delegate = MovingDelegate(place)
                privateSession(delegate).downloadTask(with: try Self.url(1, "/file")).resume()
                await delegate.end.wait()
                #expect((delegate.error as? URLError)?.code == .cannotConnectToHost)
            }
        }

        @Test(
            "U2: the progress of a download never falls and ends at 1, also without a length",
            arguments: ["/file", "/stream"])
        func u2(_ path: String) async throws {
            let content = Data(repeating: 7, count: 2 << 20)
            try await Self.scratch { place in
                try await TestServer.run(routes: Self.routes(content)) { _, port in
                    let delegate = MovingDelegate(place)
                    let task = privateSession(delegate).downloadTask(with: try Self.url(port, path))
                    let progress = task.progress
                    task.resume()
                    await delegate.end.wait()
                    #expect(delegate.fractions == delegate.fractions.sorted() && delegate.fractions.count > 1)
                    #expect(delegate.fractions.allSatisfy { (0...1).contains($0) })
                    #expect(progress.fractionCompleted == 1 && progress.isFinished)
                    #expect(task.countOfBytesReceived == Int64(content.count))
                    #expect((delegate.expected == NSURLSessionTransferSizeUnknown) == (path == "/stream"))
                }
            }
        }

        @Test("U4: several transfers wait for their turn, and all arrive")
        func u4() async throws {
            let content = Data(repeating: 7, count: 100_000)
            let active = LockedValue((now: 0, most: 0))
            var routes = HTTPServerRoutes()
            routes.get("/file") { _ in
                HTTPServerResponse(
                    body: .stream(length: content.count) { writer in
                        active.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        try await writer.write(content)
                        active.withLock { $0.now -= 1 }
                    })
            }
            try await TestServer.run(routes: routes) { _, port in
                let session = privateSession { $0.httpMaximumConnectionsPerHost = 2 }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            let (file, _) = try await session.download(from: Self.url(port, "/file"))
                            #expect(try Data(contentsOf: file) == content)
                            try FileManager.default.removeItem(at: file)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect((1...2).contains(active.withLock { $0.most }))
        }

        @Test("U5: a failed download leaves no file; a repeated one replaces the file")
        func u5() async throws {
            let content = Data(repeating: 7, count: 50_000)
            let server = try ScriptedServer { peer in
                while let request = try await peer.readRequest() {
                    try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n")
                    guard request.target == "/good" else { return try await peer.write("part") }
                    try await peer.socket.write(content)
                }
            }
            let url = try #require(URL(string: server.uri()))
            try await Self.scratch { place in
                let target = place.appendingPathComponent("file")
                for path in ["/good", "/broken", "/good"] {
                    let location = LockedValue<URL?>(nil)
                    let end = Gate()
                    let task = privateSession().downloadTask(with: url.appendingPathComponent(path)) { file, _, error in
                        location.withLock { $0 = file }
                        if let file {
                            try? FileManager.default.removeItem(at: target)
                            try? FileManager.default.moveItem(at: file, to: target)
                        } else {
                            #expect((error as? URLError)?.code == .networkConnectionLost)
                            #expect((error as? URLError)?.downloadTaskResumeData == nil)
                        }
                        end.open()
                    }
                    task.resume()
                    await end.wait()
                    let isMissing = location.withLock { $0 } == nil
                    #expect(isMissing == (path == "/broken"))
                    let kept = try Data(contentsOf: target)
                    #expect(kept == content)
                }
            }
        }

        @Test("U6: a receiver for uploads, as `nw serve http --upload` runs it")
        func u6() async throws {
            let content = Data(repeating: 7, count: 300_000)
            try await Self.scratch { place in
                let inbox = try HTTPServerDirectory(place.path, options: [.listing, .uploads])
                var routes = HTTPServerRoutes()
                routes.on("*", "/fileupload/{path...}") { request in
                    try await inbox.respond(to: request, path: "/" + (request.parameters["path"] ?? ""))
                }
                try await TestServer.run(routes: routes) { _, port in
                    var request = URLRequest(url: try Self.url(port, "/fileupload/IMG_1168.jpg"))
                    request.httpMethod = "PUT"
                    request.setValue("image/jpeg", forHTTPHeaderField: "Content-Type")
                    let delegate = MovingDelegate(place)
                    let (_, response) = try await privateSession(delegate).upload(for: request, from: content)
                    #expect((response as? HTTPURLResponse)?.statusCode == 201)
                    #expect(delegate.sent == Int64(content.count))
                    #expect(try Data(contentsOf: place.appendingPathComponent("IMG_1168.jpg")) == content)
                }
            }
        }
    }
}

/// Moves downloaded files to a directory, under the name that the response suggests, and records the progress.
private final class MovingDelegate: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    private struct State {
        var fractions: [Double] = []
        var expected: Int64 = 0
        var sent: Int64 = 0
        var error: (any Error)?
    }

    private let place: URL
    private let state = LockedValue(State())
    let end = Gate()

    init(_ place: URL) { self.place = place }

    var fractions: [Double] { state.withLock { $0.fractions } }
    var expected: Int64 { state.withLock { $0.expected } }
    var sent: Int64 { state.withLock { $0.sent } }
    var error: (any Error)? { state.withLock { $0.error } }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let name = downloadTask.response?.suggestedFilename ?? "Unknown"
        do {
            try FileManager.default.moveItem(at: location, to: place.appendingPathComponent(name))
        } catch {
            state.withLock { $0.error = error }
        }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        let fraction = downloadTask.progress.fractionCompleted
        state.withLock { state in
            state.fractions.append(fraction)
            state.expected = totalBytesExpectedToWrite
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        state.withLock { $0.sent = totalBytesSent }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        state.withLock { $0.error = $0.error ?? error }
        end.open()
    }
}
