public import Foundation

/// A task that delivers the content in memory.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: see `URLSessionTask`.
@preconcurrency open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A task that uploads content.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: see `URLSessionTask`.
@preconcurrency open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Cancels the upload and passes resume data to a completion handler on the delegate queue; `nil` if the upload cannot be resumed.
    ///
    /// An upload can be resumed if the server has named a resource for it in an informational response 104
    /// (draft-ietf-httpbis-resumable-upload). The task's error contains the same data. If the network broke the upload
    /// and five attempts could not continue it, the error also contains resume data. Resume data contains the content
    /// of a data upload, and the path of a file upload.
    ///
    /// Counterpart: macOS 14, iOS 17.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        guard let core else { return cancelWithoutResumeData(completionHandler) }
        core.cancel(producing: completionHandler)
    }

    /// Cancels the upload and returns resume data, or `nil` if the upload cannot be resumed.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

/// A task that saves the content to a file.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: see `URLSessionTask`.
@preconcurrency open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Cancels the download and creates resume data.
    ///
    /// The method passes the resume data to the completion handler, on the delegate queue. It passes `nil` if the
    /// download cannot be resumed. A download can be resumed under these conditions (RFC 9110 §8.8, §13.1.5):
    ///
    /// - The request is a GET over HTTP without `Range`.
    /// - The response has a strong `ETag`, or a `Last-Modified` date before its `Date`.
    /// - The response has no content coding.
    ///
    /// The task's error contains the same data. If the network broke the download, the error also contains resume data.
    ///
    /// The content that has arrived so far stays in a file in the temporary directory. The resumed download uses this
    /// file. If you do not resume the download, the file stays until the system cleans the directory.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        guard let core else { return cancelWithoutResumeData(completionHandler) }
        core.cancel(producing: completionHandler)
    }

    /// The data to resume the download if this process is killed; `nil` before the response has arrived, after the end,
    /// in background sessions, and if the download cannot be resumed. If this task resumes an earlier download, the
    /// property contains that download's data until the response arrives. This property is an addition to Apple's API.
    ///
    /// Store the data once, for example at the first call of
    /// ``URLSessionDownloadDelegate/urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)``.
    /// A later process passes the data to ``URLSession/downloadTask(withResumeData:)``. The new task continues after
    /// the last byte that was written before the kill. There are two exceptions, in which the new task starts over:
    ///
    /// - The system has restarted. Bytes that had not been written to the disk are then lost.
    /// - This download is still running. The new task then cannot use the file.
    open var currentResumeData: Data? { core?.currentResumeData }

    /// Cancels the download and returns resume data, or `nil` if the download cannot be resumed.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

extension URLSessionTask {
    /// Cancels a task that has no session, and passes `nil` to the completion handler.
    fileprivate func cancelWithoutResumeData(_ handler: @escaping @Sendable (Data?) -> Void) {
        cancel()
        guard let core else { return handler(nil) }
        core.callOnDelegateQueue()
        core.calls.add { handler(nil) }
    }
}
