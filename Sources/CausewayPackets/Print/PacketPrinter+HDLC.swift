/// Prints Cisco HDLC (RFC 1547 §4.3.1) and its address protocol SLARP.
extension PacketPrinter {
    private enum HDLCAddress {
        static let (unicast, broadcast): (UInt8, UInt8) = (0x0F, 0x8F)
    }
    private static let (slarp, slarpLength): (UInt16, Int) = (0x8035, 14)

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
        switch type {
        case 0x0800: try ipv4(p.from(4), length - 4)
        case 0x86DD: try ipv6(p.from(4), length - 4)
        case 0x8847, 0x8848: try mpls(p.from(4), length - 4)
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
        case 0: out.put("request")
        case 1:
            out.put("reply ")
            out.ipv4(try p.u32(4))
            out.put("/")
            out.ipv4(try p.u32(8))
        case 2:
            putHex("keepalive: mineseen=0x", try p.u32(4), width: 8)
            putHex(", yourseen=0x", try p.u32(8), width: 8)
            putHex(", reliability=0x", try p.u16(12), width: 4)
            if length >= Self.slarpLength + 4 { slarpUptime(try p.u32(14)) }
        default:
            putHex("0x", code, width: 2, " unknown")
            hex(p.from(4), "\n\t", false)
        }
    }

    /// Prints an uptime that is given in milliseconds.
    private mutating func slarpUptime(_ time: UInt32) {
        let seconds = time / 1000
        put(", link uptime=", seconds / 86_400, "d")
        put("", seconds % 86_400 / 3600, "h")
        put("", seconds % 3600 / 60, "m")
        put("", seconds % 60, "s")
    }
}
