/// Prints the values of DHCP options (RFC 2132).
extension PacketPrinter {
    mutating func value(_ format: Format, _ p: borrowing ByteView, _ length: Int) throws(WireError) {
        switch format {
        case .address, .addresses:
            for offset in stride(from: 0, to: length - 3, by: 4) {
                if offset > 0 { out.put(",") }
                out.ipv4(try p.u32(offset))
            }
        case .pairs:
            for offset in stride(from: 0, to: length - 7, by: 8) {
                if offset > 0 { out.put(",") }
                out.put("(")
                out.ipv4(try p.u32(offset))
                out.put(":")
                out.ipv4(try p.u32(offset + 4))
                out.put(")")
            }
        case .u8:
            for offset in 0..<length {
                if offset > 0 { out.put(",") }
                put("", try p.u8(offset))
            }
        case .u16, .u16s:
            for offset in stride(from: 0, to: length - 1, by: 2) {
                if offset > 0 { out.put(",") }
                put("", try p.u16(offset))
            }
        case .u32:
            for offset in stride(from: 0, to: length - 3, by: 4) {
                if offset > 0 { out.put(",") }
                put("", try p.u32(offset))
            }
        case .i32:
            for offset in stride(from: 0, to: length - 3, by: 4) {
                if offset > 0 { out.put(",") }
                put("", Int32(bitPattern: try p.u32(offset)))
            }
        case .flag:
            for offset in 0..<length {
                if offset > 0 { out.put(",") }
                out.put(try p.u8(offset) == 0 ? "N" : try p.u8(offset) == 1 ? "Y" : "?")
            }
        case .text:
            out.put("\"")
            for index in 0..<length where p[index] != 0 { visible(p[index]) }
            out.put("\"")
        case .parameters: parameters(p, length)
        case .clientID: clientID(p, length)
        case .overload:
            let names: [StaticString] = ["", "file", "sname", "file+sname"]
            let value = try p.u8(0)
            if value > 0, value < 4 { out.put(names[Int(value)]) } else { put("Unknown (", value, ")") }
        case .routes: try routes(p, length)
        case .message: message(try p.u8(0))
        case .relay: try relay(p, length)
        case .nothing: break
        case .hex, .vendor, .search, .hex16: digits(p, length)
        }
    }

    /// Prints the bytes as 16-bit decimal numbers, separated by commas. An odd last byte is printed alone.
    mutating func digits(_ p: borrowing ByteView, _ length: Int) {
        var offset = 0
        var isFirst = true
        while offset + 1 < length {
            if !isFirst { out.put(",") }
            isFirst = false
            put("", UInt16(p[offset]) << 8 | UInt16(p[offset + 1]))
            offset += 2
        }
        if offset < length {
            if !isFirst { out.put(",") }
            put("", p[offset])
        }
    }

    mutating func parameters(_ p: borrowing ByteView, _ length: Int) {
        for index in 0..<length {
            out.put(index % 4 == 0 ? "\n\t      " : ", ")
            let tag = p[index]
            out.put(Self.dhcpOptions[tag]?.0 ?? "Unknown")
            put(" (", tag, ")")
        }
    }

    /// The first byte of a client identifier, if it is not a hardware type (RFC 2132 §9.14, RFC 4361 §6.1).
    private enum ClientIDType {
        static let text: UInt8 = 0
        static let unique: UInt8 = 255
    }

    mutating func clientID(_ p: borrowing ByteView, _ length: Int) {
        guard length > 0 else { return }
        let type = p[0]
        if type == ClientIDType.text {
            out.put("\"")
            for index in stride(from: 1, to: length, by: 1) { visible(p[index]) }
            return out.put("\"")
        }
        if type == ClientIDType.unique {
            out.put("hardware-type 255, ")
        } else if type == Self.ethernetHardware, length == 7 {
            out.put("ether ")
        } else {
            put("hardware-type ", type, ", ")
        }
        for index in stride(from: 1, to: length, by: 1) {
            if index > 1 { out.put(":") }
            out.hex(p[index], width: 2)
        }
    }

    mutating func routes(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        var (offset, isFirst) = (0, true)
        while offset < length {
            if !isFirst { out.put(",") }
            isFirst = false
            let width = Int(try p.u8(offset))
            guard width <= 32 else { return put("bad width (/", width, ")") }
            let significant = (width + 7) / 8
            out.put("(")
            if width == 0 {
                out.put("default")
            } else {
                for index in 0..<4 {
                    if index > 0 { out.put(".") }
                    put("", index < significant ? try p.u8(offset + 1 + index) : 0)
                }
                put("/", width)
            }
            out.put(":")
            out.ipv4(try p.u32(offset + 1 + significant))
            out.put(")")
            offset += 5 + significant
        }
    }

    mutating func relay(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        let names: [UInt8: StaticString] = [1: "Circuit-ID", 2: "Remote-ID", 6: "Subscriber-ID"]
        var offset = 0
        while offset + 2 <= length {
            let (tag, size) = (try p.u8(offset), Int(try p.u8(offset + 1)))
            offset += 2
            guard size <= length - offset else { return put("\n\t      bad option length") }
            out.put("\n\t      ")
            out.put(names[tag] ?? "Unknown")
            put(" SubOption ", tag)
            put(", length ", size, ": ")
            for index in 0..<size { visible(p[offset + index]) }
            offset += size
        }
    }
}
