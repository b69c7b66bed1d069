/// Prints the Datagram Congestion Control Protocol (RFC 4340 §5).
extension PacketPrinter {
    private static let dccpTypes: [StaticString] = [
        "Request", "Response", "Data", "Ack", "DataAck", "CloseReq", "Close", "Reset", "Sync", "SyncAck",
    ]
    private static let dccpCodes: [StaticString] = [
        "unspecified", "closed", "aborted", "no_connection", "packet_error", "option_error", "mandatory_error",
        "connection_refused", "bad_service_code", "too_busy", "bad_init_cookie", "aggression_penalty",
    ]
    private enum DCCPType {
        static let request: UInt8 = 0
        static let response: UInt8 = 1
        static let data: UInt8 = 2
        static let reset: UInt8 = 7
    }

    /// Prints a packet, whose sequence numbers have 24 or 48 bits.
    mutating func dccp(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        part = "dccp"
        let first = try p.u8(8)
        let (type, isExtended) = (first >> 1 & 15, first & 1 != 0)
        let header = isExtended ? 16 : 12
        guard length >= header else { return put("truncated-dccp - ", header - length, " bytes missing!") }
        ports(carrier, IPProtocolNumber.dccp.rawValue, try p.u16(0), try p.u16(2))
        out.put("DCCP ")
        if options.isQuiet { return put("", length - min(length, Int(try p.u8(4)) * 4)) }
        if verbosity > 0 { try dccpDetails(p, length, carrier) }
        let hasAnswer = type != DCCPType.request && type != DCCPType.data
        let afterAnswer = header + (hasAnswer ? (isExtended ? 8 : 4) : 0)
        let hasWord = type == DCCPType.request || type == DCCPType.response || type == DCCPType.reset
        let end = afterAnswer + (hasWord ? 4 : 0)
        guard length >= end else {
            out.put("truncated-")
            dccpName(type)
            return put(" - ", end - length, " bytes missing!")
        }
        dccpName(type)
        out.put(" ")
        if type == DCCPType.reset {
            let code = Int(try p.u8(afterAnswer))
            out.put("(code=")
            out.put(code < Self.dccpCodes.count ? Self.dccpCodes[code] : "invalid")
            out.put(") ")
        } else if hasWord {
            put("(service=", try p.u32(afterAnswer), ") ")
        }
        if hasAnswer { put("(ack=", try dccpNumber(p, afterAnswer, isExtended), ") ") }
        if verbosity > 1 { put("seq ", try dccpNumber(p, header, isExtended), " ") }
    }

    private mutating func dccpName(_ type: UInt8) {
        guard type < Self.dccpTypes.count else { return put("unknown-type-", type) }
        out.put("DCCP-")
        out.put(Self.dccpTypes[Int(type)])
    }

    /// Returns the sequence number whose bytes end just before the offset `end`.
    private func dccpNumber(_ p: borrowing ByteView, _ end: Int, _ isExtended: Bool) throws(WireError) -> UInt64 {
        guard isExtended else { return UInt64(try p.u24(end - 3)) }
        return UInt64(try p.u16(end - 6)) << 32 | UInt64(try p.u32(end - 4))
    }

    /// Prints header fields. The checksum covers the header and as much content as `CsCov` states (RFC 4340 §9.2).
    private mutating func dccpDetails(
        _ p: borrowing ByteView, _ length: Int, _ carrier: Carrier
    ) throws(WireError) {
        let fields = try p.u8(5)
        let coverage = Int(fields & 15)
        put("(CCVal ", fields >> 4)
        put(", CsCov ", coverage)
        let found = try p.u16(6)
        let covered = coverage == 0 ? length : min(length, Int(try p.u8(4)) * 4 + (coverage - 1) * 4)
        if p.holds(covered, at: 0) {
            var sum = carrier.pseudoHeader(UInt16(IPProtocolNumber.dccp.rawValue), length)
            sum.add(p.prefix(covered))
            putHex(", cksum 0x", found, width: 4)
            if sum.value == 0 {
                out.put(" (correct)")
            } else {
                putHex(" (incorrect -> 0x", Self.expected(found, sum), width: 4, ")")
            }
        }
        out.put(") ")
    }
}
