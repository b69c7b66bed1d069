/// Prints ICMP.
extension PacketPrinter {
    /// Prints an ICMP message (RFC 792).
    mutating func icmp(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        part = "icmp"
        let (type, code) = (try p.u8(0), (try? p.u8(1)) ?? 0)
        out.put("ICMP ")
        try icmpWhat(p, type, code)
        put(", length ", length)
        if verbosity > 0, !carrier.isFragmented, p.holds(length, at: 0) {
            var sum = InternetChecksum()
            sum.add(p.prefix(length))
            if sum.value != 0 {
                badChecksum(" (wrong icmp cksum ", try p.u16(2), sum)
                out.put(")")
            }
        }
        guard verbosity > 0 else { return }
        let isError = [
            ICMPType.destinationUnreachable, ICMPType.sourceQuench, ICMPType.redirect, ICMPType.timeExceeded,
            ICMPType.parameterProblem,
        ].contains(type)
        if isError {
            out.put("\n\t")
            try ipv4(p.from(8), (try? Int(p.u16(10))) ?? 0)
            part = "icmp"
        }
        let isProbe = type == ICMPType.extendedEchoRequest
        if isProbe || type == ICMPType.extendedEchoReply, length > 8 {
            try extendedEcho(p, length, isProbe, code)
        } else if isError, type != ICMPType.sourceQuench, type != ICMPType.redirect, length > 156 {
            try extensions(p, 136, length)
        }
    }

    private mutating func icmpWhat(_ p: borrowing ByteView, _ type: UInt8, _ code: UInt8) throws(WireError) {
        switch type {
        case ICMPType.echoReply, ICMPType.echoRequest:
            put(type == ICMPType.echoRequest ? "echo request, id " : "echo reply, id ", try p.u16(4))
            put(", seq ", try p.u16(6))
        case ICMPType.destinationUnreachable: try unreachable(p, code)
        case ICMPType.redirect: try redirect(p, code)
        case ICMPType.routerAdvertisement: try advertisement(p)
        case ICMPType.timeExceeded:
            if code == ICMPCode.timeToLiveExceeded {
                out.put("time exceeded in-transit")
            } else if code == ICMPCode.reassemblyTimeExceeded {
                out.put("ip reassembly time exceeded")
            } else {
                put("time exceeded-#", code)
            }
        case ICMPType.parameterProblem:
            if code != ICMPCode.pointer {
                put("parameter problem - code ", code)
            } else {
                put("parameter problem - octet ", try p.u8(4))
            }
        case ICMPType.addressMaskReply: putHex("address mask is 0x", try p.u32(8), width: 8)
        case ICMPType.timestamp:
            put("time stamp query id ", try p.u16(4))
            put(" seq ", try p.u16(6))
        case ICMPType.timestampReply:
            put("time stamp reply id ", try p.u16(4))
            put(" seq ", try p.u16(6))
            for (name, offset) in [(": org " as StaticString, 8), (", recv ", 12), (", xmit ", 16)] {
                out.put(name)
                dayTime(try p.u32(offset))
            }
        case ICMPType.extendedEchoRequest, ICMPType.extendedEchoReply:
            let isRequest = type == ICMPType.extendedEchoRequest
            put(isRequest ? "extended echo request, id " : "extended echo reply, id ", try p.u16(4))
            put(", seq ", try p.u8(6))
        case ICMPType.sourceQuench: out.put("source quench")
        case ICMPType.routerSolicitation: out.put("router solicitation")
        case ICMPType.informationRequest: out.put("information request")
        case ICMPType.informationReply: out.put("information reply")
        case ICMPType.addressMaskRequest: out.put("address mask request")
        default: put("type-#", type)
        }
    }

    private mutating func dayTime(_ milliseconds: UInt32) {
        let seconds = milliseconds / 1000
        out.decimal(seconds / 3600, width: 2, padding: 0x30)
        out.put(":")
        out.decimal(seconds / 60 % 60, width: 2, padding: 0x30)
        out.put(":")
        out.decimal(seconds % 60, width: 2, padding: 0x30)
        out.put(".")
        out.decimal(milliseconds % 1000, width: 3, padding: 0x30)
    }

