/// An HTTP origin: scheme, host and port (RFC 9110 §4.3.1). Credentials apply to a single origin.
package struct HTTPOrigin: Hashable, Sendable {
    /// Whether the connection is secured by TLS. `wss` is treated as `https` and `ws` as `http`, because the connections are established in
    /// the same way.
    package var isSecure: Bool
    /// The host in lower case, without a final dot. An IPv6 literal includes its brackets.
    package var host: String
    package var port: UInt16

    package init(isSecure: Bool, host: String, port: UInt16? = nil) {
        self.isSecure = isSecure
        let lower = URIBytes.lowercased(host)
        self.host = lower.utf8.last == UInt8(ascii: ".") ? String(Substring(lower.utf8.dropLast())) : lower
        self.port = port ?? (isSecure ? 443 : 80)
    }

    /// Returns the origin of an absolute URI.
    ///
    /// - Returns: `nil` unless the scheme is `http`, `https`, `ws` or `wss` and the host is not empty.
    package init?(_ target: URIReference) {
        guard let authority = target.authority, let scheme = target.scheme else { return nil }
        switch scheme {
        case "http", "ws": self.init(isSecure: false, host: authority.host, port: authority.port)
        case "https", "wss": self.init(isSecure: true, host: authority.host, port: authority.port)
        default: return nil
        }
        guard !host.isEmpty else { return nil }
    }
}
