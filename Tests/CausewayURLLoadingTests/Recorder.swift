import CausewayURLLoading
import Foundation
import Synchronization

/// A delegate for all tasks. It records its calls, and lets tests wait until a task has ended.
final class Recorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    struct State {
        var events: [String] = []
        var data = Data()
        var error: (any Error)?
        var metrics: URLSessionTaskMetrics?
        var file: Data?
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    let state = Mutex(State())
    /// The answer to `didReceive response`.
    let disposition: URLSession.ResponseDisposition

    init(disposition: URLSession.ResponseDisposition = .allow) {
        self.disposition = disposition
        super.init()
    }

    var events: [String] { state.withLock { $0.events } }
    var data: Data { state.withLock { $0.data } }
    var error: URLError? { state.withLock { $0.error } as? URLError }

    /// Waits until `didCompleteWithError` was called, or `didBecomeInvalid` for an invalidated session.
    func end() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiter = continuation }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    private func note(_ event: String, ends: Bool = false, _ change: (inout State) -> Void = { _ in }) {
        let waiter = state.withLock { state in
            if state.events.last != event { state.events.append(event) }
            change(&state)
            guard ends else { return nil as CheckedContinuation<Void, Never>? }
            state.hasEnded = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("invalid", ends: true)
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note("created") }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note("metrics") { $0.metrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("completed \(task.state.rawValue)", ends: true) { $0.error = error }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response")
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
    {
        note("became download")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data") { $0.data.append(data) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("will cache")
        completionHandler(proposedResponse)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        note("wrote")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note("resumed \(fileOffset) of \(expectedTotalBytes)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        note("finished") { $0.file = try? Data(contentsOf: location) }
    }
}
