/// Prints ICMPv6, with neighbour discovery and multicast listener discovery.
extension PacketPrinter {
    static let icmp6Names: [UInt8: StaticString] = [
        1: "destination unreachable", 2: "packet too big", 3: "time exceeded in-transit", 4: "parameter problem",
        128: "echo request", 129: "echo reply", 130: "multicast listener query", 131: "multicast listener report",
        132: "multicast listener done", 133: "router solicitation", 134: "router advertisement",
        135: "neighbor solicitation", 136: "neighbor advertisement", 137: "redirect", 138: "router renumbering",
        139: "node information query", 140: "node information reply", 141: "inverse neighbor solicitation",
        142: "inverse neighbor advertisement", 143: "multicast listener report v2", 144: "dhaad request",
        145: "dhaad reply", 146: "mobile router solicitation", 147: "mobile router advertisement", 155: "RPL",
        160: "extended echo request", 161: "extended echo reply",
    ]

    /// The message types for which verbose output prints the length before the content.
    private static let typesWithLength: [UInt8] = [
        ICMP6Type.routerSolicitation, ICMP6Type.routerAdvertisement, ICMP6Type.neighborSolicitation,
        ICMP6Type.neighborAdvertisement, ICMP6Type.redirect, ICMP6Type.homeAgentDiscoveryReply,
        ICMP6Type.mobilePrefixAdvertisement,
    ]

    /// Prints an ICMPv6 message (RFC 4443, RFC 4861).
    mutating func icmp6(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        part = "icmp6"
        guard length >= 4 else {
            put("ICMP6, length ", length)
            return invalid()
        }
        let (type, code) = (try p.u8(0), try p.u8(1))
        if verbosity > 0, !carrier.isFragmented { icmp6Checksum(p, length, carrier) }
        out.put("ICMP6, ")
        if let name = Self.icmp6Names[type] { out.put(name) } else { put("unknown icmp6 type (", type, ")") }
        if verbosity > 0, Self.typesWithLength.contains(type) { put(", length ", length) }
        try icmp6What(p, type, code, length)
        if verbosity == 0 { put(", length ", length) }
    }

    private mutating func icmp6Checksum(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) {
        guard p.holds(length, at: 0), let found = try? p.u16(2) else { return }
        var sum = carrier.pseudoHeader(UInt16(IPProtocolNumber.icmp6.rawValue), length)
        sum.add(p.prefix(length))
        guard sum.value != 0 else { return out.put("[icmp6 sum ok] ") }
        putHex("[bad icmp6 cksum 0x", found, width: 4)
        putHex(" -> 0x", Self.expected(found, sum), width: 4, "!] ")
    }

    mutating func address6(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        out.ipv6(high: try p.u64(offset), low: try p.u64(offset + 8))
    }

    private mutating func icmp6What(
        _ p: borrowing ByteView, _ type: UInt8, _ code: UInt8, _ length: Int
    ) throws(WireError) {
        switch type {
        case ICMP6Type.destinationUnreachable: try unreachable6(p, code)
        case ICMP6Type.packetTooBig: put(", mtu ", try p.u32(4))
        case ICMP6Type.timeExceeded:
            if code == ICMP6Code.hopLimitExceeded {
                out.put(" for ")
                try address6(p, 32)
            } else if code == ICMP6Code.reassemblyTimeExceeded {
                out.put(" (reassembly)")
            } else {
                put(", unknown code (", code, ")")
            }
        case ICMP6Type.parameterProblem:
            switch code {
            case ICMP6Code.erroneousField: put(", erroneous - octet ", try p.u32(4))
            case ICMP6Code.unrecognizedNextHeader, ICMP6Code.unrecognizedOption:
                put(code == ICMP6Code.unrecognizedOption ? ", option" : ", next header")
                put(" - octet ", try p.u32(4))
            case ICMP6Code.incompleteHeaderChain: put(", incomplete header chain - octet ", try p.u32(4))
            default: put(", code-#", code)
            }
        case ICMP6Type.echoRequest, ICMP6Type.echoReply:
            put(", id ", try p.u16(4))
            put(", seq ", try p.u16(6))
        case ICMP6Type.extendedEchoRequest, ICMP6Type.extendedEchoReply:
            put(", id ", try p.u16(4))
            put(", seq ", try p.u8(6))
            if verbosity > 0 { try extendedEcho(p, length, type == ICMP6Type.extendedEchoRequest, code) }
        case ICMP6Type.listenerQuery where length >= 28: try listenerQuery2(p, length)
        case ICMP6Type.listenerQuery, ICMP6Type.listenerReport, ICMP6Type.listenerDone: try listener(p)
        case ICMP6Type.listenerReport2: try listenerReport2(p, length)
        case ICMP6Type.routerSolicitation: if verbosity > 0 { try discoveryOptions(p, 8, length) }
        case ICMP6Type.routerAdvertisement: try routerAdvertisement(p, length)
        case ICMP6Type.neighborSolicitation:
            out.put(", who has ")
            try address6(p, 8)
            if verbosity > 0 { try discoveryOptions(p, 24, length) }
        case ICMP6Type.neighborAdvertisement:
            out.put(", tgt is ")
            try address6(p, 8)
            if verbosity > 0 {
                out.put(", Flags [")
                bits(
                    try p.u32(4), [(0x8000_0000, "router"), (0x4000_0000, "solicited"), (0x2000_0000, "override")],
                    none: "none")
                out.put("]")
                try discoveryOptions(p, 24, length)
            }
        case ICMP6Type.redirect:
            out.put(", ")
            try address6(p, 24)
            out.put(" to ")
            try address6(p, 8)
            if verbosity > 0 { try discoveryOptions(p, 40, length) }
        case ICMP6Type.rpl: try routingProtocol(p, code)
        default:
            put(", length ", length)
            if verbosity == 0 { out.removeLast(9 + String(length).utf8.count) }
            if verbosity < 2 { unknown(p.prefix(length), "\n\t") }
        }
    }

