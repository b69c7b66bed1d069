public import Foundation

/// Receives the events common to all kinds of tasks.
///
/// A method is called on the task's delegate if it implements the method, otherwise on the session's delegate.
///
/// Counterpart: macOS 10.9, iOS 7.
@preconcurrency public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// Called when a task was created, on the creating thread, before the task can be resumed. Set the task's delegate here.
    ///
    /// Counterpart: macOS 13, iOS 16.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// Asks the delegate how to continue when a delayed task of a background session is about to start.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

    /// The `async` form of the method that asks the delegate how to continue before a delayed task starts.
    func urlSession(_ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest) async -> (
        URLSession.DelayedRequestDisposition, URLRequest?
    )

    /// Called when the task waits for connectivity, at most once per task.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// Asks the delegate whether to follow a redirect. Pass the request to load, or `nil` to use the redirect response as the final
    /// response. The default is to follow the redirect.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The `async` form of the method that asks the delegate whether to follow a redirect.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// Asks the delegate to respond to an authentication challenge. The default is to use the stored credential.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The `async` form of the method that asks the delegate to respond to an authentication challenge.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) async
        -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Asks the delegate for a body stream, when the upload starts or when the body must be sent again.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The `async` form of the method that asks the delegate for a body stream.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

    /// Asks the delegate for a body stream that starts at an offset, to resume an upload.
    ///
    /// Counterpart: macOS 14, iOS 17.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The `async` form of the method that asks the delegate for a body stream that starts at an offset.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64) async
        -> InputStream?

    /// Reports sent body bytes. `totalBytesExpectedToSend` is -1 if the length is not known.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// Delivers an informational (1xx) response.
    ///
    /// Counterpart: macOS 14, iOS 17.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)

    /// Delivers the task's complete metrics.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// Called when the task completed. This is the task's final callback. `error` is `nil` if the task succeeded.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        _ = DelegateProbe.misses(self, .createdTask)
    }

    /// Default implementation. The session behaves as if the delegate did not implement this method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        if !DelegateProbe.misses(self, .willBeginDelayed) { completionHandler(.continueLoading, nil) }
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(_ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest)
        async -> (URLSession.DelayedRequestDisposition, URLRequest?)
    {
        _ = DelegateProbe.misses(self, .willBeginDelayedAsync)
        return (.continueLoading, nil)
    }

    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        _ = DelegateProbe.misses(self, .waitsForConnectivity)
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if !DelegateProbe.misses(self, .redirect) { completionHandler(request) }
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        _ = DelegateProbe.misses(self, .redirectAsync)
        return request
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if !DelegateProbe.misses(self, .taskChallenge) { completionHandler(.performDefaultHandling, nil) }
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        _ = DelegateProbe.misses(self, .taskChallengeAsync)
        return (.performDefaultHandling, nil)
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        if !DelegateProbe.misses(self, .needsStream) { completionHandler(nil) }
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        _ = DelegateProbe.misses(self, .needsStreamAsync)
        return nil
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        if !DelegateProbe.misses(self, .needsStreamFrom) { completionHandler(nil) }
    }

    /// Default implementation: the session continues as if the delegate did not implement this method.
    public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64)
        async -> InputStream?
    {
        _ = DelegateProbe.misses(self, .needsStreamFromAsync)
        return nil
    }

    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        _ = DelegateProbe.misses(self, .sentBodyData)
    }

    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        _ = DelegateProbe.misses(self, .informationalResponse)
    }

    /// Default implementation: does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        _ = DelegateProbe.misses(self, .metrics)
    }

    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        _ = DelegateProbe.misses(self, .completed)
    }
}
