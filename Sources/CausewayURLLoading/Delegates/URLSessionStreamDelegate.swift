public import Foundation

/// Receives the events of stream tasks.
///
/// Counterpart: macOS 10.11, iOS 9.
@preconcurrency public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// Called when the peer closed its sending side.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Called when the local sending side is closed.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// Called when a better route to the host is available.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// Called when the task became a pair of streams. The delegate receives no more callbacks for the task.
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
