public import Causeway
internal import Foundation
internal import Glibc

/// The SystemConfiguration error domain.
public let kCFErrorDomainSystemConfiguration: CFString = "com.apple.SystemConfiguration"

/// The status: success.
public let kSCStatusOK = 0
/// The status: the operation failed.
public let kSCStatusFailed = 1_001
/// The status: an argument is not valid.
public let kSCStatusInvalidArgument = 1_002
/// The status: permission is denied.
public let kSCStatusAccessError = 1_003
/// The status: the key does not exist.
public let kSCStatusNoKey = 1_004
/// The status: the key exists already.
public let kSCStatusKeyExists = 1_005
/// Status code: the lock is already held.
public let kSCStatusLocked = 1_006
/// The status: the operation needs a lock.
public let kSCStatusNeedLock = 1_007
/// The status: this process has no session with the configuration store.
public let kSCStatusNoStoreSession = 2_001
/// The status: the configuration store is not available.
public let kSCStatusNoStoreServer = 2_002
/// The status: a notifier is active already.
public let kSCStatusNotifierActive = 2_003
/// The status: no session for reading or changing the preferences is open.
public let kSCStatusNoPrefsSession = 3_001
/// Status code: the preferences are busy, because an update is in progress.
public let kSCStatusPrefsBusy = 3_002
/// The status: the configuration file does not exist.
public let kSCStatusNoConfigFile = 3_003
/// The status: the link does not exist.
public let kSCStatusNoLink = 3_004
/// The status: the object was changed by another session.
public let kSCStatusStale = 3_005
/// The status: there are too many links.
public let kSCStatusMaxLink = 3_006
/// The status: the reachability cannot be determined.
public let kSCStatusReachabilityUnknown = 4_001
/// The status: the connection's service is not available.
public let kSCStatusConnectionNoService = 5_001
/// The status: there is currently no information about the connection.
public let kSCStatusConnectionIgnore = 5_002

/// The status of the latest failed call, per thread.
enum StatusMemory {
    private static let key = "causeway.SCError"

    static var current: Int {
        get { Thread.current.threadDictionary[key] as? Int ?? kSCStatusOK }
        set { Thread.current.threadDictionary[key] = newValue }
    }

    /// Sets the status for a failed call that returns an object; returns `nil`.
    static func failed<Object>(with status: Int) -> Object? {
        current = status
        return nil
    }

    /// Returns the text for a status; `nil` for an unknown status.
    static func text(_ status: Int) -> StaticString? {
        switch status {
        case kSCStatusOK: "success"
        case kSCStatusFailed: "the operation failed"
        case kSCStatusInvalidArgument: "an argument is not valid"
        case kSCStatusAccessError: "permission is denied"
        case kSCStatusNoKey: "the key does not exist"
        case kSCStatusKeyExists: "the key exists already"
        case kSCStatusLocked: "the lock is held already"
        case kSCStatusNeedLock: "the operation needs a lock"
        case kSCStatusNoStoreSession: "there is no session with the configuration store"
        case kSCStatusNoStoreServer: "the configuration store is not available"
        case kSCStatusNotifierActive: "a notifier is active already"
        case kSCStatusNoPrefsSession: "there is no session with the preferences"
        case kSCStatusPrefsBusy: "the preferences are being updated"
        case kSCStatusNoConfigFile: "the configuration file does not exist"
        case kSCStatusNoLink: "the link does not exist"
        case kSCStatusStale: "the object was changed by another session"
        case kSCStatusMaxLink: "there are too many links"
        case kSCStatusReachabilityUnknown: "the reachability cannot be determined"
        case kSCStatusConnectionNoService: "the service of the connection is not available"
        case kSCStatusConnectionIgnore: "there is currently no information about the connection"
        default: nil
        }
    }
}

/// Returns the status of the calling thread's latest failed SystemConfiguration call; ``kSCStatusOK`` if none failed.
///
/// Counterpart: macOS 10.1, iOS 2.
public func SCError() -> Int32 { Int32(StatusMemory.current) }

/// Returns the calling thread's latest error, with domain ``kCFErrorDomainSystemConfiguration`` and the code from
/// ``SCError()``.
///
/// Counterpart: macOS 10.5, iOS 2.
public func SCCopyLastError() -> CFError {
    let status = SCError()
    return CFError(
        .posix(status == kSCStatusReachabilityUnknown ? .EHOSTUNREACH : .EINVAL),
        domain: kCFErrorDomainSystemConfiguration, code: Int(status), text: String(cString: SCErrorString(status)))
}

/// Returns the text for a SystemConfiguration status or an `errno` value. The text is never freed.
///
/// Counterpart: macOS 10.1, iOS 2.
public func SCErrorString(_ status: Int32) -> UnsafePointer<CChar> {
    guard let text = StatusMemory.text(Int(status)) ?? (status > 0 && status < 134 ? nil : "the status is not known")
    else {
        // Return glibc's own text. For a known `errno` value, this text is a constant, so it is never freed.
        return UnsafePointer(strerror(status))
    }
    return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