    mutating func unreachable(_ p: borrowing ByteView, _ code: UInt8) throws(WireError) {
        let texts: [UInt8: (StaticString, StaticString)] = [
            0: ("net ", " unreachable"), 1: ("host ", " unreachable"), 5: ("", " unreachable - source route failed"),
            6: ("net ", " unreachable - unknown"), 7: ("host ", " unreachable - unknown"),
            8: ("", " unreachable - source host isolated"), 9: ("net ", " unreachable - admin prohibited"),
            10: ("host ", " unreachable - admin prohibited"), 11: ("net ", " unreachable - tos prohibited"),
            12: ("host ", " unreachable - tos prohibited"), 13: ("host ", " unreachable - admin prohibited filter"),
            14: ("host ", " unreachable - host precedence violation"),
            15: ("host ", " unreachable - precedence cutoff"),
        ]
        let target = try p.u32(24)
        switch code {
        case ICMPCode.protocolUnreachable:
            let number = try p.u8(17)
            out.ipv4(target)
            put(" protocol ", number, " unreachable")
        case ICMPCode.portUnreachable:
            let number = try p.u8(17)
            let port = try p.u16(8 + Int(try p.u8(8) & 15) * 4 + 2)
            out.ipv4(target)
            switch IPProtocolNumber(rawValue: number) {
            case .tcp: put(" tcp port ", port)
            case .udp: put(" udp port ", port)
            default:
                put(" protocol ", number)
                put(" port ", port)
            }
            out.put(" unreachable")
        case ICMPCode.fragmentationNeeded:
            let mtu = try p.u16(6)
            out.ipv4(target)
            out.put(" unreachable - need to frag")
            if mtu != 0 { put(" (mtu ", mtu, ")") }
        default:
            guard let (before, after) = texts[code] else {
                put("#", code, " ")
                out.ipv4(target)
                return out.put(" unreachable")
            }
            out.put(before)
            out.ipv4(target)
            out.put(after)
        }
    }

    mutating func redirect(_ p: borrowing ByteView, _ code: UInt8) throws(WireError) {
        let target = try p.u32(24)
        let gateway = try p.u32(4)
        out.put(code >= ICMPCode.redirectTypeOfServiceNetwork ? "redirect-tos " : "redirect ")
        out.ipv4(target)
        out.put(code & 1 == 0 ? " to net " : " to host ")
        out.ipv4(gateway)
    }

    mutating func advertisement(_ p: borrowing ByteView) throws(WireError) {
        let (count, size, lifetime) = (Int(try p.u8(4)), Int(try p.u8(5)), try p.u16(6))
        out.put("router advertisement lifetime ")
        if lifetime < 60 {
            put("", lifetime)
        } else if lifetime < 3600 {
            put("", lifetime / 60, ":")
            out.decimal(lifetime % 60, width: 2, padding: 0x30)
        } else {
            put("", lifetime / 3600, ":")
            out.decimal(lifetime % 3600 / 60, width: 2, padding: 0x30)
            out.put(":")
            out.decimal(lifetime % 60, width: 2, padding: 0x30)
        }
        put(" ", count, ":")
        guard size == 2 else { return put(" [size ", size, "]") }
        for index in 0..<count {
            out.put(" {")
            out.ipv4(try p.u32(8 + index * 8))
            put(" ", try p.u32(12 + index * 8), "}")
        }
    }

    /// Prints an extended echo request or reply (RFC 8335 §2, §3).
    mutating func extendedEcho(
        _ p: borrowing ByteView, _ length: Int, _ isRequest: Bool, _ code: UInt8
    ) throws(WireError) {
        let state = try p.u8(7)
        guard isRequest else {
            let codes: [StaticString] = [
                "No error", "Malformed Query", "No Such Interface", "No Such Table Entry",
                "Multiple Interfaces Satisfy Query",
            ]
            let states: [StaticString] = ["Reserved", "Incomplete", "Reachable", "Stale", "Delay", "Probe", "Failed"]
            put("\n\tCode ", code, " (")
            out.put(code < codes.count ? codes[Int(code)] : "unknown")
            put("), State ", state >> 5, " (")
            out.put(state >> 5 < states.count ? states[Int(state >> 5)] : "unknown")
            put("), active ", state >> 2 & 1)
            put(" ipv4 ", state >> 1 & 1)
            return put(" ipv6 ", state & 1)
        }
        out.put(state & 1 != 0 ? "\n\tLocal Interface" : "\n\tRemote Interface")
        try extensionObjects(p, 8, length)
    }
}

extension InternetChecksum {
    /// Whether an IPv4 address is a multicast address.
    static func isGroup(_ address: UInt32) -> Bool { address >> 28 == 0xE }
}
