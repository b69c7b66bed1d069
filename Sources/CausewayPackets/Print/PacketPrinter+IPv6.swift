/// Prints IPv6 and its extension headers.
extension PacketPrinter {
    /// Prints an IPv6 packet (RFC 8200).
    mutating func ipv6(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "ip6"
        if !options.showsLink { out.put("IP6 ") }
        ipDepth += 1
        defer { ipDepth -= 1 }
        guard ipDepth < 20 else { return out.put("[nested too deeply]") }
        let first = try p.u32(0)
        guard first >> 28 == 6 else {
            put(" [version ", first >> 28)
            out.put(" != 6]")
            return invalid()
        }
        guard length >= 40 else { return broken("length", length, "<", 40) }
        let stated = Int(try p.u16(4))
        let next = try p.u8(6)
        // The length field can be 0 without a hop-by-hop header. The packet is then too large for this field, so use
        // the captured length.
        let header = IPProtocolNumber(rawValue: next)
        let isBig = stated == 0 && header != .hopByHopOptions && header != .noNextHeader && length > 65535 + 40
        let payload = isBig ? length - 40 : stated
        if payload + 40 > length {
            put("[header+payload length ", payload + 40)
            put(" > length ", length, "]")
            invalid()
            out.put(" ")
        }
        if verbosity > 0 { try ipv6Details(p, first, stated, next) }
        if isBig { put("[real length ", length, ", presumed BIG TCP] ") }
        let carrier = Carrier(
            isIPv6: true, source: (try p.u64(8), try p.u64(16)), destination: (try p.u64(24), try p.u64(32)),
            next: next,
            hopLimit: try p.u8(7))
        if !header.hasPorts {
            addresses(carrier)
            out.put(": ")
        }
        // The length field of a jumbogram is zero. Its real length is in the hop-by-hop header, so use the captured
        // length here.
        let total = stated == 0 && header == .hopByHopOptions ? length : min(payload + 40, length)
        try headers(p.prefix(total), carrier, next, total, stated, length)
    }

    private mutating func ipv6Details(
        _ p: borrowing ByteView, _ first: UInt32, _ stated: Int, _ next: UInt8
    ) throws(WireError) {
        out.put("(")
        if first & 0x0FF0_0000 != 0 { putHex("class 0x", (first & 0x0FF0_0000) >> 20, width: 2, ", ") }
        if first & 0xFFFFF != 0 { putHex("flowlabel 0x", first & 0xFFFFF, width: 5, ", ") }
        put("hlim ", try p.u8(7))
        out.put(", next-header ")
        switch IPProtocolNumber(rawValue: next) {
        case .hopByHopOptions: out.put("HBH")
        case .destinationOptions: out.put("DSTOPT")
        default: out.put(Self.ipProtocols[next] ?? "unknown")
        }
        put(" (", next)
        put("), payload length ", stated, ") ")
    }

    /// Prints the extension header chain and the payload.
    private mutating func headers(
        _ p: borrowing ByteView, _ first: Carrier, _ firstNext: UInt8, _ total: Int, _ stated: Int, _ length: Int
    ) throws(WireError) {
        var (carrier, next, offset, total) = (first, firstNext, 40, total)
        var sawHopByHop = false
        while true {
            switch IPProtocolNumber(rawValue: next) {
            case .hopByHopOptions:
                if sawHopByHop { return note("The Hop-by-Hop Options header was already found") }
                if offset != 40 { return note("The Hop-by-Hop Options header don't follow the IPv6 header") }
                sawHopByHop = true
                guard let jumbo = try hopByHop(p, offset, total) else { return }
                if stated == 0 {
                    guard jumbo > 0 else { return note("No valid Jumbo Payload Hop-by-Hop option found") }
                    total = jumbo + 40
                    if total > length {
                        put("[header+payload length ", total)
                        put(" > length ", length, "]")
                        invalid()
                        out.put(" ")
                    }
                }
                next = try p.u8(offset)
                offset += (Int(try p.u8(offset + 1)) + 1) * 8
            case .destinationOptions:
                part = "dstopt"
                let size = (Int(try p.u8(offset + 1)) + 1) * 8
                out.put("DSTOPT ")
                if size > total - offset { return remaining(total - offset, size) }
                try p.require(size, at: offset)
                if try optionsOf(p, offset, size) == nil { return }
                next = try p.u8(offset)
                offset += size
            case .routing:
                try routing(p, offset)
                next = try p.u8(offset)
                offset += (Int(try p.u8(offset + 1)) + 1) * 8
            case .fragment:
                let isLater = try fragment(p, offset, total)
                next = try p.u8(offset)
                carrier.isFragmented = true
                offset += 8
                if isLater { return }
            case .mobility, .oldMobility: return try mobility(p, offset, total)
            default:
                part = "ip6"
                guard offset <= total else { return out.put("[|ip6]") }
                return try content(p.from(offset), total - offset, carrier, next)
            }
            part = "ip6"
            try p.require(0, at: offset)
        }
    }

