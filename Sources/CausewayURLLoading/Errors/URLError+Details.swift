public import Causeway
public import Foundation

/// The key of the reason why no network may be used: the raw value of ``Foundation/URLError/NetworkUnavailableReason``.
public let NSURLErrorNetworkUnavailableReasonKey = "NSURLErrorNetworkUnavailableReasonKey"

/// The code for a file outside the folders that a program may read.
public let NSURLErrorFileOutsideSafeArea = -1104

/// Cellular interfaces are not allowed.
public let NSURLErrorNetworkUnavailableReasonCellular = URLError.NetworkUnavailableReason.cellular.rawValue
/// Expensive interfaces are not allowed.
public let NSURLErrorNetworkUnavailableReasonExpensive = URLError.NetworkUnavailableReason.expensive.rawValue
/// Interfaces in Low Data Mode are not allowed.
public let NSURLErrorNetworkUnavailableReasonConstrained = URLError.NetworkUnavailableReason.constrained.rawValue
/// Ultra-constrained interfaces are not allowed.
public let NSURLErrorNetworkUnavailableReasonUltraConstrained =
    URLError.NetworkUnavailableReason.ultraConstrained.rawValue

extension URLError {
    /// Why no network may be used for a request.
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

    /// Why the system cancelled a task of a background session.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    public enum BackgroundTaskCancelledReason: Int, Sendable {
        /// The user ended the program.
        case userForceQuitApplication = 0
        /// The user switched background transfers off.
        case backgroundUpdatesDisabled = 1
        /// Memory or disk space ran out.
        case insufficientSystemResources = 2
    }

    /// Why no network may be used; `nil` for other errors.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        (userInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).flatMap { NetworkUnavailableReason(rawValue: $0) }
    }

    /// Why the system cancelled the task; `nil` for other errors.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        (userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int)
            .flatMap { BackgroundTaskCancelledReason(rawValue: $0) }
    }

    /// The data with which a download can continue.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }

    /// The data with which an upload can continue.
    public var uploadTaskResumeData: Data? { userInfo[NSURLSessionUploadTaskResumeData] as? Data }

    /// The certificate chain that was refused.
    public var failureURLPeerTrust: SecTrust? { userInfo[NSURLErrorFailingURLPeerTrustErrorKey] as? SecTrust }
}
