import CausewayURLLoading
import Foundation

/// Transfers a large amount of content once. The content is only counted, and not stored.
final class Transfer: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    private let url: URL
    private let byteCount: Int
    private let pauses: Bool
    private let lock = NSLock()
    private var count = 0
    private var nextPause = 1 << 20
    private var uploadedFile: URL?
    private var completion: CheckedContinuation<Void, any Error>?

    init(_ url: URL, byteCount: Int, pauses: Bool) {
        self.url = url
        self.byteCount = byteCount
        self.pauses = pauses
    }

    /// Transfers the content in the given style. Returns the number of transferred bytes.
    func run(_ style: String) async throws -> Int {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        switch style {
        case "bytes": try await readBytes(in: session)
        case "delegate": try await complete(session.dataTask(with: url))
        case "download": try await complete(session.downloadTask(with: url))
        case "upload-file", "upload-stream":
            let file = try Self.sparseFile(byteCount)
            defer { try? FileManager.default.removeItem(at: file) }
            uploadedFile = file
            var request = URLRequest(url: url)
            request.httpMethod = "PUT"
            let isFile = style == "upload-file"
            try await complete(
                isFile
                    ? session.uploadTask(with: request, fromFile: file)
                    : session.uploadTask(withStreamedRequest: request))
        default: fatalError("unknown style \(style)")
        }
        return count
    }

    /// Creates a file with this length that occupies no disk space.
    private static func sparseFile(_ byteCount: Int) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("http-memory-\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(byteCount))
        try handle.close()
        return file
    }

    private func readBytes(in session: URLSession) async throws {
        let (bytes, _) = try await session.bytes(from: url)
        var number = 0
        var pause = pauses ? nextPause : .max
        for try await _ in bytes {
            number += 1
            if number == pause {
                try await Task.sleep(for: .seconds(2))
                pause += max(1, byteCount / 4)
            }
        }
        count = number
    }

    private func complete(_ task: URLSessionTask) async throws {
        try await withCheckedThrowingContinuation { continuation in
            completion = continuation
            task.resume()
        }
    }

    private func isPauseDue(at total: Int) -> Bool {
        guard pauses, total >= nextPause else { return false }
        nextPause += max(1, byteCount / 4)
        return true
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        // The response to an upload contains a number. Use this number as the count.
        guard uploadedFile == nil else { return count = Int(String(decoding: data, as: UTF8.self)) ?? 0 }
        count += data.count
        if isPauseDue(at: count) { Thread.sleep(forTimeInterval: 2) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        guard isPauseDue(at: Int(totalBytesWritten)) else { return }
        downloadTask.suspend()
        Thread.sleep(forTimeInterval: 2)
        downloadTask.resume()
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: location.path)
        count = (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(uploadedFile.flatMap { InputStream(fileAtPath: $0.path) })
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { completion?.resume(throwing: error) } else { completion?.resume() }
    }
}