    private mutating func unreachable6(_ p: borrowing ByteView, _ code: UInt8) throws(WireError) {
        let names: [StaticString] = [
            "unreachable route", " unreachable prohibited", "beyond scope", "unreachable address", "unreachable port",
        ]
        out.put(", ")
        if code < names.count { out.put(names[Int(code)]) } else { put("unknown unreach code (", code, ")") }
        switch code {
        case ICMP6Code.noRoute, ICMP6Code.prohibited, ICMP6Code.addressUnreachable:
            out.put(" ")
            try address6(p, 32)
        case ICMP6Code.beyondScope:
            out.put(" ")
            try address6(p, 32)
            out.put(", source address ")
            try address6(p, 16)
        case ICMP6Code.portUnreachable:
            let next = IPProtocolNumber(rawValue: try p.u8(14))
            out.put(", ")
            try address6(p, 32)
            guard next == .tcp || next == .udp else { return }
            put(next == .tcp ? " tcp port " : " udp port ", try p.u16(50))
        default: break
        }
    }

    /// Prints a multicast listener message (RFC 2710 §3).
    private mutating func listener(_ p: borrowing ByteView) throws(WireError) {
        put("max resp delay: ", try p.u16(4), " ")
        out.put("addr: ")
        try address6(p, 8)
    }

    /// Prints a version 2 multicast listener query (RFC 3810 §5.1).
    private mutating func listenerQuery2(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        out.put(" v2")
        let code = UInt32(try p.u16(4))
        let delay = code < 32768 ? code : (code & 0xFFF | 0x1000) << (((code & 0x7000) >> 12) + 3)
        if verbosity > 0 {
            out.put(" [max resp delay=")
            if delay < 1000 {
                put("", delay, "ms]")
            } else {
                put("", delay / 1000, ".")
                out.decimal(delay % 1000, width: 3, padding: 0x30)
                out.put("s]")
            }
        }
        out.put(" [gaddr ")
        try address6(p, 8)
        if verbosity > 0 {
            if try p.u8(24) & 8 != 0 { out.put(" sflag") }
            if try p.u8(24) & 7 != 0 { put(" robustness=", try p.u8(24) & 7) }
            put(" qqi=", try p.u8(25))
        }
        let sources = Int(try p.u16(26))
        if sources > 0 {
            if length < 28 + sources * 16 {
                put(" [invalid number of sources ", sources, "]")
            } else if verbosity > 1 {
                out.put(" {")
                for index in 0..<sources {
                    out.put(" ")
                    try address6(p, 28 + index * 16)
                }
                out.put(" }")
            } else {
                put(", ", sources, " source(s)")
            }
        }
        out.put("]")
    }

    /// Prints a version 2 multicast listener report (RFC 3810 §5.2).
    private mutating func listenerReport2(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        guard length >= 16 else { return put(" [invalid len ", length, "]") }
        let groups = Int(try p.u16(6))
        put(", ", groups, " group record(s)")
        guard verbosity > 0 else { return }
        let names: [StaticString] = ["", "is_in", "is_ex", "to_in", "to_ex", "allow", "block"]
        var offset = 8
        for _ in 0..<groups {
            guard length >= offset + 20 else { return put(" [invalid number of groups ", groups, "]") }
            out.put(" [gaddr ")
            try address6(p, offset + 4)
            let type = try p.u8(offset)
            out.put(" ")
            if type > 0, type < names.count { out.put(names[Int(type)]) } else { put(" [v2-report-#", type, "]") }
            let sources = Int(try p.u16(offset + 2))
            guard length >= offset + 20 + sources * 16 else {
                return put(" [invalid number of sources ", sources, "]")
            }
            if verbosity == 1 {
                put(", ", sources, " source(s)")
            } else {
                out.put(" {")
                for index in 0..<sources {
                    out.put(" ")
                    try address6(p, offset + 20 + index * 16)
                }
                out.put(" }")
            }
            offset += 20 + sources * 16
            out.put("]")
        }
    }

    /// Prints RPL messages (RFC 6550 §6), including acknowledgements.
    private mutating func routingProtocol(_ p: borrowing ByteView, _ code: UInt8) throws(WireError) {
        let names: [UInt8: StaticString] = [
            0: "DODAG Information Solicitation", 1: "DODAG Information Object", 2: "Destination Advertisement Object",
            3: "Destination Advertisement Object Ack",
        ]
        out.put(code & 0x80 != 0 ? ", (SEC)" : ", (CLR)")
        out.put(names[code & 0x7F] ?? "RPL unknown")
        guard code == ICMP6Code.destinationAdvertisementAcknowledgement, verbosity > 0 else { return }
        let hasDomain = try p.u8(5) & 0x80 != 0
        out.put(" [")
        out.put("dagid:")
        if hasDomain {
            for index in 0..<16 {
                if index > 0, index % 2 == 0 { out.put(":") }
                out.hex(try p.u8(8 + index), width: 2)
            }
        } else {
            out.put("<>")
        }
        put(",seq:", try p.u8(6))
        put(",instance:", try p.u8(4))
        put(",status:", try p.u8(7), "]")
    }
}
