/// ICMP and IGMP.
extension PacketPrinter {
    /// RFC 792.
    mutating func icmp(_ p: borrowing Octets, _ length: Int, _ carrier: Carrier) throws(CutOff) {
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
        let isError = [3, 4, 5, 11, 12].contains(type)
        if isError {
            out.put("\n\t")
            try ipv4(p.from(8), (try? Int(p.u16(10))) ?? 0)
            part = "icmp"
        }
        if type == 42 || type == 43, length > 8 {
            try extendedEcho(p, length, type == 42, code)
        } else if [3, 11, 12].contains(type), length > 156 {
            try extensions(p, 136, length)
        }
    }

    private mutating func icmpWhat(_ p: borrowing Octets, _ type: UInt8, _ code: UInt8) throws(CutOff) {
        switch type {
        case 0, 8:
            put(type == 8 ? "echo request, id " : "echo reply, id ", try p.u16(4))
            put(", seq ", try p.u16(6))
        case 3: try unreachable(p, code)
        case 5: try redirect(p, code)
        case 9: try advertisement(p)
        case 11:
            if code == 0 {
                out.put("time exceeded in-transit")
            } else if code == 1 {
                out.put("ip reassembly time exceeded")
            } else {
                put("time exceeded-#", code)
            }
        case 12:
            if code != 0 {
                put("parameter problem - code ", code)
            } else {
                put("parameter problem - octet ", try p.u8(4))
            }
        case 18: putHex("address mask is 0x", try p.u32(8), width: 8)
        case 13:
            put("time stamp query id ", try p.u16(4))
            put(" seq ", try p.u16(6))
        case 14:
            put("time stamp reply id ", try p.u16(4))
            put(" seq ", try p.u16(6))
            for (name, offset) in [(": org " as StaticString, 8), (", recv ", 12), (", xmit ", 16)] {
                out.put(name)
                dayTime(try p.u32(offset))
            }
        case 42, 43:
            put(type == 42 ? "extended echo request, id " : "extended echo reply, id ", try p.u16(4))
            put(", seq ", try p.u8(6))
        case 4: out.put("source quench")
        case 10: out.put("router solicitation")
        case 15: out.put("information request")
        case 16: out.put("information reply")
        case 17: out.put("address mask request")
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

    private mutating func unreachable(_ p: borrowing Octets, _ code: UInt8) throws(CutOff) {
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
        case 2:
            let number = try p.u8(17)
            out.ipv4(target)
            put(" protocol ", number, " unreachable")
        case 3:
            let number = try p.u8(17)
            let port = try p.u16(8 + Int(try p.u8(8) & 15) * 4 + 2)
            out.ipv4(target)
            switch number {
            case 6: put(" tcp port ", port)
            case 17: put(" udp port ", port)
            default:
                put(" protocol ", number)
                put(" port ", port)
            }
            out.put(" unreachable")
        case 4:
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

    private mutating func redirect(_ p: borrowing Octets, _ code: UInt8) throws(CutOff) {
        let target = try p.u32(24)
        let gateway = try p.u32(4)
        out.put(code >= 2 ? "redirect-tos " : "redirect ")
        out.ipv4(target)
        out.put(code & 1 == 0 ? " to net " : " to host ")
        out.ipv4(gateway)
    }

    private mutating func advertisement(_ p: borrowing Octets) throws(CutOff) {
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

    /// RFC 8335 §2, §3.
    mutating func extendedEcho(
        _ p: borrowing Octets, _ length: Int, _ isRequest: Bool, _ code: UInt8
    ) throws(CutOff) {
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

    private mutating func extensions(_ p: borrowing Octets, _ offset: Int, _ length: Int) throws(CutOff) {
        let version = try p.u8(offset) >> 4
        put("\n\tICMP Multi-Part extension v", version)
        guard version == 2 else { return }
        try extensionObjects(p, offset, length)
    }

    /// RFC 4884 §7, RFC 5837, RFC 4950.
    private mutating func extensionObjects(_ p: borrowing Octets, _ start: Int, _ length: Int) throws(CutOff) {
        // The header and the first object; a probe's other octets follow.
        let isProbe = start == 8
        let total = min(length - start, isProbe ? 4 + Int(try p.u16(start + 4)) : length)
        let found = try p.u16(start + 2)
        putHex(", checksum 0x", found, width: 4)
        let isGood = p.holds(total, at: start) && InternetChecksum.of(p.clamped(start, start + total)) == 0
        out.put(isGood ? " (correct), length " : " (incorrect), length ")
        out.decimal(total)
        var offset = start + 4
        while offset + 4 <= start + total {
            let size = Int(try p.u16(offset))
            let (kind, form) = (try p.u8(offset + 2), try p.u8(offset + 3))
            let names: [UInt8: StaticString] = [
                1: "MPLS Stack Entry", 2: "Interface Information", 3: "Interface Identification",
            ]
            out.put("\n\t  ")
            out.put(names[kind] ?? "unknown")
            put(" Object (", kind)
            put("), Class-Type: ", form)
            put(", length ", size)
            guard size >= 4, size <= start + total - offset else { return }
            let end = offset + size
            switch kind {
            case 1: try labels(p, offset + 4, end)
            case 2: try interfaceInformation(p, offset + 4, end, form)
            case 3: try interfaceIdentification(p, offset + 4, end, form)
            default: unknown(p.clamped(offset + 4, end), "\n\t    ")
            }
            offset = end
        }
    }

    private mutating func labels(_ p: borrowing Octets, _ start: Int, _ end: Int) throws(CutOff) {
        for offset in stride(from: start, to: end, by: 4) {
            let entry = try p.u32(offset)
            put("\n\t    label ", entry >> 12)
            put(", tc ", entry >> 9 & 7)
            if entry & 0x100 != 0 { out.put(", [S]") }
            put(", ttl ", entry & 0xFF)
        }
    }

    private mutating func interfaceInformation(
        _ p: borrowing Octets, _ start: Int, _ end: Int, _ form: UInt8
    ) throws(CutOff) {
        let roles: [StaticString] = [
            "Incoming IP Interface", "Sub-IP Component of Incoming IP Interface", "Outgoing IP Interface", "IP Nexthop",
        ]
        out.put("\n\t    Interface Role: ")
        out.put(roles[Int(form >> 6)])
        var offset = start
        if form & 8 != 0, offset + 4 <= end {
            put("\n\t    Interface Index: ", try p.u32(offset))
            offset += 4
        }
        if form & 4 != 0, offset + 4 <= end {
            let family = try p.u16(offset)
            offset += 4
            if family == 1, offset + 4 <= end {
                out.put("\n\t    IP Address sub-object: ")
                out.ipv4(try p.u32(offset))
                offset += 4
            } else if family == 2, offset + 16 <= end {
                out.put("\n\t    IP Address sub-object: ")
                out.ipv6(high: try p.u64(offset), low: try p.u64(offset + 8))
                offset += 16
            }
        }
        if form & 2 != 0, offset < end {
            let size = Int(try p.u8(offset))
            put("\n\t    Interface Name", size)
            out.removeLast(String(size).utf8.count)
            put(", length ", size, ": ")
            for index in 1..<max(min(size, end - offset), 1) where try p.u8(offset + index) != 0 {
                visible(try p.u8(offset + index))
            }
            offset += size
        }
        if form & 1 != 0, offset + 4 <= end { put("\n\t    MTU: ", try p.u32(offset)) }
    }

    private mutating func interfaceIdentification(
        _ p: borrowing Octets, _ start: Int, _ end: Int, _ form: UInt8
    ) throws(CutOff) {
        switch form {
        case 1:
            put("\n\t    Interface Name, length ", end - start, ": ")
            for offset in stride(from: start, to: end, by: 1) {
                let octet = try p.u8(offset)
                if octet == 0 { break }
                visible(octet)
            }
        case 2: put("\n\t    Interface Index: ", try p.u32(start))
        case 3:
            let family = try p.u16(start)
            out.put("\n\t    Interface Address: ")
            if family == 1 {
                out.ipv4(try p.u32(start + 4))
            } else if family == 2 {
                out.ipv6(high: try p.u64(start + 4), low: try p.u64(start + 12))
            } else {
                unknown(p.clamped(start + 4, end), "\n\t    ")
            }
        default: unknown(p.clamped(start, end), "\n\t    ")
        }
    }

    /// RFC 1112, RFC 2236, RFC 3376.
    mutating func igmp(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
        part = "igmp"
        if options.isQuiet { return out.put("igmp") }
        let type = try p.u8(0)
        switch type {
        case 0x11: try membershipQuery(p, length)
        case 0x12, 0x16, 0x17:
            out.put(type == 0x12 ? "igmp v1 report " : type == 0x16 ? "igmp v2 report " : "igmp leave ")
            out.ipv4(try p.u32(4))
            if length != 8, type != 0x17 { put(" [len ", length, "]") }
        case 0x22:
            out.put("igmp v3 report")
            try membershipReport(p, length)
        case 0x13: out.put("igmp dvmrp")
        case 0x14: out.put("igmp pimv1")
        case 0x1F, 0x1E:
            put(type == 0x1F ? "mtrace " : "mresp ", try p.u32(20) & 0xFF_FFFF, ": ")
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

    private mutating func membershipQuery(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
        out.put("igmp query v")
        let code = try p.u8(1)
        let group = try p.u32(4)
        guard length < 12 else { return try query3(p, length, code, group) }
        if code != 0 {
            out.put("2")
            if code != 100 { put(" [max resp time ", code, "]") }
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
        _ p: borrowing Octets, _ length: Int, _ code: UInt8, _ group: UInt32
    ) throws(CutOff) {
        out.put("3")
        if length & 3 != 0 { return put(" [invalid len ", length, "]") }
        if code != 100 {
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

    private mutating func membershipReport(_ p: borrowing Octets, _ length: Int) throws(CutOff) {
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

extension InternetChecksum {
    /// IPv4 group addresses.
    static func isGroup(_ address: UInt32) -> Bool { address >> 28 == 0xE }
}
