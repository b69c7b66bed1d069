public import Foundation

/// Receives the events that all tasks have.
///
/// The delegate of a task is asked first, then the delegate of its session.
///
/// Counterpart: macOS 10.9, iOS 7.
@preconcurrency public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// A task was created. Called on the thread that creates it, before it can be resumed: the place to set its delegate. macOS 13, iOS 16.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// A delayed task of a background session is about to start. macOS 10.13, iOS 11.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

    /// The `async` form of the method above.
    func urlSession(_ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest) async -> (
        URLSession.DelayedRequestDisposition, URLRequest?
    )

    /// The task waits until a network is available. Called at most once. macOS 10.13, iOS 11.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// The response redirects. Pass the request to load, or `nil` to take the redirect itself as the response. Default: follows it.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The `async` form of the method above.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// The request needs a credential. Default: uses the stored one.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The `async` form of the method above.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) async
        -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The request needs a new body stream: at its start, or because the body must be sent again.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The `async` form of the method above.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

    /// A resumed upload needs a body stream that begins at an offset. macOS 14, iOS 17.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The `async` form of the method above.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64) async
        -> InputStream?

    /// Bytes of the body were sent. `totalBytesExpectedToSend` is -1 if the length is not known.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// A response with a status from 100 to 199 arrived. macOS 14, iOS 17.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)

    /// The measurements of the task are complete. macOS 10.12, iOS 10.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// The task ended: the last message of a task. `error` is `nil` if it was successful.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        _ = DelegateProbe.misses(self, .createdTask)
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        if !DelegateProbe.misses(self, .willBeginDelayed) { completionHandler(.continueLoading, nil) }
    }

    /// Default implementation: a session does what it does without this method.
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

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if !DelegateProbe.misses(self, .redirect) { completionHandler(request) }
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        _ = DelegateProbe.misses(self, .redirectAsync)
        return request
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if !DelegateProbe.misses(self, .taskChallenge) { completionHandler(.performDefaultHandling, nil) }
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        _ = DelegateProbe.misses(self, .taskChallengeAsync)
        return (.performDefaultHandling, nil)
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        if !DelegateProbe.misses(self, .needsStream) { completionHandler(nil) }
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        _ = DelegateProbe.misses(self, .needsStreamAsync)
        return nil
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        if !DelegateProbe.misses(self, .needsStreamFrom) { completionHandler(nil) }
    }

    /// Default implementation: a session does what it does without this method.
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
