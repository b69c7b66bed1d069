extension CookieStore {
    /// Returns the cookie from a `Set-Cookie` field, or throws the reason to ignore it (RFC 6265bis §5.7). The checks
    /// have the RFC's order.
    func judged(_ parsed: SetCookie, context: CookieContext, now: Duration) throws(CookieRefusal) -> Cookie {
        let domain = try domain(of: parsed, context: context)
        let cookie = Cookie(
            name: parsed.name, value: parsed.value, domain: domain ?? context.host, isHostOnly: domain == nil,
            path: parsed.path ?? context.defaultPath, expires: Self.end(of: parsed, now: now), created: now,
            isSecure: parsed.isSecure, isHTTPOnly: parsed.isHTTPOnly, sameSite: parsed.sameSite)
        guard context.isSecure || !cookie.isSecure else { throw .insecure }
        guard context.isHTTP || !cookie.isHTTPOnly else { throw .notHTTP }
        if !cookie.isSecure, !context.isSecure, shadowsSecure(cookie) { throw .insecure }
        if cookie.sameSite != .none, context.site == .cross { throw .otherSite }
        if cookie.sameSite == .none, !cookie.isSecure { throw .sameSiteNoneWithoutSecure }
        try checkPrefix(of: parsed, cookie)
        if !context.isHTTP, contains(where: { $0.isSame(as: cookie) && $0.isHTTPOnly }) { throw .notHTTP }
        return cookie
    }

    /// Returns the domain of a new cookie. The cookie is then also sent to subdomains. Returns `nil` for a cookie that
    /// is sent only to its own host.
    private func domain(of parsed: SetCookie, context: CookieContext) throws(CookieRefusal) -> String? {
        guard let domain = parsed.domain else { return nil }
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { throw .otherDomain }
        if isPublicSuffixDomain(domain) {
            guard domain == context.host else { throw .publicSuffix }
            return nil
        }
        guard context.matches(domain: domain) else { throw .otherDomain }
        return CookieContext.isAddress(domain) ? nil : domain
    }

    private static func end(of parsed: SetCookie, now: Duration) -> Duration? {
        if let age = parsed.maximumAge { return age <= 0 ? .zero : now + .seconds(age) }
        return parsed.expires.map { .seconds($0) }
    }

    /// Returns whether an insecure cookie would shadow a secure cookie with the same name (RFC 6265bis §5.7). Servers
    /// read the start of a nameless cookie's value as its name, if an equals sign follows it.
    private func shadowsSecure(_ cookie: Cookie) -> Bool {
        let context = CookieContext(host: cookie.domain, path: cookie.path, isSecure: false)
        let (name, nameForServers) = (cookie.name, cookie.nameForServers)
        return contains { other in
            guard other.isSecure, other.name == name || other.nameForServers == nameForServers,
                context.matches(path: other.path)
            else { return false }
            let there = CookieContext(host: other.domain, path: "/", isSecure: false)
            return context.matches(domain: other.domain) || there.matches(domain: cookie.domain)
        }
    }

    /// Checks name prefix requirements (RFC 6265bis §5.4). A nameless cookie's value must not begin with such a prefix.
    private func checkPrefix(of parsed: SetCookie, _ cookie: Cookie) throws(CookieRefusal) {
        if parsed.hidesPrefix { throw .prefix }
        if parsed.hasNamePrefix("__Secure-"), !cookie.isSecure { throw .prefix }
        if parsed.hasNamePrefix("__Host-") {
            guard cookie.isSecure, cookie.isHostOnly, parsed.path == "/", parsed.domain == nil else { throw .prefix }
        }
    }
}
