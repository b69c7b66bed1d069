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
}
