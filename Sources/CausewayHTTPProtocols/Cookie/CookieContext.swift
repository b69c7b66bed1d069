package import CausewayProtocols

internal import CausewayTypes

/// The properties of a request that determine its cookies (RFC 6265bis §5.8.3).
package struct CookieContext: Equatable, Sendable {
    /// How the request relates to the site that the user sees (RFC 6265bis §5.2).
    package enum Site: Sendable {
        case same
        case cross
        /// The user follows a link to another site, and the request has a safe method.
        case crossNavigation
    }

    /// The host in lower case without a final dot.
    package var host: String
    /// The request path without a query.
    package var path: String
    package var isSecure: Bool
    /// Whether HTTP sends or receives the cookies. `false` for a script or another non-HTTP interface, which must not
    /// access `HttpOnly` cookies.
    package var isHTTP: Bool
    package var site: Site

    package init(host: String, path: String, isSecure: Bool, isHTTP: Bool = true, site: Site = .same) {
        let lower = URIBytes.lowercased(host)
        self.host = lower.utf8.last == UInt8(ascii: ".") ? String(Substring(lower.utf8.dropLast())) : lower
        self.path = path.isEmpty ? "/" : path
        self.isSecure = isSecure
        self.isHTTP = isHTTP
        self.site = site
    }

    /// - Returns: `nil` unless `target` is an absolute HTTP URI.
    package init?(_ target: URIReference, isHTTP: Bool = true, site: Site = .same) {
        guard let origin = HTTPOrigin(target) else { return nil }
        self.init(host: origin.host, path: target.path, isSecure: origin.isSecure, isHTTP: isHTTP, site: site)
    }

    /// The path for cookies without a `Path` attribute (RFC 6265bis §5.1.4).
    package var defaultPath: String {
        guard path.utf8.first == UInt8(ascii: "/"), let last = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            last != path.startIndex
        else { return "/" }
        return String(path[..<last])
    }

    /// Returns whether a cookie with `cookiePath` belongs to this request (RFC 6265bis §5.1.4).
    package func matches(path cookiePath: String) -> Bool {
        let (mine, other) = (path.utf8, cookiePath.utf8)
        guard mine.starts(with: other) else { return false }
        if mine.count == other.count || other.last == UInt8(ascii: "/") { return true }
        return mine[mine.index(mine.startIndex, offsetBy: other.count)] == UInt8(ascii: "/")
    }

    /// Returns whether the host is `domain` or one of its subdomains (RFC 6265bis §5.1.3). An IP address has no subdomains.
    package func matches(domain: String) -> Bool {
        // Compare bytes. In a comparison of characters, a dot and a combining mark after it form one character, which
        // is not equal to a dot.
        let (mine, other) = (host.utf8, domain.utf8)
        guard mine.count > other.count else { return mine.elementsEqual(other) }
        let rest = mine.suffix(other.count + 1)
        return rest.first == UInt8(ascii: ".") && rest.dropFirst().elementsEqual(other) && !Self.isAddress(host)
    }

    /// Returns whether `host` is an IP address rather than a name.
    static func isAddress(_ host: String) -> Bool {
        host.utf8.first == UInt8(ascii: "[") || IPv4Address(host) != nil || IPv6Address(host) != nil
    }
}
