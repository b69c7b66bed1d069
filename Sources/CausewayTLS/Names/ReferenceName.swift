package import CausewayTypes

/// The peer's expected identity (RFC 9525 §6.1): a name or an address, in the form used in certificates.
package enum ReferenceName: Hashable, Sendable, CustomStringConvertible {
    /// A host name in ASCII form (A-labels), in lower case and without a trailing dot.
    case name(String)
    /// An address of 4 or 16 bytes.
    case address([UInt8])

    /// Converts a host specified by the program (RFC 9525 §6.1.1).
    ///
    /// Drops one trailing dot, which marks an absolute name and never occurs in certificates.
    ///
    /// - Returns: `nil` if no certificate can contain the name. Then no certificate matches.
    package init?(_ host: NWEndpoint.Host) {
        switch host {
        case .ipv4(let address): self = .address([UInt8](address.rawValue))
        case .ipv6(let address): self = .address([UInt8](address.rawValue))
        case .name(let name, _):
            guard let ascii = Self.ascii(name) else { return nil }
            self = .name(ascii)
        }
    }

    package var description: String {
        switch self {
        case .name(let name): name
        case .address(let bytes) where bytes.count == 4: bytes.map(String.init).joined(separator: ".")
        case .address(let bytes): IPv6Address(.init(bytes), nil)?.debugDescription ?? "an address"
        }
    }

    /// The name for the server name extension; `nil` for addresses, which must not be sent (RFC 6066 §3).
    var serverName: String? {
        if case .name(let name) = self { name } else { nil }
    }

    /// Converts a name to A-labels; `nil` if it is not a valid name (RFC 5280 §7.2, RFC 9525 §7.3).
    private static func ascii(_ text: String) -> String? {
        // IDNA treats three further characters as dots, in addition to the full stop (RFC 3490 §3.1).
        var labels = text.split(omittingEmptySubsequences: false) { ".\u{3002}\u{ff0e}\u{ff61}".contains($0) }
        if labels.count > 1, labels.last == "" { labels.removeLast() }
        var result: [String] = []
        for label in labels {
            guard let ascii = Punycode.label(label), isLabel(ascii) else { return nil }
            result.append(ascii)
        }
        // If the last label is numeric, the name is an address in an old format. Certificates never contain such an
        // address.
        if let last = result.last, last.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return nil
        }
        let name = result.joined(separator: ".")
        return name.utf8.count <= 253 ? name : nil
    }

    /// Returns whether `text` is a label: 1 to 63 letters, digits and hyphens (RFC 1034 §3.5). The underscore is also
    /// allowed, because some names in use contain it.
    private static func isLabel(_ text: String) -> Bool {
        guard (1...63).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "-") else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
    }
}
