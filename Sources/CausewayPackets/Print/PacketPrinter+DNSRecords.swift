import CausewayWire

/// DNS record types that only the packet printer needs (IANA registry "Resource Record (RR) TYPEs").
extension DNSRecordType {
    fileprivate static var mailbox: DNSRecordType { DNSRecordType(rawValue: 7) }
    fileprivate static var mailGroup: DNSRecordType { DNSRecordType(rawValue: 8) }
    fileprivate static var mailRename: DNSRecordType { DNSRecordType(rawValue: 9) }
    fileprivate static var spf: DNSRecordType { DNSRecordType(rawValue: 99) }
    fileprivate static var uri: DNSRecordType { DNSRecordType(rawValue: 256) }
}

/// Prints DNS record data.
extension PacketPrinter {
    /// EDNS options (IANA registry "DNS EDNS0 Option Codes (OPT)").
    private enum EDNSOption {
        static let authenticationAlgorithms: UInt16 = 5
        static let hashAlgorithms: UInt16 = 6
        static let nsec3HashAlgorithms: UInt16 = 7
        static let clientSubnet: UInt16 = 8
        static let expire: UInt16 = 9
        static let keepAlive: UInt16 = 11
        static let padding: UInt16 = 12
    }

    mutating func recordData(
        _ type: UInt16, _ p: borrowing ByteView, _ start: Int, _ end: Int, _ recordClass: UInt16, _ ttl: UInt32
    ) throws(WireError) {
        switch DNSRecordType(rawValue: type) {
        case .a:
            out.put(" ")
            out.ipv4(try p.u32(start))
        case .ns, .cname, .ptr, .dname, .mailbox, .mailGroup, .mailRename: try nameOrEnd(p, start)
        case .soa where verbosity > 0:
            try nameOrEnd(p, start)
            let next = try skipName(p, start)
            try nameOrEnd(p, next)
            let numbers = try skipName(p, next)
            for index in 0..<5 { put(" ", try p.u32(numbers + index * 4)) }
        case .mx:
            try nameOrEnd(p, start + 2)
            put(" ", try p.u16(start))
        case .txt, .spf:
            var offset = start
            while offset < end {
                out.put(" \"")
                let length = Int(try p.u8(offset))
                try p.require(length, at: offset + 1)
                visible(p.clamped(offset + 1, offset + 1 + length))
                out.put("\"")
                offset += 1 + length
            }
        case .srv:
            try nameOrEnd(p, start + 6)
            put(":", try p.u16(start + 4))
            put(" ", try p.u16(start))
            put(" ", try p.u16(start + 2))
        case .aaaa:
            out.put(" ")
            out.ipv6(high: try p.u64(start), low: try p.u64(start + 8))
        case .opt:
            put(" UDPsize=", recordClass)
            if ttl & 0x8000 != 0 { out.put(" DO") }
            if start < end { try extensionOptions(p, start, end) }
        case .uri:
            put(" ", try p.u16(start))
            put(" ", try p.u16(start + 2), " \"")
            visible(p.clamped(start + 4, end))
            out.put("\"")
        default: break
        }
    }

    /// Prints EDNS options (RFC 6891 §6.1.2).
    private mutating func extensionOptions(_ p: borrowing ByteView, _ start: Int, _ end: Int) throws(WireError) {
        let names: [UInt16: StaticString] = [
            1: "LLQ", 2: "UL", 3: "NSID", 5: "DAU", 6: "DHU", 7: "N3U", 8: "ECS", 9: "EXPIRE", 10: "COOKIE",
            11: "KEEPALIVE",
            12: "PADDING", 13: "CHAIN", 14: "KEY-TAG", 16: "CLIENT-TAG", 17: "SERVER-TAG", 15: "EDE",
        ]
        out.put(" [")
        var offset = start
        while offset < end {
            let code = try p.u16(offset)
            let length = Int(try p.u16(offset + 2))
            offset += 4
            if let name = names[code] { out.put(name) } else { put("Opt", code) }
            guard offset + length <= end else { throw .invalid("option length", at: offset - 2) }
            switch code {
            case EDNSOption.clientSubnet where length >= 4:
                let family = try p.u16(offset)
                out.put(" ")
                subnet(p.clamped(offset + 4, offset + length), isIPv6: family == AddressFamilyNumber.ipv6)
                put("/", try p.u8(offset + 2))
                put("/", try p.u8(offset + 3))
            case EDNSOption.expire where length == 4: put(" ", try p.u32(offset), " sec")
            case EDNSOption.keepAlive where length == 2:
                put(" ", try p.u16(offset) / 10)
                put(".", try p.u16(offset) % 10, " sec")
            case EDNSOption.padding: put(" (", length, ")")
            case EDNSOption.authenticationAlgorithms, EDNSOption.hashAlgorithms, EDNSOption.nsec3HashAlgorithms:
                for index in 0..<length { put(" ", try p.u8(offset + index)) }
            default:
                if length > 0 { out.put(" ") }
                for index in 0..<length { out.hex(try p.u8(offset + index), width: 2) }
            }
            offset += length
            if offset < end { out.put(",") }
        }
        out.put("]")
    }

    private mutating func subnet(_ p: borrowing ByteView, isIPv6: Bool) {
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<min(p.count, 16) {
            if index < 8 {
                halves.0 |= UInt64(p[index]) << UInt64(56 - 8 * index)
            } else {
                halves.1 |= UInt64(p[index]) << UInt64(120 - 8 * index)
            }
        }
        if isIPv6 { out.ipv6(high: halves.0, low: halves.1) } else { out.ipv4(UInt32(halves.0 >> 32)) }
    }
}
