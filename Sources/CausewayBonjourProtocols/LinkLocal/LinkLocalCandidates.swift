package import CausewayTypes
package import CausewayWire

/// The order in which a host tries link-local IPv4 addresses (RFC 3927 §2.1). Different hosts have different orders,
/// but one host always has the same order.
package struct LinkLocalCandidates: Sendable {
    /// 169.254.1.0, the lowest candidate. Of 169.254/16, the first and the last 256 addresses are reserved.
    private static let first: UInt32 = 0xA9FE_0100
    private static let count: UInt64 = 254 * 256

    private var state: UInt64

    package init(_ link: LinkAddress) { state = link.bits }

    /// Whether a host may choose the address.
    package static func contains(_ address: IPv4Address) -> Bool {
        (first..<first + UInt32(count)).contains(address.bits)
    }

    /// Returns the next candidate. The sequence may repeat addresses.
    package mutating func next() -> IPv4Address {
        // Hardware addresses from one vendor often differ only in the last bits. The mixing below (SplitMix64) makes
        // such a small difference change the whole result.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return IPv4Address(bits: Self.first + UInt32(mixed.multipliedFullWidth(by: Self.count).high))
    }
}
