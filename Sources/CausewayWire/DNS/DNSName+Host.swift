internal import CausewayTypes

extension DNSName {
    /// Parses a host name as users write it, and converts international labels to A-labels (RFC 5891 §4). A trailing
    /// dot makes the name absolute.
    ///
    /// ASCII names are not changed. Returns `nil` if the name cannot be encoded in a DNS message.
    package static func host(_ text: String) -> (name: DNSName, isAbsolute: Bool)? {
        // Most names are ASCII and need no IDNA processing. Handle them first.
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return plainHost(text) }
        // IDNA treats three more characters as dots (RFC 3490 §3.1).
        var labels = text.split(omittingEmptySubsequences: false) { ".\u{3002}\u{ff0e}\u{ff61}".contains($0) }
        let isAbsolute = labels.count > 1 && labels.last == ""
        if isAbsolute { labels.removeLast() }
        var bytes: [[UInt8]] = []
        for label in labels {
            let isPlain = label.utf8.allSatisfy { $0 < 0x80 }
            guard let ascii = isPlain ? String(label) : Punycode.label(label) else { return nil }
            // A host name has no blanks and no control characters.
            guard ascii.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
            bytes.append(Array(ascii.utf8))
        }
        guard !bytes.isEmpty, let name = DNSName(labels: bytes) else { return nil }
        return (name, isAbsolute)
    }

    /// Parses an ASCII host name; see ``host(_:)``.
    private static func plainHost(_ text: String) -> (name: DNSName, isAbsolute: Bool)? {
        var bytes = Array(text.utf8)[...]
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        let dot = UInt8(ascii: ".")
        let isAbsolute = bytes.count > 1 && bytes.last == dot
        if isAbsolute { bytes.removeLast() }
        let name = DNSName(labels: bytes.split(separator: dot, omittingEmptySubsequences: false))
        return name.map { ($0, isAbsolute) }
    }

    /// Number of dots between the labels.
    package var dotCount: Int { max(0, labels.reduce(0) { count, _ in count + 1 } - 1) }

    /// Returns the name for the reverse lookup of `address` (RFC 1035 §3.5, RFC 3596 §2.5).
    package static func reverse(_ address: InternetAddress) -> DNSName {
        switch address {
        case .ipv4(let address):
            let parts = (0..<4).map { index -> [UInt8] in
                let byte = UInt8(truncatingIfNeeded: address.bits >> UInt32(8 * index))
                return Array(String(byte).utf8)
            }
            return DNSName(labels: parts + [Array("in-addr".utf8), Array("arpa".utf8)]) ?? .root
        case .ipv6(let address):
            let nibbles = (0..<32).map { index -> [UInt8] in
                let word = index < 16 ? address.low : address.high
                return Array(String(word >> UInt64(4 * (index & 15)) & 0xF, radix: 16).utf8)
            }
            return DNSName(labels: nibbles + [Array("ip6".utf8), Array("arpa".utf8)]) ?? .root
        }
    }
}

extension DNSName {
    /// The multicast DNS domain (RFC 6762 §3).
    package static let local: DNSName = "local"
}
