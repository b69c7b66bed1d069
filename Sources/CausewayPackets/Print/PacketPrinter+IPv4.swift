/// Prints IPv4 and its payload.
extension PacketPrinter {
    /// Fields of the IP header around a payload. They are needed to print the payload. For example, a checksum needs
    /// the addresses.
    struct Carrier {
        var isIPv6 = false
        var source: (UInt64, UInt64) = (0, 0)
        var destination: (UInt64, UInt64) = (0, 0)
        /// The protocol field of the IP header. If an extension header follows, the field states the type of this
        /// extension header, not of the payload.
        var next: UInt8 = 0
        var isFragmented = false
        var hopLimit: UInt8 = 0

        /// Returns the checksum over the pseudo header. The caller adds the transport header and its payload to it.
        func pseudoHeader(_ number: UInt16, _ length: Int) -> InternetChecksum {
            var sum = InternetChecksum()
            for half in [source.0, source.1, destination.0, destination.1] {
                sum.add(UInt32(truncatingIfNeeded: half >> 32))
                sum.add(UInt32(truncatingIfNeeded: half))
            }
            // The length in an IPv4 pseudo header has 16 bits. A longer packet, which the network card has merged from
            // several packets, is counted with the lower 16 bits of its length.
            sum.add(isIPv6 ? UInt32(truncatingIfNeeded: length) : UInt32(length & 0xFFFF))
            sum.add(number)
            return sum
        }
    }

    mutating func address(_ address: (UInt64, UInt64), _ isIPv6: Bool) {
        if isIPv6 { out.ipv6(high: address.0, low: address.1) } else { out.ipv4(UInt32(truncatingIfNeeded: address.1)) }
    }
    mutating func addresses(_ carrier: Carrier) {
        address(carrier.source, carrier.isIPv6)
        out.put(" > ")
        address(carrier.destination, carrier.isIPv6)
    }

    /// Prints an IPv4 packet (RFC 791).
    mutating func ipv4(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "ip"
        if !options.showsLink { out.put("IP ") }
        // Limit the nesting of packets in packets.
        ipDepth += 1
        defer { ipDepth -= 1 }
        guard ipDepth < 20 else { return out.put("[nested too deeply]") }
        let first = try p.u8(0)
        guard first >> 4 == 4 else { return versionMismatch(Int(first >> 4), 4) }
        guard length >= 20 else { return broken("length", length, "<", 20) }
        let headerLength = Int(first & 15) * 4
        guard headerLength >= 20 else { return broken("header length", headerLength, "<", 20) }
        let stated = Int(try p.u16(2))
        let total = stated == 0 ? length : stated
        if total > length {
            put("[total length ", total)
            put(" > length ", length, "]")
            invalid()
            out.put(" ")
        }
        guard total >= headerLength else { return broken("total length", total, "<", headerLength) }
        guard length >= headerLength else { return broken("length", length, "<", headerLength) }
        let fragment = try p.u16(6)
        let number = try p.u8(9)
        let shown = total
        let content = min(total, length)
        let packet = p.prefix(content)
        if verbosity > 0 { try ipv4Details(p, packet, headerLength, shown, stated, fragment, number) }
        let carrier = Carrier(
            source: (0, UInt64(try p.u32(12))), destination: (0, UInt64(try p.u32(16))), next: number,
            isFragmented: fragment & 0x3FFF != 0, hopLimit: try p.u8(8))
        guard fragment & 0x1FFF == 0 else {
            addresses(carrier)
            put(": ip-proto-", number)
            return
        }
        if !IPProtocolNumber(rawValue: number).hasPorts {
            addresses(carrier)
            out.put(": ")
        }
        // If the packet has a payload, at least one byte of the payload must have been captured. Otherwise, the printer
        // marks the packet as truncated.
        try packet.require(headerLength + (content > headerLength ? 1 : 0), at: 0)
        try self.content(packet.from(headerLength), content - headerLength, carrier, number)
    }

    private mutating func versionMismatch(_ found: Int, _ wanted: Int) {
        put(" [version ", found)
        put(" != ", wanted, "]")
        invalid()
    }

    /// Explicit Congestion Notification codepoints (RFC 3168 §5).
    private enum Congestion {
        static let ect1: UInt8 = 1
        static let ect0: UInt8 = 2
        static let experienced: UInt8 = 3
    }

    private mutating func ipv4Details(
        _ p: borrowing ByteView, _ packet: borrowing ByteView, _ headerLength: Int, _ total: Int, _ stated: Int,
        _ fragment: UInt16, _ number: UInt8
    ) throws(WireError) {
        let service = try p.u8(1)
        putHex("(tos 0x", service)
        switch service & 3 {
        case Congestion.ect1: out.put(",ECT(1)")
        case Congestion.ect0: out.put(",ECT(0)")
        case Congestion.experienced: out.put(",CE")
        default: break
        }
        let ttl = try p.u8(8)
        if ttl >= 1 { put(", ttl ", ttl) }
        put(", id ", try p.u16(4))
        put(", offset ", Int(fragment & 0x1FFF) * 8, ", flags [")
        bits(UInt32(fragment), [(0x2000, "+"), (0x4000, "DF"), (0x8000, "rsvd")], none: "none")
        out.put("], proto ")
        out.put(Self.ipProtocols[number] ?? "unknown")
        put(" (", number)
        put("), length ", total)
        if stated == 0 { out.put(" [was 0, presumed BIG TCP]") }
        if headerLength > 20 {
            out.put(", options (")
            ipv4Options(packet.clamped(20, headerLength), headerLength - 20)
            out.put(")")
        }
        if packet.holds(headerLength, at: 0) {
            let found = try p.u16(10)
            var sum = InternetChecksum()
            sum.add(packet.prefix(headerLength))
            if sum.value != 0 { badChecksum(", bad cksum ", found, sum) }
        }
        out.put(")\n    ")
    }

