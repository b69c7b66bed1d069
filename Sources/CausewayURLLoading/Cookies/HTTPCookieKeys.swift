public import Foundation

/// A cookie property key.
///
/// Counterpart: macOS 10.2, iOS 2.
public struct HTTPCookiePropertyKey: RawRepresentable, Equatable, Hashable, Sendable {
    /// The key's string value.
    public let rawValue: String

    /// Creates a key.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates a key.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The cookie name, which is required.
    public static let name = Self("Name")
    /// The cookie value, which is required.
    public static let value = Self("Value")
    /// The URL that set the cookie, as a `URL` or a string. It supplies the domain if ``domain`` is missing.
    public static let originURL = Self("OriginURL")
    /// The cookie version: `0` or `1`.
    public static let version = Self("Version")
    /// The domain. With a leading dot, the cookie is also sent to all subdomains.
    public static let domain = Self("Domain")
    /// The cookie path, which is required.
    public static let path = Self("Path")
    /// `TRUE` for a cookie that is sent only over TLS.
    public static let secure = Self("Secure")
    /// The expiration date, as a `Date` or a string.
    public static let expires = Self("Expires")
    /// A comment.
    public static let comment = Self("Comment")
    /// The comment URL.
    public static let commentURL = Self("CommentURL")
    /// `TRUE` for a session cookie.
    public static let discard = Self("Discard")
    /// Seconds until the cookie expires. Takes precedence over ``expires``.
    public static let maximumAge = Self("Max-Age")
    /// The ports to which the cookie may be sent, separated by commas.
    public static let port = Self("Port")
    /// A same-site policy, as an ``HTTPCookieStringPolicy``.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public static let sameSitePolicy = Self("SameSite")
    /// `TRUE` for a cookie that a script set.
    ///
    /// Counterpart: macOS 15.2, iOS 18.2.
    public static let setByJavaScript = Self("SetInJavaScript")
    /// `TRUE` for a cookie that is hidden from scripts.
    static let httpOnly = Self("HttpOnly")
}

/// A same-site policy: which cross-site requests send a cookie.
///
/// Counterpart: macOS 10.15, iOS 13.
public struct HTTPCookieStringPolicy: RawRepresentable, Equatable, Hashable, Sendable {
    /// The policy's string value.
    public let rawValue: String

    /// Creates a policy.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Among cross-site requests, only navigations send the cookie.
    public static let sameSiteLax = Self(rawValue: "Lax")
    /// No cross-site request sends the cookie.
    public static let sameSiteStrict = Self(rawValue: "Strict")
}

extension NSNotification.Name {
    /// Posted after a storage's accept policy has changed.
    public static let NSHTTPCookieManagerAcceptPolicyChanged =
        NSNotification.Name("NSHTTPCookieManagerAcceptPolicyChangedNotification")
    /// Posted after a storage's cookies have changed.
    public static let NSHTTPCookieManagerCookiesChanged =
        NSNotification.Name("NSHTTPCookieManagerCookiesChangedNotification")
}
