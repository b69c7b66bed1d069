internal import CausewaySystem
internal import CausewayURLLoading
internal import Foundation

/// A session task with progress reports or a content limit.
final class Transfer: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    /// The response content.
    enum Content: Sendable {
        case data(Data)
        /// A temporary file.
        case file(URL)
    }

    private struct State {
        var track = ProgressTrack()
        var data = Data()
        var file: Result<URL, any Error>?
        var isTooLong = false
        var continuation: CheckedContinuation<(Content, HTTPURLResponse), any Error>?
        /// The result of the task, if the task ended before the caller waited for the result. This happens, for
        /// example, after a cancellation.
        var end: Result<(Content, HTTPURLResponse), any Error>?
    }

    private let state = LockedValue(State())
    /// The maximum content length in bytes; `nil` for no limit.
    private let limit: Int?
    /// The content that the task sends as a stream.
    private let source: RequestBody.Source
    private let report: (@Sendable (TransferProgress) -> Void)?

    init(
        limit: Int? = nil, streaming source: RequestBody.Source = .none,
        progress report: (@Sendable (TransferProgress) -> Void)?
    ) {
        self.limit = limit
        self.source = source
        self.report = report
    }

    /// Runs a session task.
    ///
    /// Cancellation: cancels the task and throws its error.
    func run(_ task: URLSessionTask) async throws -> (Content, HTTPURLResponse) {
        task.delegate = self
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let end = state.withLock { state in
                    state.continuation = state.end == nil ? continuation : nil
                    return state.end
                }
                if let end { return continuation.resume(with: end) }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }

    private func move(to count: Int64, of expected: Int64) {
        guard let report, let progress = state.withLock({ $0.track.moved(to: count, of: expected) }) else { return }
        report(progress)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard !(task is URLSessionDownloadTask) else { return }
        move(to: totalBytesSent, of: totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(source.newStream)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = state.withLock { state in
            guard state.data.count + data.count <= limit ?? .max else {
                state.isTooLong = true
                return true
            }
            state.data += data
            return false
        }
        if isTooLong { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        move(to: totalBytesWritten, of: totalBytesExpectedToWrite)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        // The session removes the downloaded file when this method returns, so move the file first.
        let kept = location.deletingLastPathComponent().appendingPathComponent("causeway-client-\(UUID().uuidString)")
        let file = Result { () throws -> URL in
            try FileManager.default.moveItem(at: location, to: kept)
            return kept
        }
        state.withLock { $0.file = file }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (continuation, result, last, unused) = state.withLock { state in
            let result = Self.result(state, task.response as? HTTPURLResponse, error)
            state.end = result
            defer { state.continuation = nil }
            let isComplete = if case .success = result { true } else { false }
            // A task that is cancelled after its last byte has arrived fails, although its file is complete. Remove the
            // file in this case.
            let unused = isComplete ? nil : state.file.flatMap { try? $0.get() }
            return (state.continuation, result, isComplete ? state.track.completed() : nil, unused)
        }
        if let unused { try? FileManager.default.removeItem(at: unused) }
        if let last { report?(last) }
        continuation?.resume(with: result)
    }

    private static func result(
        _ state: State, _ response: HTTPURLResponse?, _ error: (any Error)?
    ) -> Result<(Content, HTTPURLResponse), any Error> {
        if state.isTooLong {
            var failure = HTTPClientError(.contentTooLong, "the content is longer than the limit")
            failure.response = response
            return .failure(failure)
        }
        if let error { return .failure(error) }
        guard let response else { return .failure(URLError(.badServerResponse)) }
        guard let file = state.file else { return .success((.data(state.data), response)) }
        return file.map { (.file($0), response) }
    }
}
