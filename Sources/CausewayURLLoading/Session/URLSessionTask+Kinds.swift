public import Foundation

/// A task that delivers content in memory.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: see `URLSessionTask`.
@preconcurrency open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A task that sends content.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: see `URLSessionTask`.
@preconcurrency open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Cancels the upload, and passes the data with which it can continue to a handler on the delegate queue. `nil`: it cannot continue.
    /// macOS 14, iOS 17.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        cancelWithoutResumeData(completionHandler)
    }

    /// Cancels the upload, and returns the data with which it can continue. macOS 14, iOS 17.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

/// A task that delivers content in a file.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: see `URLSessionTask`.
@preconcurrency open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Cancels the download, and passes the data with which it can continue to a handler on the delegate queue. `nil`: it cannot continue.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        cancelWithoutResumeData(completionHandler)
    }

    /// Cancels the download, and returns the data with which it can continue. macOS 10.15, iOS 13.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

extension URLSessionTask {
    /// Cancels a task whose loader cannot continue.
    fileprivate func cancelWithoutResumeData(_ handler: @escaping @Sendable (Data?) -> Void) {
        cancel()
        guard let core else { return handler(nil) }
        core.calls.add { handler(nil) }
    }
}
