extension LayerWalk {
    /// Limits the following layers to `length` bytes from `start`. Records an issue if the packet has fewer bytes.
    @inline(__always)
    private mutating func confine(_ length: Int, from start: Int, _ layers: inout PacketLayers) {
        let end = start &+ length
        if end > wireLimit { layers.issues.insert(.badLength) }
        wireLimit = min(end, wireLimit)
        limit = min(limit, wireLimit)
    }

    /// Decodes an IPv4 header (RFC 791 §3.1).
    mutating func ipv4(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        let first = try p.u8(offset)
        guard first >> 4 == 4 else {
            layers.issues.insert(.badVersion)
            return nil
        }
        let headerLength = Int(first & 15) &* 4
        let start = offset
        guard limit &- start >= 20 else { throw truncation(20) }
        let total = Int(try p.u16(start &+ 2))
        let fragment = try p.u16(start &+ 6)
        guard headerLength >= 20 else {
            layers.issues.insert(.badHeaderLength)
            return nil
        }
        guard try take(.ipv4, headerLength, &layers) else { return nil }
        layers.noteNetwork()
        // If the network card segments the packet, the total length is 0, and the packet takes all bytes.
        if total != 0 {
            if total < headerLength { layers.issues.insert(.badLength) } else { confine(total, from: start, &layers) }
        }
        guard fragment & 0x1FFF == 0 else {
            layers.issues.insert(.laterFragment)
            return nil
        }
        return .ipProtocol(try p.u8(start &+ 9), overIPv6: false)
    }

    /// Decodes an IPv6 header (RFC 8200 §3).
    mutating func ipv6(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        guard try p.u8(offset) >> 4 == 6 else {
            layers.issues.insert(.badVersion)
            return nil
        }
        guard try take(.ipv6, 40, &layers) else { return nil }
        layers.noteNetwork()
        let length = Int(try p.u16(offset &- 36))
        let next = try p.u8(offset &- 34)
        // A length of 0 means a jumbogram, or segmentation by the network card.
        if length != 0 { confine(length, from: offset, &layers) }
        return .ipProtocol(next, overIPv6: true)
    }

    mutating func ipProtocol(
        _ number: UInt8, _ overIPv6: Bool, _ p: borrowing ByteView, _ layers: inout PacketLayers
    ) throws(WireError) -> Next? {
        switch number {
        case 6: return try tcp(p, &layers)
        case 17:
            guard try take(.udp, 8, &layers) else { return nil }
            layers.noteTransport()
            let start = offset &- 8
            let length = Int(try p.u16(start &+ 4))
            if length >= 8 {
                confine(length, from: start, &layers)
            } else if length != 0 {
                layers.issues.insert(.badLength)
            }
            return .udpPayload(source: try p.u16(start), destination: try p.u16(start &+ 2))
        case 1:
            _ = try take(.icmp, 8, &layers)
            return nil
        case 58:
            _ = try take(.icmp6, min(8, max(4, limit &- offset)), &layers)
            return nil
        case 2:
            _ = try take(.igmp, 8, &layers)
            return nil
        case 132:
            guard try take(.sctp, 12, &layers) else { return nil }
            layers.noteTransport()
            return nil
        case 4: return .ipv4
        case 41: return .ipv6
        case 47: return try gre(p, &layers)
        case 137: return .mpls
        case 143: return .ethernet
        case 51:
            let next = try p.u8(offset)
            let length = (Int(try p.u8(offset &+ 1)) &+ 2) &* 4
            guard try take(.authentication, length, &layers) else { return nil }
            return .ipProtocol(next, overIPv6: overIPv6)
        case 0, 43, 44, 60, 135:
            guard overIPv6 else { return unsupported(&layers) }
            return try extensionHeader(number, p, &layers)
        case 59: return nil
        default: return unsupported(&layers)
        }
    }

    private func unsupported(_ layers: inout PacketLayers) -> Next? {
        layers.issues.insert(.unknownProtocol)
        return nil
    }

    /// Decodes an IPv6 extension header (RFC 8200 §4).
    private mutating func extensionHeader(
        _ number: UInt8, _ p: borrowing ByteView, _ layers: inout PacketLayers
    ) throws(WireError) -> Next? {
        let next = try p.u8(offset)
        let length = number == 44 ? 8 : (Int(try p.u8(offset &+ 1)) &+ 1) &* 8
        let kind: LayerKind =
            switch number {
            case 0: .hopByHop
            case 43: .routing
            case 44: .fragment
            case 60: .destinationOptions
            default: .mobility
            }
        let start = offset
        guard try take(kind, length, &layers) else { return nil }
        if number == 44, try p.u16(start &+ 2) & 0xFFF8 != 0 {
            layers.issues.insert(.laterFragment)
            return nil
        }
        return .ipProtocol(next, overIPv6: true)
    }

    /// Decodes a TCP header (RFC 9293 §3.1).
    private mutating func tcp(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        guard limit &- offset >= 20 else { throw truncation(20) }
        let length = Int(try p.u8(offset &+ 12) >> 4) &* 4
        guard length >= 20 else {
            layers.issues.insert(.badHeaderLength)
            _ = try take(.tcp, 20, &layers)
            layers.noteTransport()
            return nil
        }
        if length > wireLimit &- offset { layers.issues.insert(.badHeaderLength) }
        guard try take(.tcp, length, &layers) else { return nil }
        layers.noteTransport()
        return nil
    }

    /// Decodes a GRE header (RFC 2784 §2) with the fields of RFC 2890. Version 1 is the variant of PPTP (RFC 2637 §4.1).
    private mutating func gre(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        let flags = try p.u16(offset)
        let type = try p.u16(offset &+ 2)
        var length = 4
        if flags & 7 == 0 {
            if flags & 0xC000 != 0 { length &+= 4 }
            if flags & 0x2000 != 0 { length &+= 4 }
            if flags & 0x1000 != 0 { length &+= 4 }
        } else {
            length = 8
            if flags & 0x1000 != 0 { length &+= 4 }
            if flags & 0x0080 != 0 { length &+= 4 }
        }
        guard try take(.gre, length, &layers) else { return nil }
        switch type {
        case 0x6558: return .ethernet
        case 0x880B:
            // The address and control bytes are optional.
            if try p.u16(offset) == 0xFF03 { offset &+= 2 }
            return .pppProtocol
        default: return .etherType(type)
        }
    }

    /// Decodes a tunnel over UDP that contains further layers.
    mutating func tunnel(
        _ source: UInt16, _ destination: UInt16, _ p: borrowing ByteView, _ layers: inout PacketLayers
    ) throws(WireError) -> Next? {
        switch destination {
        case 4789:
            guard limit &- offset >= 8, try p.u8(offset) & 0x08 != 0 else { return nil }
            return try take(.vxlan, 8, &layers) ? .ethernet : nil
        case 6081:
            guard limit &- offset >= 8 else { return nil }
            let length = 8 &+ Int(try p.u8(offset) & 0x3F) &* 4
            let type = try p.u16(offset &+ 2)
            guard try take(.geneve, length, &layers) else { return nil }
            return type == 0x6558 ? .ethernet : .etherType(type)
        case 6635: return limit &- offset >= 4 ? .mpls : nil
        default: return nil
        }
    }
}
