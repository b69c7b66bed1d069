/// Prints the sFlow header, version 5 (sflow.org, sFlow Version 5).
extension PacketPrinter {
    private enum SFlowAgent {
        static let ipv4: UInt32 = 1
    }
    private static let sFlowVersion: UInt32 = 5
    private static let sFlowShortest = 28

    mutating func sFlow(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "sflow"
        let version = try p.u32(0)
        guard version == Self.sFlowVersion else {
            put("sFlow version ", version)
            return out.put(" packet not supported")
        }
        out.put("sFlowv5")
        guard length >= Self.sFlowShortest else { return broken("length", length, "<", Self.sFlowShortest) }
        var offset = 8
        if try p.u32(4) == SFlowAgent.ipv4 {
            out.put(", IPv4 agent ")
            out.ipv4(try p.u32(offset))
            offset += 4
        } else {
            out.put(", IPv6 agent ")
            out.ipv6(high: try p.u64(offset), low: try p.u64(offset + 8))
            offset += 16
        }
        put(", agent-id ", try p.u32(offset))
        if verbosity > 0 {
            put(", seqnum ", try p.u32(offset + 4))
            put(", uptime ", try p.u32(offset + 8))
            put(", samples ", try p.u32(offset + 12))
        }
        put(", length ", length)
    }
}
