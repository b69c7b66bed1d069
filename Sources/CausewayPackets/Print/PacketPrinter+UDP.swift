/// Prints UDP and the protocols over it.
extension PacketPrinter {
    mutating func ports(_ carrier: Carrier, _ number: UInt8, _ source: UInt16?, _ destination: UInt16?) {
        if carrier.next == number {
            address(carrier.source, carrier.isIPv6)
            if let source { put(".", source) }
            out.put(" > ")
            address(carrier.destination, carrier.isIPv6)
            if let destination { put(".", destination) }
        } else if let source, let destination {
            put("", source)
            put(" > ", destination)
        }
        out.put(": ")
    }

    /// Prints a UDP datagram (RFC 768).
    mutating func udp(_ p: borrowing ByteView, _ whole: Int, _ carrier: Carrier) throws(WireError) {
        part = "udp"
        guard let source = try? p.u16(0), let destination = try? p.u16(2) else {
            ports(carrier, IPProtocolNumber.udp.rawValue, nil, nil)
            throw .truncated(needed: 4, available: p.count, at: 0)
        }
        ports(carrier, IPProtocolNumber.udp.rawValue, source, destination)
        guard whole >= 8 else { return put("truncated-udp ", whole) }
        var stated = Int(try p.u16(4))
        if stated == 0, whole > 65535 { stated = whole }
        guard stated >= 8 else { return put("truncated-udplength ", stated) }
        stated -= 8
        let length = min(whole - 8, stated)
        try p.require(8, at: 0)
        let body = p.from(8).prefix(length)
        if source == Self.nfsPort || destination == Self.nfsPort, !options.isQuiet, !options.expectsDNS,
            try nfs(body, length, (source, destination), carrier)
        {
            return
        }
        // Print the UDP checksum only at a sufficient verbosity. Over IPv4 the checksum is optional, so the verbosity
        // must be at least 2. Over IPv6, a verbosity of 1 is enough.
        if verbosity > (carrier.isIPv6 ? 0 : 1), !carrier.isFragmented { udpChecksum(p, length, carrier) }
        if !options.isQuiet, try udpContent(body, length, (source, destination), carrier) { return }
        if stated > length, !carrier.isFragmented {
            put("UDP, bad length ", stated)
            put(" > ", length)
        } else {
            put("UDP, length ", stated)
        }
    }

    private mutating func udpChecksum(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) {
        guard let found = try? p.u16(6) else { return }
        guard found != 0 else { return out.put("[no cksum] ") }
        guard p.holds(length + 8, at: 0) else { return }
        var sum = carrier.pseudoHeader(UInt16(IPProtocolNumber.udp.rawValue), length + 8)
        sum.add(p.prefix(length + 8))
        guard sum.value != 0 else { return out.put("[udp sum ok] ") }
        putHex("[bad udp cksum 0x", found, width: 4)
        putHex(" -> 0x", Self.expected(found, sum), width: 4, "!] ")
    }
}
