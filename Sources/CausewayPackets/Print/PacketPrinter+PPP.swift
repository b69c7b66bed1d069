/// Prints PPP and PPPoE (RFC 1661, RFC 2516).
extension PacketPrinter {
    /// PPPoE packet codes (RFC 2516 §4, §5).
    private enum PPPoECode {
        static let session: UInt8 = 0
        static let initiation: UInt8 = 9
    }

    /// The PPPoE tag that ends the list of tags (RFC 2516 Appendix A).
    private static let endOfList: UInt16 = 0

    /// Prints a PPPoE packet (RFC 2516).
    mutating func pppoe(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "pppoe"
        let first = try p.u8(0)
        let code = try p.u8(1)
        let session = try p.u16(2)
        let size = Int(try p.u16(4))
        out.put("PPPoE ")
        if first >> 4 != 1 { put(" [ver ", first >> 4, "]") }
        if first & 15 != 1 { put(" [type ", first & 15, "]") }
        let names: [UInt8: StaticString] = [9: "PADI", 7: "PADO", 0x19: "PADR", 0x65: "PADS", 0xA7: "PADT", 0: ""]
        if let name = names[code] { out.put(name) } else { putHex("PAD-", code) }
        if code == PPPoECode.initiation, size > 1484 - 6 { put(" [len ", size, "!]") }
        if session != 0 { putHex(" [ses 0x", session, "]") }
        if code == PPPoECode.session {
            out.put(" ")
            return try ppp(p.from(6).prefix(size), size)
        }
        try pppoeTags(p, 6 + size)
    }

    private mutating func pppoeTags(_ p: borrowing ByteView, _ end: Int) throws(WireError) {
        let names: [UInt16: StaticString] = [
            0: "EOL", 0x101: "Service-Name", 0x102: "AC-Name", 0x103: "Host-Uniq", 0x104: "AC-Cookie",
            0x105: "Vendor-Specific",
            0x110: "Relay-Session-ID", 0x120: "PPP-Max-Payload", 0x201: "Service-Name-Error", 0x202: "AC-System-Error",
            0x203: "Generic-Error",
        ]
        var offset = 6
        while offset + 4 <= end {
            let tag = try p.u16(offset)
            let size = Int(try p.u16(offset + 2))
            offset += 4
            out.put(" [")
            if let name = names[tag] { out.put(name) } else { putHex("TAG-0x", tag) }
            if size > 0 {
                try p.require(size, at: offset)
                let shown = (0..<min(size, 80)).filter { p[offset + $0] >= 0x20 && p[offset + $0] < 0x7F }.count
                if shown > min(size, 80) - shown {
                    out.put(" \"")
                    for index in 0..<min(size, 80) { visible(p[offset + index]) }
                    out.put("\"")
                } else {
                    out.put(" 0x")
                    for index in 0..<min(size, 20) { out.hex(p[offset + index], width: 2) }
                    if size > 20 { out.put("...") }
                }
            }
            out.put("]")
            offset += size
            if tag == Self.endOfList { break }
        }
    }

    /// Prints a PPP packet. Address and control bytes may precede the protocol field.
    mutating func ppp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "ppp"
        var offset = 0
        if try p.u16(0) == PPPProtocol.addressAndControl { offset = 2 }
        let (number, size) = try PPPProtocol.number(p, at: offset)
        let names: [UInt16: StaticString] = [
            0x21: "IP", 0x57: "IP6", 0xC021: "LCP", 0x8021: "IPCP", 0x8057: "IP6CP", 0xC023: "PAP", 0xC223: "CHAP",
            0x80FD: "CCP", 0xC025: "LQR",
        ]
        if options.showsLink {
            out.put(names[number] ?? "unknown")
            putHex(" (0x", number, width: 4, ")")
            put(", length ", length, ": ")
        }
        switch number {
        case PPPProtocol.ipv4: try ipv4(p.from(offset + size), length - offset - size)
        case PPPProtocol.ipv6: try ipv6(p.from(offset + size), length - offset - size)
        case PPPProtocol.mplsUnicast, PPPProtocol.mplsMulticast: try mpls(p.from(offset + size), length - offset - size)
        case PPPProtocol.lcp, PPPProtocol.ipcp, PPPProtocol.ipv6cp:
            try control(p.from(offset + size), length - offset - size, names[number] ?? "")
        default:
            if let name = names[number] {
                out.put(name)
            } else {
                putHex("unknown PPP protocol (0x", number, width: 4, ")")
            }
            unknown(p.from(offset + size), "\n\t")
        }
    }

    mutating func control(_ p: borrowing ByteView, _ length: Int, _ name: StaticString) throws(WireError) {
        let code = try p.u8(0)
        let codes: [StaticString] = [
            "", "Conf-Request", "Conf-Ack", "Conf-Nack", "Conf-Reject", "Term-Request", "Term-Ack", "Code-Reject",
            "Prot-Reject", "Echo-Request", "Echo-Reply",
        ]
        out.put(name)
        out.put(", ")
        out.put(code > 0 && code < codes.count ? codes[Int(code)] : "Unknown Opcode")
        putHex(" (0x", code, width: 2)
        put("), id ", try p.u8(1))
        put(", length ", Int(try p.u16(2)) + 2)
    }
}
