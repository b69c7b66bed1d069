/// Prints BOOTP and DHCP (RFC 951, RFC 2131).
extension PacketPrinter {
    /// BOOTP operations (RFC 951 §3).
    private enum BOOTPOperation {
        static let request: UInt8 = 1
        static let reply: UInt8 = 2
    }

    /// The hardware type for Ethernet (IANA registry "ARP Parameters", hardware types).
    static let ethernetHardware: UInt8 = 1
    /// The first four bytes of the options field always have this value (RFC 2131 §3). The value identifies the format
    /// of the options.
    private static let magicCookie: UInt32 = 0x6382_5363

    /// Options that are parsed (IANA registry "BOOTP Vendor Extensions and DHCP Options").
    private enum DHCPOption {
        static let pad: UInt8 = 0
        static let messageType: UInt8 = 53
        static let end: UInt8 = 255
    }

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
            let option = DHCPOptionFormat.all[tag]
            out.put("\n\t    ")
            out.put(isPad ? "PAD" : isEnd ? "END" : option?.name ?? "Unknown")
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
                try value(option?.format ?? .unknown, p.clamped(offset, offset + length), length)
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
}
