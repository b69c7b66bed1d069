public import Foundation

/// Receives the content of data and upload tasks.
///
/// Counterpart: macOS 10.9, iOS 7.
@preconcurrency public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The response arrived. The content is held back until the handler is called. Default: allows it.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The `async` form of the method above.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) async
        -> URLSession.ResponseDisposition

    /// The task became a download task and gets no more messages.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// The task became a stream task and gets no more messages. macOS 10.11, iOS 9.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// Bytes of the content arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// The response is about to be stored. Pass what to store, or `nil`. Default: stores it.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// The `async` form of the method above.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?
}

extension URLSessionDataDelegate {
    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if !DelegateProbe.misses(self, .response) { completionHandler(.allow) }
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) async
        -> URLSession.ResponseDisposition
    {
        _ = DelegateProbe.misses(self, .responseAsync)
        return .allow
    }

    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        _ = DelegateProbe.misses(self, .becameDownload)
    }

    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        _ = DelegateProbe.misses(self, .becameStream)
    }

    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        _ = DelegateProbe.misses(self, .data)
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        if !DelegateProbe.misses(self, .willCache) { completionHandler(proposedResponse) }
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        _ = DelegateProbe.misses(self, .willCacheAsync)
        return proposedResponse
    }
}
