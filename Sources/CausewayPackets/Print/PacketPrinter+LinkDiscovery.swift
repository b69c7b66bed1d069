/// Prints LLDP, CDP, EAPOL and ATA over Ethernet.
extension PacketPrinter {
    private enum LLDPType {
        static let end: UInt16 = 0
        static let systemName: UInt16 = 5
    }

    /// Prints LLDP (IEEE 802.1AB §8).
    mutating func lldp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "lldp"
        put("LLDP, length ", length)
        var offset = 0
        while offset + 2 <= length {
            let header = try p.u16(offset)
            let (type, size) = (header >> 9, Int(header & 0x1FF))
            offset += 2
            if type == LLDPType.end { return }
            try p.require(size, at: offset)
            if type == LLDPType.systemName {
                out.put(": ")
                visible(p.clamped(offset, offset + size))
            }
            offset += size
        }
    }

    private enum CDPType {
        static let deviceIdentifier: UInt16 = 1
    }

    /// Prints CDP, the Cisco Discovery Protocol.
    mutating func cdp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "cdp"
        put("CDPv", try p.u8(0))
        put(", ttl: ", try p.u8(1), "s")
        var offset = 4
        while offset + 4 <= length {
            let (type, size) = (try p.u16(offset), Int(try p.u16(offset + 2)))
            guard size >= 4 else { return invalid() }
            try p.require(size, at: offset)
            if type == CDPType.deviceIdentifier {
                out.put(", Device-ID '")
                visible(p.clamped(offset + 4, offset + size))
                out.put("'")
            }
            offset += size
        }
    }

    private static let eapolTypes: [UInt8: StaticString] = [
        0: "EAP packet", 1: "EAPOL start", 2: "EAPOL logoff", 3: "EAPOL key", 4: "EAPOL encap ASF alert",
    ]
    private static let eapCodes: [UInt8: StaticString] = [
        1: "Request", 2: "Response", 3: "Success", 4: "Failure", 5: "Initiate", 6: "Finish",
    ]

    /// Prints EAPOL (IEEE 802.1X §11), with EAP inside (RFC 3748 §4).
    mutating func eapol(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "eap"
        let (version, type) = (try p.u8(0), try p.u8(1))
        let size = Int(try p.u16(2))
        out.put(Self.eapolTypes[type] ?? "unknown")
        put(" (", type)
        put(") v", version)
        put(", len ", size)
        guard verbosity > 0, type == 0, size > 0 else { return }
        let code = try p.u8(4)
        out.put(", ")
        out.put(Self.eapCodes[code] ?? "unknown")
        put(" (", code)
        put("), id ", try p.u8(5))
        put(", len ", try p.u16(6))
    }

    private static let aoeVersion: UInt8 = 1

    /// Prints ATA over Ethernet.
    mutating func ataOverEthernet(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "aoe"
        put("AoE length ", length)
        let first = try p.u8(0)
        put(", Ver ", first >> 4)
        out.put(", Flags: [")
        bits(UInt32(first), [(0x08, "Response"), (0x04, "Error")], none: "none")
        out.put("]")
        if first >> 4 != Self.aoeVersion { out.put(" (unknown version)") }
    }
}
