public import Foundation

/// Receives the events of a Newsstand download. Its methods are never called, because Linux has no Newsstand. Use
/// ``URLSessionDownloadDelegate``.
///
/// Counterpart: iOS 5.
@preconcurrency public protocol NSURLConnectionDownloadDelegate: NSURLConnectionDelegate {
    /// Reports bytes written to the file. Never called.
    func connection(
        _ connection: NSURLConnection, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        expectedTotalBytes: Int64)
    /// Reports a resumed download. Never called.
    func connectionDidResumeDownloading(
        _ connection: NSURLConnection, totalBytesWritten: Int64, expectedTotalBytes: Int64)
    /// Reports a complete download. Never called.
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
