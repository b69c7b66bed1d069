/// Prints the bridge spanning tree protocols (IEEE 802.1D §9).
extension PacketPrinter {
    private enum Version {
        static let plain: UInt8 = 0
        static let rapid: UInt8 = 2
        static let multiple: UInt8 = 3
        static let shortestPath: UInt8 = 4
        static let names: [UInt8: StaticString] = [
            plain: "802.1d", rapid: "802.1w", multiple: "802.1s", shortestPath: "802.1aq",
        ]
    }
    private enum Kind {
        static let configuration: UInt8 = 0
        static let rapid: UInt8 = 2
        static let topologyChange: UInt8 = 0x80
        static let names: [UInt8: StaticString] = [
            configuration: "Config", rapid: "Rapid STP", topologyChange: "Topology Change",
        ]
    }
    /// Rapid spanning tree message length in bytes. A configuration message has one byte less.
    private static let rapidLength = 36
    private static let multipleLength = 105
    private static let minimumTreesLength = 53

    mutating func spanningTree(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "stp"
        guard length >= 4 else { return invalidTree() }
        guard try p.u16(0) == 0 else { return put("unknown STP version, length ", length) }
        let (version, kind) = (try p.u8(2), try p.u8(3))
        out.put("STP ")
        guard let name = Version.names[version] else {
            putHex("Unknown STP protocol (0x", version, width: 2, ")")
            return
        }
        out.put(name)
        out.put(", ")
        if let name = Kind.names[kind] { out.put(name) } else { putHex("Unknown BPDU Type (0x", kind, width: 2, ")") }
        switch (kind, version) {
        case (Kind.configuration, _):
            guard length >= Self.rapidLength - 1 else { return invalidTree() }
            try configuration(p, length, isRapid: version == Version.rapid)
        case (Kind.rapid, Version.rapid):
            guard length >= Self.rapidLength else { return invalidTree() }
            try configuration(p, length, isRapid: true)
        case (Kind.rapid, Version.multiple), (Kind.rapid, Version.shortestPath):
            try multiple(p, length, version)
        default: break
        }
    }

    private mutating func invalidTree() { out.put(" (invalid)") }

    private mutating func treeFlags(_ flags: UInt8) {
        let names: [(UInt32, StaticString)] = [
            (0x01, "Topology change"), (0x02, "Proposal"), (0x10, "Learn"), (0x20, "Forward"), (0x40, "Agreement"),
            (0x80, "Topology change ACK"),
        ]
        bits(UInt32(flags), names, none: "none")
    }

    /// Prints a bridge identifier: priority and hardware address.
    private mutating func bridge(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        out.hex(try p.u16(offset), width: 4)
        out.put(".")
        out.mac(try MACAddress(p, at: offset + 2).bits)
    }

    private mutating func configuration(_ p: borrowing ByteView, _ length: Int, isRapid: Bool) throws(WireError) {
        let flags = try p.u8(4)
        out.put(", Flags [")
        treeFlags(flags)
        out.put("], bridge-id ")
        try bridge(p, 17)
        putHex(".", try p.u16(25), width: 4)
        put(", length ", length)
        guard verbosity > 0 else { return }
        out.put("\n\tmessage-age ")
        for (offset, next) in [
            (27, ", max-age "), (29, ", hello-time "), (31, ", forwarding-delay "), (33, "\n\troot-id "),
        ]
            as [(Int, StaticString)]
        {
            seconds(try p.u16(offset))
            out.put(next)
        }
        try bridge(p, 5)
        put(", root-pathcost ", try p.u32(13))
        guard isRapid else { return }
        let roles: [StaticString] = ["Unknown", "Alternate", "Root", "Designated"]
        out.put(", port-role ")
        out.put(roles[Int(flags >> 2 & 3)])
    }

    /// Prints a time in units of 1/256 s as seconds with two decimals.
    private mutating func seconds(_ time: UInt16) {
        let hundredths = (Int(time) * 100 + 128) / 256
        put("", hundredths / 100, ".")
        out.decimal(hundredths % 100, width: 2, padding: 0x30)
        out.put("s")
    }

    /// Prints multiple spanning trees (IEEE 802.1Q §14) and shortest path trees.
    private mutating func multiple(_ p: borrowing ByteView, _ length: Int, _ version: UInt8) throws(WireError) {
        guard length >= Self.multipleLength, try p.u8(35) == 0 else { return invalidTree() }
        let trees = Int(try p.u16(Self.rapidLength)) + 2
        guard length >= Self.rapidLength + trees else { return invalidTree() }
        out.put(", CIST Flags [")
        treeFlags(try p.u8(4))
        put("], length ", length)
        guard version == Version.shortestPath else { return }
        let paths = Int(try p.u16(Self.rapidLength + trees)) + 2
        if length < Self.rapidLength + trees + paths || paths < Self.minimumTreesLength { invalidTree() }
    }
}
