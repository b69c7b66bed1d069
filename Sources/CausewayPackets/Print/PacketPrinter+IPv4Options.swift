/// Prints IPv4 options (RFC 791 §3.1).
extension PacketPrinter {
    /// Option types (IANA registry "IP Option Numbers").
    private enum IPv4Option {
        static let endOfOptions: UInt8 = 0
        static let noOperation: UInt8 = 1
        static let recordRoute: UInt8 = 7
        static let timestamp: UInt8 = 68
        static let traceroute: UInt8 = 82
        static let security: UInt8 = 130
        static let looseSourceRoute: UInt8 = 131
        static let strictSourceRoute: UInt8 = 137
        static let routerAlert: UInt8 = 148
    }

    /// Timestamp option flags (RFC 791 §3.1).
    private enum TimestampFlag {
        static let timestampsOnly: UInt8 = 0
        static let withAddresses: UInt8 = 1
        static let prespecifiedAddresses: UInt8 = 3
    }

    mutating func ipv4Options(_ p: borrowing ByteView, _ length: Int) {
        do throws(WireError) { try optionList(p, length) } catch { out.put(" [truncated-option]") }
    }

    private mutating func optionList(_ p: borrowing ByteView, _ total: Int) throws(WireError) {
        let names: [UInt8: StaticString] = [
            IPv4Option.endOfOptions: "EOL", IPv4Option.noOperation: "NOP", IPv4Option.timestamp: "timestamp",
            IPv4Option.security: "security", IPv4Option.recordRoute: "RR", IPv4Option.strictSourceRoute: "SSRR",
            IPv4Option.looseSourceRoute: "LSRR", IPv4Option.routerAlert: "RA", IPv4Option.traceroute: "traceroute",
        ]
        var (offset, isFirst) = (0, true)
        while offset < total {
            if !isFirst { out.put(",") }
            isFirst = false
            let code = try p.u8(offset)
            if let name = names[code] { out.put(name) } else { put("unknown ", code) }
            let length = code <= IPv4Option.noOperation ? 1 : Int(try p.u8(offset + 1))
            if code > IPv4Option.noOperation, length < 2 || length > total - offset {
                return put(" [bad length ", length, "]")
            }
            try p.require(length, at: offset)
            let option = p.clamped(offset, offset + length)
            switch code {
            case IPv4Option.endOfOptions: return
            case IPv4Option.timestamp: try timestamps(option, length)
            case IPv4Option.recordRoute, IPv4Option.looseSourceRoute, IPv4Option.strictSourceRoute:
                try route(option, length)
            case IPv4Option.routerAlert:
                if length != 4 {
                    put(" [bad length ", length, "]")
                } else if try option.u16(2) != 0 {
                    put(" value ", try option.u16(2))
                }
            default: break
            }
            offset += length
        }
    }

    mutating func route(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        guard length >= 3 else { return put(" [bad length ", length, "]") }
        if (length + 1) & 3 != 0 { put(" [bad length ", length, "]") }
        let pointer = Int(try p.u8(2)) - 1
        if pointer < 3 || (pointer + 1) & 3 != 0 { put(" [bad ptr ", pointer + 1, "]") }
        for offset in stride(from: 3, to: length, by: 4) {
            out.put(" ")
            out.ipv4(try p.u32(offset))
            if pointer > offset { out.put(",") }
        }
    }

    private mutating func timestamps(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        guard length >= 4 else { return put("[bad length ", length, "]") }
        out.put(" TS{")
        let kind = try p.u8(3) & 15
        let step = kind == TimestampFlag.timestampsOnly ? 4 : 8
        if (length - 4) & (step - 1) != 0 { put("[bad length ", length, "]") }
        let pointer = Int(try p.u8(2)) - 1
        if pointer < 4 || (pointer - 4) & (step - 1) != 0 || pointer > length + 1 { put("[bad ptr ", pointer + 1, "]") }
        switch kind {
        case TimestampFlag.timestampsOnly: out.put("TSONLY")
        case TimestampFlag.withAddresses: out.put("TS+ADDR")
        case TimestampFlag.prespecifiedAddresses: out.put("PRESPEC")
        default: put("[bad ts type ", kind, "]")
        }
        let flags = [TimestampFlag.timestampsOnly, TimestampFlag.withAddresses, TimestampFlag.prespecifiedAddresses]
        if flags.contains(kind) {
            var offset = 4
            while offset < length {
                try p.require(step, at: offset)
                out.put(pointer == offset ? " ^ " : " ")
                put("", try p.u32(offset + step - 4), "@")
                if step == 8 { out.ipv4(try p.u32(offset)) }
                offset += step
            }
            if pointer == offset { out.put(" ^ ") }
        }
        let missed = try p.u8(3) >> 4
        if missed > 0 { put(" [", missed, " hops not recorded]} ") } else { out.put("}") }
    }
}
