public import Causeway
public import Foundation

/// The user info key for the reason why the network may not be used: the raw value of a ``Foundation/URLError/NetworkUnavailableReason``.
public let NSURLErrorNetworkUnavailableReasonKey = "NSURLErrorNetworkUnavailableReasonKey"

/// The error code for a file outside the directories that the program may read.
public let NSURLErrorFileOutsideSafeArea = -1104

/// Reason code: cellular interfaces are not allowed.
public let NSURLErrorNetworkUnavailableReasonCellular = URLError.NetworkUnavailableReason.cellular.rawValue
/// Reason code: expensive interfaces are not allowed.
public let NSURLErrorNetworkUnavailableReasonExpensive = URLError.NetworkUnavailableReason.expensive.rawValue
/// Reason code: interfaces in Low Data Mode are not allowed.
public let NSURLErrorNetworkUnavailableReasonConstrained = URLError.NetworkUnavailableReason.constrained.rawValue
/// Reason code: ultra-constrained interfaces are not allowed.
public let NSURLErrorNetworkUnavailableReasonUltraConstrained =
    URLError.NetworkUnavailableReason.ultraConstrained.rawValue

extension URLError {
    /// Why the network may not be used for a request.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum NetworkUnavailableReason: Int, Sendable {
        /// Only cellular interfaces are available, and the request forbids them.
        case cellular = 0
        /// Only expensive interfaces are available, and the request forbids them.
        case expensive = 1
        /// Only interfaces in Low Data Mode are available, and the request forbids them.
        case constrained = 2
        /// Only ultra-constrained interfaces are available, and the request forbids them.
        case ultraConstrained = 3
    }

    /// Why the system cancelled a background task.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    public enum BackgroundTaskCancelledReason: Int, Sendable {
        /// The user force-quit the program.
        case userForceQuitApplication = 0
        /// The user disabled background transfers.
        case backgroundUpdatesDisabled = 1
        /// Memory or disk space ran out.
        case insufficientSystemResources = 2
    }

    /// The reason why this load may not use the network. `nil` if the error has another cause.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        (userInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).flatMap { NetworkUnavailableReason(rawValue: $0) }
    }

    /// Why the system cancelled the background task; `nil` for other errors.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        (userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int)
            .flatMap { BackgroundTaskCancelledReason(rawValue: $0) }
    }

    /// Whether the failed request followed a redirect that had changed the method, as status 303 does. The server has
    /// then received the task's first request.
    package var isAfterMethodChange: Bool { userInfo[LoadFailure.changedMethodKey] != nil }

    /// The data for resuming a download.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }

    /// The data for resuming an upload.
    public var uploadTaskResumeData: Data? { userInfo[NSURLSessionUploadTaskResumeData] as? Data }

    /// The rejected certificate chain.
    public var failureURLPeerTrust: SecTrust? { userInfo[NSURLErrorFailingURLPeerTrustErrorKey] as? SecTrust }
}
