/// Prints extensions in ICMP error messages (RFC 4884).
extension PacketPrinter {
    /// Object classes (IANA registry "ICMP Extension Object Classes and Class Sub-types").
    private enum ExtensionClass {
        static let mplsLabelStack: UInt8 = 1
        static let interfaceInformation: UInt8 = 2
        static let interfaceIdentification: UInt8 = 3
    }

    /// The ways in which an object identifies an interface (RFC 8335 §2.1).
    private enum IdentificationType {
        static let name: UInt8 = 1
        static let index: UInt8 = 2
        static let address: UInt8 = 3
    }

    mutating func extensions(_ p: borrowing ByteView, _ offset: Int, _ length: Int) throws(WireError) {
        let version = try p.u8(offset) >> 4
        put("\n\tICMP Multi-Part extension v", version)
        guard version == 2 else { return }
        try extensionObjects(p, offset, length)
    }

    /// Prints ICMP extension objects (RFC 4884 §7, RFC 5837, RFC 4950).
    mutating func extensionObjects(_ p: borrowing ByteView, _ start: Int, _ length: Int) throws(WireError) {
        // In an extended echo request, the extension ends after the first object. The bytes after it are not part of
        // the extension.
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
            case ExtensionClass.mplsLabelStack: try labels(p, offset + 4, end)
            case ExtensionClass.interfaceInformation: try interfaceInformation(p, offset + 4, end, form)
            case ExtensionClass.interfaceIdentification: try interfaceIdentification(p, offset + 4, end, form)
            default: unknown(p.clamped(offset + 4, end), "\n\t    ")
            }
            offset = end
        }
    }

    private mutating func labels(_ p: borrowing ByteView, _ start: Int, _ end: Int) throws(WireError) {
        for offset in stride(from: start, to: end, by: 4) {
            let entry = try p.u32(offset)
            put("\n\t    label ", entry >> 12)
            put(", tc ", entry >> 9 & 7)
            if entry & 0x100 != 0 { out.put(", [S]") }
            put(", ttl ", entry & 0xFF)
        }
    }

    private mutating func interfaceInformation(
        _ p: borrowing ByteView, _ start: Int, _ end: Int, _ form: UInt8
    ) throws(WireError) {
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
            if family == AddressFamilyNumber.ipv4, offset + 4 <= end {
                out.put("\n\t    IP Address sub-object: ")
                out.ipv4(try p.u32(offset))
                offset += 4
            } else if family == AddressFamilyNumber.ipv6, offset + 16 <= end {
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
        _ p: borrowing ByteView, _ start: Int, _ end: Int, _ form: UInt8
    ) throws(WireError) {
        switch form {
        case IdentificationType.name:
            put("\n\t    Interface Name, length ", end - start, ": ")
            for offset in stride(from: start, to: end, by: 1) {
                let byte = try p.u8(offset)
                if byte == 0 { break }
                visible(byte)
            }
        case IdentificationType.index: put("\n\t    Interface Index: ", try p.u32(start))
        case IdentificationType.address:
            let family = try p.u16(start)
            out.put("\n\t    Interface Address: ")
            if family == AddressFamilyNumber.ipv4 {
                out.ipv4(try p.u32(start + 4))
            } else if family == AddressFamilyNumber.ipv6 {
                out.ipv6(high: try p.u64(start + 4), low: try p.u64(start + 12))
            } else {
                unknown(p.clamped(start + 4, end), "\n\t    ")
            }
        default: unknown(p.clamped(start, end), "\n\t    ")
        }
    }
}
