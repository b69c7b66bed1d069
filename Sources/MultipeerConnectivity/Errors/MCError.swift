public import Foundation

/// The ``MCError`` domain.
///
/// Counterpart: macOS 10.10, iOS 7.
public let MCErrorDomain = "MCErrorDomain"

/// An error in MultipeerConnectivity. All errors thrown by methods and passed to delegates have this type.
///
/// Counterpart: `MCError`, macOS 10.10, iOS 7.
public struct MCError: CustomNSError, LocalizedError, Hashable, Sendable {
    /// The underlying `NSError`, which also stores the user info.
    private let contents: NSError

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - userInfo: Values for `NSError` keys, such as `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        contents = NSError(domain: MCErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain for all errors with this type.
    public static var errorDomain: String { MCErrorDomain }
    /// The kind of error.
    public var code: Code { Code(rawValue: contents.code) ?? .unknown }
    /// The values for `NSError` keys.
    public var userInfo: [String: Any] { contents.userInfo }
    /// The raw value of ``code-swift.property``.
    public var errorCode: Int { contents.code }
    /// Equal to ``userInfo``.
    public var errorUserInfo: [String: Any] { contents.userInfo }
    /// A one-line description, never `nil`.
    public var errorDescription: String? { userInfo[NSLocalizedDescriptionKey] as? String ?? code.text }
    /// A one-line description of the error.
    public var localizedDescription: String { errorDescription ?? code.text }

    /// Whether the code and the user info are equal.
    public static func == (lhs: MCError, rhs: MCError) -> Bool { lhs.contents.isEqual(rhs.contents) }
    /// Whether the code or the user info differ.
    public static func != (lhs: MCError, rhs: MCError) -> Bool { !(lhs == rhs) }
    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(contents.code) }
    /// A hash of the code.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

extension MCError {
    /// A kind of ``MCError``.
    ///
    /// Counterpart: `MCError.Code`, macOS 10.10, iOS 7.
    public enum Code: Int, Sendable {
        /// An error without a more specific code.
        case unknown = 0
        /// The peer is not connected.
        case notConnected = 1
        /// An argument is invalid.
        case invalidParameter = 2
        /// The operation is not supported, for example a URL with another scheme than `file`, `http` or `https`.
        case unsupported = 3
        /// The peer did not answer in time.
        case timedOut = 4
        /// The program or the peer cancelled the operation.
        case cancelled = 5
        /// The operation is currently not possible, for example because too much data waits for the peer.
        case unavailable = 6

        /// Whether an error has this code. Used for patterns such as `catch MCError.notConnected`.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? MCError)?.code == code }
    }

    /// An error without a more specific code.
    public static var unknown: Code { .unknown }
    /// The peer is not connected.
    public static var notConnected: Code { .notConnected }
    /// An argument is invalid.
    public static var invalidParameter: Code { .invalidParameter }
    /// The operation is not supported.
    public static var unsupported: Code { .unsupported }
    /// The peer did not answer in time.
    public static var timedOut: Code { .timedOut }
    /// The program or the peer cancelled the operation.
    public static var cancelled: Code { .cancelled }
    /// The operation is currently not possible.
    public static var unavailable: Code { .unavailable }
}

extension MCError.Code {
    /// A one-line description.
    var text: String {
        switch self {
        case .unknown: "The operation failed."
        case .notConnected: "The peer is not connected."
        case .invalidParameter: "An argument is invalid."
        case .unsupported: "The operation is not supported."
        case .timedOut: "The peer did not answer in time."
        case .cancelled: "The operation was cancelled."
        case .unavailable: "The operation is not possible at present."
        }
    }
}
