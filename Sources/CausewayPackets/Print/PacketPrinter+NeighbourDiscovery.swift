/// Prints neighbour discovery messages (RFC 4861).
extension PacketPrinter {
    /// Option types (IANA registry "IPv6 Neighbor Discovery Option Formats").
    private enum DiscoveryOption {
        static let sourceLinkAddress: UInt8 = 1
        static let targetLinkAddress: UInt8 = 2
        static let prefixInformation: UInt8 = 3
        static let redirectedHeader: UInt8 = 4
        static let mtu: UInt8 = 5
        static let advertisementInterval: UInt8 = 7
        static let homeAgentInformation: UInt8 = 8
        static let routeInformation: UInt8 = 24
        static let recursiveServers: UInt8 = 25
        static let searchList: UInt8 = 31
    }

    mutating func routerAdvertisement(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        guard verbosity > 0 else { return }
        let flags = try p.u8(5)
        put("\n\thop limit ", try p.u8(4), ", Flags [")
        let names: [(UInt32, StaticString)] = [
            (0x80, "managed"), (0x40, "other stateful"), (0x20, "home agent"), (0x04, "ND proxy"),
        ]
        bits(UInt32(flags), names, none: "none")
        let preferences: [StaticString] = ["medium", "high", "rsv", "low"]
        out.put("], pref ")
        out.put(preferences[Int(flags >> 3 & 3)])
        put(", router lifetime ", try p.u16(6))
        put("s, reachable time ", try p.u32(8))
        put("ms, retrans timer ", try p.u32(12), "ms")
        try discoveryOptions(p, 16, length)
    }

    mutating func lifetime(_ seconds: UInt32) {
        if seconds == .max { out.put("infinity") } else { put("", seconds, "s") }
    }

    /// Prints neighbour discovery options (RFC 4861 §4.6, RFC 8106 §5, RFC 4191 §2.3).
    mutating func discoveryOptions(_ p: borrowing ByteView, _ start: Int, _ length: Int) throws(WireError) {
        let names: [UInt8: StaticString] = [
            1: "source link-address", 2: "destination link-address", 3: "prefix info", 4: "redirected header", 5: "mtu",
            7: "advertisement interval", 8: "homeagent information", 24: "route info", 25: "rdnss", 31: "dnssl",
            38: "pref64",
        ]
        var offset = start
        while offset < p.count {
            let type = try p.u8(offset)
            let size = Int(try p.u8(offset + 1)) * 8
            guard size > 0 else { throw .invalid("option length", at: offset + 1) }
            out.put("\n\t  ")
            out.put(names[type] ?? "unknown")
            put(" option (", type)
            put("), length ", size)
            put(" (", size / 8, "): ")
            try p.require(size, at: offset)
            try discoveryOption(type, p.clamped(offset, offset + size), size)
            offset += size
        }
    }

    private mutating func discoveryOption(_ type: UInt8, _ p: borrowing ByteView, _ size: Int) throws(WireError) {
        switch type {
        case DiscoveryOption.sourceLinkAddress, DiscoveryOption.targetLinkAddress:
            for index in stride(from: 2, to: size, by: 1) {
                if index > 2 { out.put(":") }
                out.hex(p[index], width: 2)
            }
        case DiscoveryOption.prefixInformation:
            try address6(p, 16)
            put("/", try p.u8(2))
            if size != 32 { out.put("badlen") }
            out.put(", Flags [")
            bits(UInt32(try p.u8(3)), [(0x80, "onlink"), (0x40, "auto"), (0x20, "router")], none: "none")
            out.put("], valid time ")
            lifetime(try p.u32(4))
            out.put(", pref. time ")
            lifetime(try p.u32(8))
        case DiscoveryOption.redirectedHeader: unknown(p.from(8), "\n\t    ")
        case DiscoveryOption.mtu:
            let mtu = try p.u32(4)
            put(" ", mtu)
            if mtu < 1280 { out.put(", bogus") }
        case DiscoveryOption.advertisementInterval: put(" ", try p.u32(4), "ms")
        case DiscoveryOption.homeAgentInformation:
            put(" preference ", try p.u16(4))
            put(", lifetime ", try p.u16(6))
        case DiscoveryOption.routeInformation:
            out.put(" ")
            var halves: (UInt64, UInt64) = (0, 0)
            if size >= 16 { halves.0 = try p.u64(8) }
            if size >= 24 { halves.1 = try p.u64(16) }
            out.ipv6(high: halves.0, low: halves.1)
            put("/", try p.u8(2))
            let preferences: [StaticString] = ["medium", "high", "rsv", "low"]
            out.put(", pref=")
            out.put(preferences[Int(try p.u8(3) >> 3 & 3)])
            out.put(", lifetime=")
            lifetime(try p.u32(4))
        case DiscoveryOption.recursiveServers:
            put(" lifetime ", try p.u32(4), "s,")
            for offset in stride(from: 8, to: size - 15, by: 16) {
                out.put(" addr: ")
                try address6(p, offset)
            }
        case DiscoveryOption.searchList:
            put(" lifetime ", try p.u32(4), "s, domain(s):")
            var offset = 8
            while offset < size, p[offset] != 0 {
                out.put(" ")
                guard let next = try dnsName(p, offset) else { break }
                offset = next
            }
        default: unknown(p.from(2), "\n\t    ")
        }
    }
}
