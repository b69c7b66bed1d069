/// A PAC script's input for one connection: a URL and its host.
///
/// The URL has no credentials and no fragment. For an encrypted connection, it also has no path and no query. The
/// script may come from an untrusted network, so it must not see more than the network itself can see.
package struct PACSubject: Equatable, Sendable {
    package var url: String
    /// The host without brackets.
    package var host: String

    /// Splits a URL for a proxy script. Returns `nil` if the text is not a URL with a host.
    package init?(url text: String) {
        // Compare bytes, not characters: a delimiter and a combining mark after it form one character, which does not
        // equal the delimiter.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex,
            text.utf8[colon...].starts(with: "://".utf8), text.utf8[..<colon].allSatisfy(Self.isAllowedInScheme)
        else { return nil }
        let scheme = text[..<colon].lowercased()
        let rest = text.utf8[colon...].dropFirst(3)
        var authority = rest.prefix { !"/?#".utf8.contains($0) }
        let tail = Substring(rest[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") })
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[at...].dropFirst() }
        guard let (host, port) = ProxyRule.split(String(Substring(authority))), !host.isEmpty else { return nil }
        let root = tail.utf8.first == UInt8(ascii: "/") ? "" : "/"
        let path = ["https", "wss"].contains(scheme) ? "/" : root + String(tail)
        self.init(scheme: scheme, host: host.lowercased(), port: port == Self.usualPort(of: scheme) ? nil : port, path)
    }

    /// Creates the subject for a destination without a URL.
    ///
    /// - Parameter isPlain: Whether the connection carries requests for `http` URLs. Otherwise it is assumed to be encrypted.
    package init(_ destination: TunnelDestination, isPlain: Bool = false) {
        let scheme = isPlain ? "http" : "https"
        let port = destination.port == Self.usualPort(of: scheme) ? nil : destination.port
        switch destination.host {
        case .name(let name): self.init(scheme: scheme, host: name.lowercased(), port: port, "/")
        case .address(let address): self.init(scheme: scheme, host: "\(address)", port: port, "/")
        }
    }

    private init(scheme: String, host: String, port: UInt16?, _ path: String) {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        url = "\(scheme)://\(name)\(port.map { ":\($0)" } ?? "")\(path)"
        self.host = host
    }

    private static func usualPort(of scheme: String) -> UInt16? {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        default: nil
        }
    }

    private static func isAllowedInScheme(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
        default: false
        }
    }
}
