import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: a data task becomes a stream task (§6)")
    struct URLSessionBecomeStreamTests {
        private static func task(
            _ server: ScriptedServer, _ delegate: BecomeStreamDelegate, upgrade: String? = nil
        ) throws -> URLSessionDataTask {
            var request = URLRequest(url: try #require(URL(string: server.uri("/stream"))))
            request.setValue(upgrade, forHTTPHeaderField: "Upgrade")
            let task = privateSession(delegate).dataTask(with: request)
            task.resume()
            return task
        }

        @Test("Content that ends with the connection: bytes before and after, and in the other direction")
        func content() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\n\r\nfirst ")
                #expect(try await peer.read(count: 4) == "more")
                try await peer.write("second")
                _ = try await peer.socket.readAll()
            }
            let delegate = BecomeStreamDelegate()
            let old = try Self.task(server, delegate)
            let stream = await delegate.stream()
            #expect(old.state == .completed && stream.state == .running)
            #expect(stream.originalRequest?.url?.path == "/stream")
            #expect(await stream.hear(6, 6) == "first ")
            #expect(await stream.say("more") == nil)
            #expect(await stream.hear(6, 6) == "second")
            stream.closeWrite()
            #expect(await stream.hear() == ".")
            await delegate.end.wait()
            #expect(delegate.events == ["response 200", "became stream", "completed stream"])
        }

        @Test("A switched protocol: the request has its fields, and no byte after the head is lost")
        func switched() async throws {
            let server = try ScriptedServer { peer in
                let head = try await peer.readHead()?.lowercased() ?? ""
                #expect(head.contains("\r\nupgrade: echo/1") && head.contains("\r\nconnection: upgrade"))
                try await peer.write(
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo/1\r\nConnection: Upgrade\r\n\r\nhello")
                let line = try await peer.read(count: 3)
                try await peer.write("<\(line)>")
            }
            let delegate = BecomeStreamDelegate()
            _ = try Self.task(server, delegate, upgrade: "echo/1")
            let stream = await delegate.stream()
            #expect(await stream.hear(5, 5) == "hello")
            #expect(await stream.say("abc") == nil)
            #expect(await stream.hear(100) == "<abc>.")
            stream.closeWrite()
            await delegate.end.wait()
            #expect(delegate.events == ["response 101", "became stream", "completed stream"])
        }

        @Test("A response before the switch, and a server that declines it", arguments: ["100 Continue", "200 OK"])
        func notSwitched(_ status: String) async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                let end = status.hasPrefix("1") ? "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n" : ""
                try await peer.write("HTTP/1.1 \(status)\r\n\r\n\(end)text")
            }
            let delegate = BecomeStreamDelegate()
            _ = try Self.task(server, delegate, upgrade: "a")
            let stream = await delegate.stream()
            #expect(await stream.hear(100) == "text.")
        }

        @Test("The delegate cancels or suspends the stream task in the call", arguments: [true, false])
        func changed(_ isCancelled: Bool) async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\n\r\ntext")
            }
            let delegate = BecomeStreamDelegate { if isCancelled { $0.cancel() } else { $0.suspend() } }
            _ = try Self.task(server, delegate)
            let stream = await delegate.stream()
            if isCancelled {
                await delegate.end.wait()
                #expect(delegate.events.last == "completed stream \(URLError.cancelled.rawValue)")
            } else {
                #expect(stream.state == .suspended)
                stream.resume()
                #expect(await stream.hear(100) == "text.")
            }
        }

        @Test("A suspended task becomes a suspended stream task")
        func suspended() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\n\r\ntext")
            }
            let answered = Gate()
            let delegate = BecomeStreamDelegate(waitsFor: answered)
            let task = try Self.task(server, delegate)
            await delegate.asked.wait()
            task.suspend()
            answered.open()
            let stream = await delegate.stream()
            #expect(stream.state == .suspended)
            stream.resume()
            #expect(await stream.hear(100) == "text.")
        }

        @Test("The answer comes late: all content has arrived, and the server has closed the connection")
        func late() async throws {
            let closed = Gate()
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhole text")
                closed.open()
            }
            let delegate = BecomeStreamDelegate(waitsFor: closed)
            _ = try Self.task(server, delegate)
            let stream = await delegate.stream()
            #expect(await stream.hear(100) == "whole text.")
        }

        @Test("A response from the cache: its content is the stream")
        func stored() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\n\r\nstored text")
            }
            let delegate = BecomeStreamDelegate()
            let session = privateSession(delegate) {
                $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            }
            let url = try #require(URL(string: server.uri("/stream")))
            let (data, _) = try await session.data(from: url)
            #expect(data == Data("stored text".utf8))
            session.dataTask(with: url).resume()
            let stream = await delegate.stream()
            #expect(await stream.hear(100) == "stored text.")
            #expect(server.acceptedCount == 1)
        }

        @Test("Content larger than all buffers before the answer arrives whole and in order")
        func large() async throws {
            let line = Data((0..<10_007).map { UInt8(truncatingIfNeeded: $0 >> 5) })
            let data = Data((0..<400).map { _ in line }.joined())
            let begun = Gate()
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\n\r\n")
                try await peer.socket.write(data.prefix(300_000))
                begun.open()
                try await peer.socket.write(data.dropFirst(300_000))
            }
            let delegate = BecomeStreamDelegate(waitsFor: begun)
            _ = try Self.task(server, delegate)
            let stream = await delegate.stream()
            var received = Data()
            while true {
                let (piece, isAtEnd) = try await stream.readData(ofMinLength: 1, maxLength: 70_000, timeout: 0)
                received += piece ?? Data()
                if isAtEnd { break }
            }
            let isEqual = received == data
            #expect(isEqual)
        }

        @Test(
            "Other content cannot become a stream",
            arguments: [
                "Content-Length: 4\r\n\r\ntext", "Transfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\n\r\n",
                "Content-Encoding: gzip\r\n\r\ntext",
            ])
        func impossible(_ rest: String) async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\n\(rest)")
            }
            let delegate = BecomeStreamDelegate()
            _ = try Self.task(server, delegate)
            await delegate.end.wait()
            #expect(delegate.events == ["response 200", "completed \(URLError.unsupportedURL.rawValue)"])
        }

        @Test("A switched protocol without a stream is a failure")
        func unwanted() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n")
                #expect(try await peer.socket.readAll().isEmpty)
            }
            let delegate = BecomeStreamDelegate(.allow)
            _ = try Self.task(server, delegate, upgrade: "a")
            await delegate.end.wait()
            #expect(delegate.events == ["response 101", "completed \(URLError.badServerResponse.rawValue)"])
        }
    }
}