    private mutating func note(_ text: StaticString) {
        out.put("[")
        out.put(text)
        out.put("]")
        invalid()
    }

    private mutating func remaining(_ found: Int, _ wanted: Int) {
        put(" [remaining length ", found)
        put(" < ", wanted, "]")
        invalid()
    }

    /// Prints a hop-by-hop header. Returns the jumbo payload length; 0 if there is none, `nil` if the header is invalid.
    private mutating func hopByHop(_ p: borrowing ByteView, _ offset: Int, _ total: Int) throws(WireError) -> Int? {
        part = "hbhopt"
        out.put("HBH ")
        let size = (Int(try p.u8(offset + 1)) + 1) * 8
        if size > p.count - offset, size > total - offset || p.count <= total {
            remaining(p.count - offset, size)
            return nil
        }
        return try optionsOf(p, offset, size)
    }

    /// Option types (IANA registry "Destination Options and Hop-by-Hop Options").
    private enum OptionType {
        static let pad1: UInt8 = 0
        static let padN: UInt8 = 1
        static let routerAlert: UInt8 = 5
        static let jumboPayload: UInt8 = 0xC2
        static let homeAddress: UInt8 = 0xC9
    }

    /// Prints a header's options (RFC 8200 §4.2). Returns the jumbo payload length.
    private mutating func optionsOf(_ p: borrowing ByteView, _ start: Int, _ size: Int) throws(WireError) -> Int? {
        var (offset, jumbo) = (start + 2, 0)
        let shows = verbosity > 0
        while offset < start + size {
            let type = try p.u8(offset)
            if type == OptionType.pad1 {
                if shows { out.put("(pad1)") }
                offset += 1
                continue
            }
            guard offset + 1 < start + size else { break }
            let length = Int(try p.u8(offset + 1))
            guard offset + 2 + length <= start + size else {
                remaining(start + size - offset, length + 2)
                return nil
            }
            switch type {
            case OptionType.padN: if shows { out.put("(padn)") }
            case OptionType.routerAlert where shows:
                guard length == 2 else {
                    put("(rtalert: invalid len ", length, ")")
                    break
                }
                putHex("(rtalert: 0x", try p.u16(offset + 2), width: 4, ") ")
            case OptionType.jumboPayload:
                guard length == 4 else {
                    if shows { put("(jumbo: invalid len ", length, ")") }
                    break
                }
                let value = Int(try p.u32(offset + 2))
                if shows { put("(jumbo: ", value) }
                if jumbo > 0 {
                    if shows { out.put(" - already seen) ") }
                } else {
                    jumbo = value
                    if shows { out.put(") ") }
                }
            case OptionType.homeAddress where shows:
                guard length >= 16 else {
                    put("(homeaddr: invalid len ", length, ")")
                    break
                }
                out.put("(homeaddr: ")
                out.ipv6(high: try p.u64(offset + 2), low: try p.u64(offset + 10))
                out.put(")")
            default:
                if shows {
                    putHex("(unknown opt-type 0x", type, width: 2)
                    put(" len=", length, ")")
                }
            }
            offset += 2 + length
        }
        if shows { out.put(" ") }
        return jumbo
    }

    /// Prints a fragment header (RFC 8200 §4.5). Returns whether the fragment is not the first.
    private mutating func fragment(_ p: borrowing ByteView, _ offset: Int, _ total: Int) throws(WireError) -> Bool {
        part = "frag6"
        out.put("frag (")
        if verbosity > 0 { putHex("0x", try p.u32(offset + 4), width: 8, ":") }
        let place = try p.u16(offset + 2) & 0xFFF8
        put("", place)
        put("|", max(total - offset - 8, 0), ")")
        if place == 0 { out.put(" ") }
        return place != 0
    }
}
