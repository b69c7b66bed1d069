/// A PAC script's input for one connection: a URL and its host.
///
/// The URL has no credentials and no fragment. For an encrypted connection, it also has no path and no query. The
/// script may come from an untrusted network, so it must not see more than the network itself can see.
package struct PACSubject: Equatable, Sendable {
    package var url: String
    /// The host without brackets.
    package var host: String

    /// Returns `nil` if the text is not a URL with a host.
    package init?(url text: String) {
        guard let separator = text.range(of: "://"), separator.lowerBound != text.startIndex else { return nil }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme.utf8.allSatisfy(Self.isAllowedInScheme) else { return nil }
        let rest = text[separator.upperBound...]
        var authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var tail = rest[authority.endIndex...].prefix { $0 != "#" }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        guard let (host, port) = ProxyRule.split(String(authority)), !host.isEmpty else { return nil }
        if ["https", "wss"].contains(scheme) { tail = "/" }
        let path = tail.hasPrefix("/") ? String(tail) : "/" + tail
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
        let name = host.contains(":") ? "[\(host)]" : host
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

extension String {
    /// Finds the first occurrence of `mark`.
    fileprivate func range(of mark: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(mark) { return start..<index(start, offsetBy: mark.count) }
            start = index(after: start)
        }
        return nil
    }
}
