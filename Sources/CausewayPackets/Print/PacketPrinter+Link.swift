/// Prints link layers.
extension PacketPrinter {
    mutating func link(
        _ type: LinkType, _ p: borrowing ByteView, _ length: Int, _ headerCount: inout Int
    ) throws(WireError) {
        switch type {
        case .ethernet:
            part = "ether"
            headerCount = try ethernet(p, length)
        case .raw:
            part = "raw"
            let isIPv6 = try p.u8(0) >> 4 == 6
            try rawIP(p, length, isIPv6)
        case .ipv4: try rawIP(p, length, false)
        case .ipv6: try rawIP(p, length, true)
        case .ppp, .pppSerial: try ppp(p, length)
        case .wireless: try wireless(p, length)
        case .wirelessRadio: headerCount = try radiotap(p, length)
        case .null, .loop:
            headerCount = 4
            try loopback(p, length, isLoop: type == .loop)
        case .linuxCooked:
            headerCount = 16
            try cooked(p, length)
        case .linuxCooked2:
            headerCount = 20
            try cooked2(p, length)
        case .dsa: headerCount = try ethernet(p, length, tag: .dsa)
        case .dsaExtended: headerCount = try ethernet(p, length, tag: .dsaExtended)
        case .broadcomTag: headerCount = try ethernet(p, length, tag: .broadcom)
        case .infiniband: headerCount = try infiniband(p, length)
        case .hdlc: headerCount = try hdlc(p, length)
        default:
            out.put("[link type ")
            out.put(type.name)
            out.put("]")
            unknown(p)
        }
    }

    /// Prints an IP packet that has no link header. If the user asked for link headers, prints the network layer's name
    /// instead of the link header.
    private mutating func rawIP(_ p: borrowing ByteView, _ length: Int, _ isIPv6: Bool) throws(WireError) {
        if options.showsLink { out.put(isIPv6 ? "IP6 " : "IP ") }
        if isIPv6 { try ipv6(p, length) } else { try ipv4(p, length) }
    }

    private mutating func addresses(_ p: borrowing ByteView) throws(WireError) {
        out.mac(try MACAddress(p, at: 6).bits)
        out.put(" > ")
        out.mac(try MACAddress(p, at: 0).bits)
    }

    private mutating func etherTypeName(_ type: UInt16) {
        out.put(", ethertype ")
        out.put(Self.etherTypes[type] ?? "Unknown")
        putHex(" (0x", type, width: 4, ")")
    }

    /// Prints an Ethernet header, with a switch's tag if there is one. Returns the length of both in bytes.
    @discardableResult
    mutating func ethernet(
        _ p: borrowing ByteView, _ length: Int, tag: SwitchTag? = nil
    ) throws(WireError) -> Int {
        part = tag?.part ?? "ether"
        let tagLength = tag?.byteCount ?? 0
        try p.require(14 + tagLength, at: 0)
        if options.showsLink { try addresses(p) }
        if let tag { try switchTag(tag, p) }
        var offset = 12 + tagLength
        var type = try p.u16(offset)
        offset += 2
        var isFirst = true
        while EtherType(rawValue: type).isVLAN {
            part = "vlan"
            let tag = try p.u16(offset)
            let next = try p.u16(offset + 2)
            if options.showsLink {
                if isFirst {
                    etherTypeName(type)
                    put(", length ", length, ": ")
                }
                isFirst = false
                vlan(tag)
                if next > EtherType.maximumLength { etherTypeName(next) }
                out.put(", ")
            }
            type = next
            offset += 4
        }
        if type <= EtherType.maximumLength {
            let rest = length - offset
            if options.showsLink { put(isFirst ? ", 802.3, length " : "802.3, length ", Int(type), ": ") }
            let inner = rest < Int(type) ? rest : Int(type)
            try llc(p.from(offset).prefix(inner), inner, p)
            return offset
        }
        if options.showsLink, isFirst {
            etherTypeName(type)
            put(", length ", length, ": ")
        }
        if try vehicular(type, p.from(offset), length - offset, p) { return offset }
        if try !etherType(type, p.from(offset), length - offset) {
            if !options.showsLink {
                try addresses(p)
                etherTypeName(type)
                put(", length ", length, ": ")
            }
            unknown(p.from(offset))
        }
        return offset
    }

    private mutating func vlan(_ tag: UInt16) {
        put("vlan ", tag & 0xFFF)
        put(", p ", tag >> 13)
        if tag & 0x1000 != 0 { out.put(", DEI") }
    }

    /// Prints the payload for an Ethernet type. Returns whether the type is known.
    mutating func etherType(_ type: UInt16, _ p: borrowing ByteView, _ length: Int) throws(WireError) -> Bool {
        switch EtherType(rawValue: type) {
        case .ipv4: try ipv4(p, length)
        case .ipv6: try ipv6(p, length)
        case .arp, .reverseARP: try arp(p, length)
        case .mpls, .mplsMulticast: try mpls(p, length)
        case .pppoeDiscovery, .pppoeSession: try pppoe(p, length)
        case .eapol: try eapol(p, length)
        case .ataOverEthernet: try ataOverEthernet(p, length)
        case .lldp: try lldp(p, length)
        case .ptp: try ptp(p, length)
        default: return false
        }
        return true
    }

