public import Foundation

/// A cookie. It does not change.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: the stored property of this class is a constant. Subclasses of programs answer for their own.
@preconcurrency open class HTTPCookie: NSObject, @unchecked Sendable {
    /// Which cookies a storage accepts.
    public enum AcceptPolicy: UInt, Sendable {
        /// All cookies.
        case always = 0
        /// No cookies.
        case never = 1
        /// Cookies of the site of the main document.
        case onlyFromMainDocumentDomain = 2
    }

    let values: CookieValues

    /// Creates a cookie. Returns `nil` without name, value, path, and domain or origin URL.
    public init?(properties: [HTTPCookiePropertyKey: Any]) {
        guard let values = CookieValues(properties, now: Date()) else { return nil }
        self.values = values
        super.init()
    }

    /// Returns the field `Cookie` with the given cookies; no field without cookies.
    open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        guard !cookies.isEmpty else { return [:] }
        return ["Cookie": cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")]
    }

    /// Returns the cookies in the fields of a response.
    open class func cookies(withResponseHeaderFields headerFields: [String: String], for url: URL) -> [HTTPCookie] {
        headerFields.filter { $0.key.lowercased() == "set-cookie" }
            .flatMap { SetCookieFields.split($0.value) }
            .compactMap { SetCookieFields.properties($0, for: url).flatMap { HTTPCookie(properties: $0) } }
    }

    /// The properties from which an equal cookie can be created.
    open var properties: [HTTPCookiePropertyKey: Any]? { values.properties }

    /// The version: 0 or 1.
    open var version: Int { values.version }

    /// The name.
    open var name: String { values.name }

    /// The value.
    open var value: String { values.value }

    /// The end; `nil` if the cookie ends with the session.
    open var expiresDate: Date? { values.expires }

    /// Whether the cookie ends with the session.
    open var isSessionOnly: Bool { values.expires == nil }

    /// The domain in lower case; with a leading dot if subdomains are included.
    open var domain: String { values.domain }

    /// The path.
    open var path: String { values.path }

    /// Whether the cookie is sent over TLS only.
    open var isSecure: Bool { values.flags.contains(.secure) }

    /// Whether scripts do not see the cookie.
    open var isHTTPOnly: Bool { values.flags.contains(.httpOnly) }

    /// The comment.
    open var comment: String? { values.comment }

    /// The URL of the comment.
    open var commentURL: URL? { values.commentURL }

    /// The ports to which the cookie is sent; `nil` for all.
    open var portList: [NSNumber]? { values.ports?.map { NSNumber(value: $0) } }

    /// Which requests of other sites send the cookie. macOS 10.15, iOS 13.
    open var sameSitePolicy: HTTPCookieStringPolicy? { values.sameSite }

    /// Compares all values.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? HTTPCookie else { return false }
        return other === self || other.values == values
    }

    /// The hash of the values.
    open override var hash: Int { values.hashValue }

    /// The values as text.
    open override var description: String {
        let end = expiresDate.map { "\($0)" } ?? "nil"
        return "<\(type(of: self)) version:\(version) name:\(name) value:\(value) expiresDate:\(end) "
            + "sessionOnly:\(isSessionOnly) domain:\(domain) path:\(path) isSecure:\(isSecure)>"
    }
}
