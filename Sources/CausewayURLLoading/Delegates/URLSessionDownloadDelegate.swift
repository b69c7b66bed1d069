public import Foundation

/// Receives the events of download tasks.
///
/// Counterpart: macOS 10.9, iOS 7.
@preconcurrency public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// Called when the download is complete. The file at `location` is removed when the method returns, so move or open
    /// the file in this method.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// Reports bytes written to the file. `totalBytesExpectedToWrite` is -1 if the length is not known.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// Called when the download resumed at a byte offset.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
}

extension URLSessionDownloadDelegate {
    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        _ = DelegateProbe.misses(self, .wroteData)
    }

    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        _ = DelegateProbe.misses(self, .resumed)
    }
}
