/// Prints OpenFlow message headers, versions 1.0 and 1.3 (OpenFlow Switch Specification).
extension PacketPrinter {
    private static let openFlowHeader = 8

    private static let openFlowVersions: [UInt8: StaticString] = [
        1: "1.0", 2: "1.1", 3: "1.2", 4: "1.3", 5: "1.4", 6: "1.5",
    ]
    private static let openFlowCommon: [StaticString] = [
        "HELLO", "ERROR", "ECHO_REQUEST", "ECHO_REPLY", "EXPERIMENTER", "FEATURES_REQUEST", "FEATURES_REPLY",
        "GET_CONFIG_REQUEST", "GET_CONFIG_REPLY", "SET_CONFIG", "PACKET_IN", "FLOW_REMOVED", "PORT_STATUS",
        "PACKET_OUT", "FLOW_MOD",
    ]
    private static let openFlowOne: [StaticString] = [
        "PORT_MOD", "STATS_REQUEST", "STATS_REPLY", "BARRIER_REQUEST", "BARRIER_REPLY", "QUEUE_GET_CONFIG_REQUEST",
        "QUEUE_GET_CONFIG_REPLY",
    ]
    private static let openFlowThree: [StaticString] = [
        "GROUP_MOD", "PORT_MOD", "TABLE_MOD", "MULTIPART_REQUEST", "MULTIPART_REPLY", "BARRIER_REQUEST",
        "BARRIER_REPLY", "QUEUE_GET_CONFIG_REQUEST", "QUEUE_GET_CONFIG_REPLY", "ROLE_REQUEST", "ROLE_REPLY",
        "GET_ASYNC_REQUEST", "GET_ASYNC_REPLY", "SET_ASYNC", "METER_MOD",
    ]

    /// Prints the OpenFlow messages that begin in a TCP segment, one line each.
    mutating func openFlow(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "openflow"
        out.put(": OpenFlow")
        var offset = 0
        while offset < length {
            guard let size = try openFlowMessage(p, offset, length - offset) else { return }
            offset += size
        }
    }

    /// Prints a message header. Returns the message's length; `nil` if the header states a wrong length or is cut off
    /// at the segment's end.
    private mutating func openFlowMessage(
        _ p: borrowing ByteView, _ offset: Int, _ rest: Int
    ) throws(WireError) -> Int? {
        let version = try p.u8(offset)
        out.put("\n\tversion ")
        if let name = Self.openFlowVersions[version] {
            out.put(name)
        } else {
            putHex("unknown (0x", version, width: 2, ")")
        }
        guard rest >= 2 else { return openFlowEnd() }
        openFlowType(try p.u8(offset + 1), version)
        guard rest >= 4 else { return openFlowEnd() }
        let size = Int(try p.u16(offset + 2))
        put(", length ", size)
        if size < Self.openFlowHeader { out.put(" (too short!)") }
        guard rest >= Self.openFlowHeader else { return openFlowEnd() }
        putHex(", xid 0x", try p.u32(offset + 4), width: 8)
        guard size >= Self.openFlowHeader else {
            invalid()
            return nil
        }
        try p.require(size, at: offset)
        return size
    }

    private mutating func openFlowEnd() -> Int? {
        out.put(" (end of TCP payload)")
        return nil
    }

    private mutating func openFlowType(_ type: UInt8, _ version: UInt8) {
        let later = version == 1 ? Self.openFlowOne : Self.openFlowThree
        let number = Int(type)
        out.put(", type ")
        if version != 1, version != 4 {
            putHex("unknown (0x", type, width: 2, ")")
        } else if version == 1, type == 4 {
            out.put("VENDOR")
        } else if number < Self.openFlowCommon.count {
            out.put(Self.openFlowCommon[number])
        } else if number - Self.openFlowCommon.count < later.count {
            out.put(later[number - Self.openFlowCommon.count])
        } else {
            putHex("unknown (0x", type, width: 2, ")")
        }
    }
}
