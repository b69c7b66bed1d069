import CausewayTypes

/// The DNS resolver settings in /etc/resolv.conf (resolv.conf(5)).
package struct ResolverConfiguration: Equatable, Sendable {
    /// A DNS server's address.
    package struct NameServer: Hashable, Sendable {
        package var address: InternetAddress
        /// A link-local address's zone: an interface name or number (RFC 4007 §11).
        package var zone: String?

        package init(_ address: InternetAddress, zone: String? = nil) {
            self.address = address
            self.zone = zone
        }
    }

    /// The servers in query order. The C library uses only the first three.
    package var nameServers: [NameServer] = []
    /// The domains to append to names with few dots, in order. If several lines start with `search` or `domain`, only
    /// the final such line is used.
    package var searchDomains: [String] = []
    package var options = Options()

    /// The settings on `options` lines that affect a resolver.
    package struct Options: Equatable, Sendable {
        /// A name with at least this many dots is first queried without a search domain (`ndots`). Maximum 15.
        package var dotThreshold = 1
        /// Time to wait for one server. Maximum 30 seconds.
        package var timeout: Duration = .seconds(5)
        /// The number of times that all servers are queried in turn. Maximum 5.
        package var attempts = 2
        /// Distribute queries over all servers, not always starting with the first.
        package var rotates = false
        /// Announce support for larger responses with EDNS(0) (RFC 6891).
        package var usesEDNS = false
        /// Query over TCP only.
        package var usesTCP = false
        /// Query one address family at a time.
        package var asksSequentially = false
        /// Do not query IPv6 addresses.
        package var skipsIPv6 = false
        /// Trust the AD flag in responses (authenticated data).
        package var trustsAuthenticatedData = false

        package init() {}
    }

    package init() {}

    /// Parses resolv.conf text. Ignores malformed lines, as other resolvers do.
    package init(parsing text: String) {
        for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") }) {
            // Keywords and comment characters count only at the start of a line. So skip lines that begin with white
            // space or with a comment character.
            guard let first = line.first, !Self.isBlank(first), first != UInt8(ascii: "#"), first != UInt8(ascii: ";")
            else { continue }
            let words = line.split(whereSeparator: Self.isBlank).map { Substring($0) }
            adopt(keyword: words[0], words.dropFirst())
        }
    }

    private mutating func adopt(keyword: Substring, _ values: ArraySlice<Substring>) {
        switch keyword {
        case "nameserver":
            if let server = values.first.flatMap(NameServer.init(parsing:)) { nameServers.append(server) }
        case "domain":
            if let domain = values.first { searchDomains = [String(domain)] }
        case "search":
            // The root is never kept as a search domain. `search .` therefore means that there is no search domain.
            searchDomains = values.filter { $0 != "." }.map(String.init)
        case "options":
            for word in values { options.adopt(word) }
        default: break
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}

extension ResolverConfiguration.NameServer {
    /// Parses an address with an optional zone after a percent sign (RFC 4007 §11.2).
    fileprivate init?(parsing text: Substring) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = parts.first else { return nil }
        if parts.count == 1, let address = IPv4Address(String(number)) {
            self.init(.ipv4(address))
        } else if let address = IPv6Address(String(number)) {
            let zone = parts.count > 1 && !parts[1].isEmpty ? String(parts[1]) : nil
            self.init(.ipv6(address), zone: zone)
        } else {
            return nil
        }
    }
}

extension ResolverConfiguration.Options {
    fileprivate mutating func adopt(_ word: Substring) {
        let parts = word.split(separator: ":", maxSplits: 1)
        guard let name = parts.first else { return }
        let number = parts.count > 1 ? Int(digits: parts[1]) : nil
        switch name {
        case "ndots": if let number { dotThreshold = min(number, 15) }
        case "timeout": if let number, number > 0 { timeout = .seconds(min(number, 30)) }
        case "attempts": if let number, number > 0 { attempts = min(number, 5) }
        case "rotate": rotates = true
        case "edns0": usesEDNS = true
        case "use-vc": usesTCP = true
        case "single-request", "single-request-reopen": asksSequentially = true
        case "no-aaaa": skipsIPv6 = true
        case "trust-ad": trustsAuthenticatedData = true
        default: break
        }
    }
}
