public import Foundation

/// Receives the events of an ``NSURLConnection``.
///
/// Counterpart: macOS 10.2, iOS 2.
@preconcurrency public protocol NSURLConnectionDelegate: NSObjectProtocol {
    /// Reports the failure of the load. This is the final callback.
    func connection(_ connection: NSURLConnection, didFailWithError error: any Error)
    /// Returns whether stored credentials may be used. The default is `true`.
    func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool
    /// Asks the delegate to respond to a challenge by calling a method of the challenge's sender. The default
    /// implementation calls ``connection(_:didReceive:)-(_,URLAuthenticationChallenge)`` if
    /// ``connection(_:canAuthenticateAgainstProtectionSpace:)`` returns `true`; otherwise it requests default handling.
    func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge)
    /// Returns whether ``connection(_:didReceive:)-(_,URLAuthenticationChallenge)`` handles challenges for a protection space. The default
    /// is `false`.
    func connection(
        _ connection: NSURLConnection, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool
    /// Asks the delegate to respond to a challenge by calling a method of the challenge's sender.
    func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge)
    /// Reports that a challenge was cancelled and needs no response. This method is never called.
    func connection(_ connection: NSURLConnection, didCancel challenge: URLAuthenticationChallenge)
}

extension NSURLConnectionDelegate {
    /// Default implementation: does nothing.
    public func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {}

    /// Default implementation: returns `true`.
    public func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool { true }

    /// Default implementation: calls ``connection(_:didReceive:)-(_,URLAuthenticationChallenge)`` if
    /// ``connection(_:canAuthenticateAgainstProtectionSpace:)`` returns `true`; otherwise requests default handling.
    public func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        if self.connection(connection, canAuthenticateAgainstProtectionSpace: challenge.protectionSpace) {
            self.connection(connection, didReceive: challenge)
        } else {
            challenge.sender?.performDefaultHandling(for: challenge)
        }
    }

    /// Default implementation: returns `false`.
    public func connection(
        _ connection: NSURLConnection, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool { false }

    /// Default implementation: requests default handling.
    public func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge) {
        challenge.sender?.performDefaultHandling(for: challenge)
    }

    /// Default implementation: does nothing.
    public func connection(_ connection: NSURLConnection, didCancel challenge: URLAuthenticationChallenge) {}
}

/// Receives the response and content of an ``NSURLConnection``.
///
/// Counterpart: macOS 10.7, iOS 5.
@preconcurrency public protocol NSURLConnectionDataDelegate: NSURLConnectionDelegate {
    /// Asks the delegate for the request to send. `response` is `nil` for the first request. For later requests, it is
    /// the redirect response. To use the redirect response as the final response, return `nil`. The default
    /// implementation returns the request unchanged.
    func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest?
    /// Delivers the response.
    func connection(_ connection: NSURLConnection, didReceive response: URLResponse)
    /// Delivers content.
    func connection(_ connection: NSURLConnection, didReceive data: Data)
    /// Asks the delegate for a new body stream because the body must be sent again.
    func connection(_ connection: NSURLConnection, needNewBodyStream request: URLRequest) -> InputStream?
    /// Reports sent body bytes.
    func connection(
        _ connection: NSURLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int)
    /// Asks the delegate for the response to store in the cache. Return `nil` to store none. The default implementation returns the
    /// response.
    func connection(
        _ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse?
    /// Reports the successful end of the load. This is the final callback.
    func connectionDidFinishLoading(_ connection: NSURLConnection)
}

extension NSURLConnectionDataDelegate {
    /// Default implementation: returns the request.
    public func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest? { request }

    /// Default implementation: does nothing.
    public func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {}

    /// Default implementation: does nothing.
    public func connection(_ connection: NSURLConnection, didReceive data: Data) {}

    /// Default implementation: returns `nil`.
    public func connection(_ connection: NSURLConnection, needNewBodyStream request: URLRequest) -> InputStream? { nil }

    /// Default implementation: does nothing.
    public func connection(
        _ connection: NSURLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    ) {}

    /// Default implementation: returns the response.
    public func connection(
        _ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse? { cachedResponse }

    /// Default implementation: does nothing.
    public func connectionDidFinishLoading(_ connection: NSURLConnection) {}
}
