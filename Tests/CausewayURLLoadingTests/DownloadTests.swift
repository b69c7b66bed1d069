import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Download and upload tasks (§5, §6, §12, §13)")
struct DownloadTests {
    let hello = URL(string: "data:,hello")!

    @Test("The file exists during the call and not afterwards")
    func delegate() async throws {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: hello).resume()
        await recorder.end()
        #expect(recorder.events == ["created", "wrote", "finished", "metrics", "completed 3"])
        #expect(recorder.state.withLock { $0.file } == Data("hello".utf8))
    }

    @Test("The file of a handler is removed when the handler returns")
    func handler() async throws {
        let session = URLSession(configuration: .unhurried)
        let (location, content) = await withCheckedContinuation { continuation in
            session.downloadTask(with: hello) { location, _, _ in
                continuation.resume(returning: (location, location.flatMap { try? Data(contentsOf: $0) }))
            }.resume()
        }
        #expect(content == Data("hello".utf8))
        let path = try #require(location?.path)
        while FileManager.default.fileExists(atPath: path) { await Task.yield() }
    }

    @Test("The file of an async function stays")
    func async() async throws {
        let (location, response) = try await URLSession.shared.download(from: hello)
        defer { try? FileManager.default.removeItem(at: location) }
        #expect(try Data(contentsOf: location) == Data("hello".utf8))
        #expect(response.mimeType == "text/plain")
        #expect(location.lastPathComponent.hasPrefix("CFNetworkDownload_"))
    }

    @Test("An error status is no error: its content is the file")
    func status() async throws {
        let session = MockProtocol.session("missing.mock") { mock in
            mock.respond(404)
            mock.load("not here")
            mock.finish()
        }
        let (location, response) = try await session.download(from: URL(string: "http://missing.mock/")!)
        defer { try? FileManager.default.removeItem(at: location) }
        #expect((response as? HTTPURLResponse)?.statusCode == 404)
        #expect(try Data(contentsOf: location) == Data("not here".utf8))
    }

    @Test("Resume data: none without a server, and foreign data gives a task that fails")
    func resumeData() async {
        let session = URLSession(configuration: .unhurried)
        let task = session.downloadTask(with: hello)
        #expect(await task.cancelByProducingResumeData() == nil)
        await #expect { try await session.download(resumeFrom: Data([1, 2, 3])) } throws: {
            ($0 as? URLError)?.code == .unsupportedURL
        }
    }

    @Test("Uploads carry their content, and the content of the request is ignored")
    func uploads() async throws {
        let session = MockProtocol.session("upload.mock") { mock in
            mock.respond()
            let stream = mock.request.httpBodyStream
            mock.load("\(mock.request.httpBody?.count ?? -1) \(stream != nil)")
            mock.finish()
        }
        var request = URLRequest(url: URL(string: "http://upload.mock/")!)
        request.httpMethod = "POST"
        request.httpBody = Data(count: 9)
        let task = session.uploadTask(with: request, from: Data(count: 4))
        #expect(task.originalRequest?.httpBody == nil && task.countOfBytesExpectedToSend == 4)
        let (text, _) = try await session.upload(for: request, from: Data(count: 4))
        #expect(text == Data("4 false".utf8))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())")
        try Data(count: 5).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await session.upload(for: request, fromFile: file).0 == Data("-1 true".utf8))
        await #expect {
            try await session.upload(for: request, fromFile: file.appendingPathExtension("missing"))
        } throws: { ($0 as? URLError)?.code == .fileDoesNotExist }
        task.cancel()
    }
}
