internal import CausewayTypes
internal import CausewayWire

/// A proxy address as users write it, such as `http://user:password@proxy.example:3128`.
///
/// The schemes are `http`, `https`, `socks5`, `socks5h` and `socks`. An address without a scheme means an HTTP proxy. With each of the
/// SOCKS schemes the proxy resolves host names, so that no DNS query leaves this host.
package struct ProxyAddress: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A proxy with HTTP CONNECT. The connection to the proxy is not encrypted (`http`) or uses TLS (`https`).
        case http, https
        case socks
    }

    /// Why a string is not a usable proxy address.
    package enum Problem: Error, Equatable, Sendable {
        /// The string is not a URL, or has no host.
        case malformed
        /// The kind of proxy is not supported, such as SOCKS 4.
        case unknownKind(String)
    }

    package var kind: Kind
    /// A name or an IP address, without brackets.
    package var host: String
    package var port: UInt16
    package var credential: TunnelCredential?

    package init(_ text: String) throws(Problem) {
        // Compare bytes, not characters. If a combining mark follows a delimiter, both form one character. This
        // character does not equal the delimiter.
        var rest = text.utf8[...]
        var scheme = "http"
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
            scheme = text[..<colon].lowercased()
            rest = rest[colon...].dropFirst(3)
        }
        switch scheme {
        case "http": (kind, port) = (.http, 80)
        case "https": (kind, port) = (.https, 443)
        case "socks", "socks5", "socks5h": (kind, port) = (.socks, 1_080)
        default: throw .unknownKind(scheme)
        }
        guard !Self.isScript(rest) else { throw .unknownKind("pac") }
        rest = rest.prefix { !"/?#".utf8.contains($0) }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            credential = try Self.credential(rest[..<at])
            rest = rest[at...].dropFirst()
        }
        guard let (place, given) = ProxyRule.split(String(Substring(rest))), !place.isEmpty, given != 0 else {
            throw .malformed
        }
        guard InternetAddress(literal: String(place)) != nil || DNSName.host(String(place)) != nil else {
            throw .malformed
        }
        host = String(place)
        if let given { port = given }
    }

    /// Whether the URL points to a proxy auto-configuration script. A server that provides scripts is not a proxy.
    private static func isScript(_ text: Substring.UTF8View) -> Bool {
        let file = Substring(text.prefix { !"?#".utf8.contains($0) }).lowercased().utf8
        return file.contains(UInt8(ascii: "/"))
            && (file.suffix(4).elementsEqual(".pac".utf8) || file.suffix(9).elementsEqual("/wpad.dat".utf8))
    }

    private static func credential(_ text: Substring.UTF8View) throws(Problem) -> TunnelCredential {
        let name = text.prefix { $0 != UInt8(ascii: ":") }
        let password = text.dropFirst(name.count + 1)
        guard let username = PercentCoding.decoded(Substring(name)),
            let secret = PercentCoding.decoded(Substring(password))
        else { throw .malformed }
        return TunnelCredential(username: username, password: secret)
    }
}
