import CausewayTypes

/// Makes a packet, layer by layer from the outside in.
///
/// ```swift
/// var packet = PacketBuilder()
/// packet.add(IPv4Header(source: here, destination: there, proto: .udp))
/// packet.add(UDPHeader(sourcePort: 4000, destinationPort: 101))
/// packet.add(payload: Array("hello".utf8))
/// let octets = packet.finish()
/// ```
///
/// Lengths and checksums that a header leaves `nil` are filled in by ``finish()``; what a header sets stays as it is, right or wrong. A
/// builder that is used again keeps its memory.
public struct PacketBuilder: Sendable {
    struct Mark: Sendable {
        var kind: LayerKind
        var offset: Int
        var byteCount: Int
        var fillsLength: Bool
        var fillsChecksum: Bool
    }

    /// The packet's octets, and behind them those of an earlier packet that was longer.
    var octets: [UInt8] = []
    /// Its layers, and behind them those of an earlier packet that had more.
    var marks: [Mark] = []
    var markCount = 0

    public init() {}

    /// Forgets the packet, to begin another. What it was made of is written over: an array that is emptied and filled again asks for
    /// room octet by octet.
    public mutating func reset() {
        count = 0
        markCount = 0
    }

    /// Octets so far.
    public internal(set) var count = 0

    public mutating func add(_ header: EthernetHeader) {
        mark(.ethernet, 14)
        put(header)
    }

    public mutating func add(_ tag: VLANTag) {
        mark(.vlan, 4)
        append(UInt16(tag.priority & 7) << 13 | (tag.dropEligible ? 0x1000 : 0) | tag.identifier & 0xFFF)
        append(tag.type.rawValue)
    }

    public mutating func add(_ packet: ARPPacket) {
        mark(.arp, ARPPacket.byteCount)
        append(packet.hardwareType)
        append(packet.protocolType.rawValue)
        append(0x0604 as UInt16)
        append(packet.operation.rawValue)
        append(packet.senderHardware)
        append(packet.senderAddress.bits)
        append(packet.targetHardware)
        append(packet.targetAddress.bits)
    }

    public mutating func add(_ header: IPv4Header) {
        mark(.ipv4, header.byteCount, length: header.totalLength == nil, checksum: header.checksum == nil)
        put(header)
    }

    public mutating func add(_ header: IPv6Header) {
        mark(.ipv6, IPv6Header.byteCount, length: header.payloadLength == nil)
        put(header)
    }

    /// An IPv6 extension header that has the common form (RFC 8200 §4): `body` follows next header and length, and is filled up with
    /// zeros to a multiple of eight octets with them.
    public mutating func addExtension(next: IPProtocolNumber, body: [UInt8]) {
        let length = (2 + body.count + 7) / 8 * 8
        mark(.destinationOptions, length)
        append(UInt16(next.rawValue) << 8 | UInt16(truncatingIfNeeded: length / 8 - 1) & 0xFF)
        append(body[...], filledTo: length - 2)
    }

    /// - Parameter version6: ICMPv6, whose checksum covers the addresses too.
    public mutating func add(_ header: ICMPHeader, version6: Bool = false) {
        mark(version6 ? .icmp6 : .icmp, ICMPHeader.byteCount, checksum: header.checksum == nil)
        append(UInt16(header.type) << 8 | UInt16(header.code))
        append(header.checksum ?? 0)
        append(header.rest)
    }

    public mutating func add(_ header: UDPHeader) {
        mark(.udp, UDPHeader.byteCount, length: header.length == nil, checksum: header.checksum == nil)
        append(UInt32(header.sourcePort) << 16 | UInt32(header.destinationPort))
        append(header.length ?? 0)
        append(header.checksum ?? 0)
    }

    public mutating func add(_ header: TCPHeader) {
        mark(.tcp, header.byteCount, checksum: header.checksum == nil)
        put(header)
    }

    public mutating func add(payload: [UInt8]) {
        mark(.payload, payload.count)
        append(payload[...], filledTo: payload.count)
    }

    mutating func mark(_ kind: LayerKind, _ byteCount: Int, length: Bool = false, checksum: Bool = false) {
        let mark = Mark(
            kind: kind, offset: count, byteCount: byteCount, fillsLength: length, fillsChecksum: checksum)
        if markCount < marks.count { marks[markCount] = mark } else { marks.append(mark) }
        markCount &+= 1
    }
}

extension PacketBuilder {
    /// Puts another header of the same size in the place of the layer at `position`, counted from the outermost.
    ///
    /// Call ``finish()`` again afterwards: lengths and checksums are redone, also of the layers around it.
    ///
    /// - Returns: `false`, with nothing changed, where that layer is of another kind or size.
    public mutating func replace(_ position: Int, with header: TCPHeader) -> Bool {
        replace(position, .tcp, header.byteCount, header.checksum == nil, false) { $0.put(header) }
    }

    public mutating func replace(_ position: Int, with header: IPv4Header) -> Bool {
        replace(position, .ipv4, header.byteCount, header.checksum == nil, header.totalLength == nil) {
            $0.put(header)
        }
    }

    public mutating func replace(_ position: Int, with header: IPv6Header) -> Bool {
        replace(position, .ipv6, IPv6Header.byteCount, false, header.payloadLength == nil) { $0.put(header) }
    }

    public mutating func replace(_ position: Int, with header: UDPHeader) -> Bool {
        replace(position, .udp, UDPHeader.byteCount, header.checksum == nil, header.length == nil) { $0.add(header) }
    }

    public mutating func replace(_ position: Int, with header: EthernetHeader) -> Bool {
        replace(position, .ethernet, EthernetHeader.byteCount, false, false) { $0.put(header) }
    }

    private mutating func replace(
        _ position: Int, _ kind: LayerKind, _ byteCount: Int, _ checksum: Bool, _ length: Bool,
        _ write: (inout PacketBuilder) -> Void
    ) -> Bool {
        guard (0..<markCount).contains(position), marks[position].kind == kind, marks[position].byteCount == byteCount
        else { return false }
        var part = PacketBuilder()
        write(&part)
        let offset = marks[position].offset
        octets.replaceSubrange(offset..<offset + byteCount, with: part.octets[..<part.count])
        marks[position].fillsChecksum = checksum
        marks[position].fillsLength = length
        return true
    }
}
