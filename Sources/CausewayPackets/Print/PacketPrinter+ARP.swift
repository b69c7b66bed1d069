/// Prints ARP and reverse ARP (RFC 826, RFC 903).
extension PacketPrinter {
    /// Operations (IANA registry "Address Resolution Protocol Operation Codes").
    private enum Operation {
        static let request: UInt16 = 1
        static let reply: UInt16 = 2
        static let reverseRequest: UInt16 = 3
        static let reverseReply: UInt16 = 4
        static let inverseRequest: UInt16 = 8
        static let inverseReply: UInt16 = 9
    }

    /// Prints an ARP packet (RFC 826).
    mutating func arp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "arp"
        let (hardware, proto) = (try p.u16(0), try p.u16(2))
        let (hardwareLength, protoLength) = (Int(try p.u8(4)), Int(try p.u8(5)))
        let operation = try p.u16(6)
        let isIPv4 = proto == EtherType.ipv4.rawValue || proto == EtherType.trailer.rawValue
        if !options.showsLink { out.put("ARP, ") }
        if !isIPv4 || protoLength != 4 || hardwareLength == 0 || verbosity > 0 {
            let names: [UInt16: StaticString] = [
                1: "Ethernet", 6: "TokenRing", 7: "ArcNet", 15: "FrameRelay", 24: "Firewire", 32: "Infiniband",
            ]
            if let name = names[hardware] { out.put(name) } else { put("Unknown Hardware (", hardware, ")") }
            put(" (len ", hardwareLength)
            out.put("), ")
            if isIPv4 {
                out.put("IPv4")
            } else {
                out.put(Self.etherTypes[proto] ?? "Unknown Protocol")
                if Self.etherTypes[proto] == nil { putHex(" (0x", proto, width: 4, ")") }
            }
            put(" (len ", protoLength, "), ")
        }
        if !isIPv4 || protoLength != 4 || hardwareLength == 0 {
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
        case Operation.request:
            out.put(" who-has ")
            out.ipv4(try p.u32(targetAddress))
            if (0..<hardwareLength).contains(where: { (try? p.u8(targetHardware + $0)) != 0 }) {
                out.put(" (")
                hardwareAddress(p, targetHardware, hardwareLength)
                out.put(")")
            }
            out.put(" tell ")
            out.ipv4(try p.u32(senderAddress))
        case Operation.reply:
            out.put(" ")
            out.ipv4(try p.u32(senderAddress))
            out.put(" is-at ")
            hardwareAddress(p, 8, hardwareLength)
        case Operation.reverseRequest, Operation.inverseRequest:
            out.put(" who-is ")
            hardwareAddress(p, targetHardware, hardwareLength)
            out.put(" tell ")
            hardwareAddress(p, 8, hardwareLength)
        case Operation.reverseReply:
            out.put(" ")
            hardwareAddress(p, targetHardware, hardwareLength)
            out.put(" at ")
            out.ipv4(try p.u32(targetAddress))
        case Operation.inverseReply:
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
