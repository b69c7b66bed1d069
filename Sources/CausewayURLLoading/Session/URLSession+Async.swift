internal import CausewaySystem
public import Foundation

extension URLSession {
    /// The data, upload and download tasks that have been resumed, and are neither cancelled nor completed.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async {
            await withCheckedContinuation { continuation in
                getTasksWithCompletionHandler { continuation.resume(returning: ($0, $1, $2)) }
            }
        }
    }

    /// All tasks that have been resumed, and are neither cancelled nor completed. A task that is suspended again stays
    /// in the list.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var allTasks: [URLSessionTask] {
        get async {
            await withCheckedContinuation { continuation in
                getAllTasks { continuation.resume(returning: $0) }
            }
        }
    }

    /// Removes all cookies, cached responses and credentials.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public func reset() async {
        await withCheckedContinuation { continuation in reset { continuation.resume() } }
    }

    /// Waits until the delegate queue has run the completion handler of ``flush(completionHandler:)``.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public func flush() async {
        await withCheckedContinuation { continuation in flush { continuation.resume() } }
    }

    /// Loads a request and returns its content and response.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { dataTask(with: request, completionHandler: $0) }
    }

    /// Loads a URL and returns its content and response.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { dataTask(with: url, completionHandler: $0) }
    }

    /// Uploads a file and returns the response content and the response.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { uploadTask(with: request, fromFile: fileURL, completionHandler: $0) }
    }

    /// Uploads data and returns the response content and the response.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { uploadTask(with: request, from: bodyData, completionHandler: $0) }
    }

    /// Resumes an upload and returns the response content and the response.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public func upload(
        resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { uploadTask(withResumeData: resumeData, completionHandler: $0) }
    }

    /// Downloads a request's content to a temporary file. The caller must remove the file.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await runDownload(delegate) { downloadTask(with: request, completionHandler: $0) }
    }

    /// Downloads a URL's content to a temporary file. The caller must remove the file.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func download(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await runDownload(delegate) { downloadTask(with: url, completionHandler: $0) }
    }

    /// Resumes a download to a temporary file. The caller must remove the file.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func download(
        resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await runDownload(delegate) { downloadTask(withResumeData: resumeData, completionHandler: $0) }
    }

    private func runDownload(
        _ delegate: (any URLSessionTaskDelegate)?, _ make: (@escaping FileHandler) -> URLSessionTask
    ) async throws -> (URL, URLResponse) {
        try await run(delegate) { (handler: @escaping FileHandler) in
            make { location, response, error in
                // The download task removes its file when the closure returns. So move the file to another name first.
                guard let location else { return handler(nil, response, error) }
                let kept = FileSink.newURL()
                do {
                    try FileManager.default.moveItem(at: location, to: kept)
                    handler(kept, response, error)
                } catch {
                    handler(nil, response, LoadFailure(.fileNotMoved, underlying: error).urlError(for: response?.url))
                }
            }
        }
    }

    /// Creates and resumes a task with a completion handler, and waits for its result.
    func run<Content: Sendable>(
        _ delegate: (any URLSessionTaskDelegate)?,
        _ make: (@escaping @Sendable (Content?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> (Content, URLResponse) {
        let cancellation = TaskCancellation()
        return try await withTaskCancellationHandler {
            // A checked continuation would only cost time, because a task calls its handler exactly once.
            try await withUnsafeThrowingContinuation { continuation in
                let task = make { content, response, error in
                    if let content, let response, error == nil {
                        return continuation.resume(returning: (content, response))
                    }
                    continuation.resume(
                        throwing: error ?? LoadFailure(.protocolViolation).urlError(for: response?.url))
                }
                if let delegate { task.delegate = delegate }
                task.core?.callAnywhere()
                cancellation.begin(task)
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

/// Cancels a `URLSessionTask` when the surrounding Swift task is cancelled. The Swift task can be cancelled before or
/// after the `URLSessionTask` is set.
final class TaskCancellation: Sendable {
    private enum State {
        case waiting
        case cancelled
        case running(URLSessionTask)
    }

    private let state = LockedValue(State.waiting)

    /// Resumes a task, or cancels it if the Swift task has already been cancelled.
    func begin(_ task: URLSessionTask) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .running(task)
            return false
        }
        if isCancelled { task.cancel() } else { task.resume() }
    }

    func cancel() {
        let running = state.withLock { state -> URLSessionTask? in
            defer { state = .cancelled }
            if case .running(let task) = state { return task }
            return nil
        }
        running?.cancel()
    }
}