/// A delegate that answers each response with the same disposition, and keeps the stream task.
private final class BecomeStreamDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let list = LockedValue<[String]>([])
    private let kept = LockedValue<URLSessionStreamTask?>(nil)
    private let became = Gate()
    private let disposition: URLSession.ResponseDisposition
    private let gate: Gate?
    private let change: @Sendable (URLSessionStreamTask) -> Void
    let asked = Gate()
    let end = Gate()

    init(
        _ disposition: URLSession.ResponseDisposition = .becomeStream, waitsFor gate: Gate? = nil,
        change: @escaping @Sendable (URLSessionStreamTask) -> Void = { _ in }
    ) {
        self.disposition = disposition
        self.gate = gate
        self.change = change
    }

    var events: [String] { list.withLock { $0 } }

    /// Waits until the data task has become a stream task, and returns the stream task.
    func stream() async -> URLSessionStreamTask {
        await became.wait()
        return kept.withLock { $0 } ?? URLSessionStreamTask()
    }

    private func note(_ event: String) { list.withLock { $0.append(event) } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        asked.open()
        Task { [gate, disposition] in
            await gate?.wait()
            completionHandler(disposition)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data \(data.count)")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask) {
        note(streamTask.state == .running ? "became stream" : "became stream that does not run")
        change(streamTask)
        kept.withLock { $0 = streamTask }
        became.open()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let code = (error as? URLError).map { " \($0.code.rawValue)" } ?? ""
        note("completed\(task is URLSessionStreamTask ? " stream" : "")\(code)")
        end.open()
    }
}
