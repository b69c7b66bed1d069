public import FoundationEssentials

/// A status of Apple's Security interfaces: 0, or the number of an error.
public typealias OSStatus = Int32

/// Why something on the network failed. The case tells which numbering the code is from.
///
/// Counterpart: macOS 10.14, iOS 12; `wifiAware` macOS 26, iOS 26.
public enum NWError: Error, Equatable, CustomDebugStringConvertible {
    /// An `errno` of the kernel. The names are the same everywhere; the numbers are Linux's, not Darwin's.
    // `POSIXErrorCode` under the name that does not require importing a C library.
    case posix(POSIXError.Code)
    /// A failure to resolve, browse or register, in the numbering of `dns_sd.h`.
    case dns(DNSServiceErrorType)
    /// A failure of TLS, in the numbering of Secure Transport.
    case tls(OSStatus)
    /// A failure of Wi-Fi Aware. Never reported on Linux.
    case wifiAware(Int32)

    /// Wraps an `errno`. A value without a name becomes `EINVAL`, as on Apple platforms.
    package init(errno: Int32) {
        self = .posix(POSIXError.Code(rawValue: errno) ?? .EINVAL)
    }
}

/// What `CustomNSError` asks for, which Foundation declares and FoundationEssentials does not.
extension NWError {
    /// The domain of the `NSError` into which Foundation turns this.
    public static var errorDomain: String { "Network.NWError" }

    /// The number in the numbering of the case.
    public var errorCode: Int {
        switch self {
        case .posix(let code): Int(code.rawValue)
        case .dns(let code): Int(code)
        case .tls(let code): Int(code)
        case .wifiAware(let code): Int(code)
        }
    }

    /// One entry: the sentence that `localizedDescription` returns.
    public var errorUserInfo: [String: Any] {
        ["NSLocalizedDescription": localizedText]
    }

    /// The same as ``errorDomain``.
    public var _domain: String { Self.errorDomain }

    /// The same as ``errorCode``.
    public var _code: Int { errorCode }

    private var localizedText: String {
        let code = "\(Self.errorDomain) error \(errorCode)"
        guard let reason else { return "The operation couldn’t be completed. (\(code).)" }
        return "The operation couldn’t be completed. (\(code) - \(reason))"
    }
}