    private mutating func loopback(_ p: borrowing ByteView, _ length: Int, isLoop: Bool) throws(WireError) {
        part = isLoop ? "loop" : "null"
        var family = try p.u32(0)
        if family & 0xFFFF_0000 != 0 { family = family.byteSwapped }
        if options.showsLink {
            let names: [UInt32: StaticString] = [
                LoopbackFamily.inet: "IPv4", LoopbackFamily.inet6Linux: "IPv6", LoopbackFamily.inet6OpenBSD: "IPv6",
                LoopbackFamily.inet6FreeBSD: "IPv6", LoopbackFamily.inet6Darwin: "IPv6",
            ]
            out.put("AF ")
            out.put(names[family] ?? "unknown")
            put(" (", family)
            put("), length ", length, ": ")
        }
        switch family {
        case LoopbackFamily.inet: try ipv4(p.from(4), length - 4)
        case LoopbackFamily.inet6Linux, LoopbackFamily.inet6OpenBSD, LoopbackFamily.inet6FreeBSD,
            LoopbackFamily.inet6Darwin:
            try ipv6(p.from(4), length - 4)
        default: unknown(p.from(4))
        }
    }

    private mutating func cooked(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "linux_sll"
        try p.require(16, at: 0)
        let type = try p.u16(14)
        if options.showsLink {
            try direction(p.u16(0))
            out.put(" ")
            if try p.u16(4) == 6 {
                out.mac(try MACAddress(p, at: 6).bits)
                out.put(" ")
            }
            cookedType(type, length)
        }
        try cookedContent(type, p.from(16), length - 16, try p.u16(0), length)
    }

    private mutating func direction(_ value: UInt16) {
        switch value {
        case CookedPacketType.host: out.put(" In")
        case CookedPacketType.broadcast: out.put("  B")
        case CookedPacketType.multicast: out.put("  M")
        case CookedPacketType.otherHost: out.put("  P")
        case CookedPacketType.outgoing: out.put("Out")
        default: put("", value)
        }
    }

    private mutating func cookedType(_ type: UInt16, _ length: Int) {
        switch type {
        case CookedProtocol.raw8023: out.put("802.3")
        case CookedProtocol.llc: out.put("802.2")
        case 0..<EtherType.minimumType: putHex("ethertype Unknown (0x", type, width: 4, ")")
        default:
            out.put("ethertype ")
            out.put(Self.etherTypes[type] ?? "Unknown")
            putHex(" (0x", type, width: 4, ")")
        }
        put(", length ", length, ": ")
    }

    private mutating func cookedContent(
        _ first: UInt16, _ p: borrowing ByteView, _ length: Int, _ packetType: UInt16, _ whole: Int
    ) throws(WireError) {
        var (type, offset) = (first, 0)
        while type == EtherType.vlan.rawValue {
            let tag = try p.u16(offset)
            type = try p.u16(offset + 2)
            offset += 4
            if options.showsLink {
                vlan(tag)
                out.put(", ethertype ")
                out.put(Self.etherTypes[type] ?? "Unknown")
                out.put(", ")
            }
        }
        if type == CookedProtocol.llc { return try llc(p.from(offset), length - offset, p) }
        if type <= EtherType.maximumLength { return unknown(p.from(offset)) }
        if try !etherType(type, p.from(offset), length - offset) {
            if !options.showsLink {
                direction(packetType)
                out.put(" ")
                cookedType(first, whole)
            }
            unknown(p.from(offset))
        }
    }

    private mutating func cooked2(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "linux_sll2"
        try p.require(20, at: 0)
        let type = try p.u16(0)
        put("ifindex ", try p.u32(4), " ")
        let direction: StaticString =
            switch UInt16(try p.u8(10)) {
            case CookedPacketType.host: "In"
            case CookedPacketType.broadcast: "B"
            case CookedPacketType.multicast: "M"
            case CookedPacketType.otherHost: "P"
            case CookedPacketType.outgoing: "Out"
            default: "?"
            }
        for _ in direction.utf8CodeUnitCount..<3 { out.put(" ") }
        out.put(direction)
        out.put(" ")
        if options.showsLink {
            if try p.u8(11) == 6 {
                out.mac(try MACAddress(p, at: 12).bits)
                out.put(" ")
            }
            cookedType(type, length)
        }
        try cookedContent(type, p.from(20), length - 20, UInt16(try p.u8(10)), length)
    }

    static let etherTypes: [UInt16: StaticString] = [
        0x0800: "IPv4", 0x86DD: "IPv6", 0x8100: "802.1Q", 0x9100: "802.1Q-9100", 0x88A8: "802.1Q-QinQ",
        0x9200: "802.1Q-9200",
        0x0806: "ARP", 0x8035: "Reverse ARP", 0x0500: "Sprite", 0x0600: "NS", 0x6001: "MOPDL", 0x6002: "MOPRC",
        0x6003: "DN", 0x6004: "LAT", 0x6007: "SCA", 0x8137: "Novell IPX", 0x809B: "Appletalk", 0x80F3: "Appletalk ARP",
        0x8847: "MPLS unicast", 0x8848: "MPLS multicast", 0x8863: "PPPoE D", 0x8864: "PPPoE S", 0x880B: "PPP",
        0x8808: "MPCP", 0x8809: "Slow Protocols", 0x888E: "EAPOL", 0x88CC: "LLDP", 0x9000: "Loopback",
        0x88CA: "TIPC", 0x88A2: "AoE", 0x88E5: "802.1AE MACsec", 0x8902: "CFM", 0x88F7: "PTP", 0x8946: "TRILL-RBridge",
        0x8947: "GeoNet", 0x894F: "NSH", 0x88E7: "802.1ah",
    ]
}
