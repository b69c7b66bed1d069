public import Foundation

/// Receives the events of an ``NSURLConnection``.
///
/// Counterpart: macOS 10.2, iOS 2.
@preconcurrency public protocol NSURLConnectionDelegate: NSObjectProtocol {
    /// The load failed. The last message.
    func connection(_ connection: NSURLConnection, didFailWithError error: any Error)
    /// Whether stored credentials are used. Default `true`.
    func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool
    /// A credential is needed: answer to the sender of the challenge. Default: asks the three older methods.
    func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge)
    /// Whether ``connection(_:didReceive:)-(_,URLAuthenticationChallenge)`` answers challenges of a space. Default `false`.
    func connection(
        _ connection: NSURLConnection, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool
    /// A credential is needed: answer to the sender of the challenge.
    func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge)
    /// A challenge no longer matters.
    func connection(_ connection: NSURLConnection, didCancel challenge: URLAuthenticationChallenge)
}

extension NSURLConnectionDelegate {
    /// Default implementation: does nothing.
    public func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {}

    /// Default implementation: `true`.
    public func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool { true }

    /// Default implementation: asks the older methods.
    public func connection(_ connection: NSURLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        if self.connection(connection, canAuthenticateAgainstProtectionSpace: challenge.protectionSpace) {
            self.connection(connection, didReceive: challenge)
        } else {
            challenge.sender?.performDefaultHandling(for: challenge)
        }
    }

    /// Default implementation: `false`.
    public func connection(
        _ connection: NSURLConnection, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool { false }

    /// Default implementation: default handling.
    public func connection(_ connection: NSURLConnection, didReceive challenge: URLAuthenticationChallenge) {
        challenge.sender?.performDefaultHandling(for: challenge)
    }

    /// Default implementation: does nothing.
    public func connection(_ connection: NSURLConnection, didCancel challenge: URLAuthenticationChallenge) {}
}

/// Receives the content of an ``NSURLConnection``.
///
/// Counterpart: macOS 10.7, iOS 5.
@preconcurrency public protocol NSURLConnectionDataDelegate: NSURLConnectionDelegate {
    /// A request is about to be sent: the first one, without a response, or one that follows a redirect. Return the request to send, or
    /// `nil` to take the redirect itself as the response. Default: the request.
    func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest?
    /// The response arrived.
    func connection(_ connection: NSURLConnection, didReceive response: URLResponse)
    /// Content arrived.
    func connection(_ connection: NSURLConnection, didReceive data: Data)
    /// The body must be sent again.
    func connection(_ connection: NSURLConnection, needNewBodyStream request: URLRequest) -> InputStream?
    /// Bytes of the body were sent.
    func connection(
        _ connection: NSURLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int)
    /// The response is about to be stored. Return what to store, or `nil`. Default: the response.
    func connection(
        _ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse?
    /// The content is complete. The last message.
    func connectionDidFinishLoading(_ connection: NSURLConnection)
}

extension NSURLConnectionDataDelegate {
    /// Default implementation: the request.
    public func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest? { request }

    /// Default implementation: does nothing.
    public func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {}

    /// Default implementation: does nothing.
    public func connection(_ connection: NSURLConnection, didReceive data: Data) {}

    /// Default implementation: `nil`.
    public func connection(_ connection: NSURLConnection, needNewBodyStream request: URLRequest) -> InputStream? { nil }

    /// Default implementation: does nothing.
    public func connection(
        _ connection: NSURLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    ) {}

    /// Default implementation: the response.
    public func connection(
        _ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse? { cachedResponse }

    /// Default implementation: does nothing.
    public func connectionDidFinishLoading(_ connection: NSURLConnection) {}
}
