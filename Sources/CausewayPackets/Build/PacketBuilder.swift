import CausewayTypes

/// Builds a packet layer by layer, from the outermost header to the payload.
///
/// ```swift
/// var packet = PacketBuilder()
/// packet.add(IPv4Header(source: here, destination: there, proto: .udp))
/// packet.add(UDPHeader(sourcePort: 4000, destinationPort: 101))
/// packet.add(payload: Array("hello".utf8))
/// let bytes = packet.finish()
/// ```
///
/// ``finish()`` fills in the lengths and checksums that a header leaves `nil`. A value that a header sets is written
/// unchanged, even if it is wrong. A reused builder keeps its memory.
public struct PacketBuilder: Sendable {
    /// The packet's bytes. Bytes from offset `count` on are left over from an earlier, longer packet.
    @usableFromInline var bytes: [UInt8] = []
    var marks = ChecksumMarks()

    /// Creates a builder without layers.
    @inlinable public init() { self.init(empty: ()) }
    @usableFromInline init(empty: ()) {}

    /// Removes all layers, to begin another packet. Keeps the memory.
    public mutating func reset() {
        count = 0
        marks.removeAll()
    }

    /// The number of bytes added so far.
    public internal(set) var count = 0

    /// Adds an Ethernet header.
    @inlinable @inline(__always)
    public mutating func add(_ header: EthernetHeader) {
        addEthernet(header.destination.bits, header.source.bits, header.type.rawValue)
    }

    @usableFromInline
    mutating func addEthernet(_ destination: UInt64, _ source: UInt64, _ type: UInt16) {
        mark(.ethernet, 14)
        putEthernet(destination, source, type)
    }

    /// Adds a VLAN tag. The tag's type field states the next layer's type.
    public mutating func add(_ tag: VLANTag) {
        mark(.vlan, 4)
        append(UInt16(tag.priority & 7) << 13 | (tag.dropEligible ? 0x1000 : 0) | tag.identifier & 0xFFF)
        append(tag.type.rawValue)
    }

    /// Adds an ARP packet for Ethernet and IPv4.
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

    /// Adds an IPv4 header. ``finish()`` fills in a total length or checksum that is `nil`.
    @inlinable @inline(__always)
    public mutating func add(_ header: IPv4Header) {
        addIPv4(
            header.words, header.options, fillsLength: header.totalLength == nil, fillsChecksum: header.checksum == nil)
    }

    @usableFromInline
    mutating func addIPv4(_ words: HeaderWords, _ options: [UInt8], fillsLength: Bool, fillsChecksum: Bool) {
        let byteCount = 20 &+ HeaderWords.filled(options)
        mark(.ipv4, byteCount, length: fillsLength, checksum: fillsChecksum, sum: options.isEmpty ? words.sum : nil)
        put(words, options)
    }

    /// Adds an IPv6 header. ``finish()`` fills in a payload length that is `nil`.
    public mutating func add(_ header: IPv6Header) {
        mark(.ipv6, IPv6Header.byteCount, length: header.payloadLength == nil)
        put(header)
    }

    /// Adds an IPv6 extension header in the common form (RFC 8200 §4).
    ///
    /// `body` follows the next-header and length fields. Zeros pad the header to a multiple of eight bytes.
    public mutating func addExtension(next: IPProtocolNumber, body: [UInt8]) {
        let length = (2 + body.count + 7) / 8 * 8
        mark(.destinationOptions, length)
        append(UInt16(next.rawValue) << 8 | UInt16(truncatingIfNeeded: length / 8 - 1) & 0xFF)
        append(body, first: body.count, filledTo: length - 2)
    }

    /// Adds the first eight bytes of an ICMP message. If the checksum is `nil`, ``finish()`` computes it.
    ///
    /// - Parameters:
    ///   - header: The type, the code, the checksum and the next four bytes.
    ///   - version6: Whether the message is ICMPv6. The ICMPv6 checksum also covers the IPv6 addresses (RFC 4443 §2.3).
    ///     `nil` to choose by the IP header before it: ICMPv6 after an IPv6 header, otherwise ICMP.
    public mutating func add(_ header: ICMPHeader, version6: Bool? = nil) {
        mark(version6 ?? marks.isInIPv6 ? .icmp6 : .icmp, ICMPHeader.byteCount, checksum: header.checksum == nil)
        append(UInt16(header.type) << 8 | UInt16(header.code))
        append(header.checksum ?? 0)
        append(header.rest)
    }

    /// Adds a UDP header. ``finish()`` fills in a length or checksum that is `nil`.
    public mutating func add(_ header: UDPHeader) {
        mark(.udp, UDPHeader.byteCount, length: header.length == nil, checksum: header.checksum == nil)
        append(UInt32(header.sourcePort) << 16 | UInt32(header.destinationPort))
        append(header.length ?? 0)
        append(header.checksum ?? 0)
    }

    /// Adds a TCP header with its options. ``finish()`` fills in a checksum that is `nil`.
    @inlinable @inline(__always)
    public mutating func add(_ header: TCPHeader) {
        addTCP(header.words, header.options, fillsChecksum: header.checksum == nil)
    }

    @usableFromInline
    mutating func addTCP(_ words: HeaderWords, _ options: [UInt8], fillsChecksum: Bool) {
        let byteCount = 20 &+ HeaderWords.filled(options)
        mark(.tcp, byteCount, checksum: fillsChecksum, sum: options.isEmpty ? words.sum : nil)
        put(words, options)
    }

