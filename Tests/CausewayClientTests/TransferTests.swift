import CausewayURLLoading
import Foundation
import Testing

@testable import CausewayClient

@Suite("Client: transfers")
struct TransferTests {
    @Test("A download that is cancelled after its last byte leaves no file")
    func cancelledLate() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("downloaded")
        try Data("x".utf8).write(to: file)
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "https://api.example/"))
        let task = session.downloadTask(with: URLRequest(url: url))
        let transfer = Transfer(progress: nil)
        transfer.urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
        transfer.urlSession(session, task: task, didCompleteWithError: URLError(.cancelled))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        await #expect(throws: URLError.self) { _ = try await transfer.run(task) }
    }

    @Test("Content from a form is supplied again, each time from its beginning", arguments: [false, true])
    func contentAgain(isDownload: Bool) async throws {
        var form = MultipartForm()
        form.append("Ann", name: "author")
        let encoded = [UInt8](try form.encoded())
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let task = session.downloadTask(with: try #require(URL(string: "https://api.example/")))
        let delegate: any URLSessionTaskDelegate =
            isDownload ? Transfer(streaming: .form(form), progress: nil) : StreamSupplier(.form(form))
        for _ in 0..<2 {
            let content = await withCheckedContinuation { (continuation: CheckedContinuation<[UInt8]?, Never>) in
                delegate.urlSession(
                    session, task: task,
                    needNewBodyStream: { stream in
                        continuation.resume(returning: stream.map { Self.content(of: $0) })
                    })
            }
            #expect(content == encoded)
        }
    }

    private static func content(of stream: InputStream) -> [UInt8] {
        stream.open()
        defer { stream.close() }
        var (content, piece) = ([UInt8](), [UInt8](repeating: 0, count: 100))
        while true {
            let count = stream.read(&piece, maxLength: 100)
            guard count > 0 else { return content }
            content += piece[..<count]
        }
    }
}
