/// Prints IPv6 mobility headers (RFC 6275 §6.1).
extension PacketPrinter {
    /// Message types (IANA registry "Mobility Header Types").
    private enum MobilityType {
        static let bindingRefreshRequest: UInt8 = 0
        static let homeTestInit: UInt8 = 1
        static let careOfTestInit: UInt8 = 2
        static let homeTest: UInt8 = 3
        static let careOfTest: UInt8 = 4
        static let bindingUpdate: UInt8 = 5
        static let bindingAcknowledgement: UInt8 = 6
        static let bindingError: UInt8 = 7
    }

    /// Option types (IANA registry "Mobility Options").
    private enum MobilityOption {
        static let pad1: UInt8 = 0
        static let padN: UInt8 = 1
        static let bindingRefreshAdvice: UInt8 = 2
        static let alternateCareOfAddress: UInt8 = 3
        static let nonceIndices: UInt8 = 4
        static let authorizationData: UInt8 = 5
    }

    mutating func mobility(_ p: borrowing ByteView, _ offset: Int, _ total: Int) throws(WireError) {
        part = "mobility"
        let proto = try p.u8(offset)
        let size = (Int(try p.u8(offset + 1)) + 1) * 8
        out.put("mobility: ")
        if proto != IPProtocolNumber.noNextHeader.rawValue {
            put("(payload protocol ", proto)
            out.put(" should be 59) ")
        }
        let type = try p.u8(offset + 2)
        let minimum: [UInt8: Int] = [
            MobilityType.bindingRefreshRequest: 8, MobilityType.homeTestInit: 16, MobilityType.careOfTestInit: 16,
            MobilityType.homeTest: 24, MobilityType.careOfTest: 24, MobilityType.bindingUpdate: 12,
            MobilityType.bindingAcknowledgement: 12, MobilityType.bindingError: 24,
        ]
        let names: [UInt8: StaticString] = [
            0: "BRR", 1: "HoTI", 2: "CoTI", 3: "HoT", 4: "CoT", 5: "BU", 6: "BA", 7: "BE",
        ]
        guard let name = names[type], let header = minimum[type] else {
            put("type-#", type)
            return put(" len=", try p.u8(offset + 1))
        }
        out.put(name)
        let isAcknowledgement = type == MobilityType.bindingAcknowledgement
        let needed = isAcknowledgement ? 16 : header
        if size < needed, isAcknowledgement || type == MobilityType.bindingUpdate {
            put(" (header length ", size)
            put(" < ", needed, ")")
            return invalid()
        }
        switch type {
        case MobilityType.homeTestInit, MobilityType.careOfTestInit:
            let isHome = type == MobilityType.homeTestInit
            if verbosity > 0 {
                try cookie(isHome ? " Home Init Cookie=" : " Care-of Init Cookie=", p, offset + 8)
            }
        case MobilityType.homeTest, MobilityType.careOfTest:
            let isHome = type == MobilityType.homeTest
            putHex(" nonce id=0x", try p.u16(offset + 6))
            if verbosity > 0 {
                try cookie(isHome ? " Home Init Cookie=" : " Care-of Init Cookie=", p, offset + 8)
                try cookie(isHome ? " Home Keygen Token=" : " Care-of Keygen Token=", p, offset + 16)
            }
        case MobilityType.bindingUpdate: try bindingUpdate(p, offset)
        case MobilityType.bindingAcknowledgement:
            put(" status=", try p.u8(offset + 6))
            if try p.u8(offset + 7) & 0x80 != 0 { out.put(" K") }
            put(" seq#=", try p.u16(offset + 8))
            put(" lifetime=", UInt32(try p.u16(offset + 10)) << 2)
        case MobilityType.bindingError:
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
            if type == MobilityOption.pad1 {
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
            case MobilityOption.padN: out.put("(padn)")
            case MobilityOption.bindingRefreshAdvice:
                out.put("(refresh: ")
                put("", UInt32(try p.u16(offset + 2)) << 2, ")")
            case MobilityOption.alternateCareOfAddress:
                out.put("(alt-CoA: ")
                out.ipv6(high: try p.u64(offset + 2), low: try p.u64(offset + 10))
                out.put(")")
            case MobilityOption.nonceIndices:
                out.put("(ni: ")
                try p.require(4, at: offset + 2)
                putHex("ho=0x", try p.u16(offset + 2), width: 4)
                putHex(" co=0x", try p.u16(offset + 4), width: 4, ")")
            case MobilityOption.authorizationData: out.put("(auth)")
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
