/// Prints IP over InfiniBand, and switch tags. A switch tag stands between a frame's addresses and its type.
extension PacketPrinter {
    /// Switch tag formats.
    enum SwitchTag {
        /// Marvell's 4-byte tag.
        case dsa
        /// Marvell's 8-byte tag: an Ethernet type, 2 reserved bytes and the 4-byte tag.
        case dsaExtended
        /// Broadcom's 4-byte tag.
        case broadcom

        var byteCount: Int { self == .dsaExtended ? 8 : 4 }
        /// The protocol name to print if bytes are missing.
        var part: StaticString {
            switch self {
            case .dsa: "dsa"
            case .dsaExtended: "edsa"
            case .broadcom: "brcm-tag"
            }
        }
    }

    /// Prints a switch tag.
    ///
    /// If the link layer is printed too, a comma precedes the tag. No comma follows the tag, because the next text
    /// begins with one.
    mutating func switchTag(_ kind: SwitchTag, _ p: borrowing ByteView) throws(WireError) {
        if options.showsLink { out.put(", ") }
        switch kind {
        case .dsa:
            out.put(options.showsLink ? "Marvell DSA " : "DSA ")
            try dsa(p, 12)
        case .dsaExtended:
            let type = try p.u16(12)
            putHex(options.showsLink ? "Marvell EDSA ethertype 0x" : "EDSA 0x", type, width: 4)
            if options.showsLink {
                out.put(" (")
                out.put(Self.etherTypes[type] ?? "Unknown")
                put("), rsvd ", try p.u8(14), " ")
                put("", try p.u8(15))
            }
            out.put(", ")
            try dsa(p, 16)
        case .broadcom: try broadcomTag(p)
        }
        if options.showsLink { out.removeLast(2) }
    }

    private mutating func dsa(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        let tag = try p.u32(offset)
        let (mode, isTagged, device) = (tag >> 30, tag & 0x2000_0000 != 0, tag >> 24 & 0x1F)
        let (port, identifier) = (tag >> 19 & 0x1F, tag & 0xFFF)
        let isTrunk = mode == 3 && tag & 0x0004_0000 != 0
        if options.showsLink { return dsaDetails(tag, mode, isTrunk) }
        if mode == 3 { out.put(isTrunk ? "Forward trunk " : "Forward port ") }
        if mode == 1 { out.put("CPU > port ") }
        if mode & 1 == 0 { out.put("port ") }
        put("", device, ".")
        put("", port)
        if mode == 0 { out.put(" > CPU") }
        if mode == 2 { out.put(tag & 0x0004_0000 == 0 ? " > Tx Sniffer" : " > Rx Sniffer") }
        put(", VLAN ", identifier, isTagged ? "t, " : "u, ")
    }

    private static let dsaModes: [StaticString] = ["To CPU", "From CPU", "To Sniffer", "Forward"]
    private static let dsaCodes: [StaticString] = [
        "BPDU (MGMT) Trap", "Frame2Reg", "IGMP/MLD Trap", "Policy Trap", "ARP Mirror", "Policy Mirror", "reserved",
        "reserved",
    ]

    private mutating func dsaDetails(_ tag: UInt32, _ mode: UInt32, _ isTrunk: Bool) {
        out.put("mode ")
        out.put(Self.dsaModes[Int(mode)])
        let device: [StaticString] = [", source dev ", ", target dev ", ", source dev ", ", dev "]
        put(device[Int(mode)], tag >> 24 & 0x1F)
        put(isTrunk ? ", trunk " : ", port ", tag >> 19 & 0x1F)
        if mode == 0 {
            out.put(", code ")
            out.put(Self.dsaCodes[Int(tag >> 16 & 6 | tag >> 12 & 1)])
        }
        if mode == 2 { out.put(tag & 0x0004_0000 == 0 ? ", egress sniff" : ", ingress sniff") }
        out.put(tag & 0x2000_0000 != 0 ? ", tagged" : ", untagged")
        if tag & 0x0001_0000 != 0 { out.put(", CFI") }
        put(", VID ", tag & 0xFFF)
        put(", FPri ", tag >> 13 & 7, ", ")
    }

    private static let broadcomReasons: [UInt32: StaticString] = [
        0x01: "mirror", 0x02: "MAC learning", 0x04: "switching", 0x08: "prot term", 0x10: "prot snoop",
        0x20: "exception",
    ]
    private static let broadcomTails: [StaticString] = ["None", "Untag", "Header", "Reserved"]

    private mutating func broadcomTag(_ p: borrowing ByteView) throws(WireError) {
        let tag = try p.u32(12)
        let operation = tag >> 29
        out.put("BRCM tag OP: ")
        out.put(tag >> 24 == 0 ? "EG, " : "IG, ")
        if operation & 1 != 0 {
            put("TC: ", tag >> 18 & 7)
            out.put(", TE: ")
            out.put(Self.broadcomTails[Int(tag >> 16 & 3)])
            put(", TS: ", tag >> 23 & 1)
            return putHex(", DST map: 0x", UInt16(tag & 0x1FF), width: 4, ", ")
        }
        put("CID: ", tag >> 16 & 0xFF)
        out.put(", RC: ")
        out.put(Self.broadcomReasons[tag >> 8 & 0xFF] ?? "reserved")
        put(", TC: ", tag >> 5 & 7)
        put(", port: ", tag & 0x1F, ", ")
    }

    private static let infinibandHeader = 44

    /// Prints IP over InfiniBand: 40 address bytes, then a type and 2 reserved bytes (RFC 4391 §6). Returns the
    /// header's length.
    mutating func infiniband(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Int {
        part = "ipoib"
        try p.require(Self.infinibandHeader, at: 0)
        let type = try p.u16(40)
        let content = p.from(Self.infinibandHeader)
        if options.showsLink { infinibandHeader(type, length) }
        if try !etherType(type, content, length - Self.infinibandHeader) {
            if !options.showsLink { infinibandHeader(type, length) }
            unknown(content)
        }
        return Self.infinibandHeader
    }

    private mutating func infinibandHeader(_ type: UInt16, _ length: Int) {
        out.put("IPOIB, ethertype ")
        out.put(Self.etherTypes[type] ?? "Unknown")
        putHex(" (0x", type, width: 4, "), length ")
        put("", length, ": ")
    }
}
