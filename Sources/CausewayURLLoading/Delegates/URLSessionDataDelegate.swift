public import Foundation

/// Receives the responses and content of data and upload tasks.
///
/// Counterpart: macOS 10.9, iOS 7.
@preconcurrency public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// Asks the delegate how to continue after the response has arrived. No content is delivered until the completion handler is called.
    /// The default is to allow the response.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The `async` form of the method that asks the delegate how to continue after the response has arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) async
        -> URLSession.ResponseDisposition

    /// Called when the data task became a download task. The delegate receives no more callbacks for the data task.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// Called when the data task became a stream task. The delegate receives no more callbacks for the data task.
    ///
    /// Counterpart: macOS 10.11, iOS 9.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// Delivers content bytes.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// Asks the delegate for the response to store in the cache. Pass `nil` to store none. The default is to store the proposed response.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// The `async` form of the method that asks the delegate for the response to store in the cache.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?
}

extension URLSessionDataDelegate {
    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if !DelegateProbe.misses(self, .response) { completionHandler(.allow) }
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
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

    /// Default implementation: the session behaves as if the delegate did not implement this method.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        if !DelegateProbe.misses(self, .willCache) { completionHandler(proposedResponse) }
    }

    /// Default implementation: the session continues as if the delegate did not implement this method.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        _ = DelegateProbe.misses(self, .willCacheAsync)
        return proposedResponse
    }
}
