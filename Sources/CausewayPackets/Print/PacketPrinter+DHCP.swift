/// Prints BOOTP and DHCP (RFC 951, RFC 2131).
extension PacketPrinter {
    enum Format {
        case address, addresses, u8, u16, u32, i32, text, flag, hex, nothing, parameters, message, clientID, overload
        case routes, pairs, vendor, relay, search, u16s, hex16
    }

    /// The operations of BOOTP (RFC 951 §3).
    private enum BOOTPOperation {
        static let request: UInt8 = 1
        static let reply: UInt8 = 2
    }

    /// Ethernet (IANA registry "ARP Parameters", hardware types).
    static let ethernetHardware: UInt8 = 1
    /// The first four bytes of the options (RFC 2131 §3).
    private static let magicCookie: UInt32 = 0x6382_5363

    /// Options that are parsed (IANA registry "BOOTP Vendor Extensions and DHCP Options").
    private enum DHCPOption {
        static let pad: UInt8 = 0
        static let messageType: UInt8 = 53
        static let end: UInt8 = 255
    }

    static let dhcpOptions: [UInt8: (StaticString, Format)] = [
        1: ("Subnet-Mask", .addresses), 2: ("Time-Zone", .i32), 3: ("Default-Gateway", .addresses),
        4: ("Time-Server", .addresses),
        5: ("IEN-Name-Server", .addresses), 6: ("Domain-Name-Server", .addresses), 7: ("LOG", .addresses),
        8: ("CS", .addresses),
        9: ("LPR-Server", .addresses), 10: ("IM", .addresses), 11: ("RL", .addresses), 12: ("Hostname", .text),
        13: ("BS", .u16),
        14: ("DP", .text), 15: ("Domain-Name", .text), 16: ("SS", .addresses), 17: ("RP", .text), 18: ("EP", .text),
        19: ("IPF", .flag), 20: ("SRT", .flag), 21: ("PF", .pairs), 22: ("RSZ", .u16), 23: ("TTL", .u8),
        24: ("MTU-Timeout", .u32),
        25: ("MTU-Table", .u16s), 26: ("MTU", .u16), 27: ("LSN", .flag), 28: ("BR", .addresses), 29: ("MD", .flag),
        30: ("MS", .flag),
        31: ("Router-Discovery", .flag), 32: ("RS", .addresses), 33: ("Static-Route", .pairs), 34: ("TE", .flag),
        35: ("AT", .u32),
        36: ("IE", .flag), 37: ("TT", .u8), 38: ("KI", .u32), 39: ("KG", .flag), 40: ("YD", .text),
        41: ("YS", .addresses),
        42: ("NTP", .addresses), 43: ("Vendor-Option", .hex), 44: ("Netbios-Name-Server", .addresses),
        45: ("WDD", .addresses),
        46: ("Netbios-Node", .u8), 47: ("Netbios-Scope", .text), 48: ("XFS", .addresses), 49: ("XDM", .addresses),
        50: ("Requested-IP", .addresses), 51: ("Lease-Time", .u32), 52: ("OO", .overload),
        53: ("DHCP-Message", .message),
        54: ("Server-ID", .addresses), 55: ("Parameter-Request", .parameters), 56: ("MSG", .text), 57: ("MSZ", .u16),
        58: ("RN", .u32),
        59: ("RB", .u32), 60: ("Vendor-Class", .text), 61: ("Client-ID", .clientID), 62: ("NOAP", .text),
        63: ("NWIP", .nothing),
        64: ("NISP", .text), 65: ("NISP-Server", .addresses), 66: ("TFTP", .text), 67: ("BF", .text),
        68: ("MH", .addresses),
        69: ("SMTP-Server", .addresses), 70: ("POP3-Server", .addresses), 71: ("NNTP", .addresses),
        72: ("WWW", .addresses),
        73: ("FINGER", .addresses), 74: ("IRC", .addresses), 75: ("SG", .addresses), 76: ("SDA", .addresses),
        77: ("User-Class", .hex),
        78: ("SLP-DA", .hex), 79: ("SLP-SCOPE", .hex), 80: ("Rapid-Commit", .nothing), 81: ("FQDN", .hex),
        82: ("Agent-Information", .relay),
        85: ("NDS", .addresses), 86: ("NDS-Tree-Name", .text), 87: ("NDS-Context", .text),
        91: ("Last-Transaction-Time", .u32),
        92: ("Associated-IP", .addresses), 93: ("ARCH", .u16), 94: ("NDI", .hex), 95: ("LDAP", .text),
        97: ("GUID", .hex),
        98: ("Unknown", .hex), 100: ("POSIX-TZ", .text), 101: ("TZ-Name", .text), 108: ("IPv6-Only-Preferred", .u32),
        112: ("Netinfo-Address", .addresses), 113: ("Netinfo-Tag", .text), 114: ("URL", .text),
        116: ("Auto-Configuration", .u8),
        117: ("NSSR", .u16s), 118: ("SUBNET-SEL", .addresses), 119: ("Unknown", .hex),
        121: ("Classless-Static-Route", .routes), 125: ("VIVO", .hex), 137: ("LoST", .hex),
        150: ("TFTP-Server-Address", .addresses), 249: ("Classless-Static-Route-Microsoft", .routes),
    ]

