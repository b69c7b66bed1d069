/// Prints IPv6 routing headers.
extension PacketPrinter {
    /// Routing types (IANA registry "Routing Types").
    private enum RoutingType {
        static let sourceRoute: UInt8 = 0
        static let type2: UInt8 = 2
        static let segmentRouting: UInt8 = 4
    }

    /// Prints a routing header (RFC 8200 §4.4, RFC 8754).
    mutating func routing(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        part = "rt6"
        out.put("RT6")
        let length = Int(try p.u8(offset + 1))
        let type = try p.u8(offset + 2)
        try p.require(4, at: offset)
        put(" (len=", length)
        put(", type=", type)
        if type == RoutingType.sourceRoute { out.put(" [Deprecated]") }
        put(", segleft=", try p.u8(offset + 3))
        switch type {
        case RoutingType.sourceRoute, RoutingType.type2:
            let reserved = try p.u32(offset + 4)
            if reserved != 0 || verbosity > 1 { putHex(", rsv=0x", reserved) }
            guard length % 2 == 0 else {
                put(" [length ", length)
                out.put(" (not even)]")
                return invalid()
            }
            for index in 0..<length / 2 {
                put(", [", index, "]")
                out.ipv6(high: try p.u64(offset + 8 + index * 16), low: try p.u64(offset + 16 + index * 16))
            }
            out.put(") ")
        case RoutingType.segmentRouting: try segments(p, offset, length)
        default: put(" (unknown type ", type, ")) ")
        }
    }

    /// TLV types in the segment routing header (RFC 8754 §2.1).
    private enum SegmentTLV {
        static let pad1: UInt8 = 0
        static let padN: UInt8 = 4
        static let hmac: UInt8 = 5
    }

    private mutating func segments(_ p: borrowing ByteView, _ offset: Int, _ length: Int) throws(WireError) {
        part = "srh"
        let last = Int(try p.u8(offset + 4))
        put(", last-entry=", last)
        let flags = try p.u8(offset + 5)
        if flags != 0 || verbosity > 0 { putHex(", flags=0x", flags) }
        putHex(", tag=", try p.u16(offset + 6))
        let end = offset + (length + 1) * 8
        var place = offset + 8
        for index in 0...last {
            guard place + 16 <= end else { break }
            put(", [", index, "]")
            out.ipv6(high: try p.u64(place), low: try p.u64(place + 8))
            place += 16
        }
        while place < end {
            let type = try p.u8(place)
            let names: [UInt8: StaticString] = [
                SegmentTLV.pad1: "Pad1", SegmentTLV.padN: "PadN", SegmentTLV.hmac: "HMAC",
            ]
            out.put(", TLV-type=")
            out.put(names[type] ?? "Unknown")
            put("(", type, ")")
            place += 1
            if type == SegmentTLV.pad1 { continue }
            let size = Int(try p.u8(place))
            put(", TLV-len=", size)
            place += 1
            if type == SegmentTLV.hmac, size >= 6 {
                put(", D=", try p.u8(place) >> 7)
                putHex(", HMAC-key-ID=0x", try p.u32(place + 2), width: 8, ", HMAC=0x")
                for index in 0..<size {
                    guard place + 6 + index < end else { break }
                    out.hex(try p.u8(place + 6 + index), width: 2)
                }
                place += 6 + size
                continue
            }
            try p.require(size, at: place)
            place += size
        }
        out.put(") ")
    }
}
