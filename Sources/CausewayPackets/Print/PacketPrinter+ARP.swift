/// Prints ARP and reverse ARP (RFC 826, RFC 903).
extension PacketPrinter {
    /// Prints an ARP packet (RFC 826).
    mutating func arp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "arp"
        let (hardware, proto) = (try p.u16(0), try p.u16(2))
        let (hardwareLength, protoLength) = (Int(try p.u8(4)), Int(try p.u8(5)))
        let operation = try p.u16(6)
        if !options.showsLink { out.put("ARP, ") }
        if (proto != 0x0800 && proto != 0x1000) || protoLength != 4 || hardwareLength == 0 || verbosity > 0 {
            let names: [UInt16: StaticString] = [
                1: "Ethernet", 6: "TokenRing", 7: "ArcNet", 15: "FrameRelay", 24: "Firewire", 32: "Infiniband",
            ]
            if let name = names[hardware] { out.put(name) } else { put("Unknown Hardware (", hardware, ")") }
            put(" (len ", hardwareLength)
            out.put("), ")
            if proto == 0x0800 || proto == 0x1000 {
                out.put("IPv4")
            } else {
                out.put(Self.etherTypes[proto] ?? "Unknown Protocol")
                if Self.etherTypes[proto] == nil { putHex(" (0x", proto, width: 4, ")") }
            }
            put(" (len ", protoLength, "), ")
        }
        if (proto != 0x0800 && proto != 0x1000) || protoLength != 4 || hardwareLength == 0 {
            return arpUnknown(p, operation, length)
        }
        try arpOperation(p, operation, hardwareLength)
        put(", length ", length)
    }

    private mutating func arpUnknown(_ p: borrowing ByteView, _ operation: UInt16, _ length: Int) {
        put("Unknown (", operation, ")")
        put(", length ", length)
    }

    private mutating func arpOperation(
        _ p: borrowing ByteView, _ operation: UInt16, _ hardwareLength: Int
    ) throws(WireError) {
        let names: [UInt16: StaticString] = [
            1: "Request", 2: "Reply", 3: "Reverse Request", 4: "Reverse Reply", 8: "Inverse Request",
            9: "Inverse Reply",
        ]
        if let name = names[operation] { out.put(name) } else { put("Unknown (", operation, ")") }
        let senderAddress = 8 + hardwareLength
        let targetHardware = senderAddress + 4
        let targetAddress = targetHardware + hardwareLength
        try p.require(targetAddress + 4, at: 0)
        switch operation {
        case 1:
            out.put(" who-has ")
            out.ipv4(try p.u32(targetAddress))
            if (0..<hardwareLength).contains(where: { (try? p.u8(targetHardware + $0)) != 0 }) {
                out.put(" (")
                hardwareAddress(p, targetHardware, hardwareLength)
                out.put(")")
            }
            out.put(" tell ")
            out.ipv4(try p.u32(senderAddress))
        case 2:
            out.put(" ")
            out.ipv4(try p.u32(senderAddress))
            out.put(" is-at ")
            hardwareAddress(p, 8, hardwareLength)
        case 3, 8:
            out.put(operation == 3 ? " who-is " : " who-is ")
            hardwareAddress(p, targetHardware, hardwareLength)
            out.put(" tell ")
            hardwareAddress(p, 8, hardwareLength)
        case 4:
            out.put(" ")
            hardwareAddress(p, targetHardware, hardwareLength)
            out.put(" at ")
            out.ipv4(try p.u32(targetAddress))
        case 9:
            out.put(" ")
            hardwareAddress(p, 8, hardwareLength)
            out.put(" at ")
            out.ipv4(try p.u32(senderAddress))
        default: break
        }
    }

    private mutating func hardwareAddress(_ p: borrowing ByteView, _ offset: Int, _ length: Int) {
        for index in 0..<length {
            if index > 0 { out.put(":") }
            out.hex(p[offset + index], width: 2)
        }
    }
}
