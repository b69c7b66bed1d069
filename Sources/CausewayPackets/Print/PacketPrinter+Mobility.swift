/// Prints mobility headers of IPv6 (RFC 6275 §6.1).
extension PacketPrinter {
    mutating func mobility(_ p: borrowing ByteView, _ offset: Int, _ total: Int) throws(WireError) {
        part = "mobility"
        let proto = try p.u8(offset)
        let size = (Int(try p.u8(offset + 1)) + 1) * 8
        out.put("mobility: ")
        if proto != 59 {
            put("(payload protocol ", proto)
            out.put(" should be 59) ")
        }
        let type = try p.u8(offset + 2)
        let minimum: [UInt8: Int] = [0: 8, 1: 16, 2: 16, 3: 24, 4: 24, 5: 12, 6: 12, 7: 24]
        let names: [UInt8: StaticString] = [
            0: "BRR", 1: "HoTI", 2: "CoTI", 3: "HoT", 4: "CoT", 5: "BU", 6: "BA", 7: "BE",
        ]
        guard let name = names[type], let header = minimum[type] else {
            put("type-#", type)
            return put(" len=", try p.u8(offset + 1))
        }
        out.put(name)
        let needed = type == 6 ? 16 : header
        if size < needed, type == 6 || type == 5 {
            put(" (header length ", size)
            put(" < ", needed, ")")
            return invalid()
        }
        switch type {
        case 1, 2:
            if verbosity > 0 {
                try cookie(type == 1 ? " Home Init Cookie=" : " Care-of Init Cookie=", p, offset + 8)
            }
        case 3, 4:
            putHex(" nonce id=0x", try p.u16(offset + 6))
            if verbosity > 0 {
                try cookie(type == 3 ? " Home Init Cookie=" : " Care-of Init Cookie=", p, offset + 8)
                try cookie(type == 3 ? " Home Keygen Token=" : " Care-of Keygen Token=", p, offset + 16)
            }
        case 5: try bindingUpdate(p, offset)
        case 6:
            put(" status=", try p.u8(offset + 6))
            if try p.u8(offset + 7) & 0x80 != 0 { out.put(" K") }
            put(" seq#=", try p.u16(offset + 8))
            put(" lifetime=", UInt32(try p.u16(offset + 10)) << 2)
        case 7:
            put(" status=", try p.u8(offset + 6))
            out.put(" homeaddr ")
            out.ipv6(high: try p.u64(offset + 8), low: try p.u64(offset + 16))
        default: break
        }
        if verbosity > 0 { try mobilityOptions(p, offset + header, offset + size) }
    }

    private mutating func cookie(_ name: StaticString, _ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        try p.require(8, at: offset)
        out.put(name)
        out.hex(try p.u32(offset), width: 8)
        out.put(":")
        out.hex(try p.u32(offset + 4), width: 8)
    }

    private mutating func bindingUpdate(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        put(" seq#=", try p.u16(offset + 6))
        let flags = try p.u16(offset + 8)
        if flags & 0xF000 != 0 { out.put(" ") }
        if flags & 0x8000 != 0 { out.put("A") }
        if flags & 0x4000 != 0 { out.put("H") }
        if flags & 0x2000 != 0 { out.put("L") }
        if flags & 0x1000 != 0 { out.put("K") }
        put(" lifetime=", UInt32(try p.u16(offset + 10)) << 2)
    }

    private mutating func mobilityOptions(_ p: borrowing ByteView, _ start: Int, _ end: Int) throws(WireError) {
        var offset = start
        while offset < end {
            let type = try p.u8(offset)
            if type == 0 {
                out.put("(pad1)")
                offset += 1
                continue
            }
            guard offset + 1 < end else { throw .truncated(needed: 2, available: 1, at: offset) }
            let length = Int(try p.u8(offset + 1))
            guard offset + 2 + length <= end else {
                unknownMobility(type, length)
                throw .invalid("option length", at: offset + 1)
            }
            switch type {
            case 1: out.put("(padn)")
            case 2:
                out.put("(refresh: ")
                put("", UInt32(try p.u16(offset + 2)) << 2, ")")
            case 3:
                out.put("(alt-CoA: ")
                out.ipv6(high: try p.u64(offset + 2), low: try p.u64(offset + 10))
                out.put(")")
            case 4:
                out.put("(ni: ")
                try p.require(4, at: offset + 2)
                putHex("ho=0x", try p.u16(offset + 2), width: 4)
                putHex(" co=0x", try p.u16(offset + 4), width: 4, ")")
            case 5: out.put("(auth)")
            default: unknownMobility(type, length)
            }
            offset += 2 + length
        }
    }

    private mutating func unknownMobility(_ type: UInt8, _ length: Int) {
        put("(unknown: type-#", type)
        put(" len=", length, ")")
    }
}
