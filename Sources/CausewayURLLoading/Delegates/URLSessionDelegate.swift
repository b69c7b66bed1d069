public import Foundation

/// Receives the events of a session.
///
/// All methods are optional. The session calls them on its delegate queue.
///
/// Counterpart: macOS 10.9, iOS 7.
@preconcurrency public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// Called when the session became invalid. This is the session's final callback. `error` is `nil` if the program
    /// invalidated the session.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// Asks the delegate to evaluate the server's certificate or to supply a client certificate for a connection. If this method is not
    /// implemented, the task-level method is called.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The `async` form of the method that asks the delegate to answer a connection's challenge.
    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    )

    /// Called after all events of a background session have been delivered.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        _ = DelegateProbe.misses(self, .becameInvalid)
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if !DelegateProbe.misses(self, .sessionChallenge) { completionHandler(.performDefaultHandling, nil) }
    }

    /// Default implementation: makes the session behave as if the method were not implemented.
    public func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    ) {
        _ = DelegateProbe.misses(self, .sessionChallengeAsync)
        return (.performDefaultHandling, nil)
    }

    /// Default implementation: does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        _ = DelegateProbe.misses(self, .finishedBackgroundEvents)
    }
}
