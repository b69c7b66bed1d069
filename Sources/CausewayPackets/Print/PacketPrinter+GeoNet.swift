/// Prints protocols between vehicles: GeoNetworking with the Basic Transport Protocol (ETSI TS 102 636), and CALM FAST (ISO 29281).
extension PacketPrinter {
    private static let geoHeader = 36
    private static let geoMultiHop = 32
    private static let geoTransport = 4
    private static let geoNext: [StaticString] = ["Any", "BTP-A", "BTP-B", "IPv6"]
    private static let geoShapes: [StaticString] = ["Circle", "Rect", "Elipse"]

    /// EtherTypes for GeoNetworking and CALM FAST (IEEE EtherType registry). Like tcpdump, the printer takes 0x1111 as
    /// CALM FAST.
    private enum VehicularType {
        static let calmFast: UInt16 = 0x1111
        static let geoNetworking: UInt16 = 0x8947
    }

    /// GeoNetworking header types (ETSI TS 102 636-4-1).
    private enum GeoHeaderType {
        static let any: UInt8 = 0
        static let beacon: UInt8 = 1
        static let unicast: UInt8 = 2
        static let anycast: UInt8 = 3
        static let broadcast: UInt8 = 4
        static let topologicallyScoped: UInt8 = 5
        static let locationService: UInt8 = 6
    }

    /// GeoNetworking header subtypes (ETSI TS 102 636-4-1).
    private enum GeoSubtype {
        static let circle: UInt8 = 0
        static let ellipse: UInt8 = 2
        static let singleHop: UInt8 = 0
        static let multiHop: UInt8 = 1
        static let request: UInt8 = 0
        static let reply: UInt8 = 1
    }

    /// Next header values for the Basic Transport Protocol (ETSI TS 102 636-4-1).
    private enum GeoNextHeader {
        static let transportA: UInt8 = 1
        static let transportB: UInt8 = 2
    }

    /// ITS header message types, as tcpdump reads them.
    private enum ITSMessage {
        static let awareness: UInt8 = 0
        static let notification: UInt8 = 1
        static let ecoAwareness: UInt8 = 106
    }

    /// Prints a protocol name, then the frame's source address, as tcpdump does for CALM FAST and GeoNetworking.
    private mutating func vehicle(_ name: StaticString, _ frame: borrowing ByteView) throws(WireError) {
        out.put(name)
        out.put(" src:")
        out.mac(try MACAddress(frame, at: 6).bits)
        out.put("; ")
    }

    /// Prints the payload of a vehicular frame (CALM FAST or GeoNetworking). Returns `false` for any other frame type.
    mutating func vehicular(
        _ type: UInt16, _ p: borrowing ByteView, _ length: Int, _ frame: borrowing ByteView
    ) throws(WireError) -> Bool {
        switch type {
        case VehicularType.calmFast: try calmFast(p, length, frame)
        case VehicularType.geoNetworking: try geoNetworking(p, length, frame)
        default: return false
        }
        return true
    }

    /// Prints a CALM FAST packet.
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
        case (GeoHeaderType.any, _), (GeoHeaderType.beacon, _),
            (GeoHeaderType.topologicallyScoped, GeoSubtype.singleHop):
            content = Self.geoHeader
        case (GeoHeaderType.topologicallyScoped, GeoSubtype.multiHop): content = Self.geoHeader + Self.geoMultiHop
        default: return
        }
        guard next == GeoNextHeader.transportA || next == GeoNextHeader.transportB else {
            if verbosity > 0, p.count > content { unknown(p.from(content)) }
            return
        }
        put("; BTP Dst:", try p.u16(content))
        put(" Src:", try p.u16(content + 2))
        put("; ItsPduHeader v:", try p.u8(content + Self.geoTransport))
        let message = try p.u8(content + Self.geoTransport + 1)
        put(" t:", message, "-")
        switch message {
        case ITSMessage.awareness: out.put("CAM")
        case ITSMessage.notification: out.put("DENM")
        case ITSMessage.ecoAwareness: out.put("ecoCAM")
        default: put("unknown (", message, ")")
        }
        if verbosity > 0 { unknown(p.from(content + Self.geoTransport)) }
    }

    private mutating func geoKind(_ kind: UInt8, _ variant: UInt8) {
        switch (kind, variant) {
        case (GeoHeaderType.any, _): out.put("Any")
        case (GeoHeaderType.beacon, _): out.put("Beacon")
        case (GeoHeaderType.unicast, _): out.put("GeoUnicast")
        case (GeoHeaderType.anycast, GeoSubtype.circle...GeoSubtype.ellipse),
            (GeoHeaderType.broadcast, GeoSubtype.circle...GeoSubtype.ellipse):
            out.put(kind == GeoHeaderType.anycast ? "GeoAnycast" : "GeoBroadcast")
            out.put(Self.geoShapes[Int(variant)])
        case (GeoHeaderType.topologicallyScoped, GeoSubtype.singleHop): out.put("TopoScopeBcast-SH")
        case (GeoHeaderType.topologicallyScoped, GeoSubtype.multiHop): out.put("TopoScopeBcast-MH")
        case (GeoHeaderType.locationService, GeoSubtype.request): out.put("LocService-Request")
        case (GeoHeaderType.locationService, GeoSubtype.reply): out.put("LocService-Reply")
        default: out.put("Unknown")
        }
    }
}