    /// Prints a wrong checksum with the correct one.
    mutating func badChecksum(_ before: StaticString, _ found: UInt16, _ sum: InternetChecksum) {
        putHex(before, found)
        putHex(" (->", Self.expected(found, sum), ")!")
    }
    static func expected(_ found: UInt16, _ sum: InternetChecksum) -> UInt16 {
        var without = sum
        without.add(~found)
        let value = without.value
        return value == 0xFFFF ? 0 : value
    }

    /// Prints an IP packet's payload.
    mutating func content(
        _ p: borrowing ByteView, _ length: Int, _ carrier: Carrier, _ number: UInt8
    ) throws(WireError) {
        switch IPProtocolNumber(rawValue: number) {
        case .tcp: try tcp(p, length, carrier)
        case .udp: try udp(p, length, carrier)
        case .icmp: carrier.isIPv6 ? wrongVersion("ICMP requires IPv4") : try icmp(p, length, carrier)
        case .icmp6: carrier.isIPv6 ? try icmp6(p, length, carrier) : wrongVersion("ICMP6 requires IPv6")
        case .igmp: carrier.isIPv6 ? wrongVersion("IGMP requires IPv4") : try igmp(p, length)
        case .sctp: try sctp(p, length, carrier)
        case .dccp: try dccp(p, length, carrier)
        case .ipv4: try ipv4(p, length)
        case .ipv6: try ipv6(p, length)
        case .gre: try gre(p, length)
        case .mpls: try mpls(p, length)
        case .authentication: try authentication(p, length, carrier)
        case .ethernet where carrier.isIPv6: try ethernet(p, length)
        case .noNextHeader: out.put("no next header")
        case .igrp: try igrp(p, length)
        case .esp: try esp(p, length)
        case .eigrp: try eigrp(p, length)
        case .ospf: try ospf(p, length)
        case .pim: try pim(p, length)
        case .compressed: try compressed(p)
        case .vrrp: try vrrp(p, length, carrier)
        default:
            put(" ip-proto-", number)
            put(" ", length)
        }
    }

    private mutating func wrongVersion(_ text: StaticString) {
        out.put("[")
        out.put(text)
        out.put("]")
        invalid()
    }

    /// Prints an IPComp header (RFC 3173 §3).
    private mutating func compressed(_ p: borrowing ByteView) throws(WireError) {
        part = "ipcomp"
        out.put("IPComp(")
        let (flags, index) = (try p.u8(1), try p.u16(2))
        putHex("cpi=0x", index, width: 4)
        if verbosity > 0 { putHex(", flags=0x", flags, width: 2) }
        out.put(")")
    }

    /// Prints an authentication header (RFC 4302).
    private mutating func authentication(
        _ p: borrowing ByteView, _ length: Int, _ carrier: Carrier
    ) throws(WireError) {
        part = "ah"
        // Another authentication header may follow, and so on to the end of the packet.
        ipDepth += 1
        defer { ipDepth -= 1 }
        guard ipDepth < 20 else { return out.put("[nested too deeply]") }
        let words = Int(try p.u8(1))
        out.put("AH(")
        if verbosity > 0 {
            put("length=", (words + 2) * 4, "(")
            put("", words * 4, "-bytes),")
        }
        putHex("spi=0x", try p.u32(4), width: 8, ",")
        if verbosity > 0 { putHex("sumlen=", UInt32(max(words - 1, 0) * 4), ",") }
        putHex("seq=0x", try p.u32(8))
        out.put(",icv=0x")
        for offset in stride(from: 12, to: (words + 2) * 4, by: 4) { out.hex(try p.u32(offset), width: 8) }
        out.put("): ")
        let size = (words + 2) * 4
        try p.require(size, at: 0)
        try content(p.from(size), length - size, carrier, try p.u8(0))
    }

    static let ipProtocols: [UInt8: StaticString] = [
        0: "Options", 1: "ICMP", 2: "IGMP", 4: "IPIP", 6: "TCP", 8: "EGP", 9: "IGRP", 17: "UDP", 33: "DCCP", 41: "IPv6",
        43: "Routing", 44: "Fragment", 46: "RSVP", 47: "GRE", 50: "ESP", 51: "AH", 55: "Mobile IP",
        62: "Mobile IP (old)", 58: "ICMPv6",
        59: "no next header", 60: "Options", 88: "EIGRP", 89: "OSPF", 97: "Ethernet", 103: "PIM", 108: "Compressed IP",
        112: "VRRP", 113: "PGM", 132: "SCTP", 135: "Mobility", 137: "MPLS", 143: "Ethernet",
    ]
}
