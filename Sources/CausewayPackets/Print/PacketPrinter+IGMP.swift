/// Prints IGMP: multicast group membership (RFC 3376).
extension PacketPrinter {
    /// Message types (IANA registry "IGMP Type Numbers").
    private enum IGMPType {
        static let membershipQuery: UInt8 = 0x11
        static let report1: UInt8 = 0x12
        static let dvmrp: UInt8 = 0x13
        static let pim1: UInt8 = 0x14
        static let report2: UInt8 = 0x16
        static let leaveGroup: UInt8 = 0x17
        static let tracerouteResponse: UInt8 = 0x1E
        static let traceroute: UInt8 = 0x1F
        static let report3: UInt8 = 0x22
    }

    /// The default maximum response time, in tenths of a second (RFC 3376 §8.3).
    private static let defaultResponseTime: UInt8 = 100

    /// Prints an IGMP message (RFC 1112, RFC 2236, RFC 3376).
    mutating func igmp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "igmp"
        if options.isQuiet { return out.put("igmp") }
        let type = try p.u8(0)
        switch type {
        case IGMPType.membershipQuery: try membershipQuery(p, length)
        case IGMPType.report1, IGMPType.report2, IGMPType.leaveGroup:
            let isFirst = type == IGMPType.report1
            out.put(isFirst ? "igmp v1 report " : type == IGMPType.report2 ? "igmp v2 report " : "igmp leave ")
            out.ipv4(try p.u32(4))
            if length != 8, type != IGMPType.leaveGroup { put(" [len ", length, "]") }
        case IGMPType.report3:
            out.put("igmp v3 report")
            try membershipReport(p, length)
        case IGMPType.dvmrp: out.put("igmp dvmrp")
        case IGMPType.pim1: out.put("igmp pimv1")
        case IGMPType.traceroute, IGMPType.tracerouteResponse:
            put(type == IGMPType.traceroute ? "mtrace " : "mresp ", try p.u32(20) & 0xFF_FFFF, ": ")
            out.ipv4(try p.u32(8))
            out.put(" to ")
            out.ipv4(try p.u32(12))
            out.put(" reply-to ")
            out.ipv4(try p.u32(16))
            let responseLimit = try p.u8(20)
            if InternetChecksum.isGroup(try p.u32(16)) { put(" with-ttl ", responseLimit) }
        default: put("igmp-", type)
        }
        if verbosity > 0, p.holds(length, at: 0) {
            if InternetChecksum.of(p.prefix(length)) != 0 { putHex(" bad igmp cksum ", try p.u16(2), "!") }
        }
    }

    private mutating func membershipQuery(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        out.put("igmp query v")
        let code = try p.u8(1)
        let group = try p.u32(4)
        guard length < 12 else { return try query3(p, length, code, group) }
        if code != 0 {
            out.put("2")
            if code != Self.defaultResponseTime { put(" [max resp time ", code, "]") }
        } else {
            out.put("1")
        }
        if group != 0 {
            out.put(" [gaddr ")
            out.ipv4(group)
            out.put("]")
        }
        if length != 8 { put(" [len ", length, "]") }
    }

    private mutating func query3(
        _ p: borrowing ByteView, _ length: Int, _ code: UInt8, _ group: UInt32
    ) throws(WireError) {
        out.put("3")
        if length & 3 != 0 { return put(" [invalid len ", length, "]") }
        if code != Self.defaultResponseTime {
            let tenths = code < 128 ? UInt32(code) : UInt32(code & 15 | 16) << (UInt32(code & 0x70) >> 4 + 3)
            out.put(" [max resp time ")
            if tenths < 600 {
                put("", tenths / 10, ".")
                put("", tenths % 10, "s")
            } else {
                put("", tenths / 600, "m")
                if tenths % 600 != 0 {
                    put("", tenths % 600 / 10, ".")
                    put("", tenths % 600 % 10, "s")
                }
            }
            out.put("]")
        }
        guard group != 0 else { return }
        out.put(" [gaddr ")
        out.ipv4(group)
        let sources = Int(try p.u16(10))
        if sources > 0 {
            if length < 12 + sources * 4 {
                put(" [invalid number of sources ", sources, "]")
            } else if verbosity > 1 {
                out.put(" {")
                for index in 0..<sources {
                    out.put(" ")
                    out.ipv4(try p.u32(12 + index * 4))
                }
                out.put(" }")
            } else {
                put(", ", sources, " source(s)")
            }
        }
        out.put("]")
    }

    private mutating func membershipReport(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        guard length >= 16, length & 3 == 0 else { return put(" [invalid len ", length, "]") }
        let groups = Int(try p.u16(6))
        put(", ", groups, " group record(s)")
        guard verbosity > 0 else { return }
        let names: [StaticString] = ["", "is_in", "is_ex", "to_in", "to_ex", "allow", "block"]
        var offset = 8
        for _ in 0..<groups {
            guard length >= offset + 8 else { return out.put(" [invalid number of groups]") }
            out.put(" [gaddr ")
            out.ipv4(try p.u32(offset + 4))
            let type = try p.u8(offset)
            out.put(" ")
            if type > 0, type < names.count { out.put(names[Int(type)]) } else { put(" [v3-report-#", type, "]") }
            let sources = Int(try p.u16(offset + 2))
            guard length >= offset + 8 + sources * 4 else { return put(" [invalid number of sources ", sources, "]") }
            if verbosity == 1 {
                put(", ", sources, " source(s)")
            } else {
                out.put(" {")
                for index in 0..<sources {
                    out.put(" ")
                    out.ipv4(try p.u32(offset + 8 + index * 4))
                }
                out.put(" }")
            }
            offset += 8 + sources * 4
            out.put("]")
        }
    }
}
