internal import CausewayTypes

/// A 48-bit hardware address, as used by Ethernet and related links.
public struct MACAddress: Hashable, Sendable {
    /// The address as a number. The first byte on the wire is the most significant; the upper 16 bits are 0.
    public let bits: UInt64

    /// Creates an address from the lower 48 bits.
    @inlinable public init(bits: UInt64) { self.bits = bits & 0xFFFF_FFFF_FFFF }

    /// The broadcast address `ff:ff:ff:ff:ff:ff`.
    public static let broadcast = MACAddress(bits: 0xFFFF_FFFF_FFFF)
    /// `00:00:00:00:00:00`: the target hardware address in an ARP request.
    public static let zero = MACAddress(bits: 0)

    /// Reads six bytes at `offset`.
    ///
    /// - Throws: `WireError.truncated` if there are fewer bytes.
    @inlinable
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        try bytes.require(6, at: offset)
        self.init(bits: UInt64(try bytes.u32(offset)) << 16 | UInt64(try bytes.u16(offset &+ 4)))
    }

    /// Parses `aa:bb:cc:dd:ee:ff`. Hyphens or dots may replace the colons, and leading zeros may be omitted.
    public init?(_ text: String) {
        var bits: UInt64 = 0
        var groups = 0
        for part in text.split(whereSeparator: { $0 == ":" || $0 == "-" || $0 == "." }) {
            guard part.utf8.count <= 2, let value = UInt8(digits: part, radix: 16) else { return nil }
            bits = bits << 8 | UInt64(value)
            groups += 1
        }
        guard groups == 6 else { return nil }
        self.init(bits: bits)
    }

    /// Whether this is a group address: the first byte's lowest bit is set.
    public var isMulticast: Bool { bits >> 40 & 1 == 1 }
}

extension MACAddress: CustomStringConvertible {
    /// The address in lower-case hexadecimal digits, separated by colons.
    public var description: String {
        var text = TextBuffer()
        text.mac(bits)
        return text.string
    }
}
