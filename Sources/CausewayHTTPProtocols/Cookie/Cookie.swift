import CausewayWire

/// A stored cookie (RFC 6265bis §5.7).
package struct Cookie: Hashable, Sendable {
    package var name: [UInt8]
    package var value: [UInt8]
    /// The host in lower case. Unless ``isHostOnly``, the cookie is also sent to its subdomains.
    package var domain: String
    /// Whether the cookie is sent only to `domain` itself.
    package var isHostOnly: Bool
    package var path: String
    /// The expiry time since 1970; `nil` for a session cookie.
    package var expires: Duration?
    package var created: Duration
    package var isSecure: Bool
    package var isHTTPOnly: Bool
    package var sameSite: SetCookie.SameSite

    package init(
        name: [UInt8], value: [UInt8], domain: String, isHostOnly: Bool = true, path: String = "/",
        expires: Duration? = nil,
        created: Duration = .zero, isSecure: Bool = false, isHTTPOnly: Bool = false,
        sameSite: SetCookie.SameSite = .unspecified
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.created = created
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// Returns whether both cookies have the same identity: name, domain, host-only flag and path. A new cookie
    /// replaces a stored cookie with the same identity.
    package func isSame(as other: Cookie) -> Bool {
        name == other.name && domain == other.domain && isHostOnly == other.isHostOnly && path == other.path
    }

    package func isExpired(at now: Duration) -> Bool { expires.map { $0 <= now } ?? false }

    /// The cookie as sent in `Cookie`. Without a name, there is no equals sign (RFC 6265bis §5.8.3).
    package var pair: [UInt8] { name.isEmpty ? value : name + [UInt8(ascii: "=")] + value }

    /// The name that a server can read from ``pair``. For a nameless cookie, this is the value up to its first equals
    /// sign, without equals signs and white space at its ends, because some servers skip them.
    var nameForServers: ArraySlice<UInt8> {
        guard name.isEmpty else { return name[...] }
        let text = value.drop(while: SetCookie.mayPrecedeName)
        guard let end = text.firstIndex(of: UInt8(ascii: "=")) else { return [] }
        return HTTPCharacters.trimmed(text[..<end])
    }
}
