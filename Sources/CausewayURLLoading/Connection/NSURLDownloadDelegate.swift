public import Foundation

/// Receives the events of an ``NSURLDownload``. Every method has a default implementation.
///
/// Counterpart: macOS 10.2.
@preconcurrency public protocol NSURLDownloadDelegate: NSObjectProtocol {
    /// The download has begun.
    func downloadDidBegin(_ download: NSURLDownload)
    /// A request is about to be sent. Return the request to send, or `nil` to take the redirect itself as the response.
    func download(
        _ download: NSURLDownload, willSend request: URLRequest, redirectResponse: URLResponse?
    ) -> URLRequest?
    /// Whether the delegate answers challenges of a space. Default `false`.
    func download(
        _ connection: NSURLDownload, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool
    /// A credential is needed: answer to the sender of the challenge.
    func download(_ download: NSURLDownload, didReceive challenge: URLAuthenticationChallenge)
    /// A challenge no longer matters.
    func download(_ download: NSURLDownload, didCancel challenge: URLAuthenticationChallenge)
    /// Whether stored credentials are used. Default `true`.
    func downloadShouldUseCredentialStorage(_ download: NSURLDownload) -> Bool
    /// The response arrived.
    func download(_ download: NSURLDownload, didReceive response: URLResponse)
    /// The download continues at a byte.
    func download(_ download: NSURLDownload, willResumeWith response: URLResponse, fromByte startingByte: Int64)
    /// Content arrived.
    func download(_ download: NSURLDownload, didReceiveDataOfLength length: Int)
    /// Whether to decode content of a media type, such as `application/gzip`. Default `false`.
    func download(_ download: NSURLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String) -> Bool
    /// The place of the file is needed: call ``NSURLDownload/setDestination(_:allowOverwrite:)``.
    func download(_ download: NSURLDownload, decideDestinationWithSuggestedFilename filename: String)
    /// The file was created.
    func download(_ download: NSURLDownload, didCreateDestination path: String)
    /// The download is complete. The last message.
    func downloadDidFinish(_ download: NSURLDownload)
    /// The download failed. The last message.
    func download(_ download: NSURLDownload, didFailWithError error: any Error)
}

extension NSURLDownloadDelegate {
    /// Default implementation: does nothing.
    public func downloadDidBegin(_ download: NSURLDownload) {}

    /// Default implementation: the request.
    public func download(
        _ download: NSURLDownload, willSend request: URLRequest, redirectResponse: URLResponse?
    ) -> URLRequest? { request }

    /// Default implementation: `false`.
    public func download(
        _ connection: NSURLDownload, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool { false }

    /// Default implementation: default handling.
    public func download(_ download: NSURLDownload, didReceive challenge: URLAuthenticationChallenge) {
        challenge.sender?.performDefaultHandling(for: challenge)
    }

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, didCancel challenge: URLAuthenticationChallenge) {}

    /// Default implementation: `true`.
    public func downloadShouldUseCredentialStorage(_ download: NSURLDownload) -> Bool { true }

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, didReceive response: URLResponse) {}

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, willResumeWith response: URLResponse, fromByte startingByte: Int64)
    {}

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, didReceiveDataOfLength length: Int) {}

    /// Default implementation: `false`.
    public func download(
        _ download: NSURLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String
    ) -> Bool { false }

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, decideDestinationWithSuggestedFilename filename: String) {}

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, didCreateDestination path: String) {}

    /// Default implementation: does nothing.
    public func downloadDidFinish(_ download: NSURLDownload) {}

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, didFailWithError error: any Error) {}
}
