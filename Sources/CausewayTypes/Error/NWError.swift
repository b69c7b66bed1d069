public import FoundationEssentials

/// A result code from Apple's Security framework: 0 for success, otherwise an error number.
public typealias OSStatus = Int32

/// A network error. Each case has its own numbering of error codes.
///
/// Counterpart: macOS 10.14, iOS 12; `wifiAware` macOS 26, iOS 26.
public enum NWError: Error, Equatable, CustomDebugStringConvertible {
    /// A kernel `errno`. Names are the same on all platforms; the numbers are Linux's, not Darwin's.
    // `POSIXError.Code` is the C library's `POSIXErrorCode`, but this name needs no import of the C library. Its layout
    // is known only at run time. With `indirect`, the layout of `NWError`, and of every type that contains one, is
    // known at compile time. Otherwise each copy of such a value would need a runtime call.
    indirect case posix(POSIXError.Code)
    /// An error in resolving, browsing or registering, with a `dns_sd.h` code.
    case dns(DNSServiceErrorType)
    /// A TLS error, with a Secure Transport code.
    case tls(OSStatus)
    /// A Wi-Fi Aware error. Never reported on Linux.
    case wifiAware(Int32)

    /// Creates an error from an `errno`. A number without a name becomes `EINVAL`, as on Apple platforms.
    package init(errno: Int32) {
        self = .posix(POSIXError.Code(rawValue: errno) ?? .EINVAL)
    }
}

/// Implements the requirements of `CustomNSError`. This protocol is in Foundation, but not in FoundationEssentials.
extension NWError {
    /// The domain of the `NSError` to which Foundation converts this error.
    public static var errorDomain: String { "Network.NWError" }

    /// The error code as a number. Its meaning depends on the case.
    public var errorCode: Int {
        switch self {
        case .posix(let code): Int(code.rawValue)
        case .dns(let code): Int(code)
        case .tls(let code): Int(code)
        case .wifiAware(let code): Int(code)
        }
    }

    /// The `NSError` user info: one entry, the `localizedDescription` text.
    public var errorUserInfo: [String: Any] {
        ["NSLocalizedDescription": localizedText]
    }

    /// The error domain, equal to ``errorDomain``.
    public var _domain: String { Self.errorDomain }

    /// The error code, equal to ``errorCode``.
    public var _code: Int { errorCode }

    private var localizedText: String {
        let code = "\(Self.errorDomain) error \(errorCode)"
        guard let reason else { return "The operation couldn’t be completed. (\(code).)" }
        return "The operation couldn’t be completed. (\(code) - \(reason))"
    }
}
