public import Foundation

/// A key of the properties of a cookie.
///
/// Counterpart: macOS 10.2, iOS 2.
public struct HTTPCookiePropertyKey: RawRepresentable, Equatable, Hashable, Sendable {
    /// The text of the key.
    public let rawValue: String

    /// Creates a key.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates a key.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name. Required.
    public static let name = Self("Name")
    /// The value. Required.
    public static let value = Self("Value")
    /// The URL that set the cookie, as `URL` or text. Gives the domain if ``domain`` is missing.
    public static let originURL = Self("OriginURL")
    /// `0` or `1`.
    public static let version = Self("Version")
    /// The domain. With a leading dot it includes all subdomains.
    public static let domain = Self("Domain")
    /// The path. Required.
    public static let path = Self("Path")
    /// `TRUE` for a cookie that is sent over TLS only.
    public static let secure = Self("Secure")
    /// The end, as `Date` or text.
    public static let expires = Self("Expires")
    /// A comment.
    public static let comment = Self("Comment")
    /// The URL of a comment.
    public static let commentURL = Self("CommentURL")
    /// `TRUE` for a cookie that ends with the session.
    public static let discard = Self("Discard")
    /// Seconds until the end. Counts before ``expires``.
    public static let maximumAge = Self("Max-Age")
    /// Ports, separated by commas.
    public static let port = Self("Port")
    /// A ``HTTPCookieStringPolicy``. macOS 10.15, iOS 13.
    public static let sameSitePolicy = Self("SameSite")
    /// `TRUE` for a cookie that a script set. macOS 15.2, iOS 18.2.
    public static let setByJavaScript = Self("SetInJavaScript")
    /// `TRUE` for a cookie that scripts do not see.
    static let httpOnly = Self("HttpOnly")
}

/// Which requests of other sites send a cookie.
///
/// Counterpart: macOS 10.15, iOS 13.
public struct HTTPCookieStringPolicy: RawRepresentable, Equatable, Hashable, Sendable {
    /// The text of the policy.
    public let rawValue: String

    /// Creates a policy.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Navigations from other sites send the cookie.
    public static let sameSiteLax = Self(rawValue: "Lax")
    /// No request from another site sends the cookie.
    public static let sameSiteStrict = Self(rawValue: "Strict")
}

extension NSNotification.Name {
    /// Posted after the accept policy of a storage has changed.
    public static let NSHTTPCookieManagerAcceptPolicyChanged =
        NSNotification.Name("NSHTTPCookieManagerAcceptPolicyChangedNotification")
    /// Posted after the cookies of a storage have changed.
    public static let NSHTTPCookieManagerCookiesChanged =
        NSNotification.Name("NSHTTPCookieManagerCookiesChangedNotification")
}
