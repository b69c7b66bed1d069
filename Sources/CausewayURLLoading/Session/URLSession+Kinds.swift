/// The value for an unknown byte count.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
/// The user info key for a download's resume data.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
/// The user info key for an upload's resume data.
public let NSURLSessionUploadTaskResumeData = "NSURLSessionUploadTaskResumeData"
/// The name of ``NSURLSessionDownloadTaskResumeData`` in swift-corelibs-foundation.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData

extension URLSession {
    /// How the delegate wants to continue a delayed request.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// Load the original request unchanged.
        case continueLoading = 0
        /// Load the new request.
        case useNewRequest = 1
        /// Cancel the task.
        case cancel = 2
    }

    /// The delegate's decision on an authentication challenge.
    ///
    /// Counterpart: macOS 10.9, iOS 7.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// Use the supplied credential. If it is `nil`, continue without a credential.
        case useCredential = 0
        /// Handle the challenge as if there were no delegate.
        case performDefaultHandling = 1
        /// Cancel the task.
        case cancelAuthenticationChallenge = 2
        /// Reject this protection space. Continue with the next challenge in the same response.
        case rejectProtectionSpace = 3
    }

    /// The delegate's decision on a response.
    ///
    /// Counterpart: macOS 10.9, iOS 7.
    public enum ResponseDisposition: Int, Sendable {
        /// Cancel the task.
        case cancel = 0
        /// Receive the content.
        case allow = 1
        /// Convert the task to a download task.
        case becomeDownload = 2
        /// Convert the task to a stream task. The stream begins after the response head. This is possible in two cases:
        ///
        /// - The server has switched to the protocol in the request's `Upgrade` field (status 101).
        /// - An HTTP/1.1 response has neither `Content-Length` nor `Transfer-Encoding`, so that its content ends when
        ///   the connection closes. The content must not have a coding that the session removes, and its type must not
        ///   be `multipart/x-mixed-replace`.
        ///
        /// In other cases the task fails with `URLError.unsupportedURL`.
        ///
        /// Counterpart: macOS 10.11, iOS 9.
        case becomeStream = 3
    }
}
