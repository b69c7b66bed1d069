package import CausewayTypes
package import CausewayWire

/// A target in the syntax `192.0.2.0/24`, `192.0.2.1-20`, `192.0.2.1-192.0.3.9`, `2001:db8::/120`, an address, or a name.
package enum TargetRange: Hashable, Sendable {
    /// Consecutive addresses.
    case ipv4(first: UInt32, count: Int)
    case ipv6(IPv6Address, count: Int)
    /// A host name to resolve.
    case name(String)

    /// The maximum number of addresses in a range. An IPv4 /12 has this number. A larger range such as a /8 is refused,
    /// because it is usually an input error.
    package static let maximumHosts = 1 << 20

    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        package var description: String
    }

    package init(_ text: String) throws(Failure) {
        if let slash = text.firstIndex(of: "/") {
            self = try Self.prefix(text, String(text[..<slash]), String(text[text.index(after: slash)...]))
        } else if let address = IPv4Address(text), Self.isDotted(text) {
            self = .ipv4(first: address.bits, count: 1)
        } else if let address = IPv6Address(text) {
            self = .ipv6(address, count: 1)
        } else if let range = try Self.range(text) {
            self = range
        } else {
            guard !text.isEmpty else { throw Failure(description: "empty host name") }
            self = .name(text)
        }
    }

    private static func isDotted(_ text: String) -> Bool { text.utf8.filter { $0 == 0x2E }.count == 3 }

    private static func prefix(_ whole: String, _ base: String, _ bits: String) throws(Failure) -> TargetRange {
        if let address = IPv4Address(base), isDotted(base), let length = Int(digits: bits), length <= 32 {
            let count = 1 << (32 - length)
            try check(count, whole)
            let mask = length == 0 ? 0 : UInt32.max << UInt32(32 - length)
            return .ipv4(first: address.bits & mask, count: count)
        }
        if let address = IPv6Address(base), let length = Int(digits: bits), length <= 128 {
            let count = length < 64 ? Int.max : 128 - length >= 62 ? Int.max : 1 << (128 - length)
            try check(count, whole)
            return .ipv6(
                IPv6Address(
                    high: address.high, low: address.low & ~UInt64(count - 1), interface: address.interface),
                count: count)
        }
        throw Failure(description: "\(whole) is not a network such as 192.0.2.0/24 or 2001:db8::/120")
    }

    private static func range(_ text: String) throws(Failure) -> TargetRange? {
        guard let dash = text.firstIndex(of: "-") else { return nil }
        let (first, last) = (String(text[..<dash]), String(text[text.index(after: dash)...]))
        guard isDotted(first), let low = IPv4Address(first) else { return nil }
        let high: UInt32
        if let end = IPv4Address(last), isDotted(last) {
            high = end.bits
        } else if let end = UInt8(digits: last) {
            high = low.bits & ~255 | UInt32(end)
        } else {
            throw Failure(description: "\(text) is not a range such as 192.0.2.1-20")
        }
        guard high >= low.bits else { throw Failure(description: "the range \(text) ends before it begins") }
        try check(Int(high - low.bits) + 1, text)
        return .ipv4(first: low.bits, count: Int(high - low.bits) + 1)
    }

    private static func check(_ count: Int, _ text: String) throws(Failure) {
        guard count <= maximumHosts else {
            throw Failure(description: "\(text) has more than \(maximumHosts) addresses, the maximum")
        }
    }

    /// The addresses in the range; empty for a name.
    package var addresses: [InternetAddress] {
        switch self {
        case .ipv4(let first, let count):
            (0..<count).map { .ipv4(IPv4Address(bits: first &+ UInt32(truncatingIfNeeded: $0))) }
        case .ipv6(let first, let count):
            (0..<count).map {
                .ipv6(
                    IPv6Address(
                        high: first.high, low: first.low &+ UInt64(truncatingIfNeeded: $0), interface: first.interface))
            }
        case .name: []
        }
    }
}
