public import Foundation

/// Receives the events of a download that the system continues for a Newsstand program. Its methods are never called, because Linux has no
/// Newsstand. Use ``URLSessionDownloadDelegate``.
///
/// Counterpart: iOS 5.
@preconcurrency public protocol NSURLConnectionDownloadDelegate: NSURLConnectionDelegate {
    /// Notifies the delegate that bytes were written to the file. Never called.
    func connection(
        _ connection: NSURLConnection, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        expectedTotalBytes: Int64)
    /// Notifies the delegate that the download has resumed. Never called.
    func connectionDidResumeDownloading(
        _ connection: NSURLConnection, totalBytesWritten: Int64, expectedTotalBytes: Int64)
    /// Notifies the delegate that the download is complete. Never called.
    func connectionDidFinishDownloading(_ connection: NSURLConnection, destinationURL: URL)
}

extension NSURLConnectionDownloadDelegate {
    /// Default implementation: does nothing.
    public func connection(
        _ connection: NSURLConnection, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        expectedTotalBytes: Int64
    ) {}

    /// Default implementation: does nothing.
    public func connectionDidResumeDownloading(
        _ connection: NSURLConnection, totalBytesWritten: Int64, expectedTotalBytes: Int64
    ) {}
}
