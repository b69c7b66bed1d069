/// A 48-bit hardware address, as Ethernet and its kin use it.
public struct MACAddress: Hashable, Sendable {
    /// The address as a number; the first byte on the wire is the most significant. The upper 16 bits are 0.
    public let bits: UInt64

    /// Takes the lower 48 bits.
    @inlinable public init(bits: UInt64) { self.bits = bits & 0xFFFF_FFFF_FFFF }

    /// Everybody on the link.
    public static let broadcast = MACAddress(bits: 0xFFFF_FFFF_FFFF)
    /// Nobody: what an ARP request asks for.
    public static let zero = MACAddress(bits: 0)

    /// Reads six bytes at `offset`.
    @inlinable
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
        try bytes.require(6, at: offset)
        self.init(bits: UInt64(try bytes.u32(offset)) << 16 | UInt64(try bytes.u16(offset &+ 4)))
    }

    /// Reads `aa:bb:cc:dd:ee:ff`; hyphens and dots may stand for the colons, and digits may be left out in front.
    public init?(_ text: String) {
        var bits: UInt64 = 0
        var groups = 0
        for part in text.split(whereSeparator: { $0 == ":" || $0 == "-" || $0 == "." }) {
            guard part.utf8.count <= 2, let value = UInt8(part, radix: 16) else { return nil }
            bits = bits << 8 | UInt64(value)
            groups += 1
        }
        guard groups == 6 else { return nil }
        self.init(bits: bits)
    }

    /// Group addresses: the lowest bit of the first byte.
    public var isMulticast: Bool { bits >> 40 & 1 == 1 }
}

extension MACAddress: CustomStringConvertible {
    /// Lower-case digits with colons between.
    public var description: String {
        var text = TextBuffer()
        text.mac(bits)
        return text.string
    }
}
