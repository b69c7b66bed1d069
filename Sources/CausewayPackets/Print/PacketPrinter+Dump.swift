/// Prints bytes as hexadecimal numbers and as text.
extension PacketPrinter {
    mutating func dump(_ bytes: borrowing ByteView, _ headerCount: Int) {
        switch options.dump {
        case .none: return
        case .hex: hex(bytes.from(headerCount), "\n\t", false)
        case .hexWithLink: hex(bytes.from(0), "\n\t", false)
        case .hexAndText: hex(bytes.from(headerCount), "\n\t", true)
        case .hexAndTextWithLink: hex(bytes.from(0), "\n\t", true)
        case .text: text(bytes.from(headerCount))
        case .textWithLink: text(bytes.from(0))
        }
    }

    /// Prints a payload with an unsupported protocol, as hexadecimal numbers and text.
    mutating func unknown(_ bytes: borrowing ByteView) {
        if bytes.count > 0 { hex(bytes, "\n\t", true) }
    }
    mutating func unknown(_ bytes: borrowing ByteView, _ indent: StaticString) {
        if bytes.count > 0 { hex(bytes, indent, true) }
    }

    /// Prints sixteen bytes per line.
    mutating func hex(_ bytes: borrowing ByteView, _ indent: StaticString, _ withText: Bool) {
        var offset = 0
        while offset < bytes.count {
            out.put(indent)
            out.put("0x")
            out.hex(UInt32(truncatingIfNeeded: offset), width: 4)
            out.put(": ")
            let end = min(offset + 16, bytes.count)
            let start = out.count
            for index in stride(from: offset, to: end, by: 1) {
                if (index - offset) % 2 == 0 { out.put(" ") }
                out.hex(bytes[index], width: 2)
            }
            if withText {
                while out.count - start < 40 { out.put(" ") }
                out.put("  ")
                for index in stride(from: offset, to: end, by: 1) {
                    let byte = bytes[index]
                    out.put(byte: byte > 0x20 && byte < 0x7F ? byte : 0x2E)
                }
            }
            offset = end
        }
    }

    private mutating func text(_ bytes: borrowing ByteView) {
        out.put("\n")
        for index in 0..<bytes.count {
            let byte = bytes[index]
            if byte == 0x0D {
                if index + 1 >= bytes.count || bytes[index + 1] != 0x0A { out.put(".") }
            } else if byte == 0x0A || byte == 0x09 || (byte >= 0x20 && byte < 0x7F) {
                out.put(byte: byte)
            } else {
                out.put(".")
            }
        }
    }

    /// Prints one byte of text from the network. A byte that is not printable is shown with a caret, with `M-`, or with
    /// both.
    mutating func visible(_ byte: UInt8) {
        var rest = byte
        if rest & 0x80 != 0 {
            out.put("M-")
            rest &= 0x7F
        }
        if rest < 0x20 || rest == 0x7F {
            out.put("^")
            rest ^= 0x40
        }
        out.put(byte: rest)
    }
    mutating func visible(_ bytes: borrowing ByteView) {
        for index in 0..<bytes.count { visible(bytes[index]) }
    }
}
