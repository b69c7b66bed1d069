/// UDP and what it is known to carry.
extension PacketPrinter {
    mutating func ports(_ carrier: Carrier, _ number: UInt8, _ source: UInt16?, _ destination: UInt16?) {
        if carrier.next == number {
            address(carrier.source, carrier.isIPv6)
            if let source { put(".", source) }
            out.put(" > ")
            address(carrier.destination, carrier.isIPv6)
            if let destination { put(".", destination) }
        } else if let source, let destination {
            put("", source)
            put(" > ", destination)
        }
        out.put(": ")
    }

    /// RFC 768.
    mutating func udp(_ p: borrowing Octets, _ whole: Int, _ carrier: Carrier) throws(CutOff) {
        part = "udp"
        guard let source = try? p.u16(0), let destination = try? p.u16(2) else {
            ports(carrier, 17, nil, nil)
            throw CutOff()
        }
        ports(carrier, 17, source, destination)
        guard whole >= 8 else { return put("truncated-udp ", whole) }
        var stated = Int(try p.u16(4))
        if stated == 0, whole > 65535 { stated = whole }
        guard stated >= 8 else { return put("truncated-udplength ", stated) }
        stated -= 8
        let length = min(whole - 8, stated)
        guard p.count >= 8 else { throw CutOff() }
        // Over IPv4 the checksum is optional, and shown to those who ask for more.
        if verbosity > (carrier.isIPv6 ? 0 : 1), !carrier.isFragmented { udpChecksum(p, length, carrier) }
        let body = p.from(8)
        if !options.isQuiet, try udpContent(body.prefix(length), length, source, destination) { return }
        if stated > length, !carrier.isFragmented {
            put("UDP, bad length ", stated)
            put(" > ", length)
        } else {
            put("UDP, length ", stated)
        }
    }

    private mutating func udpChecksum(_ p: borrowing Octets, _ length: Int, _ carrier: Carrier) {
        guard let found = try? p.u16(6) else { return }
        guard found != 0 else { return out.put("[no cksum] ") }
        guard p.holds(length + 8, at: 0) else { return }
        var sum = carrier.pseudoHeader(17, length + 8)
        sum.add(p.prefix(length + 8))
        guard sum.value != 0 else { return out.put("[udp sum ok] ") }
        putHex("[bad udp cksum 0x", found, width: 4)
        putHex(" -> 0x", Self.expected(found, sum), width: 4, "!] ")
    }

    /// Returns whether the ports are those of something that is printed.
    private mutating func udpContent(
        _ p: borrowing Octets, _ length: Int, _ source: UInt16, _ destination: UInt16
    ) throws(CutOff) -> Bool {
        func either(_ port: UInt16) -> Bool { source == port || destination == port }
        if options.expectsDNS || either(53) {
            try dns(p, length, isStream: false, isMulticast: false)
        } else if either(67) || either(68) {
            try dhcp(p, length)
        } else if either(5353) {
            try dns(p, length, isStream: false, isMulticast: true)
        } else if either(5355) {
            try dns(p, length, isStream: false, isMulticast: false)
        } else if destination == 4789 {
            try vxlan(p, length)
        } else if destination == 6081 {
            try geneve(p, length)
        } else if destination == 6635 {
            try mpls(p, length)
        } else {
            return false
        }
        return true
    }

    /// RFC 7348 §5.
    private mutating func vxlan(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
        part = "vxlan"
        out.put("VXLAN, flags [")
        let flags = try p.u8(0)
        out.put(flags & 0x08 != 0 ? "I" : ".")
        putHex("] (0x", flags, width: 2)
        put("), vni ", try p.u24(4), "\n")
        try ethernet(p.from(8), length - 8)
    }

    /// RFC 8926 §3.4.
    private mutating func geneve(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
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
            out.put(Self.etherTypes[type] ?? (type == 0x6558 ? "TEB" : "unknown"))
            putHex(" (0x", type, width: 4, ")")
        }
        let optionLength = Int(first & 0x3F) * 4
        if optionLength > 0 {
            out.put(", options [")
            try geneveOptions(p, optionLength)
            out.put("]")
        }
        let header = 8 + optionLength
        out.put(verbosity > 0 ? "\n\t" : ": ")
        try p.require(header, at: 0)
        if type == 0x6558 {
            try ethernet(p.from(header), length - header)
        } else if try !etherType(type, p.from(header), length - header) {
            putHex("geneve-proto-0x", type)
        }
    }

    private mutating func geneveOptions(_ p: borrowing Octets, _ total: Int) throws(CutOff) {
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
            if length > 4, verbosity > 1 || length == 8 {
                out.put(" data ")
                for place in stride(from: 4, to: length, by: 4) {
                    if place > 4 { out.put(" ") }
                    out.hex(try p.u32(offset + place), width: 8)
                }
            }
            offset += length
        }
    }

    /// RFC 2784; version 1 is PPTP's (RFC 2637).
    mutating func gre(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
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
            out.put(Self.etherTypes[type] ?? (type == 0x6558 ? "TEB" : "unknown"))
            putHex(" (0x", type, width: 4, ")")
        }
        put(", length ", length)
        if flags & 7 == 1, flags & 0x1000 == 0 { return }
        out.put(verbosity > 0 ? "\n\t" : ": ")
        try p.require(offset, at: 0)
        let (body, rest) = (p.from(offset), length - offset)
        if type == 0x6558 { return _ = try ethernet(body, rest) }
        if type == 0x880B { return try ppp(body, rest) }
        if try !etherType(type, body, rest) { putHex("gre-proto-0x", type) }
    }

    private mutating func greFields(_ p: borrowing Octets, _ flags: UInt16, _ offset: inout Int) throws(CutOff) {
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

    private mutating func pptp(_ p: borrowing Octets, _ flags: UInt16, _ offset: inout Int) throws(CutOff) {
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

    /// RFC 3032.
    mutating func mpls(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
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

    /// RFC 2516.
    mutating func pppoe(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
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
        if code == 9, size > 1484 - 6 { put(" [len ", size, "!]") }
        if session != 0 { putHex(" [ses 0x", session, "]") }
        if code == 0 {
            out.put(" ")
            return try ppp(p.from(6).prefix(size), size)
        }
        try pppoeTags(p, 6 + size)
    }

    private mutating func pppoeTags(_ p: borrowing Octets, _ end: Int) throws(CutOff) {
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
            if tag == 0 { break }
        }
    }

    /// What follows PPP's two octets of protocol; address and control may stand before them.
    mutating func ppp(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
        part = "ppp"
        var offset = 0
        if try p.u16(0) == 0xFF03 { offset = 2 }
        let number = try p.u16(offset)
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
        case 0x21: try ipv4(p.from(offset + 2), length - offset - 2)
        case 0x57: try ipv6(p.from(offset + 2), length - offset - 2)
        case 0x281, 0x283: try mpls(p.from(offset + 2), length - offset - 2)
        case 0xC021, 0x8021, 0x8057: try control(p.from(offset + 2), length - offset - 2, names[number] ?? "")
        default:
            if let name = names[number] {
                out.put(name)
            } else {
                putHex("unknown PPP protocol (0x", number, width: 4, ")")
            }
            unknown(p.from(offset + 2), "\n\t")
        }
    }

    private mutating func control(_ p: borrowing Octets, _ length: Int, _ name: StaticString) throws(CutOff) {
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
