package import CausewayTypes

/// A 48-bit link-layer (MAC) address, as Ethernet uses it.
package struct LinkAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address bits. The first byte on the wire is the most significant byte; the upper 16 bits are 0.
    package let bits: UInt64

    /// Keeps the lower 48 bits of `bits`.
    package init(bits: UInt64) { self.bits = bits & 0xFFFF_FFFF_FFFF }

    /// Creates an address from six bytes. Returns `nil` if `bytes` has another length.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 6 else { return nil }
        self.init(bits: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    package static let broadcast = LinkAddress(bits: 0xFFFF_FFFF_FFFF)

    package var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: bits >> UInt64(40 - 8 * $0)) } }

    package var description: String { Hexadecimal.colonSeparated(bytes) }
}

/// An ARP request or reply that maps an IPv4 address to a link-layer address, on Ethernet and similar links (RFC 826).
package struct ARPMessage: Hashable, Sendable {
    package enum Operation: UInt16, Sendable {
        case request = 1
        case reply = 2
    }

    package var operation: Operation
    package var senderLink: LinkAddress
    package var sender: IPv4Address
    package var targetLink: LinkAddress
    package var target: IPv4Address

    package init(
        _ operation: Operation, senderLink: LinkAddress, sender: IPv4Address,
        targetLink: LinkAddress = LinkAddress(bits: 0), target: IPv4Address
    ) {
        self.operation = operation
        self.senderLink = senderLink
        self.sender = sender
        self.targetLink = targetLink
        self.target = target
    }

    /// Ethernet header size in bytes: two addresses and a type.
    private static let headerByteCount = 14
    private static let frameType: UInt16 = 0x0806

    /// Parses a whole Ethernet frame. Bytes after the ARP packet are padding.
    ///
    /// - Throws: ``WireError`` unless the frame is an ARP request or reply for IPv4.
    package init(parsingFrame bytes: Span<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        _ = try reader.readBytes(Self.headerByteCount - 2)
        guard try reader.readInteger(as: UInt16.self) == Self.frameType else {
            throw .invalid("type of an ARP frame", at: Self.headerByteCount - 2)
        }
        // Check the hardware type (Ethernet), the protocol type (IPv4) and the address lengths.
        guard try reader.readInteger(as: UInt64.self) >> 16 == 0x0001_0800_0604 else {
            throw .invalid("hardware or protocol type of an ARP message", at: Self.headerByteCount)
        }
        reader = ByteReader(bytes)
        _ = try reader.readBytes(Self.headerByteCount + 6)
        guard let operation = Operation(rawValue: try reader.readInteger()) else {
            throw .invalid("ARP operation", at: reader.position)
        }
        self.operation = operation
        senderLink = LinkAddress(try reader.readBytes(6)) ?? LinkAddress(bits: 0)
        sender = IPv4Address(bits: try reader.readInteger())
        targetLink = LinkAddress(try reader.readBytes(6)) ?? LinkAddress(bits: 0)
        target = IPv4Address(bits: try reader.readInteger())
    }

    /// An Ethernet frame that contains the message and has the broadcast address as its destination.
    package var broadcastFrame: [UInt8] {
        var bytes = LinkAddress.broadcast.bytes + senderLink.bytes + [0x08, 0x06, 0, 1, 0x08, 0x00, 6, 4]
        bytes += [0, UInt8(operation.rawValue)]
        for (link, address) in [(senderLink, sender), (targetLink, target)] {
            bytes += link.bytes
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: address.bits >> UInt32(24 - 8 * $0)) }
        }
        return bytes
    }
}
