internal import CausewayProtocols
internal import Foundation

/// The cookies of a storage: a cookie store that implements RFC 6265bis, and the `HTTPCookie` objects that the program sees.
struct CookieJar: Sendable {
    /// The identity of a cookie: a new cookie replaces a stored one with an equal key (RFC 6265bis §5.7).
    private struct Key: Hashable {
        var name: String
        var domain: String
        var path: String
    }

    private var store = CookieStore()
    private var objects: [Key: HTTPCookie] = [:]
    /// Which cookies are accepted.
    var policy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain

    /// Whether there are no cookies.
    var isEmpty: Bool { store.count == 0 }

    /// Returns all cookies that have not expired, in order of creation.
    mutating func all(at now: Duration) -> [HTTPCookie] {
        store.removeExpired(at: now)
        return store.all.compactMap { object(of: $0) }
    }

    /// Stores a cookie that the program created. An expired cookie removes the stored cookie with the same key.
    mutating func insert(_ cookie: HTTPCookie, at now: Duration) {
        guard policy != .never else { return }
        store.insert(Self.stored(cookie, at: now), at: now)
        note(cookie)
    }

    /// Stores a cookie from a response if RFC 6265bis and the accept policy allow it.
    mutating func receive(_ cookie: HTTPCookie, from context: CookieContext, at now: Duration) {
        guard policy != .never, cookie.domain.hasPrefix(".") || cookie.domain == context.host else { return }
        var parsed = SetCookie(name: Array(cookie.name.utf8), value: Array(cookie.value.utf8))
        parsed.domain = cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : nil
        parsed.path = cookie.path
        parsed.expires = cookie.expiresDate.map { Int64($0.timeIntervalSince1970.rounded()) }
        parsed.isSecure = cookie.isSecure
        parsed.isHTTPOnly = cookie.isHTTPOnly
        parsed.sameSite = Self.site(cookie)
        if case .stored = store.receive(parsed, from: context, at: now) { note(cookie) }
    }

    /// Returns the cookies for a request: longest path first, then oldest first.
    mutating func cookies(for context: CookieContext, at now: Duration) -> [HTTPCookie] {
        store.cookies(for: context, at: now).compactMap { object(of: $0) }
    }

    /// Removes a cookie.
    mutating func remove(_ cookie: HTTPCookie) {
        store.delete(Self.stored(cookie, at: .zero))
        objects[Self.key(cookie)] = nil
    }

    /// Removes the cookies that were created after a time.
    mutating func removeAll(since time: Duration) {
        store.removeAll { $0.created > time }
        dropObjects()
    }

    private mutating func note(_ cookie: HTTPCookie) {
        objects[Self.key(cookie)] = cookie
        // The store evicts cookies when it is full.
        if objects.count > store.count { dropObjects() }
    }

    private mutating func dropObjects() {
        let kept = Set(store.all.map { Self.key($0) })
        objects = objects.filter { kept.contains($0.key) }
    }

    private func object(of cookie: Cookie) -> HTTPCookie? { objects[Self.key(cookie)] }

    private static func key(_ cookie: HTTPCookie) -> Key {
        Key(name: cookie.name, domain: cookie.domain, path: cookie.path)
    }

    private static func key(_ cookie: Cookie) -> Key {
        Key(
            name: String(decoding: cookie.name, as: UTF8.self),
            domain: cookie.isHostOnly ? cookie.domain : "." + cookie.domain, path: cookie.path)
    }

    private static func stored(_ cookie: HTTPCookie, at now: Duration) -> Cookie {
        let includesSubdomains = cookie.domain.hasPrefix(".")
        return Cookie(
            name: Array(cookie.name.utf8), value: Array(cookie.value.utf8),
            domain: includesSubdomains ? String(cookie.domain.dropFirst()) : cookie.domain,
            isHostOnly: !includesSubdomains, path: cookie.path,
            expires: cookie.expiresDate.map { .seconds($0.timeIntervalSince1970) }, created: now,
            isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly, sameSite: site(cookie))
    }

    private static func site(_ cookie: HTTPCookie) -> SetCookie.SameSite {
        switch cookie.sameSitePolicy {
        case HTTPCookieStringPolicy.sameSiteLax: .lax
        case HTTPCookieStringPolicy.sameSiteStrict: .strict
        default: .unspecified
        }
    }
}
