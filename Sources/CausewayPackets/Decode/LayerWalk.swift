extension PacketLayers {
    /// Finds the layers of a packet.
    ///
    /// Never fails: ``issues`` records truncated or invalid parts, and the layers before them are kept. Allocates nothing.
    ///
    /// - Parameters:
    ///   - packet: The captured bytes.
    ///   - linkType: The outermost header's type.
    ///   - originalCount: The length on the wire in bytes, which may exceed the captured length.
    public init(_ packet: borrowing ByteView, linkType: LinkType, originalCount: Int? = nil) {
        self.init()
        find(in: packet, linkType: linkType, originalCount: originalCount)
    }

    /// Finds the layers in another packet. They replace the layers of the previous packet. In a loop over packets, this
    /// is cheaper than creating a new value for each packet.
    @inlinable
    public mutating func find(in packet: borrowing ByteView, linkType: LinkType, originalCount: Int? = nil) {
        find(in: packet, linkType, wireCount: max(originalCount ?? packet.count, packet.count))
    }

    @usableFromInline
    mutating func find(in packet: borrowing ByteView, _ linkType: LinkType, wireCount: Int) {
        if linkType == .ethernet, findUsual(packet, wireCount: wireCount) { return }
        forget()
        walk(packet, linkType, wireCount)
    }

    /// Finds the layers of a packet, one after the other. Works for any packet. `findUsual(_:wireCount:)` is faster,
    /// but decodes only common Ethernet packets.
    @inline(never)
    mutating func walk(_ packet: borrowing ByteView, _ linkType: LinkType, _ wireCount: Int) {
        var walk = LayerWalk(limit: packet.count, wireLimit: wireCount)
        var next = LayerWalk.Next(linkType)
        do throws(WireError) {
            while let step = next { next = try walk.step(step, packet, &self) }
        } catch {
            issues.insert(.cutOff)
        }
        let end = max(walk.limit, walk.offset)
        let start = min(walk.offset, packet.count)
        payload = start..<max(start, min(end, packet.count))
        payloadOriginalCount = max(walk.wireLimit &- walk.offset, 0)
        if payload.count < payloadOriginalCount { issues.insert(.cutOff) }
    }
}

/// Decodes a packet layer by layer, from the outside in.
struct LayerWalk {
    /// The decoder for the next layer.
    enum Next {
        case ethernet, cooked, cooked2, loopback(bigEndian: Bool), rawIP, ipv4, ipv6
        case etherType(UInt16)
        case llc
        case ipProtocol(UInt8, overIPv6: Bool)
        case mpls, pppoe, ppp
        case pppProtocol
        case udpPayload(source: UInt16, destination: UInt16)

        init?(_ linkType: LinkType) {
            switch linkType {
            case .ethernet: self = .ethernet
            case .linuxCooked: self = .cooked
            case .linuxCooked2: self = .cooked2
            case .null: self = .loopback(bigEndian: false)
            case .loop: self = .loopback(bigEndian: true)
            case .raw: self = .rawIP
            case .ipv4: self = .ipv4
            case .ipv6: self = .ipv6
            case .ppp: self = .ppp
            default: return nil
            }
        }
    }

    var offset = 0
    /// Offset after the current layer's last captured byte.
    var limit: Int
    /// Offset after the current layer's last byte on the wire.
    var wireLimit: Int

    init(limit: Int, wireLimit: Int) {
        self.limit = limit
        self.wireLimit = wireLimit
    }

    /// Returns the error for a `byteCount`-byte header that the packet contains only in part.
    @inline(never)
    func truncation(_ byteCount: Int) -> WireError {
        .truncated(needed: byteCount, available: max(0, limit - offset), at: offset)
    }

    /// Records a `byteCount`-byte header and advances past it.
    @inline(__always)
    mutating func take(
        _ kind: LayerKind, _ byteCount: Int, _ layers: inout PacketLayers
    ) throws(WireError) -> Bool {
        guard limit &- offset >= byteCount else { throw truncation(byteCount) }
        guard layers.append(kind, offset, byteCount) else { return false }
        offset &+= byteCount
        return true
    }

    mutating func step(_ next: Next, _ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        switch next {
        case .ethernet:
            guard try take(.ethernet, 14, &layers) else { return nil }
            return typeOrLength(try p.u16(offset &- 2), &layers)
        case .etherType(let type): return try etherType(type, p, &layers)
        case .ipv4: return try ipv4(p, &layers)
        case .ipv6: return try ipv6(p, &layers)
        case .ipProtocol(let number, let overIPv6): return try ipProtocol(number, overIPv6, p, &layers)
        case .udpPayload(let source, let destination): return try tunnel(source, destination, p, &layers)
        case .rawIP: return try p.u8(offset) >> 4 == IPVersion.ipv6 ? .ipv6 : .ipv4
        case .cooked:
            guard try take(.linuxCooked, 16, &layers) else { return nil }
            return cookedProtocol(try p.u16(14), hardware: try p.u16(2), &layers)
        case .cooked2:
            guard try take(.linuxCooked2, 20, &layers) else { return nil }
            return cookedProtocol(try p.u16(0), hardware: try p.u16(8), &layers)
        case .loopback(let bigEndian): return try loopback(bigEndian, p, &layers)
        case .llc: return try llc(p, &layers)
        case .mpls: return try mpls(p, &layers)
        case .pppoe:
            let code = try p.u8(offset &+ 1)
            guard try take(.pppoe, 6, &layers) else { return nil }
            return code == Self.pppoeSessionCode ? .pppProtocol : nil
        case .ppp:
            // PPP's address and control bytes are optional.
            if try p.u16(offset) == PPPProtocol.addressAndControl { offset &+= 2 }
            return .pppProtocol
        case .pppProtocol:
            let (number, byteCount) = try PPPProtocol.number(p, at: offset)
            guard try take(.ppp, byteCount, &layers) else { return nil }
            switch number {
            case PPPProtocol.ipv4: return .ipv4
            case PPPProtocol.ipv6: return .ipv6
            case PPPProtocol.mplsUnicast, PPPProtocol.mplsMulticast: return .mpls
            default: return unknown(&layers)
            }
        }
    }

