public import Foundation

/// Receives the events of stream tasks.
///
/// Counterpart: macOS 10.11, iOS 9.
@preconcurrency public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// The peer closed its sending side.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// The sending side is closed.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// A better route to the host is available.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The task became a pair of streams and gets no more messages.
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream)
}

extension URLSessionStreamDelegate {
    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        _ = DelegateProbe.misses(self, .readClosed)
    }

    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        _ = DelegateProbe.misses(self, .writeClosed)
    }

    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        _ = DelegateProbe.misses(self, .betterRoute)
    }

    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        _ = DelegateProbe.misses(self, .becameStreams)
    }
}
