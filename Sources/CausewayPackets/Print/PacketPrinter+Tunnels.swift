/// Prints tunnels: VXLAN, Geneve, GRE and MPLS.
extension PacketPrinter {
    /// Prints VXLAN (RFC 7348 §5).
    mutating func vxlan(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "vxlan"
        out.put("VXLAN, flags [")
        let flags = try p.u8(0)
        out.put(flags & 0x08 != 0 ? "I" : ".")
        putHex("] (0x", flags, width: 2)
        put("), vni ", try p.u24(4), "\n")
        try ethernet(p.from(8), length - 8)
    }

    /// Prints Geneve (RFC 8926 §3.4).
    mutating func geneve(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "geneve"
        out.put("Geneve")
        let first = try p.u8(0)
        guard first >> 6 == 0 else { return put(" ERROR: unknown-version ", first >> 6) }
        let flags = try p.u8(1)
        out.put(", Flags [")
        if flags & 0xC0 == 0 { out.put("none") }
        if flags & 0x80 != 0 { out.put("O") }
        if flags & 0x40 != 0 { out.put(flags & 0x80 != 0 ? ", C" : "C") }
        if flags & 0x3F != 0 { out.put("R") }
        out.put("]")
        putHex(", vni 0x", try p.u24(4))
        if try p.u8(7) != 0 { putHex(", rsvd 0x", try p.u8(7)) }
        let type = try p.u16(2)
        if options.showsLink {
            out.put(", proto ")
            out.put(Self.etherTypes[type] ?? (type == EtherType.bridging.rawValue ? "TEB" : "unknown"))
            putHex(" (0x", type, width: 4, ")")
        }
        let optionLength = Int(first & 0x3F) * 4
        if optionLength > 0 {
            out.put(", options [")
            if verbosity == 0 {
                put("", optionLength, " bytes")
            } else {
                try geneveOptions(p, optionLength)
            }
            out.put("]")
        }
        let header = 8 + optionLength
        out.put(verbosity > 0 ? "\n\t" : ": ")
        try p.require(header, at: 0)
        if type == EtherType.bridging.rawValue {
            try ethernet(p.from(header), length - header)
        } else if try !etherType(type, p.from(header), length - header) {
            putHex("geneve-proto-0x", type)
        }
    }

    private mutating func geneveOptions(_ p: borrowing ByteView, _ total: Int) throws(WireError) {
        var (offset, isFirst) = (8, true)
        let end = 8 + total
        while offset < end {
            if !isFirst { out.put(", ") }
            isFirst = false
            let optionClass = try p.u16(offset)
            let type = try p.u8(offset + 2)
            let length = 4 + Int(try p.u8(offset + 3) & 0x1F) * 4
            let name: StaticString =
                optionClass <= 0xFF ? "Standard" : optionClass >= 0xFF00 ? "Experimental" : "Unknown"
            out.put("class ")
            out.put(name)
            putHex(" (0x", optionClass, ") type ")
            putHex("0x", type, width: 2)
            if type & 0x80 != 0 { out.put("(C)") }
            put(" len ", length)
            guard length <= end - offset else { return out.put(" (option too long)") }
            if length > 4, verbosity > 1 {
                out.put(" data ")
                for place in stride(from: 4, to: length, by: 4) {
                    if place > 4 { out.put(" ") }
                    out.hex(try p.u32(offset + place), width: 8)
                }
            }
            offset += length
        }
    }

    /// Prints GRE (RFC 2784). Version 1 is the PPTP variant (RFC 2637).
    mutating func gre(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "gre"
        let flags = try p.u16(0)
        let type = try p.u16(2)
        put("GREv", flags & 7)
        guard flags & 7 <= 1 else { return out.put(" (unknown version)") }
        if verbosity > 0 {
            out.put(", Flags [")
            let names: [(UInt32, StaticString)] = [
                (0x8000, "checksum present"), (0x4000, "routing present"), (0x2000, "key present"),
                (0x1000, "sequence# present"), (0x0800, "source routing present"), (0x0080, "ack present"),
            ]
            bits(UInt32(flags), names, none: "none")
            out.put("]")
        }
        var offset = 4
        if flags & 7 == 1 {
            try pptp(p, flags, &offset)
        } else {
            try greFields(p, flags, &offset)
        }
        if options.showsLink {
            out.put(", proto ")
            out.put(Self.etherTypes[type] ?? (type == EtherType.bridging.rawValue ? "TEB" : "unknown"))
            putHex(" (0x", type, width: 4, ")")
        }
        put(", length ", length)
        if flags & 7 == 1, flags & 0x1000 == 0 { return }
        out.put(verbosity > 0 ? "\n\t" : ": ")
        try p.require(offset, at: 0)
        let (body, rest) = (p.from(offset), length - offset)
        if type == EtherType.bridging.rawValue { return _ = try ethernet(body, rest) }
        if type == EtherType.ppp.rawValue { return try ppp(body, rest) }
        if try !etherType(type, body, rest) { putHex("gre-proto-0x", type) }
    }

    private mutating func greFields(_ p: borrowing ByteView, _ flags: UInt16, _ offset: inout Int) throws(WireError) {
        if flags & 0xC000 != 0 {
            if verbosity > 0 {
                putHex(", sum 0x", try p.u16(offset))
                putHex(", off 0x", try p.u16(offset + 2))
            }
            offset += 4
        }
        if flags & 0x2000 != 0 {
            putHex(", key=0x", try p.u32(offset))
            offset += 4
        }
        if flags & 0x1000 != 0 {
            put(", seq ", try p.u32(offset))
            offset += 4
        }
    }

    private mutating func pptp(_ p: borrowing ByteView, _ flags: UInt16, _ offset: inout Int) throws(WireError) {
        if flags & 0x2000 != 0 {
            put(", call ", try p.u16(offset + 2))
            offset += 4
        }
        if flags & 0x1000 != 0 {
            put(", seq ", try p.u32(offset))
            offset += 4
        }
        if flags & 0x0080 != 0 {
            put(", ack ", try p.u32(offset))
            offset += 4
        }
        if flags & 0x1000 == 0 { out.put(", no-payload") }
    }

    /// Prints MPLS (RFC 3032).
    mutating func mpls(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "mpls"
        out.put("MPLS")
        let special: [UInt32: StaticString] = [
            0: "IPv4 explicit NULL", 1: "router alert", 2: "IPv6 explicit NULL", 3: "implicit NULL",
        ]
        var (offset, label) = (0, UInt32(0))
        while true {
            guard offset + 4 <= p.count else {
                out.put("[|mpls]")
                return
            }
            let entry = try p.u32(offset)
            label = entry >> 12
            out.put(verbosity > 0 && offset > 0 ? "\n\t(" : " (")
            put("label ", label)
            if let name = special[label] {
                out.put(" (")
                out.put(name)
                out.put(")")
            }
            put(", tc ", entry >> 9 & 7)
            if entry & 0x100 != 0 { out.put(", [S]") }
            put(", ttl ", entry & 0xFF, ")")
            offset += 4
            if entry & 0x100 != 0 { break }
        }
        guard length > offset else { return }
        let nibble = try p.u8(offset) >> 4
        let isIPv6 = label == 2 || (label != 0 && nibble == 6)
        guard isIPv6 || label == 0 || nibble == 4 else { return unknown(p.from(offset)) }
        out.put(verbosity > 0 ? "\n\t" : " ")
        if isIPv6 { try ipv6(p.from(offset), length - offset) } else { try ipv4(p.from(offset), length - offset) }
    }
}
