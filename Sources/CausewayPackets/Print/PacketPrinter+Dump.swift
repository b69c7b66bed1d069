/// The octets themselves, as numbers and as text.
extension PacketPrinter {
    mutating func dump(_ octets: borrowing Octets, _ headerCount: Int) {
        switch options.dump {
        case .none: return
        case .hex: hex(octets.from(headerCount), "\n\t", false)
        case .hexWithLink: hex(octets.from(0), "\n\t", false)
        case .hexAndText: hex(octets.from(headerCount), "\n\t", true)
        case .hexAndTextWithLink: hex(octets.from(0), "\n\t", true)
        case .text: text(octets.from(headerCount))
        case .textWithLink: text(octets.from(0))
        }
    }

    /// What no printer understands.
    mutating func unknown(_ octets: borrowing Octets) {
        if octets.count > 0 { hex(octets, "\n\t", true) }
    }
    mutating func unknown(_ octets: borrowing Octets, _ indent: StaticString) {
        if octets.count > 0 { hex(octets, indent, true) }
    }

    /// Sixteen octets a line.
    mutating func hex(_ octets: borrowing Octets, _ indent: StaticString, _ withText: Bool) {
        var offset = 0
        while offset < octets.count {
            out.put(indent)
            out.put("0x")
            out.hex(UInt32(truncatingIfNeeded: offset), width: 4)
            out.put(": ")
            let end = min(offset + 16, octets.count)
            let start = out.count
            for index in stride(from: offset, to: end, by: 1) {
                if (index - offset) % 2 == 0 { out.put(" ") }
                out.hex(octets[index], width: 2)
            }
            if withText {
                while out.count - start < 40 { out.put(" ") }
                out.put("  ")
                for index in stride(from: offset, to: end, by: 1) {
                    let octet = octets[index]
                    out.put(octet: octet > 0x20 && octet < 0x7F ? octet : 0x2E)
                }
            }
            offset = end
        }
    }

    private mutating func text(_ octets: borrowing Octets) {
        out.put("\n")
        for index in 0..<octets.count {
            let octet = octets[index]
            if octet == 0x0D {
                if index + 1 >= octets.count || octets[index + 1] != 0x0A { out.put(".") }
            } else if octet == 0x0A || octet == 0x09 || (octet >= 0x20 && octet < 0x7F) {
                out.put(octet: octet)
            } else {
                out.put(".")
            }
        }
    }

    /// Text from the network: what does not show is written with carets and `M-`.
    mutating func visible(_ octet: UInt8) {
        var rest = octet
        if rest & 0x80 != 0 {
            out.put("M-")
            rest &= 0x7F
        }
        if rest < 0x20 || rest == 0x7F {
            out.put("^")
            rest ^= 0x40
        }
        out.put(octet: rest)
    }
    mutating func visible(_ octets: borrowing Octets) {
        for index in 0..<octets.count { visible(octets[index]) }
    }
}
