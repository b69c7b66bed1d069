import CausewayTypes

/// How names are looked up, as /etc/resolv.conf says it (resolv.conf(5)).
package struct ResolverConfiguration: Equatable, Sendable {
    /// A DNS server's address.
    package struct NameServer: Hashable, Sendable {
        package var address: InternetAddress
        /// The interface, by name or number, through which a link-local address is meant (RFC 4007 §11).
        package var zone: String?

        package init(_ address: InternetAddress, zone: String? = nil) {
            self.address = address
            self.zone = zone
        }
    }

    /// The servers in the order to ask them. The C library heeds the first three only.
    package var nameServers: [NameServer] = []
    /// Domains to append to names with few dots, in order. The last `search` or `domain` line decides.
    package var searchDomains: [String] = []
    package var options = Options()

    /// The `options` words that change what a resolver does.
    package struct Options: Equatable, Sendable {
        /// Names with at least this many dots are tried as they are first. At most 15.
        package var dotThreshold = 1
        /// How long to wait for one server. At most 30 seconds.
        package var timeout: Duration = .seconds(5)
        /// How often to go through the servers. At most 5.
        package var attempts = 2
        /// Spread questions over the servers instead of asking the first one first.
        package var rotates = false
        /// Announce larger answers by EDNS(0) (RFC 6891).
        package var usesEDNS = false
        /// Ask over TCP only.
        package var usesTCP = false
        /// Ask for one address family at a time.
        package var asksSequentially = false
        /// Do not ask for IPv6 addresses.
        package var skipsIPv6 = false
        /// Believe the servers' word that an answer is authentic.
        package var trustsAuthenticatedData = false

        package init() {}
    }

    package init() {}

    /// Reads a file's text.
    ///
    /// Never fails: lines that make no sense are passed over, as every resolver does with this file.
    package init(parsing text: String) {
        for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") }) {
            // A keyword counts at the very beginning of its line only; so do the marks of a comment.
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
            // A lone root domain is how a file says that there is nothing to append.
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
    /// Reads an address, with its zone behind a percent sign (RFC 4007 §11.2).
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
        let number = parts.count > 1 ? Int(parts[1]) : nil
        switch name {
        case "ndots": if let number, number >= 0 { dotThreshold = min(number, 15) }
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
