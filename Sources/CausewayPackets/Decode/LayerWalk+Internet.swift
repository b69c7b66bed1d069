extension LayerWalk {
    /// Header lengths without options, in bytes.
    private enum HeaderLength {
        static let ipv4 = 20
        static let tcp = 20
        static let udp = 8
        static let vxlan = 8
        static let geneve = 8
        static let mpls = 4
    }

    /// The fragment offset bits in the IPv4 header and in the IPv6 fragment header (RFC 791 §3.1, RFC 8200 §4.5).
    private enum FragmentOffset {
        static let ipv4: UInt16 = 0x1FFF
        static let ipv6: UInt16 = 0xFFF8
    }

    /// The flags in the first two GRE bytes (RFC 2784 §2, RFC 2890 §2, RFC 2637 §4.1).
    private enum GREFlag {
        static let versionMask: UInt16 = 0x0007
        /// A mask for two flags: a checksum is present, or routing information is present (RFC 1701). If at least one
        /// flag is set, the header has four more bytes, which both flags share.
        static let checksumOrRouting: UInt16 = 0xC000
        static let key: UInt16 = 0x2000
        static let sequence: UInt16 = 0x1000
        /// The acknowledgement flag. Only GRE version 1 defines this bit.
        static let acknowledgement: UInt16 = 0x0080
    }

    /// The flag in a VXLAN header that is set if the header contains a network identifier (RFC 7348 §5).
    private static let vxlanHasNetwork: UInt8 = 0x08
    /// The mask for the Geneve option length, in 4-byte units (RFC 8926 §3.4).
    private static let geneveOptionsMask: UInt8 = 0x3F

    /// Limits the layers that follow to `length` bytes from `start`. If the packet has fewer bytes, records a length
    /// error.
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
        guard first >> 4 == IPVersion.ipv4 else {
            layers.issues.insert(.badVersion)
            return nil
        }
        let headerLength = Int(first & 15) &* 4
        let start = offset
        guard limit &- start >= HeaderLength.ipv4 else { throw truncation(HeaderLength.ipv4) }
        let total = Int(try p.u16(start &+ 2))
        let fragment = try p.u16(start &+ 6)
        guard headerLength >= HeaderLength.ipv4 else {
            layers.issues.insert(.badHeaderLength)
            return nil
        }
        guard try take(.ipv4, headerLength, &layers) else { return nil }
        layers.noteNetwork()
        // A total length of 0 means that the network card segments the packet. The packet then consists of all
        // remaining bytes.
        if total != 0 {
            if total < headerLength { layers.issues.insert(.badLength) } else { confine(total, from: start, &layers) }
        }
        guard fragment & FragmentOffset.ipv4 == 0 else {
            layers.issues.insert(.laterFragment)
            return nil
        }
        return .ipProtocol(try p.u8(start &+ 9), overIPv6: false)
    }

    /// Decodes an IPv6 header (RFC 8200 §3).
    mutating func ipv6(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        guard try p.u8(offset) >> 4 == IPVersion.ipv6 else {
            layers.issues.insert(.badVersion)
            return nil
        }
        guard try take(.ipv6, IPv6Header.byteCount, &layers) else { return nil }
        layers.noteNetwork()
        let length = Int(try p.u16(offset &- 36))
        let next = try p.u8(offset &- 34)
        // A payload length of 0 in the IPv6 header means a jumbogram, or segmentation by the network card.
        if length != 0 { confine(length, from: offset, &layers) }
        return .ipProtocol(next, overIPv6: true)
    }

    mutating func ipProtocol(
        _ number: UInt8, _ overIPv6: Bool, _ p: borrowing ByteView, _ layers: inout PacketLayers
    ) throws(WireError) -> Next? {
        let proto = IPProtocolNumber(rawValue: number)
        switch proto {
        case .tcp: return try tcp(p, &layers)
        case .udp:
            guard try take(.udp, HeaderLength.udp, &layers) else { return nil }
            layers.noteTransport()
            let start = offset &- HeaderLength.udp
            let length = Int(try p.u16(start &+ 4))
            if length >= HeaderLength.udp {
                confine(length, from: start, &layers)
            } else if length != 0 {
                layers.issues.insert(.badLength)
            }
            return .udpPayload(source: try p.u16(start), destination: try p.u16(start &+ 2))
        case .icmp:
            _ = try take(.icmp, 8, &layers)
            return nil
        case .icmp6:
            _ = try take(.icmp6, min(8, max(4, limit &- offset)), &layers)
            return nil
        case .igmp:
            _ = try take(.igmp, 8, &layers)
            return nil
        case .sctp:
            guard try take(.sctp, 12, &layers) else { return nil }
            layers.noteTransport()
            return nil
        case .ipv4: return .ipv4
        case .ipv6: return .ipv6
        case .gre: return try gre(p, &layers)
        case .mpls: return .mpls
        case .ethernet: return .ethernet
        case .authentication:
            let next = try p.u8(offset)
            let length = (Int(try p.u8(offset &+ 1)) &+ 2) &* 4
            guard try take(.authentication, length, &layers) else { return nil }
            return .ipProtocol(next, overIPv6: overIPv6)
        case .hopByHopOptions, .routing, .fragment, .destinationOptions, .mobility:
            guard overIPv6 else { return unsupported(&layers) }
            return try extensionHeader(proto, p, &layers)
        case .noNextHeader: return nil
        default: return unsupported(&layers)
        }
    }

    private func unsupported(_ layers: inout PacketLayers) -> Next? {
        layers.issues.insert(.unknownProtocol)
        return nil
    }

    /// Decodes an IPv6 extension header (RFC 8200 §4).
    private mutating func extensionHeader(
        _ number: IPProtocolNumber, _ p: borrowing ByteView, _ layers: inout PacketLayers
    ) throws(WireError) -> Next? {
        let next = try p.u8(offset)
        let length = number == .fragment ? 8 : (Int(try p.u8(offset &+ 1)) &+ 1) &* 8
        let kind: LayerKind =
            switch number {
            case .hopByHopOptions: .hopByHop
            case .routing: .routing
            case .fragment: .fragment
            case .destinationOptions: .destinationOptions
            default: .mobility
            }
        let start = offset
        guard try take(kind, length, &layers) else { return nil }
        if number == .fragment, try p.u16(start &+ 2) & FragmentOffset.ipv6 != 0 {
            layers.issues.insert(.laterFragment)
            return nil
        }
        return .ipProtocol(next, overIPv6: true)
    }

    /// Decodes a TCP header (RFC 9293 §3.1).
    private mutating func tcp(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        guard limit &- offset >= HeaderLength.tcp else { throw truncation(HeaderLength.tcp) }
        let length = Int(try p.u8(offset &+ 12) >> 4) &* 4
        guard length >= HeaderLength.tcp else {
            layers.issues.insert(.badHeaderLength)
            _ = try take(.tcp, HeaderLength.tcp, &layers)
            layers.noteTransport()
            return nil
        }
        if length > wireLimit &- offset { layers.issues.insert(.badHeaderLength) }
        guard try take(.tcp, length, &layers) else { return nil }
        layers.noteTransport()
        return nil
    }

    /// Decodes a GRE header (RFC 2784 §2) with the RFC 2890 fields. Version 1 is the PPTP variant (RFC 2637 §4.1).
    private mutating func gre(_ p: borrowing ByteView, _ layers: inout PacketLayers) throws(WireError) -> Next? {
        let flags = try p.u16(offset)
        let type = try p.u16(offset &+ 2)
        var length = 4
        if flags & GREFlag.versionMask == 0 {
            if flags & GREFlag.checksumOrRouting != 0 { length &+= 4 }
            if flags & GREFlag.key != 0 { length &+= 4 }
            if flags & GREFlag.sequence != 0 { length &+= 4 }
        } else {
            length = 8
            if flags & GREFlag.sequence != 0 { length &+= 4 }
            if flags & GREFlag.acknowledgement != 0 { length &+= 4 }
        }
        guard try take(.gre, length, &layers) else { return nil }
        switch EtherType(rawValue: type) {
        case .bridging: return .ethernet
        case .ppp:
            // PPP's address and control bytes are optional. Skip them if they are present.
            if try p.u16(offset) == PPPProtocol.addressAndControl { offset &+= 2 }
            return .pppProtocol
        default: return .etherType(type)
        }
    }

    /// Decodes a tunnel over UDP that contains other layers.
    mutating func tunnel(
        _ source: UInt16, _ destination: UInt16, _ p: borrowing ByteView, _ layers: inout PacketLayers
    ) throws(WireError) -> Next? {
        switch destination {
        case TunnelPort.vxlan:
            guard limit &- offset >= HeaderLength.vxlan, try p.u8(offset) & Self.vxlanHasNetwork != 0 else {
                return nil
            }
            return try take(.vxlan, HeaderLength.vxlan, &layers) ? .ethernet : nil
        case TunnelPort.geneve:
            guard limit &- offset >= HeaderLength.geneve else { return nil }
            let length = HeaderLength.geneve &+ Int(try p.u8(offset) & Self.geneveOptionsMask) &* 4
            let type = try p.u16(offset &+ 2)
            guard try take(.geneve, length, &layers) else { return nil }
            return type == EtherType.bridging.rawValue ? .ethernet : .etherType(type)
        case TunnelPort.mpls: return limit &- offset >= HeaderLength.mpls ? .mpls : nil
        default: return nil
        }
    }
}
