/// Prints the Precision Time Protocol, version 2 (IEEE 1588-2008 §13).
extension PacketPrinter {
    private static let ptpHeader = 34

    /// Message types (IEEE 1588-2008 §13.3.2.2).
    private enum PTPMessage {
        static let sync: UInt8 = 0
        static let delayRequest: UInt8 = 1
        static let peerDelayRequest: UInt8 = 2
        static let peerDelayResponse: UInt8 = 3
        static let followUp: UInt8 = 8
        static let delayResponse: UInt8 = 9
        static let peerDelayFollowUp: UInt8 = 10
        static let announce: UInt8 = 11
        static let signaling: UInt8 = 12
        static let management: UInt8 = 13
    }

    private static let ptpMessages: [UInt8: StaticString] = [
        0: "sync msg", 1: "delay req msg", 2: "peer delay req msg", 3: "peer delay resp msg", 8: "follow up msg",
        9: "delay resp msg", 10: "pdelay resp fup msg", 11: "announce msg", 12: "signalling msg",
        13: "management msg",
    ]
    private static let ptpControls: [UInt8: StaticString] = [
        0: "Sync", 1: "Delay_Req", 2: "Follow_Up", 3: "Delay_Resp", 4: "Management", 5: "Other",
    ]
    private static let ptpFlags: [(UInt32, StaticString)] = [
        (0x0001, "l1 61"), (0x0002, "l1 59"), (0x0004, "utc reasonable"), (0x0008, "timescale"),
        (0x0010, "time tracable"), (0x0020, "frequency tracable"), (0x0100, "alternate master"), (0x0200, "two step"),
        (0x0400, "unicast"), (0x1000, "profile specific 1"), (0x2000, "profile specific 2"),
        (0x4000, "security mask"),
    ]

    /// Prints a PTP message. The second byte contains the version. Minor version 1 has the same format as minor version
    /// 0 (IEEE 1588-2019 §13.3.2).
    mutating func ptp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "ptp"
        guard length >= Self.ptpHeader else { return broken("length", length, "<", Self.ptpHeader) }
        let (first, version) = (try p.u8(0), try p.u8(1))
        put("PTPv", version & 0x0F)
        if version >> 4 != 0 { put(".", version >> 4) }
        guard version & 0x0F == 2 else {
            if version == 1 { out.put(" (not implemented)") }
            return
        }
        out.put(", v1 compat : ")
        out.put(first & 0x10 == 0 ? "no" : "yes")
        out.put(", msg type : ")
        out.put(Self.ptpMessages[first & 0x0F] ?? "Reserved")
        put(", length : ", try p.u16(2))
        put(", domain : ", try p.u8(4))
        put(", reserved1 : ", try p.u8(5))
        out.put(", Flags [")
        bits(UInt32(try p.u16(6)), Self.ptpFlags, none: "none")
        let correction = try p.u64(8)
        put("], NS correction : ", correction >> 16)
        put(", sub NS correction : ", correction & 0xFFFF)
        put(", reserved2 : ", try p.u32(16))
        putHex(", clock identity : 0x", try p.u64(20))
        put(", port id : ", try p.u16(28))
        put(", seq id : ", try p.u16(30))
        let control = try p.u8(32)
        put(", control : ", control, " (")
        out.put(Self.ptpControls[control] ?? "Reserved")
        put("), log message interval : ", try p.u8(33))
        try ptpBody(first & 0x0F, p)
    }

    private mutating func ptpBody(_ message: UInt8, _ p: borrowing ByteView) throws(WireError) {
        switch message {
        case PTPMessage.sync, PTPMessage.delayRequest: try ptpTime(", originTimeStamp : ", p)
        case PTPMessage.followUp: try ptpTime(", preciseOriginTimeStamp : ", p)
        case PTPMessage.peerDelayRequest, PTPMessage.peerDelayFollowUp:
            try ptpTime(", preciseOriginTimeStamp : ", p)
            try ptpPort(p, 44)
        case PTPMessage.peerDelayResponse, PTPMessage.delayResponse:
            try ptpTime(", receiveTimeStamp : ", p)
            try ptpPort(p, 44)
        case PTPMessage.announce: try ptpAnnouncement(p)
        case PTPMessage.signaling: try ptpPort(p, 34)
        case PTPMessage.management:
            try ptpPort(p, 34)
            put(", , start boundary hops  ", try p.u8(44))
            put(", , boundary hops  ", try p.u8(45))
            putHex(", , flags  0x", try p.u8(46))
            putHex(", , reserved  0x", try p.u8(47))
        default: break
        }
    }

    /// Prints a time: 48-bit seconds and 32-bit nanoseconds.
    private mutating func ptpTime(
        _ name: StaticString, _ p: borrowing ByteView, between: StaticString = " seconds, "
    ) throws(WireError) {
        out.put(name)
        put("", UInt64(try p.u16(34)) << 32 | UInt64(try p.u32(36)), between)
        put("", try p.u32(40), " nanoseconds")
    }

    private mutating func ptpPort(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        putHex(", port identity : 0x", try p.u64(offset))
        put(", port id : ", try p.u16(offset + 8))
    }

    private mutating func ptpAnnouncement(_ p: borrowing ByteView) throws(WireError) {
        try ptpTime(", originTimeStamp : ", p, between: " seconds ")
        put(", origin cur utc :", try p.u16(44))
        put(", rsvd : ", try p.u8(46))
        put(", gm priority_1 : ", try p.u8(47))
        put(", gm clock class : ", try p.u8(48))
        put(", gm clock accuracy : ", try p.u8(49))
        put(", gm clock variance : ", try p.u16(50))
        put(", gm priority_2 : ", try p.u8(52))
        putHex(", gm clock id : 0x", try p.u64(53))
        put(", steps removed : ", try p.u16(61))
        putHex(", time source : 0x", try p.u8(63), width: 2)
    }
}
