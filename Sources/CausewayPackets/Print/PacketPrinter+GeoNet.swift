/// Prints protocols between vehicles: GeoNetworking with the Basic Transport Protocol (ETSI TS 102 636), and CALM FAST (ISO 29281).
extension PacketPrinter {
    private static let (geoHeader, geoMultiHop, geoTransport) = (36, 32, 4)
    private static let geoNext: [StaticString] = ["Any", "BTP-A", "BTP-B", "IPv6"]
    private static let geoShapes: [StaticString] = ["Circle", "Rect", "Elipse"]

    /// Prints the source, as tcpdump does for both protocols: the source address of the frame.
    private mutating func vehicle(_ name: StaticString, _ frame: borrowing ByteView) throws(WireError) {
        out.put(name)
        out.put(" src:")
        out.mac(try MACAddress(frame, at: 6).bits)
        out.put("; ")
    }

    /// Prints the payload of a frame. Returns whether its type is one of these protocols.
    mutating func vehicular(
        _ type: UInt16, _ p: borrowing ByteView, _ length: Int, _ frame: borrowing ByteView
    ) throws(WireError) -> Bool {
        switch type {
        case 0x1111: try calmFast(p, length, frame)
        case 0x8947: try geoNetworking(p, length, frame)
        default: return false
        }
        return true
    }

    /// Prints CALM FAST.
    private mutating func calmFast(_ p: borrowing ByteView, _ length: Int, _ frame: borrowing ByteView)
        throws(WireError)
    {
        part = "calm fast"
        try vehicle("CALM FAST", frame)
        guard length >= 2 else {
            put(" (length ", length, " < 2)")
            return invalid()
        }
        put("SrcNwref:", try p.u8(0), "; ")
        put("DstNwref:", try p.u8(1), "; ")
        if verbosity > 0 { unknown(p.from(2)) }
    }

    /// Prints the common header. If the message is not addressed to an area, also prints the transport header.
    private mutating func geoNetworking(
        _ p: borrowing ByteView, _ length: Int, _ frame: borrowing ByteView
    ) throws(WireError) {
        part = "geonet"
        try vehicle("GeoNet", frame)
        guard length >= Self.geoHeader else {
            put(" (common header length ", length)
            put(" < ", Self.geoHeader, ")")
            return invalid()
        }
        let (next, kind) = (try p.u8(0) & 15, try p.u8(1))
        put("v:", try p.u8(0) >> 4)
        put(" NH:", next, "-")
        out.put(next < Self.geoNext.count ? Self.geoNext[Int(next)] : "Unknown")
        put(" HT:", kind >> 4)
        put("-", kind & 15, "-")
        geoKind(kind >> 4, kind & 15)
        put(" HopLim:", try p.u8(7))
        put(" Payload:", try p.u16(4))
        out.put(" GN_ADDR:")
        for index in 8..<16 {
            if index > 8 { out.put(":") }
            out.hex(try p.u8(index), width: 2)
        }
        put(" lat:", Int32(bitPattern: try p.u32(20)))
        put(" lon:", Int32(bitPattern: try p.u32(24)))
        try geoContent(p, next, kind)
    }

    private mutating func geoContent(_ p: borrowing ByteView, _ next: UInt8, _ kind: UInt8) throws(WireError) {
        let content: Int
        switch (kind >> 4, kind & 15) {
        case (0, _), (1, _), (5, 0): content = Self.geoHeader
        case (5, 1): content = Self.geoHeader + Self.geoMultiHop
        default: return
        }
        guard next == 1 || next == 2 else {
            if verbosity > 0, p.count > content { unknown(p.from(content)) }
            return
        }
        put("; BTP Dst:", try p.u16(content))
        put(" Src:", try p.u16(content + 2))
        put("; ItsPduHeader v:", try p.u8(content + Self.geoTransport))
        let message = try p.u8(content + Self.geoTransport + 1)
        put(" t:", message, "-")
        switch message {
        case 0: out.put("CAM")
        case 1: out.put("DENM")
        case 106: out.put("ecoCAM")
        default: put("unknown (", message, ")")
        }
        if verbosity > 0 { unknown(p.from(content + Self.geoTransport)) }
    }

    private mutating func geoKind(_ kind: UInt8, _ variant: UInt8) {
        switch (kind, variant) {
        case (0, _): out.put("Any")
        case (1, _): out.put("Beacon")
        case (2, _): out.put("GeoUnicast")
        case (3, 0...2), (4, 0...2):
            out.put(kind == 3 ? "GeoAnycast" : "GeoBroadcast")
            out.put(Self.geoShapes[Int(variant)])
        case (5, 0): out.put("TopoScopeBcast-SH")
        case (5, 1): out.put("TopoScopeBcast-MH")
        case (6, 0): out.put("LocService-Request")
        case (6, 1): out.put("LocService-Reply")
        default: out.put("Unknown")
        }
    }
}
