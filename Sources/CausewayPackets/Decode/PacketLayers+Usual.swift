extension PacketLayers {
    /// The usual bits at the start of an IPv4 header, and a mask that selects the bits to compare.
    ///
    /// The usual values are version 4, a header length of 20 bytes, and fragment offset zero (RFC 791 §3.1).
    private static let usual4: UInt64 = 0x4500_0000_0000_0000
    private static let usual4Mask: UInt64 = 0xFF00_0000_0000_1FFF
    /// Header lengths in bytes: 8 for ICMP and UDP, 20 for TCP and IPv4 without options.
    private static let shortLength = 8
    private static let longLength = 20
    /// The total length, in bytes, of an Ethernet header, an IPv4 header and the shortest transport header.
    private static var linkAndShortest: Int { EthernetHeader.byteCount &+ longLength &+ shortLength }

    /// Finds the layers in the most common packets: Ethernet, optionally one VLAN tag, an IP header without options,
    /// and valid TCP, UDP or ICMP. ``LayerWalk`` decodes all other packets, with equal results.
    ///
    /// - Returns: `false`, with nothing recorded, if the packet has another form.
    @inline(__always)
    mutating func findUsual(_ p: borrowing ByteView, wireCount: Int) -> Bool {
        // One check covers the Ethernet header, an IPv4 header, and the shortest transport header. Before a longer
        // header is read, such as IPv6 or TCP, there is another check.
        guard p.count >= Self.linkAndShortest else { return false }
        var type = p.unchecked16(12)
        var at = 14
        var place = 1
        if type == EtherType.vlan.rawValue {
            guard p.count >= Self.linkAndShortest &+ VLANTag.byteCount else { return false }
            type = p.unchecked16(16)
            (at, place) = (18, 2)
        }
        if type == EtherType.ipv4.rawValue {
            // One load reads all of these fields: version, header length, total length and fragment fields.
            let first = p.unchecked64(at)
            guard first & Self.usual4Mask == Self.usual4 else { return false }
            let total = Int(first >> 32 & 0xFFFF)
            guard total >= Self.longLength &+ Self.shortLength, at &+ total <= wireCount else { return false }
            return takeUsual(p, p.unchecked8(at &+ 9), .ipv4, at, at &+ 20, at &+ total, place)
        }
        guard type == EtherType.ipv6.rawValue, p.count >= at &+ 48, p.unchecked8(at) >> 4 == IPVersion.ipv6 else {
            return false
        }
        let length = Int(p.unchecked16(at &+ 4))
        guard length >= Self.shortLength, at &+ IPv6Header.byteCount &+ length <= wireCount else { return false }
        return takeUsual(p, p.unchecked8(at &+ 6), .ipv6, at, at &+ 40, at &+ 40 &+ length, place)
    }

    /// Checks the transport header and records all layers of the packet.
    ///
    /// The caller has already checked that the packet is at least as long as the shortest header.
    @inline(__always)
    private mutating func takeUsual(
        _ p: borrowing ByteView, _ number: UInt8, _ below: LayerKind, _ network: Int, _ start: Int, _ wireEnd: Int,
        _ place: Int
    ) -> Bool {
        var wireEnd = wireEnd
        var length = Self.shortLength
        let kind: LayerKind
        if number == IPProtocolNumber.tcp.rawValue {
            guard min(wireEnd, p.count) &- start >= Self.longLength else { return false }
            length = Int(p.unchecked8(start &+ 12) >> 2) & 0x3C
            kind = .tcp
            guard length >= Self.longLength else { return false }
        } else if number == IPProtocolNumber.udp.rawValue {
            let count = Int(p.unchecked16(start &+ 4))
            guard count >= Self.shortLength, start &+ count <= wireEnd else { return false }
            let destination = p.unchecked16(start &+ 2)
            guard destination != TunnelPort.vxlan, destination != TunnelPort.geneve, destination != TunnelPort.mpls
            else {
                return false
            }
            wireEnd = start &+ count
            kind = .udp
        } else {
            let expected: IPProtocolNumber = below == .ipv4 ? .icmp : .icmp6
            guard number == expected.rawValue else { return false }
            kind = below == .ipv4 ? .icmp : .icmp6
        }
        let end = min(wireEnd, p.count)
        guard end &- start >= length else { return false }
        note(place, below, network, kind, start, length, until: end, wireEnd)
        return true
    }
}

extension ByteView {
    /// Loads bytes without a check. The caller has checked the range.
    @inline(__always)
    fileprivate func unchecked8(_ offset: Int) -> UInt8 {
        assert(offset >= 0 && offset < count)
        return unsafe rawSpan.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }
    @inline(__always)
    fileprivate func unchecked64(_ offset: Int) -> UInt64 {
        assert(offset >= 0 && offset < count &- 7)
        return UInt64(bigEndian: unsafe rawSpan.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
    }
    @inline(__always)
    fileprivate func unchecked16(_ offset: Int) -> UInt16 {
        assert(offset >= 0 && offset < count &- 1)
        return UInt16(bigEndian: unsafe rawSpan.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
    }
}
