/// Prints logical link control headers (IEEE 802.2).
extension PacketPrinter {
    /// Service access points.
    private enum AccessPoint {
        static let names: [UInt8: StaticString] = [
            0x00: "Null", 0x02: "Global", 0x04: "SNA", LLCAddress.ip: "IP", 0x0E: "ProWay NM",
            LLCAddress.spanningTree: "STP",
            0x4E: "ISO8208 (X.25 over LLC)", 0x7E: "ISO8208 (X.25 over LLC)", 0x80: "XNS", 0x8E: "ProWay ASLM",
            LLCAddress.snap: "SNAP", 0xBC: "VINES", LLCAddress.ipx: "IPX", LLCAddress.netbeui: "NetBeui",
            LLCAddress.iso: "ISO NSAP", 0xFF: "Global",
        ]
    }
    /// The lowest bit of an LLC address. It marks a group in the destination address, and a response in the source
    /// address.
    private static let lowBit: UInt8 = 1
    private enum Control {
        static let unnumbered: UInt8 = 0x03
        static let poll: UInt8 = 0x10
        static let supervisory: UInt8 = 0x01
        static let commands: [UInt8: StaticString] = [
            0x03: "ui", 0x0F: "dm", 0x43: "disc", 0x63: "ua", 0x6F: "sabme", 0x87: "frmr", 0xAF: "xid", 0xE3: "test",
        ]
        static let supervisions: [StaticString] = ["Receiver Ready", "Receiver not Ready", "Reject", "?"]
    }
    private enum Cisco {
        static let organization: UInt32 = 0x00000C
        static let discovery: UInt16 = 0x2000
        static let spanningTree: UInt16 = 0x010B
    }
    private static let bridged: UInt32 = 0x0000F8

    /// Prints an LLC header (IEEE 802.2), with SNAP (RFC 1042).
    mutating func llc(_ p: borrowing ByteView, _ length: Int, _ frame: borrowing ByteView) throws(WireError) {
        part = "llc"
        let (destination, source) = (try p.u8(0), try p.u8(1))
        let control = try p.u8(2)
        let isUnnumbered = control & 3 == 3
        if destination == LLCAddress.iso, source == LLCAddress.iso, control == Control.unnumbered,
            try iso(p.from(3), length - 3)
        {
            return
        }
        if options.showsLink {
            accessPoints(destination, source)
            if isUnnumbered {
                putHex(", ctrl 0x", control, width: 2, ": ")
            } else {
                putHex(", ctrl 0x", UInt16(control) | UInt16(try p.u8(3)) << 8, width: 4, ": ")
            }
        }
        if destination == source, control == Control.unnumbered {
            if destination == LLCAddress.spanningTree { return try spanningTree(p.from(3), length - 3) }
            if destination == LLCAddress.snap, try snap(p.from(3), length - 3) { return }
        }
        if !options.showsLink { try stations(frame, destination, source) }
        try command(p, length, destination, source, control)
        // Print the payload of information and unnumbered frames. Supervisory frames have no payload.
        if isUnnumbered || control & 1 == 0 { unknown(p) }
    }

    private mutating func accessPoints(_ destination: UInt8, _ source: UInt8) {
        out.put("LLC, dsap ")
        accessPoint(destination)
        out.put(destination & Self.lowBit != 0 ? " Group, ssap " : " Individual, ssap ")
        accessPoint(source)
        out.put(source & Self.lowBit != 0 ? " Response" : " Command")
    }

    private mutating func accessPoint(_ point: UInt8) {
        out.put(AccessPoint.names[point & ~Self.lowBit] ?? "Unknown")
        putHex(" (0x", point & ~Self.lowBit, width: 2, ")")
    }

    private mutating func name(ofPoint point: UInt8) {
        if let name = AccessPoint.names[point] { return out.put(name) }
        putHex("Unknown DSAP 0x", point, width: 2)
    }

    /// Prints a frame's hardware addresses and service access points. This is needed if the frame's link header is not
    /// printed.
    private mutating func stations(
        _ frame: borrowing ByteView, _ destination: UInt8, _ source: UInt8
    ) throws(WireError) {
        let (one, other) = (destination & ~Self.lowBit, source & ~Self.lowBit)
        out.mac(try MACAddress(frame, at: 6).bits)
        if one != other {
            out.put(" ")
            name(ofPoint: other)
        }
        out.put(" > ")
        out.mac(try MACAddress(frame, at: 0).bits)
        out.put(" ")
        name(ofPoint: one)
        out.put(" ")
    }

    private mutating func command(
        _ p: borrowing ByteView, _ length: Int, _ destination: UInt8, _ source: UInt8, _ control: UInt8
    ) throws(WireError) {
        if control & 3 == 3 {
            out.put("Unnumbered, ")
            let name = control & ~Control.poll
            if let name = Control.commands[name] { out.put(name) } else { out.hex(name, width: 2) }
            flags(source, isPolled: control & Control.poll != 0)
            return put(", length ", length)
        }
        let second = try p.u8(3)
        if control & 3 == Control.supervisory {
            out.put("Supervisory, ")
            out.put(Control.supervisions[Int(control >> 2 & 3)])
            put(", rcv seq ", second >> 1)
        } else {
            put("Information, send seq ", control >> 1)
            put(", rcv seq ", second >> 1)
        }
        flags(source, isPolled: second & 1 != 0)
        put(", length ", length)
    }

    private mutating func flags(_ source: UInt8, isPolled: Bool) {
        out.put(", Flags [")
        switch (source & Self.lowBit != 0, isPolled) {
        case (false, false): out.put("Command")
        case (false, true): out.put("Poll")
        case (true, false): out.put("Response")
        case (true, true): out.put("Final")
        }
        out.put("]")
    }

    /// Prints a SNAP header. Returns whether the protocol is known.
    private mutating func snap(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Bool {
        let organization = try p.u24(0)
        let type = try p.u16(3)
        if options.showsLink {
            let names: [UInt32: StaticString] = [
                0: "Ethernet", Cisco.organization: "Cisco", Self.bridged: "Cisco bridged",
            ]
            out.put("oui ")
            out.put(names[organization] ?? "Unknown")
            putHex(" (0x", organization, width: 6, "), ")
            out.put(organization == 0 ? "ethertype " : "pid ")
            let ciscos: [UInt16: StaticString] = [Cisco.discovery: "CDP", Cisco.spanningTree: "PVST"]
            let name =
                organization == 0
                ? Self.etherTypes[type] : organization == Cisco.organization ? ciscos[type] : nil
            out.put(name ?? "Unknown")
            putHex(" (0x", type, width: 4, "), ")
            put("length ", length - 5, ": ")
        }
        switch (organization, type) {
        case (0, _), (Self.bridged, _): return try etherType(type, p.from(5), length - 5)
        case (Cisco.organization, Cisco.discovery): try cdp(p.from(5), length - 5)
        case (Cisco.organization, Cisco.spanningTree): try spanningTree(p.from(5), length - 5)
        default: return false
        }
        return true
    }
}
