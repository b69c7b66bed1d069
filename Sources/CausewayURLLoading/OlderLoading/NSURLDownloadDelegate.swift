public import Foundation

/// Receives the events of an ``NSURLDownload``. Every method has a default implementation.
///
/// Counterpart: macOS 10.2.
@preconcurrency public protocol NSURLDownloadDelegate: NSObjectProtocol {
    /// Called when the download has started.
    func downloadDidBegin(_ download: NSURLDownload)
    /// Asks the delegate for the request to send. Return `nil` to use the redirect response as the final response.
    func download(
        _ download: NSURLDownload, willSend request: URLRequest, redirectResponse: URLResponse?
    ) -> URLRequest?
    /// Returns whether the delegate handles challenges for a protection space. The default is `false`.
    func download(
        _ connection: NSURLDownload, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool
    /// Asks the delegate to respond to a challenge by calling a method of the challenge's sender.
    func download(_ download: NSURLDownload, didReceive challenge: URLAuthenticationChallenge)
    /// Reports that a challenge was cancelled and needs no response. Causeway never calls this method.
    func download(_ download: NSURLDownload, didCancel challenge: URLAuthenticationChallenge)
    /// Returns whether stored credentials may be used. The default is `true`.
    func downloadShouldUseCredentialStorage(_ download: NSURLDownload) -> Bool
    /// Passes the response to the delegate.
    func download(_ download: NSURLDownload, didReceive response: URLResponse)
    /// Reports a download that resumes at a byte offset. This method is never called.
    func download(_ download: NSURLDownload, willResumeWith response: URLResponse, fromByte startingByte: Int64)
    /// Reports to the delegate that content has arrived.
    func download(_ download: NSURLDownload, didReceiveDataOfLength length: Int)
    /// Returns whether to decode content of a media type, such as `application/gzip`. This method is never called.
    func download(_ download: NSURLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String) -> Bool
    /// Asks the delegate to choose the path of the file by calling ``NSURLDownload/setDestination(_:allowOverwrite:)``.
    func download(_ download: NSURLDownload, decideDestinationWithSuggestedFilename filename: String)
    /// Called when the file was created.
    func download(_ download: NSURLDownload, didCreateDestination path: String)
    /// Reports the successful end of the download. This is the final callback.
    func downloadDidFinish(_ download: NSURLDownload)
    /// Reports the failure of the download. This is the final callback.
    func download(_ download: NSURLDownload, didFailWithError error: any Error)
}

extension NSURLDownloadDelegate {
    /// Default implementation: does nothing.
    public func downloadDidBegin(_ download: NSURLDownload) {}

    /// Default implementation: returns the request.
    public func download(
        _ download: NSURLDownload, willSend request: URLRequest, redirectResponse: URLResponse?
    ) -> URLRequest? { request }

    /// Default implementation: returns `false`.
    public func download(
        _ connection: NSURLDownload, canAuthenticateAgainstProtectionSpace protectionSpace: URLProtectionSpace
    ) -> Bool { false }

    /// Default implementation: requests default handling.
    public func download(_ download: NSURLDownload, didReceive challenge: URLAuthenticationChallenge) {
        challenge.sender?.performDefaultHandling(for: challenge)
    }

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, didCancel challenge: URLAuthenticationChallenge) {}

    /// Default implementation: returns `true`.
    public func downloadShouldUseCredentialStorage(_ download: NSURLDownload) -> Bool { true }

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, didReceive response: URLResponse) {}

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, willResumeWith response: URLResponse, fromByte startingByte: Int64)
    {}

    /// Default implementation: does nothing.
    public func download(_ download: NSURLDownload, didReceiveDataOfLength length: Int) {}

    /// Default implementation: returns `false`.
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
