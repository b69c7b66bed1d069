/// Prints Cisco HDLC (RFC 1547 §4.3.1) and its address protocol SLARP.
extension PacketPrinter {
    /// Address field values.
    private enum HDLCAddress {
        static let unicast: UInt8 = 0x0F
        static let broadcast: UInt8 = 0x8F
    }
    /// The protocol number of SLARP. It equals the EtherType of reverse ARP.
    private static let slarp: EtherType = .reverseARP
    private static let slarpLength = 14

    /// SLARP packet codes.
    private enum SLARPCode {
        static let request: UInt32 = 0
        static let reply: UInt32 = 1
        static let keepalive: UInt32 = 2
    }

    mutating func hdlc(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Int {
        part = "chdlc"
        try p.require(4, at: 0)
        let (address, type) = (try p.u8(0), try p.u16(2))
        if options.showsLink {
            switch address {
            case HDLCAddress.unicast: out.put("unicast")
            case HDLCAddress.broadcast: out.put("bcast")
            default: putHex("0x", address, width: 2)
            }
            out.put(", ethertype ")
            out.put(Self.etherTypes[type] ?? "Unknown")
            putHex(" (0x", type, width: 4, "), length ")
            put("", length, ": ")
        }
        switch EtherType(rawValue: type) {
        case .ipv4: try ipv4(p.from(4), length - 4)
        case .ipv6: try ipv6(p.from(4), length - 4)
        case .mpls, .mplsMulticast: try mpls(p.from(4), length - 4)
        case Self.slarp: try slarp(p.from(4), length - 4)
        default: if !options.showsLink { putHex("unknown CHDLC protocol (0x", type, width: 4, ")") }
        }
        return 4
    }

    private mutating func slarp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "chdlc_slarp"
        put("SLARP (length: ", length, "), ")
        try p.require(Self.slarpLength, at: 0)
        let code = try p.u32(0)
        switch code {
        case SLARPCode.request: out.put("request")
        case SLARPCode.reply:
            out.put("reply ")
            out.ipv4(try p.u32(4))
            out.put("/")
            out.ipv4(try p.u32(8))
        case SLARPCode.keepalive:
            putHex("keepalive: mineseen=0x", try p.u32(4), width: 8)
            putHex(", yourseen=0x", try p.u32(8), width: 8)
            putHex(", reliability=0x", try p.u16(12), width: 4)
            if length >= Self.slarpLength + 4 { slarpUptime(try p.u32(14)) }
        default:
            putHex("0x", code, width: 2, " unknown")
            hex(p.from(4), "\n\t", false)
        }
    }

    /// Prints an uptime given in milliseconds.
    private mutating func slarpUptime(_ time: UInt32) {
        let seconds = time / 1000
        put(", link uptime=", seconds / 86_400, "d")
        put("", seconds % 86_400 / 3600, "h")
        put("", seconds % 3600 / 60, "m")
        put("", seconds % 60, "s")
    }
}