    private func unknown(_ layers: inout PacketLayers) -> Next? {
        layers.issues.insert(.unknownProtocol)
        return nil
    }

    /// The PPPoE code for packets that carry PPP (RFC 2516 §4).
    private static let pppoeSessionCode: UInt8 = 0

    /// Interprets the Ethernet type field. A value up to 1500 is the payload's length. In that case, an LLC header
    /// follows (IEEE 802.3 §3.2.6).
    private mutating func typeOrLength(_ value: UInt16, _ layers: inout PacketLayers) -> Next? {
        guard value <= EtherType.maximumLength else { return .etherType(value) }
        if Int(value) <= wireLimit &- offset {
            limit = min(limit, offset &+ Int(value))
            wireLimit = offset &+ Int(value)
        } else {
            layers.issues.insert(.badLength)
        }
        return .llc
    }

    private mutating func etherType(
        _ type: UInt16, _ p: borrowing ByteView, _ layers: inout PacketLayers
    ) throws(WireError) -> Next? {
        switch EtherType(rawValue: type) {
        case .ipv4: return .ipv4
        case .ipv6: return .ipv6
        case .arp, .reverseARP:
            let length = 8 &+ 2 &* (Int(try p.u8(offset &+ 4)) &+ Int(try p.u8(offset &+ 5)))
            _ = try take(.arp, length, &layers)
            limit = offset
            wireLimit = offset
            return nil
        case .vlan, .providerVLAN, .vlan9100, .vlan9200:
            guard try take(.vlan, 4, &layers) else { return nil }
            return typeOrLength(try p.u16(offset &- 2), &layers)
        case .mpls, .mplsMulticast: return .mpls
        case .pppoeDiscovery, .pppoeSession: return .pppoe
        default: return unknown(&layers)
        }
    }

    private mutating func cookedProtocol(_ type: UInt16, hardware: UInt16, _ layers: inout PacketLayers) -> Next? {
        switch type {
        // The kernel writes this value for LLC frames, because these frames have a length field in place of a type
        // field.
        case CookedProtocol.llc: .llc
        case 0..<EtherType.minimumType: unknown(&layers)
        default: .etherType(type)
        }
    }

    private mutating func loopback(
        _ bigEndian: Bool, _ p: borrowing ByteView, _ layers: inout PacketLayers
    ) throws(WireError) -> Next? {
        guard try take(.loopback, 4, &layers) else { return nil }
        var family = try p.u32(offset &- 4)
        // The capturing host may have the other byte order. The numbers of protocol families are small: if the upper
        // half of `family` is not zero, its bytes must be swapped.
        if !bigEndian || family & 0xFFFF_0000 != 0 { family = family & 0xFFFF_0000 != 0 ? family.byteSwapped : family }
        switch family {
        case LoopbackFamily.inet: return .ipv4
        case LoopbackFamily.inet6Linux, LoopbackFamily.inet6OpenBSD, LoopbackFamily.inet6FreeBSD,
            LoopbackFamily.inet6Darwin:
            return .ipv6
        default: return unknown(&layers)
        }
    }

    private mutating func llc(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        let destination = try p.u8(offset)
        let source = try p.u8(offset &+ 1)
        let control = try p.u8(offset &+ 2)
        let isUnnumbered = control & LLCControl.formatMask == LLCControl.unnumbered
        guard try take(.llc, isUnnumbered ? 3 : 4, &layers) else { return nil }
        guard destination == LLCAddress.snap, source == LLCAddress.snap, control == LLCControl.unnumbered else {
            return unknown(&layers)
        }
        guard try take(.snap, 5, &layers) else { return nil }
        let organization = try p.u24(offset &- 5)
        let type = try p.u16(offset &- 2)
        switch organization {
        case SNAPOrganization.encapsulatedEthernet, SNAPOrganization.bridgeTunnel:
            return type > EtherType.maximumLength ? .etherType(type) : unknown(&layers)
        default: return unknown(&layers)
        }
    }

    /// The label stack entry bit that marks the last entry (RFC 3032 §2.1).
    private static let bottomOfStack: UInt32 = 0x100

    private mutating func mpls(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        while true {
            let entry = try p.u32(offset)
            guard try take(.mpls, 4, &layers) else { return nil }
            guard entry & Self.bottomOfStack != 0 else { continue }
            switch entry >> 12 {
            case MPLSLabel.ipv4ExplicitNull: return .ipv4
            case MPLSLabel.ipv6ExplicitNull: return .ipv6
            default: break
            }
            // An MPLS label does not state the type of its payload. Do as routers do: take the payload's first four
            // bits as the IP version (RFC 4928 §3).
            switch try p.u8(offset) >> 4 {
            case IPVersion.ipv4: return .ipv4
            case IPVersion.ipv6: return .ipv6
            default: return unknown(&layers)
            }
        }
    }
}
