/// The number of bytes is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
/// The key of the data with which a download can continue, in the user info of an error.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
/// The key of the data with which an upload can continue, in the user info of an error.
public let NSURLSessionUploadTaskResumeData = "NSURLSessionUploadTaskResumeData"
/// The name of ``NSURLSessionDownloadTaskResumeData`` in the Foundation of Linux.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData

extension URLSession {
    /// The answer to a delayed request.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// Loads the original request.
        case continueLoading = 0
        /// Loads the new request.
        case useNewRequest = 1
        /// Cancels the task.
        case cancel = 2
    }

    /// The answer to a challenge.
    ///
    /// Counterpart: macOS 10.9, iOS 7.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// Uses the credential; without one, continues without.
        case useCredential = 0
        /// Does what happens without a delegate.
        case performDefaultHandling = 1
        /// Ends the task.
        case cancelAuthenticationChallenge = 2
        /// Goes on to the next challenge of the response.
        case rejectProtectionSpace = 3
    }

    /// The answer to a response.
    ///
    /// Counterpart: macOS 10.9, iOS 7.
    public enum ResponseDisposition: Int, Sendable {
        /// Ends the task.
        case cancel = 0
        /// Takes the content.
        case allow = 1
        /// Turns the task into a download task.
        case becomeDownload = 2
        /// Turns the task into a stream task. Not supported: the task fails with `URLError.unsupportedURL`. macOS 10.11, iOS 9.
        case becomeStream = 3
    }
}