    /// Adds payload bytes without a header.
    public mutating func add(payload: [UInt8]) {
        mark(.payload, payload.count, sum: sum(payload))
        append(payload, first: payload.count, filledTo: payload.count)
    }

    /// Returns the checksum sum over a payload. Returns `nil` if no outer layer needs a computed checksum. The sum is
    /// computed from the source array. A sum over the copy in the packet would have to wait until the copy is stored.
    @inline(__always)
    private func sum(_ payload: [UInt8]) -> UInt64? {
        guard marks.covers else { return nil }
        var sum = ChecksumSum()
        unsafe sum.add(payload.span.bytes, 0, payload.count)
        return sum.sum
    }

    @inline(__always)
    mutating func mark(
        _ kind: LayerKind, _ byteCount: Int, length: Bool = false, checksum: Bool = false, sum: UInt64? = nil
    ) {
        var mark = ChecksumMark(kind, count, byteCount)
        if length { mark.flags |= ChecksumMark.fillsLength }
        if checksum { mark.flags |= ChecksumMark.fillsChecksum }
        if let sum { mark.set(sum) }
        marks.add(mark)
    }
}

extension PacketBuilder {
    /// Replaces a TCP header in the packet with another one of the same size. `position` is the layer's number, counted
    /// from the outermost layer.
    ///
    /// Call ``finish()`` afterwards: it computes lengths and checksums again, including those of the enclosing layers.
    ///
    /// - Returns: `false` if the layer's kind or size differs; the packet is then unchanged.
    @inlinable @inline(__always)
    public mutating func replace(_ position: Int, with header: TCPHeader) -> Bool {
        replace(
            position, .tcp, header.words, header.options, fillsLength: false, fillsChecksum: header.checksum == nil)
    }

    /// Replaces the layer at `position` with another IPv4 header of the same size. Position 0 is the outermost layer.
    ///
    /// - Returns: `false` if the layer is not an IPv4 header of this size. The packet is then unchanged.
    @inlinable @inline(__always)
    public mutating func replace(_ position: Int, with header: IPv4Header) -> Bool {
        replace(
            position, .ipv4, header.words, header.options, fillsLength: header.totalLength == nil,
            fillsChecksum: header.checksum == nil)
    }

    @usableFromInline
    mutating func replace(
        _ position: Int, _ kind: LayerKind, _ words: HeaderWords, _ options: [UInt8], fillsLength: Bool,
        fillsChecksum: Bool
    ) -> Bool {
        let byteCount = 20 &+ HeaderWords.filled(options)
        guard let offset = marks.offset(of: position, kind, byteCount) else { return false }
        store(inOrder: (words.first, words.second, words.third), at: offset)
        if options.isEmpty {
            marks.replaced(position, fillsLength, fillsChecksum, words.sum)
        } else {
            replace(offset &+ 20, options)
            marks.replaced(position, fillsLength, fillsChecksum, nil)
        }
        return true
    }

    @inline(never)
    private mutating func replace(_ offset: Int, _ options: [UInt8]) {
        let behind = count
        count = offset
        put(options)
        count = behind
    }

    /// Replaces the layer at `position`, counted from the outermost, with another payload of the same size.
    ///
    /// - Returns: `false` if the layer's kind or size differs; the packet is then unchanged.
    public mutating func replace(_ position: Int, with payload: [UInt8]) -> Bool {
        guard let offset = marks.offset(of: position, .payload, payload.count) else { return false }
        marks.replaced(position, false, false, sum(payload))
        let behind = count
        count = offset
        append(payload, first: payload.count, filledTo: payload.count)
        count = behind
        return true
    }

    /// Replaces the layer at `position`, counted from the outermost, with another IPv6 header.
    ///
    /// - Returns: `false` if the layer's kind differs; the packet is then unchanged.
    public mutating func replace(_ position: Int, with header: IPv6Header) -> Bool {
        replace(position, .ipv6, IPv6Header.byteCount, false, header.payloadLength == nil) { $0.put(header) }
    }

    /// Replaces the layer at `position`, counted from the outermost, with another UDP header.
    ///
    /// - Returns: `false` if the layer's kind differs; the packet is then unchanged.
    public mutating func replace(_ position: Int, with header: UDPHeader) -> Bool {
        replace(position, .udp, UDPHeader.byteCount, header.checksum == nil, header.length == nil) { $0.add(header) }
    }

    /// Replaces the layer at `position`, counted from the outermost, with another Ethernet header.
    ///
    /// - Returns: `false` if the layer's kind differs; the packet is then unchanged.
    public mutating func replace(_ position: Int, with header: EthernetHeader) -> Bool {
        replace(position, .ethernet, EthernetHeader.byteCount, false, false) { $0.add(header) }
    }

    private mutating func replace(
        _ position: Int, _ kind: LayerKind, _ byteCount: Int, _ checksum: Bool, _ length: Bool,
        _ write: (inout PacketBuilder) -> Void
    ) -> Bool {
        guard let offset = marks.offset(of: position, kind, byteCount) else { return false }
        var part = PacketBuilder()
        write(&part)
        bytes.replaceSubrange(offset..<offset + byteCount, with: part.bytes[..<part.count])
        marks.replaced(position, length, checksum, nil)
        return true
    }
}
