package import CausewayTypes

/// An IPv4 or IPv6 address.
package enum InternetAddress: Hashable, Sendable {
    case ipv4(IPv4Address)
    case ipv6(IPv6Address)

    /// An address family, with the kernel's number for it (`AF_INET` and so on).
    package struct Family: RawRepresentable, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// `AF_UNSPEC`. In a request, this value means all families. In a link message, it means that the message is about the interface
        /// itself.
        package static let unspecified = Family(rawValue: 0)
        package static let ipv4 = Family(rawValue: 2)
        /// `AF_BRIDGE`. A link message with this family describes the interface's membership in a bridge. It does not
        /// describe the interface itself.
        package static let bridge = Family(rawValue: 7)
        package static let ipv6 = Family(rawValue: 10)

        /// Address size in bits; 0 for families that this library does not know.
        package var bitWidth: Int {
            switch self {
            case .ipv4: 32
            case .ipv6: 128
            default: 0
            }
        }
    }

    /// Reads an address of `family` from `reader`, which must contain exactly one address.
    ///
    /// - Returns: The address; `nil` for a family that is neither IPv4 nor IPv6. In this case nothing is read.
    /// - Throws: ``WireError`` if the reader contains fewer or more bytes than one address.
    package init?(parsing reader: inout ByteReader, family: Family) throws(WireError) {
        switch family {
        case .ipv4:
            self = .ipv4(IPv4Address(bits: try reader.readInteger()))
        case .ipv6:
            var address = try reader.readScope(16)
            let high: UInt64 = try address.readInteger()
            self = .ipv6(IPv6Address(high: high, low: try address.readInteger()))
        default:
            return nil
        }
        guard reader.isAtEnd else { throw .invalid("address length", at: reader.position) }
    }

    package var family: Family {
        switch self {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        }
    }

    /// Whether the address and `prefix` have the same first `length` bits.
    ///
    /// The result is `false` if the addresses have different families, or if `length` is negative or exceeds the
    /// address size. Scopes are not compared.
    package func isInside(_ prefix: InternetAddress, length: Int) -> Bool {
        guard family == prefix.family, length >= 0, length <= family.bitWidth else { return false }
        let (mine, its) = (halves, prefix.halves)
        let (high, low) = (min(length, 64), max(length - 64, 0))
        return Self.agree(mine.high, its.high, bits: high) && Self.agree(mine.low, its.low, bits: low)
    }

    /// The address bits, left-aligned and padded with zeros to 128 bits.
    private var halves: (high: UInt64, low: UInt64) {
        switch self {
        case .ipv4(let address): (UInt64(address.bits) << 32, 0)
        case .ipv6(let address): (address.high, address.low)
        }
    }

    private static func agree(_ one: UInt64, _ other: UInt64, bits: Int) -> Bool {
        // In Swift, a shift by the full width yields zero. So if `bits` is 0, no bits are compared and the result is
        // true.
        (one ^ other) >> UInt64(64 - bits) == 0
    }
}

extension InternetAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .ipv4(let address): address.debugDescription
        case .ipv6(let address): address.debugDescription
        }
    }
}
