import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession storms")
    struct URLSessionStressTests {
        /// What a test client does with a task.
        private enum Conduct: CaseIterable {
            case data, upload, download, bytes, cancel, suspend, handler
        }

        @Test("Tasks of all kinds, started and stopped by many threads, each end once with all their content")
        func storm() async throws {
            let body = String(repeating: "0123456789abcdef", count: 4_096)
            let server = try echoServer { request in reply("200 OK", ["X-Length: \(request.body.utf8.count)"], body) }
            let url = try #require(URL(string: server.uri()))
            let (invalid, continuation) = AsyncStream.makeStream(of: Void.self)
            let session = privateSession(Invalidation { continuation.finish() }) {
                $0.httpMaximumConnectionsPerHost = 16
            }
            let (clients, rounds) = (16, 8)
            let ends = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<clients {
                    group.addTask {
                        var ends = 0
                        for _ in 0..<rounds {
                            for conduct in Conduct.allCases.shuffled() {
                                try await Self.perform(conduct, url, session, Data(body.utf8))
                                ends += 1
                            }
                        }
                        return ends
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(ends == clients * rounds * Conduct.allCases.count)
            // A task whose reader stopped early may not have ended yet. The session becomes invalid only when its last
            // task has ended.
            session.finishTasksAndInvalidate()
            for await _ in invalid {}
            #expect(await session.allTasks.isEmpty)
        }

        /// A session delegate that calls a closure when the session is invalidated.
        private final class Invalidation: NSObject, URLSessionDelegate {
            private let call: @Sendable () -> Void

            init(_ call: @escaping @Sendable () -> Void) { self.call = call }

            func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { call() }
        }

        private static func perform(
            _ conduct: Conduct, _ url: URL, _ session: URLSession, _ body: Data
        ) async throws {
            var request = URLRequest(url: url)
            switch conduct {
            case .data: #expect(try await session.data(from: url).0 == body)
            case .upload:
                request.httpMethod = "POST"
                let (data, response) = try await session.upload(for: request, from: body)
                #expect(data == body)
                #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Length") == "\(body.count)")
            case .download:
                let (file, _) = try await session.download(from: url)
                #expect(try Data(contentsOf: file) == body)
                try FileManager.default.removeItem(at: file)
            case .bytes:
                var count = 0
                for try await _ in try await session.bytes(from: url).0 {
                    count += 1
                    // A reader that stops early cancels the rest of the load.
                    if count == 1_000 { break }
                }
                #expect(count == 1_000)
            case .cancel:
                let load = Task { try await session.data(from: url) }
                for _ in 0..<Int.random(in: 0..<20) { await Task.yield() }
                load.cancel()
                if case .success((let data, _)) = await load.result { #expect(data == body) }
            case .suspend:
                #expect(
                    await finish(session, url) { task in
                        task.suspend()
                        task.resume()
                    } == body)
            case .handler: #expect(await finish(session, url) { _ in } == body)
            }
        }

        /// Loads a URL with a completion handler. The handler must be called exactly once.
        private static func finish(
            _ session: URLSession, _ url: URL, _ meanwhile: (URLSessionTask) -> Void
        ) async -> Data? {
            await withCheckedContinuation { continuation in
                let task = session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }
                task.resume()
                meanwhile(task)
            }
        }
    }
}
