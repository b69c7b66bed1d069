public import Foundation

/// An HTTP cookie. Cookie objects are immutable.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: the stored property of this class is a constant. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class HTTPCookie: NSObject, @unchecked Sendable {
    /// Which cookies a storage accepts.
    public enum AcceptPolicy: UInt, Sendable {
        /// All cookies are accepted.
        case always = 0
        /// No cookies are accepted.
        case never = 1
        /// Only cookies from the site of the main document are accepted.
        case onlyFromMainDocumentDomain = 2
    }

    let values: CookieValues

    /// Creates a cookie. Returns `nil` if the name, value or path is missing, or if there is neither a domain nor an origin URL.
    public init?(properties: [HTTPCookiePropertyKey: Any]) {
        guard let values = CookieValues(properties, now: Date()) else { return nil }
        self.values = values
        super.init()
    }

    /// Creates a cookie whose name, value, domain and path are empty, for subclasses that define an initializer. No
    /// storage stores such a cookie, and no request sends it, because it has no name.
    public override init() {
        values = CookieValues()
        super.init()
    }

    init(_ values: CookieValues) {
        self.values = values
        super.init()
    }

    /// Returns the `Cookie` header field for the given cookies, or an empty dictionary if there are no cookies. Leaves
    /// out cookies without a name, as storages do.
    open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        let named = cookies.filter { !$0.name.isEmpty }
        guard !named.isEmpty else { return [:] }
        return ["Cookie": named.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")]
    }

    /// Returns the cookies in a response's header fields.
    open class func cookies(withResponseHeaderFields headerFields: [String: String], for url: URL) -> [HTTPCookie] {
        headerFields.filter { $0.key.lowercased() == "set-cookie" }
            .flatMap { SetCookieFields.split($0.value) }
            .compactMap { HTTPCookie(field: $0, for: url) }
    }

    /// Creates a cookie from a single `Set-Cookie` field.
    convenience init?(field: String, for url: URL) {
        guard let properties = SetCookieFields.properties(field, for: url) else { return nil }
        self.init(properties: properties)
    }

    /// The properties from which an equal cookie can be created.
    open var properties: [HTTPCookiePropertyKey: Any]? { values.properties }

    /// The cookie version: 0 or 1.
    open var version: Int { values.version }

    /// The name.
    open var name: String { values.name }

    /// The value.
    open var value: String { values.value }

    /// The expiration date; `nil` for a session cookie.
    open var expiresDate: Date? { values.expires }

    /// Whether the cookie is a session cookie.
    open var isSessionOnly: Bool { values.expires == nil }

    /// The domain in lower case, with a leading dot if the cookie is also sent to subdomains.
    open var domain: String { values.domain }

    /// The path.
    open var path: String { values.path }

    /// Whether the cookie is sent only over TLS.
    open var isSecure: Bool { values.flags.contains(.secure) }

    /// Whether the cookie is hidden from scripts.
    open var isHTTPOnly: Bool { values.flags.contains(.httpOnly) }

    /// The comment.
    open var comment: String? { values.comment }

    /// The comment URL.
    open var commentURL: URL? { values.commentURL }

    /// The ports to which the cookie is sent; `nil` for all ports.
    open var portList: [NSNumber]? { values.ports?.map { NSNumber(value: $0) } }

    /// Which cross-site requests send the cookie.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var sameSitePolicy: HTTPCookieStringPolicy? { values.sameSite }

    /// Returns whether all values are equal.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? HTTPCookie else { return false }
        return other === self || other.values == values
    }

    /// The hash value of all values.
    open override var hash: Int { values.hashValue }

    /// A textual description of the cookie's values.
    open override var description: String {
        let end = expiresDate.map { "\($0)" } ?? "nil"
        return "<\(type(of: self)) version:\(version) name:\(name) value:\(value) expiresDate:\(end) "
            + "sessionOnly:\(isSessionOnly) domain:\(domain) path:\(path) isSecure:\(isSecure)>"
    }
}
