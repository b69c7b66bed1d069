internal import CausewayTypes
internal import CausewayWire

/// A destination pattern, as in `NO_PROXY` and in a proxy's domain lists.
///
/// `example.com`, `.example.com` and `*.example.com` all match the domain and its subdomains; `192.0.2.7` matches an address, `10.0.0.0/8`
/// and `fd00::/8` match a network (RFC 4632 §3.1), `*` matches everything. A port may follow a domain or an address: `example.com:8080`,
/// `[::1]:80`.
package struct ProxyRule: Hashable, Sendable {
    private enum Subject: Hashable {
        case everything
        case domain(DNSName)
        case network(InternetAddress, prefixLength: Int)
    }

    private let subject: Subject
    private let port: UInt16?

    /// Returns `nil` for a malformed pattern.
    package init?(_ word: String) {
        guard let (host, port) = Self.split(word) else { return nil }
        guard let subject = Self.subject(host) else { return nil }
        self.subject = subject
        self.port = port
    }

    package func matches(_ destination: TunnelDestination) -> Bool {
        if let port, port != destination.port { return false }
        switch (subject, destination.host) {
        case (.everything, _): return true
        case (.domain(let domain), .name(let text)):
            return DNSName.host(text).map { $0.name.isWithin(domain) } ?? false
        case (.network(let network, let length), .address(let address)):
            return address.proxyForm.isInside(network, length: length)
        case (.domain, .address), (.network, .name): return false
        }
    }

    // MARK: Parsing

    /// Splits off the port. More than one colon without brackets means an IPv6 address.
    static func split(_ word: String) -> (host: Substring, port: UInt16?)? {
        // Compare bytes, not characters. Swift combines a delimiter and a following combining mark into one character,
        // which does not equal the delimiter.
        let bytes = word.utf8
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let host = Substring(bytes[..<end].dropFirst())
            let rest = bytes[end...].dropFirst()
            if rest.isEmpty { return (host, nil) }
            guard rest.first == UInt8(ascii: ":"), let port = UInt16(digits: rest.dropFirst()) else { return nil }
            return (host, port)
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon == bytes.lastIndex(of: UInt8(ascii: ":"))
        else {
            return (word[...], nil)
        }
        guard let port = UInt16(digits: bytes[colon...].dropFirst()) else { return nil }
        return (word[..<colon], port)
    }

    private static func subject(_ host: Substring) -> Subject? {
        if host == "*" { return .everything }
        if let slash = host.utf8.firstIndex(of: UInt8(ascii: "/")) {
            guard let address = InternetAddress(literal: String(host[..<slash])),
                let length = Int(digits: host.utf8[slash...].dropFirst()), length <= address.family.bitWidth
            else { return nil }
            return network(address, length)
        }
        if let address = InternetAddress(literal: String(host)) {
            return network(address, address.family.bitWidth)
        }
        let mark = host.utf8.starts(with: "*.".utf8) ? 2 : host.utf8.first == UInt8(ascii: ".") ? 1 : 0
        let domain = String(Substring(host.utf8.dropFirst(mark)))
        return domain.isEmpty ? nil : DNSName.host(domain).map { .domain($0.name) }
    }

    /// Converts a network to the form in which destinations are compared. A network of IPv4-mapped addresses becomes an
    /// IPv4 network.
    private static func network(_ address: InternetAddress, _ length: Int) -> Subject {
        let form = address.proxyForm
        if form.family == address.family { return .network(form, prefixLength: length) }
        // If the prefix of an IPv4-mapped network has fewer than 96 bits, the network also covers IPv6 addresses that
        // are not mapped. So keep it as an IPv6 network. It then matches no mapped address, because mapped addresses
        // are compared as IPv4 addresses.
        return length < 96 ? .network(address, prefixLength: length) : .network(form, prefixLength: length - 96)
    }
}

extension InternetAddress {
    /// Parses an IP address without a scope. Returns `nil` for other text, for example a host name.
    init?(literal text: String) {
        guard !text.utf8.contains(UInt8(ascii: "%")) else { return nil }
        let isDotted = text.utf8.allSatisfy { URIBytes.isDigit($0) || $0 == UInt8(ascii: ".") }
        if isDotted, let address = IPv4Address(text) {
            self = .ipv4(address)
        } else if let address = IPv6Address(text) {
            self = .ipv6(address)
        } else {
            return nil
        }
    }

    /// The address normalized for comparison: an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) becomes the IPv4 address,
    /// and the interface scope is removed.
    fileprivate var proxyForm: InternetAddress {
        switch self {
        case .ipv4(let address): .ipv4(IPv4Address(bits: address.bits))
        case .ipv6(let address) where address.high == 0 && address.low >> 32 == 0xFFFF:
            .ipv4(IPv4Address(bits: UInt32(truncatingIfNeeded: address.low)))
        case .ipv6(let address): .ipv6(IPv6Address(high: address.high, low: address.low))
        }
    }
}