    mutating func dhcp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "bootp"
        out.put("BOOTP/DHCP, ")
        let (operation, hardware, hardwareLength) = (try p.u8(0), try p.u8(1), try p.u8(2))
        switch operation {
        case BOOTPOperation.request: out.put("Request")
        case BOOTPOperation.reply: out.put("Reply")
        default: put("unknown (", operation, ")")
        }
        let isEthernet = hardware == Self.ethernetHardware
        let hasMAC = isEthernet && hardwareLength == 6
        if hasMAC, operation == BOOTPOperation.request {
            out.put(" from ")
            out.mac(try MACAddress(p, at: 28).bits)
        }
        put(", length ", length)
        guard verbosity > 0 else { return }
        try p.require(4, at: 8)
        if !isEthernet { put(", htype ", hardware) }
        if isEthernet, hardwareLength != 6 { put(", hlen ", hardwareLength) }
        let hops = try p.u8(3)
        if hops > 0 { put(", hops ", hops) }
        let xid = try p.u32(4)
        if xid != 0 { putHex(", xid 0x", xid) }
        let seconds = try p.u16(8)
        if seconds > 0 { put(", secs ", seconds) }
        let flags = try p.u16(10)
        out.put(", Flags [")
        bits(UInt32(flags), [(0x8000, "Broadcast")], none: "none")
        out.put("]")
        if verbosity > 1 { putHex(" (0x", flags, width: 4, ")") }
        try dhcpFields(p, hasMAC)
        try dhcpVendor(p)
    }

    private mutating func dhcpFields(_ p: borrowing ByteView, _ hasMAC: Bool) throws(WireError) {
        let names: [(StaticString, Int)] = [
            ("\n\t  Client-IP ", 12), ("\n\t  Your-IP ", 16), ("\n\t  Server-IP ", 20), ("\n\t  Gateway-IP ", 24),
        ]
        for (name, offset) in names {
            let address = try p.u32(offset)
            guard address != 0 else { continue }
            out.put(name)
            out.ipv4(address)
        }
        if hasMAC {
            out.put("\n\t  Client-Ethernet-Address ")
            out.mac(try MACAddress(p, at: 28).bits)
        }
        for (name, offset, maximum) in [("\n\t  sname \"" as StaticString, 44, 64), ("\n\t  file \"", 108, 128)] {
            guard try p.u8(offset) != 0 else { continue }
            out.put(name)
            var index = 0
            while index < maximum {
                let byte = try p.u8(offset + index)
                if byte == 0 { break }
                visible(byte)
                index += 1
            }
            out.put("\"")
        }
    }

    private mutating func dhcpVendor(_ p: borrowing ByteView) throws(WireError) {
        try p.require(4, at: 236)
        let magic = try p.u32(236)
        guard magic == Self.magicCookie else {
            if magic != 0 { putHex("\n\t  Vendor-#0x", magic, width: 8) }
            return
        }
        out.put("\n\t  Vendor-rfc1048 Extensions")
        putHex("\n\t    Magic Cookie 0x", magic, width: 8)
        var offset = 240
        while true {
            guard offset < p.count else { return }
            let tag = try p.u8(offset)
            offset += 1
            let (isPad, isEnd) = (tag == DHCPOption.pad, tag == DHCPOption.end)
            if isPad, verbosity < 3 { continue }
            if isEnd, verbosity < 3 { return }
            let (name, format) =
                isPad ? ("PAD", .nothing) : isEnd ? ("END", .nothing) : Self.dhcpOptions[tag] ?? ("Unknown", .hex)
            out.put("\n\t    ")
            out.put(name)
            put(" (", tag, ")")
            if isPad || isEnd {
                if isPad {
                    var repeated = 1
                    while offset < p.count, p[offset] == DHCPOption.pad {
                        repeated += 1
                        offset += 1
                    }
                    put(", length 0, occurs ", repeated)
                    continue
                }
                return put(", length 0")
            }
            let length = Int(try p.u8(offset))
            offset += 1
            put(", length ", length)
            if length > 0 { out.put(": ") }
            guard p.holds(length, at: offset) else {
                put("[|rfc1048 ", length, "]")
                return
            }
            if tag == DHCPOption.messageType, length == 1 {
                try message(p.u8(offset))
            } else {
                try value(format, p.clamped(offset, offset + length), length)
            }
            offset += length
        }
    }

    mutating func put(_ text: StaticString) { out.put(text) }

    mutating func message(_ type: UInt8) {
        let names: [StaticString] = [
            "", "Discover", "Offer", "Request", "Decline", "ACK", "NACK", "Release", "Inform", "ForceRenew",
            "LeaseQuery", "LeaseUnassigned",
            "LeaseUnknown", "LeaseActive",
        ]
        if type > 0, type < names.count { out.put(names[Int(type)]) } else { put("Unknown (", type, ")") }
    }

    private mutating func list(_ count: Int, _ step: Int, _ body: (inout PacketPrinter, Int) throws(WireError) -> Void)
        throws(WireError)
    {
        var (offset, isFirst) = (0, true)
        while offset + step <= count {
            if !isFirst { out.put(",") }
            isFirst = false
            try body(&self, offset)
            offset += step
        }
    }
}
