internal import CausewayProtocols
internal import CausewaySystem
public import Foundation

/// A cookie storage in memory that follows RFC 6265bis.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: a lock guards the cookies. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    private static let sharedStorage = HTTPCookieStorage()
    private static let groups = LockedValue<[String: HTTPCookieStorage]>([:])
    private let jar = LockedValue(CookieJar())

    /// Creates a private storage.
    public override init() { super.init() }

    /// The shared storage of the process.
    open class var shared: HTTPCookieStorage { sharedStorage }

    /// Returns the shared storage of an app group.
    ///
    /// Counterpart: macOS 10.11, iOS 9.
    open class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
        groups.withLock { groups in
            if let known = groups[identifier] { return known }
            let made = HTTPCookieStorage()
            groups[identifier] = made
            return made
        }
    }

    /// Whether ``cookies(for:)`` needs not be called, because it would return no cookies. `false` for subclasses, which can override it.
    var isKnownToBeEmpty: Bool { type(of: self) == HTTPCookieStorage.self && jar.withLock { $0.isEmpty } }

    /// All cookies that have not expired.
    open var cookies: [HTTPCookie]? { jar.withLock { $0.all(at: Self.now) } }

    /// Stores a cookie, replacing a cookie with the same name, domain and path. An expired cookie only removes the stored one.
    open func setCookie(_ cookie: HTTPCookie) {
        jar.withLock { $0.insert(cookie, at: Self.now) }
        postChange()
    }

    /// Removes a cookie.
    open func deleteCookie(_ cookie: HTTPCookie) {
        jar.withLock { $0.remove(cookie) }
        postChange()
    }

    /// Removes the cookies that were stored after a date.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func removeCookies(since date: Date) {
        jar.withLock { $0.removeAll(since: .seconds(max(date.timeIntervalSince1970, 0))) }
        postChange()
    }

    /// Returns the cookies to send to a URL: longest path first, then oldest first.
    open func cookies(for url: URL) -> [HTTPCookie]? {
        guard let context = Self.context(url) else { return [] }
        return jar.withLock { $0.cookies(for: context, at: Self.now) }
    }

    /// Stores the cookies from a response that the accept policy and RFC 6265bis allow.
    ///
    /// - Parameters:
    ///   - cookies: The cookies.
    ///   - url: The URL.
    ///   - mainDocumentURL: The URL that the accept policy compares with; `nil` for a first-party request.
    open func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        guard let url, let context = Self.context(url), isAccepted(context.host, mainDocumentURL) else { return }
        jar.withLock { jar in
            for cookie in cookies { jar.receive(cookie, from: context, at: Self.now) }
        }
        postChange()
    }

    /// Which cookies are accepted. The default is ``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``.
    open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { jar.withLock { $0.policy } }
        set {
            jar.withLock { $0.policy = newValue }
            NotificationCenter.default.post(name: .NSHTTPCookieManagerAcceptPolicyChanged, object: self)
        }
    }

    /// Returns all cookies, sorted with the given sort descriptors.
    open func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        (cookies ?? []).sorted { one, other in
            for descriptor in sortOrder {
                switch descriptor.compare(one, to: other) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }

    /// Stores the cookies from the response of a task.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        setCookies(cookies, for: task.currentRequest?.url, mainDocumentURL: task.currentRequest?.mainDocumentURL)
    }

    /// Passes the cookies for the request of a task to a completion handler.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func getCookiesFor(
        _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        completionHandler(task.currentRequest?.url.flatMap { cookies(for: $0) })
    }

    /// Returns the cookies for the request of a task.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
        await withCheckedContinuation { continuation in
            getCookiesFor(task) { continuation.resume(returning: $0) }
        }
    }

    /// A textual description with the number of cookies.
    open override var description: String { "<NSHTTPCookieStorage cookies count:\(cookies?.count ?? 0)>" }

    private static var now: Duration { .seconds(Date().timeIntervalSince1970) }

    private static func context(_ url: URL) -> CookieContext? {
        guard let host = url.host, !host.isEmpty else { return nil }
        let isSecure = ["https", "wss"].contains(url.scheme?.lowercased())
        return CookieContext(host: host, path: url.path, isSecure: isSecure)
    }

    /// Returns whether the policy accepts cookies from a host. Two hosts belong to the same site if they are equal or if one is a subdomain
    /// of the other.
    private func isAccepted(_ host: String, _ mainDocumentURL: URL?) -> Bool {
        switch cookieAcceptPolicy {
        case .always: return true
        case .never: return false
        case .onlyFromMainDocumentDomain:
            guard let main = mainDocumentURL?.host?.lowercased() else { return true }
            return main == host || main.hasSuffix("." + host) || host.hasSuffix("." + main)
        }
    }

    private func postChange() {
        NotificationCenter.default.post(name: .NSHTTPCookieManagerCookiesChanged, object: self)
    }
}
