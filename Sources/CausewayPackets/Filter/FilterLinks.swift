/// The positions of the headers of each link type.
enum FilterLinks {
    /// Returns how a link type states its payload type, the offset of that type, and the offset of the network layer.
    static func place(_ linkType: LinkType) -> (FilterLayout.Link, typeAt: Int, networkAt: Int) {
        switch linkType {
        case .ethernet: (.ethernet, 12, 14)
        case .linuxCooked: (.cooked, 14, 16)
        case .linuxCooked2: (.cooked, 0, 20)
        case .null: (.loopback(.anyOrder), 0, 4)
        case .loop: (.loopback(.bigEndian), 0, 4)
        case .encapsulated: (.loopback(.anyOrder), 0, 12)
        case .raw: (.rawIP(only: nil), 0, 0)
        case .ipv4: (.rawIP(only: 4), 0, 0)
        case .ipv6: (.rawIP(only: 6), 0, 0)
        case .slip: (.rawIP(only: nil), 0, 16)
        case .slipBSD: (.rawIP(only: nil), 0, 24)
        case .ppp, .pppSerial, .pppDirected: (.ppp, 2, 4)
        case .pppEthernet: (.ppp, 6, 8)
        case .pppBSD: (.pppBSD, 5, 24)
        case .hdlc: (.hdlc, 2, 4)
        case .frameRelay: (.frameRelay, 2, 4)
        case .arcnet: (.arcnet, 2, 6)
        case .arcnetLinux: (.arcnet, 4, 8)
        case .fddi: (.llc, 19, 21)
        case .tokenRing: (.llc, 20, 22)
        case .atm, .atmClassical: (.llc, 6, 8)
        case .fibreChannel: (.llc, 22, 24)
        case .fireWire: (.etherType, 16, 18)
        case .symantecFirewall: (.etherType, 6, 44)
        case .ipnet: (.family(.ipnet), 1, 24)
        case .pflog: (.family(.bigEndian), 1, 0)
        case .wireless, .wirelessRadio, .wirelessAVS, .wirelessPrism, .wirelessPPI: (.wireless, 6, 8)
        case .dsa, .broadcomTag, .broadcomTagFirst: (.ethernet, 16, 18)
        case .dsaExtended: (.ethernet, 20, 22)
        case .netAnalyzer: (.ethernet, 16, 18)
        case .netAnalyzerTransparent: (.ethernet, 24, 26)
        default: juniper[linkType.rawValue].map { (.juniper, 0, $0) } ?? (.opaque, 0, 0)
        }
    }

    /// Returns the offset of the link header and the addresses in it.
    static func addresses(_ linkType: LinkType) -> (linkAt: Int, FilterLayout.Addresses) {
        let ethernet = FilterLayout.Addresses.long(destination: 0, source: 6)
        return switch linkType {
        case .ethernet, .dsa, .dsaExtended, .broadcomTag: (0, ethernet)
        case .netAnalyzer, .broadcomTagFirst: (4, ethernet)
        case .netAnalyzerTransparent: (12, ethernet)
        case .fddi: (0, .long(destination: 1, source: 7))
        case .tokenRing: (0, .long(destination: 2, source: 8))
        case .fibreChannel: (0, .long(destination: 2, source: 10))
        case .arcnet, .arcnetLinux: (0, .short(destination: 1, source: 0, everybody: 0))
        case .bacnet: (0, .short(destination: 3, source: 4, everybody: 0xFF))
        case .wireless, .wirelessRadio, .wirelessAVS, .wirelessPrism, .wirelessPPI: (0, .wireless)
        default: (0, .none)
        }
    }

    /// Offset of the network layer after Juniper's headers, by link type number.
    private static let juniper: [UInt16: Int] = [
        // The link types are in this order: bundles, PPP, HDLC, Frame Relay; ATM 1 and 2; monitoring and GGSN; Ethernet and PPPoE; PPPoE
        // over ATM.
        130: 4, 131: 4, 134: 4, 179: 4, 180: 4, 181: 4, 137: 4, 135: 8, 164: 12, 133: 12, 178: 32, 167: 32, 168: 6,
    ]
}

extension FilterLayout {
    /// Returns a test whether the packet was received or sent.
    func bound(isIn: Bool) throws(FilterMeaningError) -> FilterNode {
        func byte(_ offset: Int, mask: UInt32 = .max, _ incoming: UInt32, _ outgoing: UInt32) -> FilterNode {
            .equal(FilterLoad(size: 1, offset: offset), isIn ? incoming : outgoing, mask: mask)
        }
        let outgoing: FilterNode
        switch linkType {
        case .linuxCooked: outgoing = .equal(FilterLoad(size: 2, offset: 0), 4)
        case .linuxCooked2: outgoing = .equal(FilterLoad(size: 1, offset: 10), 4)
        case .slip, .pppDirected: return byte(0, 0, 1)
        case .ipnet: return .equal(FilterLoad(size: 2, offset: 2), isIn ? 2 : 1)
        case .pflog: return byte(60, 1, 2)
        // Marvell tags have a command: to the CPU, or from the CPU. Broadcom tags have an operation: egress from the switch, or ingress.
        case .dsa: return byte(12, mask: 0xC0, 0, 0x40)
        case .dsaExtended: return byte(16, mask: 0xC0, 0, 0x40)
        case .broadcomTag: return byte(12, mask: 0xE0, 0, 0x20)
        case .broadcomTagFirst: return byte(0, mask: 0xE0, 0, 0x20)
        default:
            if link == .juniper { return byte(3, mask: 1, 1, 0) }
            guard isLive else {
                throw .init(
                    "'\(isIn ? "in" : "out")bound' is available only in a live capture, not with link type \(linkType.name)"
                )
            }
            outgoing = .equal(FilterLoad(size: 1, offset: FilterProgram.directionAt), 4)
        }
        return isIn ? .not(outgoing) : outgoing
    }

    func interface(_ index: UInt32) throws(FilterMeaningError) -> FilterNode {
        if linkType == .linuxCooked2 { return .equal(FilterLoad(size: 4, offset: 4), index) }
        guard isLive else {
            throw .init("'ifindex' is available only in a live capture, not with link type \(linkType.name)")
        }
        return .equal(FilterLoad(size: 4, offset: FilterProgram.interfaceAt), index)
    }
}
