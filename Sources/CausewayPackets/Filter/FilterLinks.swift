/// Finds the header positions for each link type.
enum FilterLinks {
    /// Returns how a link type states its payload type, and the offsets to that type and to the network layer.
    static func place(_ linkType: LinkType) -> (FilterLayout.Link, typeAt: Int, networkAt: Int) {
        switch linkType {
        case .ethernet: (.ethernet, 12, 14)
        case .linuxCooked: (.cooked, 14, 16)
        case .linuxCooked2: (.cooked, 0, 20)
        case .null: (.loopback(.anyOrder), 0, 4)
        case .loop: (.loopback(.bigEndian), 0, 4)
        case .encapsulated: (.loopback(.anyOrder), 0, 12)
        case .raw: (.rawIP(only: nil), 0, 0)
        case .ipv4: (.rawIP(only: Int(IPVersion.ipv4)), 0, 0)
        case .ipv6: (.rawIP(only: Int(IPVersion.ipv6)), 0, 0)
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

    /// Returns the link header's offset, and where the addresses are in that header.
    static func addresses(_ linkType: LinkType) -> (linkAt: Int, FilterLayout.Addresses) {
        let ethernet = FilterLayout.Addresses.long(destination: 0, source: 6)
        return switch linkType {
        case .ethernet, .dsa, .dsaExtended, .broadcomTag: (0, ethernet)
        case .netAnalyzer, .broadcomTagFirst: (4, ethernet)
        case .netAnalyzerTransparent: (12, ethernet)
        case .fddi: (0, .long(destination: 1, source: 7))
        case .tokenRing: (0, .long(destination: 2, source: 8))
        case .fibreChannel: (0, .long(destination: 2, source: 10))
        case .arcnet, .arcnetLinux: (0, .short(destination: 1, source: 0, broadcastAddress: 0))
        case .bacnet: (0, .short(destination: 3, source: 4, broadcastAddress: 0xFF))
        case .wireless, .wirelessRadio, .wirelessAVS, .wirelessPrism, .wirelessPPI: (0, .wireless)
        default: (0, .none)
        }
    }

    /// Offset to the network layer after Juniper's headers, by link type number.
    private static let juniper: [UInt16: Int] = [
        // These are the Juniper link types for multilink bundles, PPP, Frame Relay and HDLC; ATM 1 and 2; monitoring
        // and GGSN; Ethernet and PPPoE; PPPoE over ATM, in this order.
        130: 4, 131: 4, 134: 4, 179: 4, 180: 4, 181: 4, 137: 4, 135: 8, 164: 12, 133: 12, 178: 32, 167: 32, 168: 6,
    ]
}

extension FilterLayout {
    /// Two values of the header field that states a packet's direction. With one value, the capturing host received the
    /// packet. With the other value, it sent the packet.
    private struct DirectionMark {
        var incoming: UInt32
        var outgoing: UInt32
        /// The mask for the bits of the header field that state the direction.
        var mask: UInt32 = .max

        static let pointToPoint = DirectionMark(incoming: 0, outgoing: 1)
        static let ipnet = DirectionMark(incoming: 2, outgoing: 1)
        static let pflog = DirectionMark(incoming: 1, outgoing: 2)
        /// The command in Marvell's tags: to the CPU, or from the CPU.
        static let marvell = DirectionMark(incoming: 0x00, outgoing: 0x40, mask: 0xC0)
        /// The operation field in Broadcom's tags: a packet that leaves the switch, or one that enters it.
        static let broadcom = DirectionMark(incoming: 0x00, outgoing: 0x20, mask: 0xE0)
        static let juniper = DirectionMark(incoming: 1, outgoing: 0, mask: 1)
    }

    /// Returns a node that tests the packet's direction: received if `isIn`, otherwise sent.
    func bound(isIn: Bool) throws(FilterMeaningError) -> FilterNode {
        func field(_ offset: Int, size: Int = 1, _ mark: DirectionMark) -> FilterNode {
            .equal(FilterLoad(size: size, offset: offset), isIn ? mark.incoming : mark.outgoing, mask: mark.mask)
        }
        let isOutgoing = UInt32(CookedPacketType.outgoing)
        let outgoing: FilterNode
        switch linkType {
        case .linuxCooked: outgoing = .equal(FilterLoad(size: 2, offset: 0), isOutgoing)
        case .linuxCooked2: outgoing = .equal(FilterLoad(size: 1, offset: 10), isOutgoing)
        case .slip, .pppDirected: return field(0, .pointToPoint)
        case .ipnet: return field(2, size: 2, .ipnet)
        case .pflog: return field(60, .pflog)
        case .dsa: return field(12, .marvell)
        case .dsaExtended: return field(16, .marvell)
        case .broadcomTag: return field(12, .broadcom)
        case .broadcomTagFirst: return field(0, .broadcom)
        default:
            if link == .juniper { return field(3, .juniper) }
            guard isLive else {
                throw .init(
                    "'\(isIn ? "in" : "out")bound' is available only in a live capture, not with link type \(linkType.name)"
                )
            }
            outgoing = .equal(FilterLoad(size: 1, offset: FilterProgram.directionAt), isOutgoing)
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
