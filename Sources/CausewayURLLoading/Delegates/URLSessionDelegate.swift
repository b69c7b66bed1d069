public import Foundation

/// Receives the events of a session.
///
/// All methods are called on the session's delegate queue. A method that a class does not implement is treated as absent.
///
/// Counterpart: macOS 10.9, iOS 7.
@preconcurrency public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session became invalid: the last message of a session. `error` is `nil` if the program invalidated it.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A connection asks for a decision on the server's certificate, or for a client certificate. Without this method the task's delegate is
    /// asked.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The `async` form of the method above.
    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    )

    /// All events of a background session were delivered.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
    /// Default implementation: does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        _ = DelegateProbe.misses(self, .becameInvalid)
    }

    /// Default implementation: a session does what it does without this method.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if !DelegateProbe.misses(self, .sessionChallenge) { completionHandler(.performDefaultHandling, nil) }
    }

    /// Default implementation: a session does what it does without this method.
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
