/// What a `Set-Cookie` field has changed in the store.
package enum CookieOutcome: Equatable, Sendable {
    case stored
    /// The cookie had already expired. A stored cookie with the same identity was removed.
    case removed
    case ignored(CookieRefusal)
}

/// The reason why a cookie is not stored (RFC 6265bis §5.7).
package enum CookieRefusal: Error, Equatable, Sendable {
    /// The field has neither a name nor a value, contains control characters, or is too long.
    case malformed
    /// `Domain` does not include the request host.
    case otherDomain
    /// `Domain` is a public suffix, such as `com`, whose subdomains have other owners.
    case publicSuffix
    /// A cookie with `Secure` was set over an insecure connection, or the cookie would replace or shadow a secure one.
    case insecure
    /// A non-HTTP interface tried to set or replace an `HttpOnly` cookie.
    case notHTTP
    /// The request is cross-site, and `SameSite` restricts the cookie to its own site.
    case otherSite
    /// The name has the prefix `__Secure-` or `__Host-`, but the cookie does not meet the prefix requirements. Or the
    /// cookie has no name, and its value begins with such a prefix.
    case prefix
    /// The cookie has `SameSite=None` without `Secure`.
    case sameSiteNoneWithoutSecure
}

/// A cookie store with the rules for storing and sending cookies (RFC 6265bis §5.7, §5.8).
///
/// The store performs no I/O. The caller passes the current time as a duration since 1970.
package struct CookieStore: Sendable {
    /// A cookie store's limits (RFC 6265bis §6.1).
    package struct Limits: Sendable {
        /// The maximum cookie count per domain.
        package var perDomain = 50
        package var total = 3_000
        /// The maximum cookie lifetime: 400 days (RFC 6265bis §5.5).
        package var maximumAge: Duration = .seconds(400 * 86_400)

        package init() {}
    }

    /// Returns whether a domain is a public suffix.
    package typealias PublicSuffixTest = @Sendable (String) -> Bool

    private struct Entry: Sendable {
        var cookie: Cookie
        /// The position in creation order. A cookie that replaces an older cookie keeps the older cookie's position.
        var order: UInt64
        var lastAccess: Duration
    }

    private var entries: [String: [Entry]] = [:]
    package private(set) var count = 0
    /// A counter that changes when cookies are added, replaced or removed.
    package private(set) var changeCount = 0
    private var nextOrder: UInt64 = 0
    /// Cookies that the latest insertion removed to stay within the limits.
    package private(set) var evicted: [Cookie] = []
    private let limits: Limits
    private let isPublicSuffix: PublicSuffixTest

    package init(
        limits: Limits = Limits(),
        isPublicSuffix: @escaping PublicSuffixTest = { (domain: String) -> Bool in
            PublicSuffixList.builtIn.isPublicSuffix(domain)
        }
    ) {
        self.limits = limits
        self.isPublicSuffix = isPublicSuffix
    }

    /// All cookies, including expired cookies, in creation order.
    package var all: [Cookie] {
        entries.values.joined().sorted { $0.order < $1.order }.map(\.cookie)
    }

    /// Returns whether any cookie, expired or not, satisfies the predicate.
    func contains(where matches: (Cookie) -> Bool) -> Bool {
        entries.values.contains { list in list.contains { matches($0.cookie) } }
    }

    /// Returns whether the domain is a public suffix, so that its subdomains belong to different owners.
    func isPublicSuffixDomain(_ domain: String) -> Bool { isPublicSuffix(domain) }

    // MARK: Storing

    /// Stores the cookie from a `Set-Cookie` field (RFC 6265bis §5.7).
    @discardableResult
    package mutating func receive(_ field: some Collection<UInt8>, from context: CookieContext, at now: Duration)
        -> CookieOutcome
    {
        guard let parsed = SetCookie(field) else { return .ignored(.malformed) }
        return receive(parsed, from: context, at: now)
    }

    @discardableResult
    package mutating func receive(_ parsed: SetCookie, from context: CookieContext, at now: Duration) -> CookieOutcome {
        switch judge(parsed, from: context, at: now) {
        case .success(let cookie): insert(cookie, at: now)
        case .failure(let refusal): .ignored(refusal)
        }
    }

    /// Returns the cookie from a `Set-Cookie` field, or the reason to ignore it (RFC 6265bis §5.7). Stores nothing.
    package func judge(
        _ parsed: SetCookie, from context: CookieContext, at now: Duration
    ) -> Result<Cookie, CookieRefusal> {
        Result { () throws(CookieRefusal) in try judged(parsed, context: context, now: now) }
    }

    /// Stores the program's own cookie, which may set any domain. Replaces a stored cookie with the same identity.
    ///
    /// Ignores a nameless cookie whose value begins with a name prefix, from any source: requests send such a value
    /// like a name, and servers trust names with prefixes.
    @discardableResult
    package mutating func insert(_ cookie: Cookie, at now: Duration) -> CookieOutcome {
        guard !SetCookie(name: cookie.name, value: cookie.value).hidesPrefix else { return .ignored(.prefix) }
        var cookie = cookie
        if let end = cookie.expires { cookie.expires = min(end, now + limits.maximumAge) }
        changeCount &+= 1
        let old = remove(cookie)
        if !evicted.isEmpty { evicted = [] }
        guard !cookie.isExpired(at: now) else { return .removed }
        // The new cookie keeps the old cookie's creation time (RFC 6265bis §5.7).
        if let old { cookie.created = old.cookie.created }
        entries[cookie.domain, default: []].append(
            Entry(cookie: cookie, order: old?.order ?? nextOrder, lastAccess: now))
        if old == nil { nextOrder += 1 }
        count += 1
        evict(from: cookie.domain, at: now)
        return .stored
    }

    /// Removes the stored cookie with the same identity as `cookie`.
    package mutating func delete(_ cookie: Cookie) { remove(cookie) }

    package mutating func removeAll() {
        entries = [:]
        count = 0
        changeCount &+= 1
    }

    /// Removes all cookies that satisfy the predicate.
    package mutating func removeAll(where shouldRemove: (Cookie) -> Bool) {
        for (domain, list) in entries {
            let kept = list.filter { !shouldRemove($0.cookie) }
            guard kept.count < list.count else { continue }
            count -= list.count - kept.count
            changeCount &+= 1
            entries[domain] = kept.isEmpty ? nil : kept
        }
    }

    @discardableResult
    private mutating func remove(_ cookie: Cookie) -> Entry? {
        guard let index = entries[cookie.domain]?.firstIndex(where: { $0.cookie.isSame(as: cookie) }) else {
            return nil
        }
        let old = entries[cookie.domain]?.remove(at: index)
        if entries[cookie.domain]?.isEmpty == true { entries[cookie.domain] = nil }
        count -= 1
        changeCount &+= 1
        return old
    }

    /// Removes cookies until the store is within its limits (RFC 6265bis §5.7): first expired cookies, then the least
    /// recently used cookies. If a domain has too many cookies, its cookies without `Secure` are removed before its
    /// cookies with `Secure`.
    private mutating func evict(from domain: String, at now: Duration) {
        if (entries[domain]?.count ?? 0) > limits.perDomain {
            removeExpired(in: domain, at: now)
            while let list = entries[domain], list.count > limits.perDomain {
                let victim = list.min { one, other in
                    let (mine, theirs) = (one.cookie.isSecure ? 1 : 0, other.cookie.isSecure ? 1 : 0)
                    return (mine, one.lastAccess, one.order) < (theirs, other.lastAccess, other.order)
                }
                if let victim { evict(victim.cookie) }
            }
        }
        guard count > limits.total else { return }
        removeExpired(at: now)
        while count > limits.total {
            let victim = entries.values.joined().min { ($0.lastAccess, $0.order) < ($1.lastAccess, $1.order) }
            if let victim { evict(victim.cookie) }
        }
    }

    private mutating func evict(_ cookie: Cookie) {
        remove(cookie)
        evicted.append(cookie)
    }

    private mutating func removeExpired(in domain: String, at now: Duration) {
        for entry in entries[domain] ?? [] where entry.cookie.isExpired(at: now) { remove(entry.cookie) }
    }

    package mutating func removeExpired(at now: Duration) { removeAll { $0.isExpired(at: now) } }

    // MARK: Sending

    /// Returns a request's cookies. Cookies with longer paths come first. Among cookies with equally long paths, older
    /// cookies come first (RFC 6265bis §5.8.3).
    package mutating func cookies(for context: CookieContext, at now: Duration) -> [Cookie] {
        var found: [Entry] = []
        for domain in Self.domains(of: context.host) {
            guard var list = entries[domain] else { continue }
            for index in list.indices where Self.shouldSend(list[index].cookie, in: context, at: now) {
                list[index].lastAccess = now
                found.append(list[index])
            }
            entries[domain] = list
        }
        found.sort { one, other in
            let (mine, theirs) = (one.cookie.path.utf8.count, other.cookie.path.utf8.count)
            return mine == theirs ? one.order < other.order : mine > theirs
        }
        return found.map(\.cookie)
    }

    /// Returns the `Cookie` field value, or `nil` if the request has no cookies.
    package mutating func field(for context: CookieContext, at now: Duration) -> [UInt8]? {
        guard !entries.isEmpty else { return nil }
        let found = cookies(for: context, at: now)
        guard !found.isEmpty else { return nil }
        return Self.field(found)
    }

    /// Returns the `Cookie` field value for these cookies, in order.
    package static func field(_ cookies: [Cookie]) -> [UInt8] {
        Array(cookies.map(\.pair).joined(separator: "; ".utf8))
    }

    private static func shouldSend(_ cookie: Cookie, in context: CookieContext, at now: Duration) -> Bool {
        guard cookie.isHostOnly ? context.host == cookie.domain : context.matches(domain: cookie.domain) else {
            return false
        }
        guard context.matches(path: cookie.path), !cookie.isExpired(at: now) else { return false }
        guard context.isSecure || !cookie.isSecure, context.isHTTP || !cookie.isHTTPOnly else { return false }
        switch (context.site, cookie.sameSite) {
        case (.same, _), (_, .none): return true
        case (.crossNavigation, .lax), (.crossNavigation, .unspecified): return true
        case (.crossNavigation, .strict), (.cross, _): return false
        }
    }

    /// Returns the host and its parent domains, as keys for `entries`.
    private static func domains(of host: String) -> [String] {
        guard !CookieContext.isAddress(host) else { return [host] }
        var domains = [host]
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }
}
