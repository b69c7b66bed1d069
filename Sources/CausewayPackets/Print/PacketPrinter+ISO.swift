/// Prints the ISO network layer, which today mostly carries IS-IS (ISO 10589 §9, RFC 1195 §5).
extension PacketPrinter {
    private enum Kind {
        static let lanHello1: UInt8 = 15
        static let lanHello2: UInt8 = 16
        static let pointHello: UInt8 = 17
        static let links1: UInt8 = 18
        static let links2: UInt8 = 20
        static let complete1: UInt8 = 24
        static let complete2: UInt8 = 25
        static let partial1: UInt8 = 26
        static let partial2: UInt8 = 27
        static let names: [UInt8: StaticString] = [
            lanHello1: "L1 Lan IIH", lanHello2: "L2 Lan IIH", pointHello: "p2p IIH", links1: "L1 LSP",
            links2: "L2 LSP", complete1: "L1 CSNP", complete2: "L2 CSNP", partial1: "L1 PSNP", partial2: "L2 PSNP",
        ]
    }
    private static let isis: UInt8 = 0x83
    private static let system = 6
    private static let node = 7
    private static let links = 8

    /// Prints an ISO network layer packet. Returns whether the protocol is supported.
    mutating func iso(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Bool {
        guard try p.u8(0) == Self.isis else { return false }
        part = "isis"
        let (version, idLength) = (try p.u8(2), try p.u8(3))
        let (kind, secondVersion) = (try p.u8(4) & 0x1F, try p.u8(5))
        if options.showsLink { putHex("OSI NLPID ISIS (0x", Self.isis, width: 2, "): ") }
        out.put("IS-IS")
        guard version == 1 else { return told { $0.put(", version ", version, " packet not supported") } }
        guard idLength == 0 || idLength == 6 else {
            return told { $0.put(", system ID length of ", idLength, " is not supported") }
        }
        guard secondVersion == 1 else { return told { $0.put(", version ", secondVersion, " packet not supported") } }
        out.put(", ")
        guard let name = Kind.names[kind] else {
            return told { $0.put("PDU type ", kind, " packet not supported") }
        }
        out.put(name)
        try details(p, kind)
        put(", length ", length)
        return true
    }

    private mutating func told(_ body: (inout PacketPrinter) -> Void) -> Bool {
        body(&self)
        return true
    }

    private mutating func details(_ p: borrowing ByteView, _ kind: UInt8) throws(WireError) {
        switch kind {
        case Kind.lanHello1, Kind.lanHello2:
            out.put(", src-id ")
            try identifier(p, 9, Self.system)
            out.put(", lan-id ")
            try identifier(p, 20, Self.node)
            put(", prio ", try p.u8(19) & 0x7F)
        case Kind.pointHello:
            out.put(", src-id ")
            try identifier(p, 9, Self.system)
        case Kind.links1, Kind.links2:
            out.put(", lsp-id ")
            try identifier(p, 12, Self.links)
            putHex(", seq 0x", try p.u32(20), width: 8)
            out.put(", lifetime ")
            out.decimal(try p.u16(10), width: 5)
            out.put("s")
        default:
            out.put(", src-id ")
            try identifier(p, 10, Self.node)
        }
    }

    /// Prints a system identifier.
    ///
    /// If `count` is `node` or `links`, the pseudonode number follows. If `count` is `links`, the fragment number
    /// follows too.
    private mutating func identifier(_ p: borrowing ByteView, _ offset: Int, _ count: Int) throws(WireError) {
        for index in 0..<3 {
            if index > 0 { out.put(".") }
            out.hex(try p.u16(offset + 2 * index), width: 4)
        }
        if count > Self.system { putHex(".", try p.u8(offset + 6), width: 2) }
        if count > Self.node { putHex("-", try p.u8(offset + 7), width: 2) }
    }
}
